import { resource } from '../../platform/manifest/resource.ts';
import { portalJobs } from './jobs.ts';
import { portalOperations } from './operations.ts';
import { personalPortals } from './personal.ts';

export const portals = resource({
  name: 'portals',
  operations: portalOperations,
  jobs: portalJobs,
  personalData: personalPortals,
});
