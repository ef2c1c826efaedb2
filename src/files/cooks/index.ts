import { resource } from '../../platform/manifest/resource.ts';
import { COOKING, left } from '../../platform/manifest/treatment.ts';
import { cookJobs } from './jobs.ts';
import { modExtension } from './mod-extension.ts';
import { cookOperations } from './operations.ts';
import { personalCooks } from './personal.ts';

export const cooks = resource({
  name: 'cooks',
  operations: cookOperations,
  tables: {
    cooks: left(COOKING),
    cook_logs: left(COOKING),
  },
  jobs: cookJobs,
  personalData: personalCooks,
  extends: [modExtension],
});
