import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import {
  type Database,
  type Query,
  type Statement,
  statement,
  type Transaction,
} from '../../platform/database/database.ts';
import { type Listing, type ListRequest, narrowed, paged } from '../../platform/database/listing.ts';
import { skipLocked, takeAdvisoryLock } from '../../platform/database/locks.ts';
import { takeFrom } from '../../platform/database/removal.ts';
import type { StudioEventsTable, WebhookDeliveriesTable, WebhooksTable } from './table.ts';

export type StudioEventRow = Selectable<StudioEventsTable>;
export type WebhookRow = Selectable<WebhooksTable>;

const ADD_EVENT = statement(
  'insert into studio_events (game_id, kind, subject, data, date_added) values (?, ?, ?, ?, ?) returning id',
);

/** The transaction has the game's lock. */
export async function addEvent(transaction: Transaction, event: Omit<StudioEventRow, 'id'>): Promise<number> {
  const { game_id, kind, subject, data, date_added } = event;
  return (await transaction.first<{ id: number }>(ADD_EVENT, [game_id, kind, subject, data, date_added]))!.id;
}

const ADD_EVENTS: Statement = {
  text: `insert into studio_events (game_id, kind, subject, data, date_added)
    select json_extract(value, '$.game_id'), json_extract(value, '$.kind'), json_extract(value, '$.subject'),
      json_extract(value, '$.data'), json_extract(value, '$.date_added') from json_each(?) order by key`,
  postgres: `insert into studio_events (game_id, kind, subject, data, date_added)
    select (value ->> 'game_id')::bigint, value ->> 'kind', value ->> 'subject', value ->> 'data',
      (value ->> 'date_added')::bigint from json_array_elements($1::json) with ordinality as e (value, place) order by place`,
};
/** Adds events in this order, with ascending ids. The transaction has the game's lock. */
export const addEvents = (transaction: Transaction, events: readonly Omit<StudioEventRow, 'id'>[]) =>
  transaction.run(ADD_EVENTS, [JSON.stringify(events)]);

const QUEUE = statement(
  'insert into studio_event_queue (game_id, kind, subject, data, date_added) values (?, ?, ?, ?, ?)',
);
export const queueEvent = (transaction: Transaction, event: Omit<StudioEventRow, 'id'>) =>
  transaction.run(QUEUE, [event.game_id, event.kind, event.subject, event.data, event.date_added]);

const QUEUED_GAMES = statement('select distinct game_id from studio_event_queue order by game_id');
export const gamesWithQueuedEvents = async (db: Pick<Database, 'all'>): Promise<number[]> =>
  (await db.all<{ game_id: number }>(QUEUED_GAMES, [])).map((row) => row.game_id);

const TAKE_QUEUED = takeFrom(
  'studio_event_queue',
  'select id from studio_event_queue where game_id = ? order by id limit ?',
  '*',
);
/**
 * Removes the oldest queued events of a game and returns them in order. Listeners must see events in the order of their
 * ids, so other writers for the game wait until the commit. The lock is that of `events/store.ts`, because two locks for
 * one game could be taken in either order and deadlock.
 */
export async function takeQueued(transaction: Transaction, gameId: number, most: number): Promise<StudioEventRow[]> {
  await takeAdvisoryLock(transaction, `mod_events/${gameId}`);
  return (await transaction.all<StudioEventRow>(TAKE_QUEUED, [gameId, most])).sort((one, other) => one.id - other.id);
}

const LISTENING = statement('select id, kinds from webhooks where game_id = ? and is_active = 1');
export const listeningTo = (transaction: Transaction, gameId: number) =>
  transaction.all<{ id: number; kinds: string }>(LISTENING, [gameId]);

const ADD_DELIVERY = statement(`insert into webhook_deliveries
  (webhook_id, event_id, subject, state, attempts, tries, date_due, date_gives_up, date_added, date_tried, duration_ms)
  values (?, ?, ?, 'waiting', 0, 0, ?, ?, ?, 0, 0)`);
export const addDelivery = (
  transaction: Transaction,
  webhookId: number,
  eventId: number,
  subject: string,
  now: number,
  dateGivesUp: number,
) => transaction.run(ADD_DELIVERY, [webhookId, eventId, subject, now, dateGivesUp, now]);

const EVENTS_AFTER = statement('select * from studio_events where game_id = ? and id > ? order by id limit ?');
export const eventsAfter = (db: Database, gameId: number, id: number, most: number) =>
  db.all<StudioEventRow>(EVENTS_AFTER, [gameId, id, most]);

const NEWEST_EVENT = statement('select id from studio_events where game_id = ? order by id desc limit 1');
export const newestEvent = async (db: Database, gameId: number): Promise<number> =>
  (await db.first<{ id: number }>(NEWEST_EVENT, [gameId]))?.id ?? 0;

export const webhooksOf = (query: Query, gameId: number): Promise<WebhookRow[]> =>
  query.selectFrom('webhooks').selectAll().where('game_id', '=', gameId).orderBy('id').execute();

export const webhookById = (query: Query, id: number): Promise<WebhookRow | undefined> =>
  query.selectFrom('webhooks').selectAll().where('id', '=', id).executeTakeFirst();

export const addWebhook = (query: Query, row: Insertable<WebhooksTable>): Promise<WebhookRow> =>
  query.insertInto('webhooks').values(row).returningAll().executeTakeFirstOrThrow();

export const changeWebhook = (query: Query, id: number, changes: Updateable<WebhooksTable>): Promise<WebhookRow> =>
  query.updateTable('webhooks').set(changes).where('id', '=', id).returningAll().executeTakeFirstOrThrow();

