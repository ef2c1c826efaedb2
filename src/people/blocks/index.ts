import { resource } from '../../platform/manifest/resource.ts';
import { blockOperations } from './operations.ts';
import { personalBlocks } from './personal.ts';

export const blocks = resource({
  name: 'blocks',
  operations: blockOperations,
  personalData: personalBlocks,
});
