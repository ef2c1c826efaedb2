import { contribute } from '../../platform/extensions.ts';
import { resource } from '../../platform/manifest/resource.ts';
import { content, rebuilt } from '../../platform/manifest/treatment.ts';
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
  tables: {
    games: content({ pictures: ['icon', 'logo', 'header'] }),
    game_platforms: content(),
    game_stats: content(),
    game_documents: rebuilt('the games'),
    game_tag_documents: rebuilt('the games'),
    game_words: rebuilt('the search of games'),
  },
  jobs: gameJobs,
  personalData: personalGames,
  storedObjects: storedPictures,
  extends: [contribute(teamOwners, gameTeams)],
  prepare: async (app) => {
    await rebuildDocumentsOfMovedSite(app);
    await rebuildGameWords(app);
  },
});
