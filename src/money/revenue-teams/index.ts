import { teamExtensions } from '../../catalogue/teams/extensions.ts';
import { contribute } from '../../platform/extensions.ts';
import { resource } from '../../platform/manifest/resource.ts';
import { revenueTeamsTables } from './migrations/2026-11-16-revenue-teams.ts';
import { revenueTeamOperations } from './operations.ts';
import { personalRevenueTeams } from './personal.ts';
import { refuseLeaving } from './revenue-teams.ts';

export const revenueTeams = resource({
  name: 'revenue-teams',
  operations: revenueTeamOperations,
  migrations: [revenueTeamsTables],
  personalData: personalRevenueTeams,
  extends: [contribute(teamExtensions, { onLeave: refuseLeaving })],
});
