import { resource } from '../../platform/manifest/resource.ts';
import { buildJobs } from './jobs.ts';
import { buildOperations } from './operations.ts';
import { personalBuilds } from './personal.ts';
import { storedBuilds } from './stored-objects.ts';

export const builds = resource({
  name: 'builds',
  operations: buildOperations,
  jobs: buildJobs,
  personalData: personalBuilds,
  storedObjects: storedBuilds,
});
