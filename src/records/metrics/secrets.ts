import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import * as store from './store.ts';

/** The secret with which a game signs its session reports. */
export interface MetricsSecret {
  readonly secret: string;
  readonly date_added: number;
}

const SECRET_BYTES = 32;
const purposeOf = (gameId: number) => `metrics/${gameId}`;

/** Stored encrypted and not as a digest, because checking a signature takes the secret itself. */
export async function secretOf(app: App, gameId: number): Promise<MetricsSecret | undefined> {
  const row = await store.secretOf(app.db, gameId);
  if (!row) return undefined;
  try {
    return { secret: app.secrets.unseal(purposeOf(gameId), row.sealed), date_added: row.date_added };
  } catch (cause) {
    // The secret of the data folder was replaced: the game needs a new one.
    throw new ApiError('METRICS_INTERNAL_ERROR', { cause });
  }
}

export async function issueSecret(app: App, transaction: Transaction, gameId: number): Promise<MetricsSecret> {
  const secret = app.random.hex(SECRET_BYTES * 2);
  const date_added = app.clock.now();
  await store.putSecret(transaction, gameId, { sealed: app.secrets.seal(purposeOf(gameId), secret), date_added });
  return { secret, date_added };
}

export const dropSecret = (transaction: Transaction, gameId: number) => store.removeSecret(transaction, gameId);
