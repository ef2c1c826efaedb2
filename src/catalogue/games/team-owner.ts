import type { TeamOwner } from '../teams/extensions.ts';
import { announceGame, handOverGame, requireGame } from './games.ts';

export const gameTeams: TeamOwner = {
  resource: 'games',
  require: (reader, caller, { id }) => requireGame(reader, caller, id),
  handOver: (_, transaction, { id }, userId) => handOverGame(transaction, id, userId),
  announce: (transaction, { id }) => announceGame(transaction, id),
};
