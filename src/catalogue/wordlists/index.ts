import { resource } from '../../platform/manifest/resource.ts';
import { wordlistOperations } from './operations.ts';

export const wordlists = resource({
  name: 'wordlists',
  operations: wordlistOperations,
});
