import { holdGame, requireGame } from '../../catalogue/games/games.ts';
import { ADMINISTRATOR, teamLevel } from '../../catalogue/teams/teams.ts';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import type { Listing, ListRequest } from '../../platform/database/listing.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { auditGame } from '../audit/audit.ts';
import { bodyOf, type Outcome, post } from './delivering.ts';
import { GIVES_UP_SECONDS, wake } from './outbox.ts';
import { secretOf } from './signing.ts';
import * as store from './store.ts';

export type { DeliveryRow, WebhookRow } from './store.ts';

export const WEBHOOKS_MAX = 10;

/** What lists of deliveries may be filtered and sorted by. */
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

/** Only administrators of a game, and those who run the site, see and change where its events go. */
async function requireAdministrator(reader: Pick<Database, 'first'>, caller: Caller, gameId: number): Promise<void> {
  await requireGame(reader, caller, gameId);
  // A client that someone let in must not send itself more than it was let in for.
  const isOwnToken = caller.kind === 'user' && caller.clientId === undefined;
  if (!isOwnToken || (await teamLevel(reader, caller, 'games', gameId)) < ADMINISTRATOR)
    throw new ApiError('GAME_NO_ADMIN_PERMISSION');
}

export interface WebhookPlace {
  readonly gameId: number;
  readonly webhookId: number;
}

type Reader = Pick<Transaction, 'first' | 'query'>;

async function requireWebhook(
  reader: Reader,
  caller: Caller,
  { gameId, webhookId }: WebhookPlace,
): Promise<store.WebhookRow> {
  await requireAdministrator(reader, caller, gameId);
  const webhook = await store.webhookById(reader.query, webhookId);
  if (webhook?.game_id !== gameId) throw new ApiError('RESOURCE_NOT_FOUND');
  return webhook;
}

export async function listWebhooks(app: App, caller: Caller, gameId: number): Promise<store.WebhookRow[]> {
  await requireAdministrator(app.db, caller, gameId);
  return store.webhooksOf(app.db.query, gameId);
}

export interface WebhookWish {
  readonly name: string;
  readonly url: string;
  /** None means all. */
  readonly kinds: readonly string[];
  readonly isActive: boolean;
}

export interface WithSecret {
  readonly webhook: store.WebhookRow;
  readonly secret: string;
}

const columnsOf = ({ name, url, kinds, isActive }: Partial<WebhookWish>) => ({
  ...(name !== undefined && { name }),
  ...(url !== undefined && { url }),
  ...(kinds !== undefined && { kinds: [...new Set(kinds)].join(' ') }),
  ...(isActive !== undefined && { is_active: Number(isActive) }),
});

export const addWebhook = (app: App, caller: UserCaller, gameId: number, wish: WebhookWish): Promise<WithSecret> =>
  app.db.write(async (transaction) => {
    await requireAdministrator(transaction, caller, gameId);
    await holdGame(transaction, gameId);
    const { length } = await store.webhooksOf(transaction.query, gameId);
    if (length >= WEBHOOKS_MAX)
      throw new ApiError('VALIDATION_GENERIC', {
        fields: [{ field: 'url', rule: 'array_max', values: { max: WEBHOOKS_MAX } }],
      });
    const now = app.clock.now();
    const seed = app.random.hex(32);
    const webhook = await store.addWebhook(transaction.query, {
      game_id: gameId,
      name: wish.name,
      url: wish.url,
      kinds: [...new Set(wish.kinds)].join(' '),
      is_active: Number(wish.isActive),
      secret_seed: seed,
      old_secret_seed: null,
      date_old_secret_ends: 0,
      failures: 0,
      date_resumes: 0,
      added_by: caller.userId,
      date_added: now,
      date_updated: now,
    });
    transaction.made?.(webhook.id);
    await auditWebhook(app, transaction, caller, webhook, 'add');
    return { webhook, secret: secretOf(app, seed) };
  });

/** The address is a secret of the game; that there is another one is not. */
const auditWebhook = (
  app: App,
  transaction: Transaction,
  caller: UserCaller,
  { id, game_id }: Pick<store.WebhookRow, 'id' | 'game_id'>,
  done: 'add' | 'edit' | 'remove' | 'rotate-secret' | 'replay',
) => auditGame(app, transaction, caller, game_id, { action: `webhooks-${done}`, data: { webhook: id } });

