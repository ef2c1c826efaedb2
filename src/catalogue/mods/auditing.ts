import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { audit } from '../../records/audit/audit.ts';
import { MANAGER, teamLevel } from '../teams/teams.ts';

interface Deed {
  readonly action: string;
  /** The level in the mod's own team that it takes; managers' where nothing is said. */
  readonly needs?: number;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** What someone does with a mod whose own team they are not in at the level for it, they do for its game. */
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
