import { resource } from '../../platform/manifest/resource.ts';
import { tagJobs } from './jobs.ts';
import { modExtension } from './mod-extension.ts';
import { tagOperations } from './operations.ts';

export const tags = resource({
  name: 'tags',
  operations: tagOperations,
  jobs: tagJobs,
  extends: [modExtension],
});
