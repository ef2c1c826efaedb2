import { contribute } from '../../platform/extensions.ts';
import { resource } from '../../platform/manifest/resource.ts';
import { teamOwners } from '../teams/extensions.ts';
import { rebuildDocumentsOfMovedSite } from './documents.ts';
import { rebuildGameWords } from './games.ts';
import { gameJobs } from './jobs.ts';
import { gameOperations } from './operations.ts';
import { personalGames } from './personal.ts';
import { storedPictures } from './stored-objects.ts';
import { gameTeams } from './team-owner.ts';

export const games = resource({
  name: 'games',
  operations: gameOperations,
  jobs: gameJobs,
  personalData: personalGames,
  storedObjects: storedPictures,
  extends: [contribute(teamOwners, gameTeams)],
  prepare: async (app) => {
    await rebuildDocumentsOfMovedSite(app);
    await rebuildGameWords(app);
  },
});
