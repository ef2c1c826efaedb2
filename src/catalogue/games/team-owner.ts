import type { TeamOwner } from '../teams/extensions.ts';
import { invalidateGame, requireGame, transferGame } from './games.ts';

export const gameTeams: TeamOwner = {
  resource: 'games',
  require: (reader, caller, { id }) => requireGame(reader, caller, id),
  transferOwnership: (_, transaction, { id }, userId) => transferGame(transaction, id, userId),
  invalidate: (transaction, { id }) => invalidateGame(transaction, id),
};
