import { resource } from '../../platform/resource.ts';
import { rebuildDocumentsOfMovedSite } from './documents.ts';
import { rebuildGameWords } from './games.ts';
import { pictureHoldings } from './holdings.ts';
import { gameJobs } from './jobs.ts';
import { gameOperations } from './operations.ts';
import { personalGames } from './personal.ts';

export const games = resource({
  name: 'games',
  operations: gameOperations,
  jobs: gameJobs,
  personalData: personalGames,
  holdings: pictureHoldings,
  prepare: async (app) => {
    await rebuildDocumentsOfMovedSite(app);
    await rebuildGameWords(app);
  },
});
