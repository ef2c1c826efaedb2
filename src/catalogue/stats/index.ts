import { resource } from '../../platform/manifest/resource.ts';
import { statsJobs } from './jobs.ts';
import { modExtension } from './mod-extension.ts';
import { statsOperations } from './operations.ts';

export const stats = resource({
  name: 'stats',
  operations: statsOperations,
  jobs: statsJobs,
  extends: [modExtension],
});
