import type { App } from '../../platform/app.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import type { JsonValue } from '../../platform/jobs/jobs.ts';
import type { StudioEventKind } from './kinds.ts';
import * as store from './store.ts';

export type { StudioEventRow } from './store.ts';

export interface StudioEvent {
  readonly gameId: number;
  readonly kind: StudioEventKind;
  /** The subject, such as `mods/7`. Events of one subject are delivered in order. */
  readonly subject: string;
  readonly data: { readonly [name: string]: JsonValue };
}

/** A delivery is retried for this long before it is parked. */
export const RETRY_SECONDS = 24 * 3_600;

/** The scope that wakes listeners of a game's event stream. */
export const studioScope = (gameId: number) => `games/${gameId}/studio`;

/**
 * Records an event for the studio of a game in the transaction of the change, so that it is delivered if and only if
 * that commits. Other writers for the game wait until the commit: call it last.
 */
export async function recordStudioEvent(app: App, transaction: Transaction, event: StudioEvent): Promise<void> {
  const { gameId, kind, subject, data } = event;
  const now = app.clock.now();
  const row = { game_id: gameId, kind, subject, data: JSON.stringify(data), date_added: now };
  const eventId = await store.addEvent(transaction, row);
  for (const webhook of await store.listeningTo(transaction, gameId)) {
    if (webhook.kinds !== '' && !webhook.kinds.split(' ').includes(kind)) continue;
    await store.addDelivery(transaction, webhook.id, eventId, subject, now, now + RETRY_SECONDS);
    await wake(app, transaction, webhook.id);
  }
  transaction.changed(studioScope(gameId));
}

/** Enqueues a job that delivers due events to an endpoint, now or at a given time. */
export const wake = (app: App, transaction: Transaction, webhookId: number, runAt?: number): Promise<void> =>
  app.jobs.enqueue(
    transaction,
    'webhooks.deliver',
    { webhookId },
    // The keys differ, because a job queued for later would suppress one for now.
    runAt === undefined ? { key: `webhook/${webhookId}` } : { key: `webhook/${webhookId}/${runAt}`, runAt },
  );

export const studioEventsAfter = (db: Database, gameId: number, id: number, most: number) =>
  store.eventsAfter(db, gameId, id, most);

/** The id of the newest event of a game, or 0. */
export const newestStudioEvent = (db: Database, gameId: number): Promise<number> => store.newestEvent(db, gameId);
