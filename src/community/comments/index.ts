import { resource } from '../../platform/resource.ts';
import { commentJobs } from './jobs.ts';
import { modExtension } from './mod-extension.ts';
import { commentOperations } from './operations.ts';
import { personalComments } from './personal.ts';

export const comments = resource({
  name: 'comments',
  operations: commentOperations,
  jobs: commentJobs,
  personalData: personalComments,
  extends: [modExtension],
});
