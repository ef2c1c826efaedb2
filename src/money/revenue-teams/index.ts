import { teamExtensions } from '../../catalogue/teams/extensions.ts';
import { contribute } from '../../platform/extensions.ts';
import { resource } from '../../platform/manifest/resource.ts';
import { service } from '../../platform/manifest/treatment.ts';
import { revenueTeamsTables } from './migrations/2026-11-16-revenue-teams.ts';
import { revenueTeamOperations } from './operations.ts';
import { personalRevenueTeams } from './personal.ts';
import { refuseLeaving } from './revenue-teams.ts';

export const revenueTeams = resource({
  name: 'revenue-teams',
  operations: revenueTeamOperations,
  migrations: [revenueTeamsTables],
  tables: {
    revenue_teams: service(),
    revenue_shares: service(),
  },
  personalData: personalRevenueTeams,
  extends: [contribute(teamExtensions, { onLeave: refuseLeaving })],
});
