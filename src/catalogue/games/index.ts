import { contribute } from '../../platform/extensions.ts';
import { resource } from '../../platform/resource.ts';
import { teamOwners } from '../teams/extensions.ts';
import { rebuildDocumentsOfMovedSite } from './documents.ts';
import { rebuildGameWords } from './games.ts';
import { pictureHoldings } from './holdings.ts';
import { gameJobs } from './jobs.ts';
import { gameOperations } from './operations.ts';
import { personalGames } from './personal.ts';
import { gameTeams } from './team-owner.ts';

export const games = resource({
  name: 'games',
  operations: gameOperations,
  jobs: gameJobs,
  personalData: personalGames,
  extends: [contribute(teamOwners, gameTeams)],
  holdings: pictureHoldings,
  prepare: async (app) => {
    await rebuildDocumentsOfMovedSite(app);
    await rebuildGameWords(app);
  },
});
