import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import type { StudioEventKind } from '../../records/webhooks/kinds.ts';
import { recordStudioEvent } from '../../records/webhooks/outbox.ts';
import { COOK, cooksScope } from './states.ts';
import * as store from './store.ts';

// The state transitions of a cook. The removal of mods uses them, so this file imports no other resource.

/** How often runners may start a cook before it fails. */
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

/** The runner learns of it with its next report. */
export const cancel = (app: App, transaction: Transaction, cook: store.CookRow): Promise<store.ShownCook> =>
  move(app, transaction, cook, { ...UNCLAIMED, status: COOK.CANCELLED });

/** The claim stays stored, so that a runner that lost the response gets the same one again. */
export async function fail(
  app: App,
  transaction: Transaction,
  cook: store.CookRow,
  error: string,
): Promise<store.ShownCook> {
  const after = await move(app, transaction, cook, { status: COOK.FAILED, error });
  await recordCookEvent(app, transaction, after, 'COOK_FAILED');
  return after;
}

/** Requeues the cook, or fails it if no attempts are left. */
export const requeue = (
  app: App,
  transaction: Transaction,
  cook: store.CookRow,
  error: string,
): Promise<store.ShownCook> =>
  cook.attempts >= ATTEMPTS_MAX
    ? fail(app, transaction, cook, error)
    : move(app, transaction, cook, { ...UNCLAIMED, status: COOK.WAITING });

/** Records the event for the studio. Must be called last. */
export const recordCookEvent = (
  app: App,
  transaction: Transaction,
  cook: store.CookRow,
  kind: StudioEventKind,
): Promise<void> =>
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
