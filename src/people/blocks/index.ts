import { resource } from '../../platform/manifest/resource.ts';
import { people } from '../../platform/manifest/treatment.ts';
import { blockOperations } from './operations.ts';
import { personalBlocks } from './personal.ts';

export const blocks = resource({
  name: 'blocks',
  operations: blockOperations,
  tables: {
    blocks: people({ notOfGames: true }),
  },
  personalData: personalBlocks,
});
