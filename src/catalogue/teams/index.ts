import { resource } from '../../platform/manifest/resource.ts';
import { teamJobs } from './jobs.ts';
import { teamOperations } from './operations.ts';
import { personalSeats } from './personal.ts';

export const teams = resource({
  name: 'teams',
  operations: teamOperations,
  jobs: teamJobs,
  personalData: personalSeats,
});
