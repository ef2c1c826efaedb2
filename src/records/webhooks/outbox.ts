import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import type { JsonValue } from '../../platform/jobs/jobs.ts';
import type { StudioEventKind } from './kinds.ts';
import * as store from './store.ts';

// Every noun tells of itself here, so this file knows none of them.

export interface StudioEvent {
  readonly gameId: number;
  readonly kind: StudioEventKind;
  /** What it happened to, such as `mods/7`: its events reach the studio in their order. */
  readonly subject: string;
  readonly data: { readonly [name: string]: JsonValue };
}

/** An endpoint is tried for this long before a delivery is set aside. */
export const GIVES_UP_SECONDS = 24 * 3_600;

/** What wakes those who listen to a game's events. */
export const studioScope = (gameId: number) => `games/${gameId}/studio`;

/**
 * Tells the studio of a game what happens, in the transaction in which it does: it is told if, and only if, that
 * commits. Others who tell for the game wait from here until the commit, so call it last.
 */
export async function tellStudio(app: App, transaction: Transaction, event: StudioEvent): Promise<void> {
  const { gameId, kind, subject, data } = event;
  const now = app.clock.now();
  const row = { game_id: gameId, kind, subject, data: JSON.stringify(data), date_added: now };
  const eventId = await store.addEvent(transaction, row);
  for (const webhook of await store.listeningTo(transaction, gameId)) {
    if (webhook.kinds !== '' && !webhook.kinds.split(' ').includes(kind)) continue;
    await store.addDelivery(transaction, webhook.id, eventId, subject, now, now + GIVES_UP_SECONDS);
    await wake(app, transaction, webhook.id);
  }
  transaction.changed(studioScope(gameId));
}

/** Has what is due for an endpoint delivered: now, or at a time. */
export const wake = (app: App, transaction: Transaction, webhookId: number, runAt?: number): Promise<void> =>
  app.jobs.enqueue(
    transaction,
    'webhooks.deliver',
    { webhookId },
    // One that waits for later would swallow another for now, so their keys differ.
    runAt === undefined ? { key: `webhook/${webhookId}` } : { key: `webhook/${webhookId}/${runAt}`, runAt },
  );
