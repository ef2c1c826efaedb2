import { resource } from '../../platform/resource.ts';
import { buildHoldings } from './holdings.ts';
import { buildJobs } from './jobs.ts';
import { buildOperations } from './operations.ts';
import { personalBuilds } from './personal.ts';

export const builds = resource({
  name: 'builds',
  operations: buildOperations,
  jobs: buildJobs,
  personalData: personalBuilds,
  holdings: buildHoldings,
});
