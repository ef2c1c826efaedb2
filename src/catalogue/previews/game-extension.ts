import { contribute } from '../../platform/extensions.ts';
import { gameExtensions } from '../games/extensions.ts';
import { endPreviews } from './previews.ts';

export const gameExtension = contribute(gameExtensions, {
  name: 'previews',
  onDelete: (_, transaction, gameId) => endPreviews(transaction, 'games', gameId),
});
