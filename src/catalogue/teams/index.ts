import { resource } from '../../platform/manifest/resource.ts';
import { content, left } from '../../platform/manifest/treatment.ts';
import { teamJobs } from './jobs.ts';
import { teamOperations } from './operations.ts';
import { personalSeats } from './personal.ts';

export const teams = resource({
  name: 'teams',
  operations: teamOperations,
  tables: {
    team_members: content(),
    team_invites: left('an invitation by mail of this service'),
  },
  jobs: teamJobs,
  personalData: personalSeats,
});
