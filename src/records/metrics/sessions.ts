import { requireGame } from '../../catalogue/games/games.ts';
import type { Caller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { DAY, placesOf, spansOf } from './pieces.ts';
import { unsealed } from './secrets.ts';
import { isSigned, type SessionReport, secondOf } from './signing.ts';
import * as store from './store.ts';

export type { SessionReport } from './signing.ts';
export type Step = 'start' | 'heartbeat' | 'end';

/** Clocks of players go wrong, but not by more; and what is older cannot be told from a repetition. */
const SKEW_SECONDS = DAY;
/** After a longer silence nobody played in between. */
const SILENCE_SECONDS = 30 * 60;

const invalid = (field: string) => new ApiError('VALIDATION_GENERIC', { fields: [{ field, rule: 'invalid' }] });

/** A game tells that someone plays it. Each report counts once: neither a repetition nor an older one is taken. */
export async function report(
  app: App,
  caller: Caller,
  gameId: number | undefined,
  step: Step,
  sent: SessionReport,
  platform = '',
): Promise<void> {
  if (gameId === undefined) throw new ApiError('GAME_NOT_FOUND');
  await requireGame(app.db, caller, gameId);
  const secret = await unsealed(app, gameId);
  const now = app.clock.now();
  if (Math.abs(secondOf(sent.ts) - now) > SKEW_SECONDS) throw invalid('session_ts');
  if (secret === undefined || !isSigned(secret, sent)) throw invalid('session_hash');
  const userId = caller.kind === 'user' ? caller.userId : 0;
  await app.db.write(async (transaction) => {
    if (!(await store.see(transaction, gameId, sent.hash.toLowerCase(), now))) throw invalid('session_nonce');
    if (step === 'start') await start(transaction, { gameId, platform }, userId, sent, now);
    else await goOn(transaction, gameId, sent, { now, isEnd: step === 'end' });
  });
}

async function start(transaction: Transaction, place: store.Place, userId: number, sent: SessionReport, now: number) {
  const { gameId, platform } = place;
  const row = { game_id: gameId, session_id: sent.sessionId, user_id: userId, platform };
  if (!(await store.addSession(transaction, { ...row, order_id: sent.orderId, date_started: now })))
    throw invalid('session_id');
  for (const each of placesOf(gameId, platform)) await store.addTo(transaction, each, spansOf(now), { sessions: 1 });
}

async function goOn(
  transaction: Transaction,
  gameId: number,
  { sessionId, orderId }: SessionReport,
  { now, isEnd }: { now: number; isEnd: boolean },
): Promise<void> {
  const session = await store.holdSession(transaction, gameId, sessionId);
  if (!session || session.date_ended > 0) throw invalid('session_id');
  if (orderId <= session.order_id) throw invalid('session_order_id');
  const passed = now - session.date_last;
  await store.goOn(transaction, {
    id: session.id,
    order_id: orderId,
    date_last: now,
    date_ended: isEnd ? now : 0,
  });
  const session_seconds = passed <= SILENCE_SECONDS ? passed : 0;
  for (const each of placesOf(gameId, session.platform))
    await store.addTo(transaction, each, spansOf(now), { session_seconds });
}