export async function removeWebhook(query: Query, id: number): Promise<void> {
  await query.deleteFrom('webhook_deliveries').where('webhook_id', '=', id).execute();
  await query.deleteFrom('webhooks').where('id', '=', id).execute();
}

const ofWebhook = (query: Query, webhookId: number) =>
  query
    .selectFrom('webhook_deliveries as d')
    .innerJoin('studio_events as e', 'e.id', 'd.event_id')
    .where('d.webhook_id', '=', webhookId);

const shown = (query: Query, webhookId: number) =>
  ofWebhook(query, webhookId).selectAll('d').select(['e.game_id', 'e.kind', 'e.data', 'e.date_added as date_happened']);

/** A delivery with its event. */
export type DeliveryRow = Awaited<ReturnType<ReturnType<typeof shown>['executeTakeFirstOrThrow']>>;

export async function listDeliveries(query: Query, webhookId: number, listing: Listing, request: ListRequest) {
  const { total } = await narrowed(ofWebhook(query, webhookId), listing, request)
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await paged(narrowed(shown(query, webhookId), listing, request), listing, request).execute();
  return { rows, total: Number(total) };
}

export const deliveryById = (query: Query, webhookId: number, id: number): Promise<DeliveryRow | undefined> =>
  shown(query, webhookId).where('d.id', '=', id).executeTakeFirst();

/** Only the first waiting delivery of each subject may be sent. */
const isFirst = sql<boolean>`not exists (select 1 from webhook_deliveries as before
  where before.webhook_id = d.webhook_id and before.subject = d.subject and before.state = 'waiting'
  and before.id < d.id)`;

const mayBeSent = (query: Query, webhookId: number) =>
  shown(query, webhookId).where('d.state', '=', 'waiting').where(isFirst);

/** Claims due deliveries for the duration of the lease. */
export async function claim(
  query: Query,
  dialect: Database['dialect'],
  webhookId: number,
  now: number,
  { leaseSeconds, most }: { leaseSeconds: number; most: number },
): Promise<DeliveryRow[]> {
  const due = await mayBeSent(query, webhookId)
    .where('d.date_due', '<=', now)
    .orderBy('d.id')
    .limit(most)
    .modifyEnd(skipLocked(dialect, 'd'))
    .execute();
  for (const delivery of due) {
    const taken = { attempts: delivery.attempts + 1, tries: delivery.tries + 1, date_tried: now };
    await query
      .updateTable('webhook_deliveries')
      .set({ ...taken, date_due: now + leaseSeconds })
      .where('id', '=', delivery.id)
      .execute();
    Object.assign(delivery, taken);
  }
  return due;
}

/** When the next delivery of the endpoint is due. */
export async function nextDue(query: Query, webhookId: number): Promise<number | undefined> {
  const first = await mayBeSent(query, webhookId).orderBy('d.date_due').limit(1).executeTakeFirst();
  return first?.date_due;
}

const OVERDUE = statement(`select distinct d.webhook_id as id from webhook_deliveries d
  join webhooks w on w.id = d.webhook_id and w.is_active = 1 and w.date_resumes <= ?
  where d.state = 'waiting' and d.date_due <= ?`);
/** The endpoints with due deliveries. */
export const overdue = (transaction: Transaction, now: number) => transaction.all<{ id: number }>(OVERDUE, [now, now]);

/** Writes the outcome of an attempt, unless a newer attempt has started. */
export const settle = (
  query: Query,
  { id, attempts }: Pick<DeliveryRow, 'id' | 'attempts'>,
  outcome: Updateable<WebhookDeliveriesTable>,
) =>
  query
    .updateTable('webhook_deliveries')
    .set(outcome)
    .where('id', '=', id)
    .where('attempts', '=', attempts)
    .where('state', '=', 'waiting')
    .execute();

/** Also parks later deliveries of the subject that have expired. */
export const parkFollowing = (
  query: Query,
  { webhook_id, subject }: Pick<DeliveryRow, 'webhook_id' | 'subject'>,
  now: number,
  error: string,
) =>
  query
    .updateTable('webhook_deliveries')
    .set({ state: 'parked', error })
    .where('webhook_id', '=', webhook_id)
    .where('subject', '=', subject)
    .where('state', '=', 'waiting')
    .where('date_gives_up', '<=', now)
    .execute();

const again = (query: Query, now: number, dateGivesUp: number) =>
  query
    .updateTable('webhook_deliveries')
    .set({ state: 'waiting', tries: 0, date_due: now, date_gives_up: dateGivesUp });

export const requeue = (query: Query, id: number, now: number, dateGivesUp: number) =>
  again(query, now, dateGivesUp).where('id', '=', id).execute();

export async function requeueParked(query: Query, webhookId: number, now: number, until: number): Promise<number> {
  const parked = again(query, now, until).where('webhook_id', '=', webhookId).where('state', '=', 'parked');
  return Number((await parked.executeTakeFirst()).numUpdatedRows);
}

const REMOVE_EVENTS = statement(`delete from studio_events
  where id in (select id from studio_events where date_added < ? order by date_added limit ?) returning id`);

/** Removes events with their deliveries. Returns the number of events. */
export async function removeSomeBefore(transaction: Transaction, date: number, most: number): Promise<number> {
  const removed = await transaction.all<{ id: number }>(REMOVE_EVENTS, [date, most]);
  const ids = removed.map(({ id }) => id);
  if (ids.length > 0) await transaction.query.deleteFrom('webhook_deliveries').where('event_id', 'in', ids).execute();
  return ids.length;
}
