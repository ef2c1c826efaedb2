import { recordModEvent, recordUserEvent } from '../../records/events/events.ts';
import type { TeamOwner } from '../teams/extensions.ts';
import { isPublic, isVisibleToClass, requireMod } from './access.ts';
import { invalidateMod } from './documents.ts';
import { transferMod } from './mods.ts';
import * as store from './store.ts';

export const modTeams: TeamOwner = {
  resource: 'mods',
  require: (reader, caller, { id, gameId }) => requireMod(reader, caller, gameId, id),
  transferOwnership: (app, transaction, { id, gameId }, userId) =>
    transferMod(app, transaction, { id, game_id: gameId }, userId),
  invalidate: (transaction, { id, gameId }) => invalidateMod(transaction, gameId, id),
  isVisibleToClass: (reader, caller, { id }) => isVisibleToClass(reader, caller, id),
  recordMembership: (app, transaction, { id, gameId }, userId, type) =>
    recordUserEvent(app, transaction, { gameId, modId: id, userId, type }),
  recordTeamChange: async (app, transaction, { id, gameId }, userId) => {
    const mod = (await store.standingOf(transaction, id))!;
    const event = { gameId, modId: id, userId, isPublic: isPublic(mod) };
    await recordModEvent(app, transaction, { ...event, type: 'MOD_TEAM_CHANGED' });
  },
};
