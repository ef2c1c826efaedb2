import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import type { StudioEventKind } from '../../records/webhooks/kinds.ts';
import { recordStudioEvent } from '../../records/webhooks/outbox.ts';
import { COOK, cooksScope } from './states.ts';
import * as store from './store.ts';

// How a cook goes from one state to another. Mods use this when they leave, so this file knows none of them.

/** So often a runner may begin with a cook before it is given up. */
const ATTEMPTS_MAX = 3;

const UNCLAIMED = { runner_id: null, claim: null, date_lease: 0, progress: 0 };

export async function move(
  app: App,
  transaction: Transaction,
  cook: store.CookRow,
  changes: Parameters<typeof store.change>[2],
): Promise<store.ShownCook> {
  transaction.changed(cooksScope(cook.game_id));
  return store.change(transaction, cook.id, { ...changes, date_updated: app.clock.now() });
}

/** Whoever cooked it hears of it at the next report. */
export const cancel = (app: App, transaction: Transaction, cook: store.CookRow): Promise<store.ShownCook> =>
  move(app, transaction, cook, { ...UNCLAIMED, status: COOK.CANCELLED });

/** Its claim stays known, so that a runner whose report was answered into the void is told the same again. */
export async function fail(
  app: App,
  transaction: Transaction,
  cook: store.CookRow,
  error: string,
): Promise<store.ShownCook> {
  const after = await move(app, transaction, cook, { status: COOK.FAILED, error });
  await tell(app, transaction, after, 'COOK_FAILED');
  return after;
}

/** Back to those that wait, or given up where it was tried often enough. */
export const giveBack = (
  app: App,
  transaction: Transaction,
  cook: store.CookRow,
  error: string,
): Promise<store.ShownCook> =>
  cook.attempts >= ATTEMPTS_MAX
    ? fail(app, transaction, cook, error)
    : move(app, transaction, cook, { ...UNCLAIMED, status: COOK.WAITING });

/** Tells the studio; call it last. */
export const tell = (app: App, transaction: Transaction, cook: store.CookRow, kind: StudioEventKind): Promise<void> =>
  recordStudioEvent(app, transaction, {
    gameId: cook.game_id,
    kind,
    subject: `mods/${cook.mod_id}`,
    data: {
      cook_uuid: cook.cook_uuid,
      mod_id: cook.mod_id,
      modfile: cook.source_id,
      platform: cook.platform,
      status: cook.status,
      result: cook.result_id,
      error: cook.error,
    },
  });
