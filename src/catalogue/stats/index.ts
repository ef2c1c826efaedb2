import { resource } from '../../platform/manifest/resource.ts';
import { content } from '../../platform/manifest/treatment.ts';
import { statsJobs } from './jobs.ts';
import { modExtension } from './mod-extension.ts';
import { statsOperations } from './operations.ts';

export const stats = resource({
  name: 'stats',
  operations: statsOperations,
  tables: {
    mod_download_hours: content(),
    mod_platform_download_hours: content(),
  },
  jobs: statsJobs,
  extends: [modExtension],
});
