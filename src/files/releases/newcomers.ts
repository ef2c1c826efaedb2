import type { TeamExtension } from '../../catalogue/teams/extensions.ts';
import { MANAGER } from '../../catalogue/teams/teams.ts';
import { recordNewcomer, removeNewcomer } from './confirmation.ts';

/**
 * Managers of a team may release files. If the user that appointed them confirms releases, their first release waits
 * for that confirmation.
 */
export const newcomersOfTeams: TeamExtension = {
  onJoin: async (app, transaction, place, { userId, level, invitedBy }) => {
    await removeNewcomer(transaction, place, userId);
    if (level >= MANAGER) await recordNewcomer(app, transaction, place, { userId, by: invitedBy });
  },
  onLevelChange: async (app, transaction, place, { userId, from, to, changedBy }) => {
    if (from < MANAGER && to >= MANAGER) await recordNewcomer(app, transaction, place, { userId, by: changedBy });
  },
};
