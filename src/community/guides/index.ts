import { resource } from '../../platform/resource.ts';
import { guideJobs } from './jobs.ts';
import { guideOperations } from './operations.ts';
import { personalGuides } from './personal.ts';

export const guides = resource({
  name: 'guides',
  operations: guideOperations,
  jobs: guideJobs,
  personalData: personalGuides,
});
