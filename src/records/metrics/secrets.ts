import { requireGame } from '../../catalogue/games/games.ts';
import { ADMINISTRATOR, teamLevel } from '../../catalogue/teams/teams.ts';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Database } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { auditGame } from '../audit/audit.ts';
import * as store from './store.ts';

export interface MetricsSecret {
  /** Empty where the game has none. */
  readonly secret: string;
  readonly date_added: number;
}

const SECRET_BYTES = 32;
const purposeOf = (gameId: number) => `metrics/${gameId}`;

async function requireAdministrator(reader: Pick<Database, 'first'>, caller: Caller, gameId: number): Promise<void> {
  await requireGame(reader, caller, gameId);
  if ((await teamLevel(reader, caller, 'games', gameId)) < ADMINISTRATOR)
    throw new ApiError('GAME_NO_ADMIN_PERMISSION');
}

/** Sealed, not digested: signatures can be checked by who knows the secret alone. */
export async function unsealed(app: App, gameId: number): Promise<string | undefined> {
  const row = await store.secretOf(app.db, gameId);
  if (!row) return undefined;
  try {
    return app.secrets.unseal(purposeOf(gameId), row.sealed);
  } catch (cause) {
    // The secret of the data folder is another than it was: the game needs a new one.
    throw new ApiError('METRICS_INTERNAL_ERROR', { cause });
  }
}

export async function showSecret(app: App, caller: Caller, gameId: number): Promise<MetricsSecret> {
  await requireAdministrator(app.db, caller, gameId);
  const row = await store.secretOf(app.db, gameId);
  return { secret: (await unsealed(app, gameId)) ?? '', date_added: row?.date_added ?? 0 };
}

/** From now on reports that are signed with the one before are refused. */
export async function renewSecret(app: App, caller: UserCaller, gameId: number): Promise<MetricsSecret> {
  const secret = app.random.hex(SECRET_BYTES * 2);
  const date_added = app.clock.now();
  await app.db.write(async (transaction) => {
    await requireAdministrator(transaction, caller, gameId);
    await store.putSecret(transaction, gameId, { sealed: app.secrets.seal(purposeOf(gameId), secret), date_added });
    transaction.made?.();
    await auditGame(app, transaction, caller, gameId, { action: 'metrics-secret-renew' });
  });
  return { secret, date_added };
}

export async function removeSecret(app: App, caller: UserCaller, gameId: number): Promise<void> {
  await app.db.write(async (transaction) => {
    await requireAdministrator(transaction, caller, gameId);
    await store.removeSecret(transaction, gameId);
    await auditGame(app, transaction, caller, gameId, { action: 'metrics-secret-remove' });
  });
}
