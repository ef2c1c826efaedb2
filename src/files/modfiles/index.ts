import { resource } from '../../platform/resource.ts';
import { modfileHoldings } from './holdings.ts';
import { modfileJobs } from './jobs.ts';
import { modExtension } from './mod-extension.ts';
import { modfileOperations } from './operations.ts';
import { personalModfiles } from './personal.ts';

export const modfiles = resource({
  name: 'modfiles',
  operations: modfileOperations,
  jobs: modfileJobs,
  personalData: personalModfiles,
  holdings: modfileHoldings,
  extends: [modExtension],
});
