import type { App } from '../../platform/app.ts';
import { takenAtOnce } from '../../platform/database/bulk.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import { answersTo } from '../../platform/database/pipelining.ts';
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

/** Changes with the outcome of deliveries to a game's webhooks. */
export const deliveriesScope = (gameId: number) => `games/${gameId}/deliveries`;

/**
 * Records an event for the studio of a game in the transaction of the change, so that it is delivered if and only if
 * that commits. Other writers for the game wait until the commit: call it last.
 */
export async function recordStudioEvent(app: App, transaction: Transaction, event: StudioEvent): Promise<void> {
  const { queued, listeners } = await nextOf(app, transaction, event.gameId);
  await addEvents(app, transaction, { gameId: event.gameId, listeners }, [...queued, rowOf(app, event)]);
}

/**
 * As `recordStudioEvent`, for events so frequent that their writers must not wait for each other. The event gets its id
 * within a second, and before any later event of the game.
 */
export const queueStudioEvent = async (app: App, transaction: Transaction, event: StudioEvent): Promise<void> => {
  await store.queueEvent(transaction, rowOf(app, event));
};

const rowOf = (app: App, { gameId, kind, subject, data }: StudioEvent): Omit<store.StudioEventRow, 'id'> => ({
  game_id: gameId,
  kind,
  subject,
  data: JSON.stringify(data),
  date_added: app.clock.now(),
});

/** Takes the oldest events of a game's queue, and the endpoints that listen. */
async function nextOf(app: App, transaction: Transaction, gameId: number) {
  const [queued, listeners] = await answersTo([
    store.takeQueued(transaction, gameId, takenAtOnce(app.db)),
    store.listeningTo(transaction, gameId),
  ]);
  return { queued, listeners };
}

/** Returns whether all queued events of the game have moved. */
async function moveQueued(app: App, transaction: Transaction, gameId: number): Promise<boolean> {
  const { queued, listeners } = await nextOf(app, transaction, gameId);
  if (queued.length > 0) await addEvents(app, transaction, { gameId, listeners }, queued);
  return queued.length < takenAtOnce(app.db);
}

/** Moves the queued events of all games to their streams and webhooks. */
export async function moveQueuedEvents(app: App): Promise<void> {
  for (const gameId of await store.gamesWithQueuedEvents(app.db))
    while (!(await app.db.write((transaction) => moveQueued(app, transaction, gameId))));
}

/** An endpoint that listens to a game. */
interface Listener {
  readonly id: number;
  readonly kinds: string;
}

async function addEvents(
  app: App,
  transaction: Transaction,
  { gameId, listeners }: { readonly gameId: number; readonly listeners: readonly Listener[] },
  events: readonly Omit<store.StudioEventRow, 'id'>[],
): Promise<void> {
  if (listeners.length === 0) await store.addEvents(transaction, events);
  else for (const event of events) await addDelivered(app, transaction, event, listeners);
  transaction.changed(studioScope(gameId));
}

async function addDelivered(
  app: App,
  transaction: Transaction,
  event: Omit<store.StudioEventRow, 'id'>,
  listeners: readonly Listener[],
): Promise<void> {
  const { kind, subject, date_added: now } = event;
  const eventId = await store.addEvent(transaction, event);
  for (const { id, kinds } of listeners) {
    if (kinds !== '' && !kinds.split(' ').includes(kind)) continue;
    await store.addDelivery(transaction, id, eventId, subject, now, now + RETRY_SECONDS);
    await wake(app, transaction, id);
  }
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
