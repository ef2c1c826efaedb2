import { resource } from '../../platform/resource.ts';
import { rebuildModDocumentsOfMovedSite } from './documents.ts';
import { modOperations } from './operations.ts';
import { personalMods } from './personal.ts';
import { rebuildModWords } from './words.ts';

export const mods = resource({
  name: 'mods',
  operations: modOperations,
  personalData: personalMods,
  prepare: async (app) => {
    await rebuildModDocumentsOfMovedSite(app);
    await rebuildModWords(app);
  },
});