/** What waits goes to the new address; an endpoint that is switched on again goes on where it stopped. */
export const editWebhook = (
  app: App,
  caller: UserCaller,
  place: WebhookPlace,
  wish: Partial<WebhookWish>,
): Promise<store.WebhookRow> =>
  app.db.write(async (transaction) => {
    const { id } = await requireWebhook(transaction, caller, place);
    const resumed = { failures: 0, date_resumes: 0, date_updated: app.clock.now() };
    await wake(app, transaction, id);
    const after = await store.changeWebhook(transaction.query, id, { ...columnsOf(wish), ...resumed });
    await auditWebhook(app, transaction, caller, after, 'edit');
    return after;
  });

export const removeWebhook = (app: App, caller: UserCaller, place: WebhookPlace): Promise<void> =>
  app.db.write(async (transaction) => {
    const webhook = await requireWebhook(transaction, caller, place);
    await store.removeWebhook(transaction.query, webhook.id);
    await auditWebhook(app, transaction, caller, webhook, 'remove');
  });

/** Both secrets sign until the old one ends, so that the receiver can change over in between. */
export const rotateSecret = (
  app: App,
  caller: UserCaller,
  place: WebhookPlace,
  overlapSeconds: number,
): Promise<WithSecret> =>
  app.db.write(async (transaction) => {
    const { id, secret_seed } = await requireWebhook(transaction, caller, place);
    const seed = app.random.hex(32);
    const now = app.clock.now();
    const webhook = await store.changeWebhook(transaction.query, id, {
      secret_seed: seed,
      old_secret_seed: overlapSeconds > 0 ? secret_seed : null,
      date_old_secret_ends: now + overlapSeconds,
      date_updated: now,
    });
    await auditWebhook(app, transaction, caller, webhook, 'rotate-secret');
    return { webhook, secret: secretOf(app, seed) };
  });

/** Sends a message that tells of nothing, at once and once, and says how it was taken. */
export async function testWebhook(app: App, caller: Caller, place: WebhookPlace): Promise<Outcome> {
  const webhook = await requireWebhook(app.db, caller, place);
  const event = { id: 0, game_id: place.gameId, kind: 'WEBHOOK_TEST', subject: `webhooks/${webhook.id}`, data: '{}' };
  const body = bodyOf({ ...event, date_added: app.clock.now() });
  return post(app, webhook, { id: 0, attempt: 1, body });
}

export async function listDeliveries(app: App, caller: Caller, place: WebhookPlace, request: ListRequest) {
  const { id } = await requireWebhook(app.db, caller, place);
  const newestFirst = { sql: 'd.id', descending: true };
  return store.listDeliveries(app.db.query, id, deliveryListing, { ...request, sort: request.sort ?? newestFirst });
}

/** Sends one again, also one that was delivered. It goes before later ones of its subject that still wait. */
export const replayDelivery = (
  app: App,
  caller: UserCaller,
  place: WebhookPlace,
  deliveryId: number,
): Promise<store.DeliveryRow> =>
  app.db.write(async (transaction) => {
    const { id } = await requireWebhook(transaction, caller, place);
    const now = app.clock.now();
    if (!(await store.deliveryById(transaction.query, id, deliveryId))) throw new ApiError('RESOURCE_NOT_FOUND');
    await store.waitAgain(transaction.query, deliveryId, now, now + GIVES_UP_SECONDS);
    await resume(app, transaction, id);
    await auditWebhook(app, transaction, caller, { id, game_id: place.gameId }, 'replay');
    return (await store.deliveryById(transaction.query, id, deliveryId))!;
  });

/** Sends all again that were given up, and says how many. */
export const replayParked = (app: App, caller: UserCaller, place: WebhookPlace): Promise<number> =>
  app.db.write(async (transaction) => {
    const { id } = await requireWebhook(transaction, caller, place);
    const now = app.clock.now();
    const replayed = await store.parkedWaitAgain(transaction.query, id, now, now + GIVES_UP_SECONDS);
    await resume(app, transaction, id);
    await auditWebhook(app, transaction, caller, { id, game_id: place.gameId }, 'replay');
    return replayed;
  });

async function resume(app: App, transaction: Transaction, id: number): Promise<void> {
  await store.changeWebhook(transaction.query, id, { failures: 0, date_resumes: 0 });
  await wake(app, transaction, id);
}
