import { resource } from '../../platform/manifest/resource.ts';
import { content } from '../../platform/manifest/treatment.ts';
import { wordlistOperations } from './operations.ts';

export const wordlists = resource({
  name: 'wordlists',
  operations: wordlistOperations,
  tables: {
    game_wordlists: content(),
  },
});
