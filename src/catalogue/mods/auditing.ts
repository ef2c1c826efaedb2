import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { audit } from '../../records/audit/audit.ts';
import { MANAGER, teamLevel } from '../teams/teams.ts';

interface Deed {
  readonly action: string;
  /** The required level in the mod's own team; manager by default. */
  readonly needs?: number;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** Audits an action as one of the game's team when the caller lacks the required level in the mod's own team. */
export async function auditByGame(
  app: App,
  transaction: Transaction,
  caller: UserCaller,
  { id, game_id: gameId }: { readonly id: number; readonly game_id: number },
  { action, needs = MANAGER, data = {} }: Deed,
): Promise<void> {
  const person = caller;
  const own = await teamLevel(transaction, { ...person, admin: false }, 'mods', id);
  if (own >= needs && !('status' in data)) return;
  await audit(app, transaction, { actor: person.userId, action, subject: { resource: 'mods', id, gameId }, data });
}
