import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { countSessions, DAY } from './counting.ts';
import { secretOf } from './secrets.ts';
import { isSigned, type SessionReport, secondOf } from './signing.ts';
import * as store from './store.ts';

export type Step = 'start' | 'heartbeat' | 'end';

/** Tolerates wrong clocks of players. Hashes of older reports are no longer stored, so repetitions would go unnoticed. */
const SKEW_SECONDS = DAY;
/** A longer gap between two reports does not count as playing time. */
const SILENCE_SECONDS = 30 * 60;

const invalid = (field: string) => new ApiError('VALIDATION_GENERIC', { fields: [{ field, rule: 'invalid' }] });

/** Records a signed report of a game's client. Repetitions and reports out of order are refused. */
export async function recordSession(
  app: App,
  place: store.Place,
  userId: number,
  step: Step,
  sent: SessionReport,
): Promise<void> {
  const { gameId } = place;
  const secret = (await secretOf(app, gameId))?.secret;
  const now = app.clock.now();
  if (Math.abs(secondOf(sent.ts) - now) > SKEW_SECONDS) throw invalid('session_ts');
  if (secret === undefined || !isSigned(secret, sent)) throw invalid('session_hash');
  await app.db.write(async (transaction) => {
    if (!(await store.addReportHash(transaction, gameId, sent.hash.toLowerCase(), now))) throw invalid('session_nonce');
    if (step === 'start') await start(app, transaction, place, userId, sent, now);
    else await updateSession(app, transaction, gameId, sent, { now, isEnd: step === 'end' });
  });
}

async function start(
  app: App,
  transaction: Transaction,
  place: store.Place,
  userId: number,
  sent: SessionReport,
  now: number,
) {
  const { gameId, platform } = place;
  const row = { game_id: gameId, session_id: sent.sessionId, user_id: userId, platform };
  if (!(await store.addSession(transaction, { ...row, order_id: sent.orderId, date_started: now })))
    throw invalid('session_id');
  await countSessions(app, transaction, place, { sessions: 1 });
}

async function updateSession(
  app: App,
  transaction: Transaction,
  gameId: number,
  { sessionId, orderId }: SessionReport,
  { now, isEnd }: { now: number; isEnd: boolean },
): Promise<void> {
  const session = await store.lockSession(transaction, gameId, sessionId);
  if (!session || session.date_ended > 0) throw invalid('session_id');
  if (orderId <= session.order_id) throw invalid('session_order_id');
  const passed = now - session.date_last;
  await store.updateSession(transaction, {
    id: session.id,
    order_id: orderId,
    date_last: now,
    date_ended: isEnd ? now : 0,
  });
  const session_seconds = passed <= SILENCE_SECONDS ? passed : 0;
  await countSessions(app, transaction, { gameId, platform: session.platform }, { session_seconds });
}
