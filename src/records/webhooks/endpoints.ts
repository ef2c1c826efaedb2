import type { App } from '../../platform/app.ts';
import type { Query, Transaction } from '../../platform/database/database.ts';
import type { Listing, ListRequest } from '../../platform/database/listing.ts';
import { bodyOf, type Outcome, post } from './delivering.ts';
import { RETRY_SECONDS, wake } from './outbox.ts';
import { secretOf } from './signing.ts';
import * as store from './store.ts';

export type { DeliveryRow, WebhookRow } from './store.ts';

// The caller has checked permissions: this resource does not know the teams of games.

/** The columns that lists of deliveries can be filtered and sorted by. */
export const deliveryListing: Listing = {
  from: 'd',
  columns: {
    id: { kind: 'integer' },
    event_id: { kind: 'integer' },
    date_added: { kind: 'integer' },
    attempts: { kind: 'integer' },
    subject: { kind: 'text', sql: 'lower(d.subject)' },
    state: { kind: 'text', sql: 'lower(d.state)' },
    event_type: { kind: 'text', sql: 'lower(e.kind)' },
  },
  sorts: { id: 'd.id', date_added: 'd.date_added', attempts: 'd.attempts' },
};

export interface EndpointSettings {
  readonly name: string;
  readonly url: string;
  /** Empty means all. */
  readonly kinds: readonly string[];
  readonly isActive: boolean;
}

export interface WithSecret {
  readonly webhook: store.WebhookRow;
  readonly secret: string;
}

export const endpointsOf = (query: Query, gameId: number): Promise<store.WebhookRow[]> =>
  store.webhooksOf(query, gameId);

export const endpointById = (query: Query, id: number): Promise<store.WebhookRow | undefined> =>
  store.webhookById(query, id);

const namesOf = (kinds: readonly string[]): string => [...new Set(kinds)].join(' ');

export async function addEndpoint(
  app: App,
  { query }: Transaction,
  { gameId, addedBy }: { readonly gameId: number; readonly addedBy: number },
  settings: EndpointSettings,
): Promise<WithSecret> {
  const now = app.clock.now();
  const seed = app.random.hex(32);
  const webhook = await store.addWebhook(query, {
    game_id: gameId,
    name: settings.name,
    url: settings.url,
    kinds: namesOf(settings.kinds),
    is_active: Number(settings.isActive),
    secret_seed: seed,
    old_secret_seed: null,
    date_old_secret_ends: 0,
    failures: 0,
    date_resumes: 0,
    added_by: addedBy,
    date_added: now,
    date_updated: now,
  });
  return { webhook, secret: secretOf(app, seed) };
}

const columnsOf = ({ name, url, kinds, isActive }: Partial<EndpointSettings>) => ({
  ...(name !== undefined && { name }),
  ...(url !== undefined && { url }),
  ...(kinds !== undefined && { kinds: namesOf(kinds) }),
  ...(isActive !== undefined && { is_active: Number(isActive) }),
});

/** Waiting deliveries go to the new address; a reactivated endpoint continues where it stopped. */
export async function changeEndpoint(
  app: App,
  transaction: Transaction,
  id: number,
  settings: Partial<EndpointSettings>,
): Promise<store.WebhookRow> {
  const resumed = { failures: 0, date_resumes: 0, date_updated: app.clock.now() };
  await wake(app, transaction, id);
  return store.changeWebhook(transaction.query, id, { ...columnsOf(settings), ...resumed });
}

export const removeEndpoint = ({ query }: Transaction, id: number): Promise<void> => store.removeWebhook(query, id);

/** Both secrets sign until the old one ends, so that the receiver can switch in between. */
export async function rotateEndpointSecret(
  app: App,
  { query }: Transaction,
  { id, secret_seed }: store.WebhookRow,
  overlapSeconds: number,
): Promise<WithSecret> {
  const seed = app.random.hex(32);
  const now = app.clock.now();
  const webhook = await store.changeWebhook(query, id, {
    secret_seed: seed,
    old_secret_seed: overlapSeconds > 0 ? secret_seed : null,
    date_old_secret_ends: now + overlapSeconds,
    date_updated: now,
  });
  return { webhook, secret: secretOf(app, seed) };
}

/** Sends an event without content once, without retries. */
export function sendTestEvent(app: App, webhook: store.WebhookRow): Promise<Outcome> {
  const subject = `webhooks/${webhook.id}`;
  const event = { id: 0, game_id: webhook.game_id, kind: 'WEBHOOK_TEST', subject, data: '{}' };
  const body = bodyOf({ ...event, date_added: app.clock.now() });
  return post(app, webhook, { id: 0, attempt: 1, body });
}

/** Newest first by default. */
export function listDeliveries(query: Query, webhookId: number, request: ListRequest) {
  const sort = request.sort ?? { sql: 'd.id', descending: true };
  return store.listDeliveries(query, webhookId, deliveryListing, { ...request, sort });
}

/** Sends a delivery again, before later ones of its subject that still wait. Undefined where there is none. */
export async function replayDelivery(
  app: App,
  transaction: Transaction,
  webhookId: number,
  deliveryId: number,
): Promise<store.DeliveryRow | undefined> {
  const { query } = transaction;
  if (!(await store.deliveryById(query, webhookId, deliveryId))) return undefined;
  const now = app.clock.now();
  await store.requeue(query, deliveryId, now, now + RETRY_SECONDS);
  await resume(app, transaction, webhookId);
  return store.deliveryById(query, webhookId, deliveryId);
}

/** Sends all parked deliveries again, and returns their number. */
export async function replayParked(app: App, transaction: Transaction, webhookId: number): Promise<number> {
  const now = app.clock.now();
  const replayed = await store.requeueParked(transaction.query, webhookId, now, now + RETRY_SECONDS);
  await resume(app, transaction, webhookId);
  return replayed;
}

async function resume(app: App, transaction: Transaction, id: number): Promise<void> {
  await store.changeWebhook(transaction.query, id, { failures: 0, date_resumes: 0 });
  await wake(app, transaction, id);
}
