import { contribute } from '../../platform/extensions.ts';
import { resource } from '../../platform/manifest/resource.ts';
import { commentables } from '../comments/extensions.ts';
import { commentableGuides } from './commenting.ts';
import { guideJobs } from './jobs.ts';
import { guideOperations } from './operations.ts';
import { personalGuides } from './personal.ts';

export const guides = resource({
  name: 'guides',
  operations: guideOperations,
  jobs: guideJobs,
  personalData: personalGuides,
  extends: [contribute(commentables, commentableGuides)],
});
