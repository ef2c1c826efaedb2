import { contribute } from '../../platform/extensions.ts';
import { resource } from '../../platform/manifest/resource.ts';
import { content, rebuilt } from '../../platform/manifest/treatment.ts';
import { teamOwners } from '../teams/extensions.ts';
import { rebuildModDocumentsOfMovedSite } from './documents.ts';
import { modStatChangesTable } from './migrations/2026-11-16-mod-stat-changes.ts';
import { modsDeletedByUpdate } from './migrations/2026-11-17-mods-deleted-by-update.ts';
import { modsWaitingByGameAndDate } from './migrations/2026-11-17-mods-waiting-by-game-and-date.ts';
import { modCardsWaiting } from './migrations/2026-11-18-mod-cards-waiting.ts';
import { modOperations } from './operations.ts';
import { personalMods } from './personal.ts';
import { modTeams } from './team-owner.ts';
import { rebuildModWords } from './words.ts';

export const mods = resource({
  name: 'mods',
  operations: modOperations,
  migrations: [modStatChangesTable, modsDeletedByUpdate, modsWaitingByGameAndDate, modCardsWaiting],
  tables: {
    mods: content({ markup: ['description'], pictures: ['logo'] }),
    mod_cards: rebuilt('the mods'),
    mod_documents: rebuilt('the mods'),
    mod_words: rebuilt('the search of mods'),
    mod_vocabulary: rebuilt('the search of mods'),
    mod_stats: content(),
    mod_stat_changes: content(),
  },
  personalData: personalMods,
  extends: [contribute(teamOwners, modTeams)],
  prepare: async (app) => {
    await rebuildModDocumentsOfMovedSite(app);
    await rebuildModWords(app);
  },
});
