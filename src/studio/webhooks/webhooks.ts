import { lockGame, requireGameAdministrator } from '../../catalogue/games/games.ts';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import type { ListRequest } from '../../platform/database/listing.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { auditGame } from '../../records/audit/audit.ts';
import type { Outcome } from '../../records/webhooks/delivering.ts';
import * as endpoints from '../../records/webhooks/endpoints.ts';

type WebhookRow = endpoints.WebhookRow;

export const WEBHOOKS_MAX = 10;

export interface WebhookPlace {
  readonly gameId: number;
  readonly webhookId: number;
}

type Reader = Pick<Transaction, 'first' | 'query'>;

async function requireWebhook(
  reader: Reader,
  caller: Caller,
  { gameId, webhookId }: WebhookPlace,
): Promise<WebhookRow> {
  await requireGameAdministrator(reader, caller, gameId);
  const webhook = await endpoints.endpointById(reader.query, webhookId);
  if (webhook?.game_id !== gameId) throw new ApiError('RESOURCE_NOT_FOUND');
  return webhook;
}

export async function listWebhooks(app: App, caller: Caller, gameId: number): Promise<WebhookRow[]> {
  await requireGameAdministrator(app.db, caller, gameId);
  return endpoints.endpointsOf(app.db.query, gameId);
}

export const addWebhook = (
  app: App,
  caller: UserCaller,
  gameId: number,
  settings: endpoints.EndpointSettings,
): Promise<endpoints.WithSecret> =>
  app.db.write(async (transaction) => {
    await requireGameAdministrator(transaction, caller, gameId);
    await lockGame(transaction, gameId);
    const { length } = await endpoints.endpointsOf(transaction.query, gameId);
    if (length >= WEBHOOKS_MAX)
      throw new ApiError('VALIDATION_GENERIC', {
        fields: [{ field: 'url', rule: 'array_max', values: { max: WEBHOOKS_MAX } }],
      });
    const added = await endpoints.addEndpoint(app, transaction, { gameId, addedBy: caller.userId }, settings);
    transaction.made?.(added.webhook.id);
    await auditWebhook(app, transaction, caller, added.webhook, 'add');
    return added;
  });

/** The audit log omits the address, because it can contain a secret. */
const auditWebhook = (
  app: App,
  transaction: Transaction,
  caller: UserCaller,
  { id, game_id }: Pick<WebhookRow, 'id' | 'game_id'>,
  done: 'add' | 'edit' | 'remove' | 'rotate-secret' | 'replay',
) => auditGame(app, transaction, caller, game_id, { action: `webhooks-${done}`, data: { webhook: id } });

export const editWebhook = (
  app: App,
  caller: UserCaller,
  place: WebhookPlace,
  settings: Partial<endpoints.EndpointSettings>,
): Promise<WebhookRow> =>
  app.db.write(async (transaction) => {
    const { id } = await requireWebhook(transaction, caller, place);
    const after = await endpoints.changeEndpoint(app, transaction, id, settings);
    await auditWebhook(app, transaction, caller, after, 'edit');
    return after;
  });

export const removeWebhook = (app: App, caller: UserCaller, place: WebhookPlace): Promise<void> =>
  app.db.write(async (transaction) => {
    const webhook = await requireWebhook(transaction, caller, place);
    await endpoints.removeEndpoint(transaction, webhook.id);
    await auditWebhook(app, transaction, caller, webhook, 'remove');
  });

export const rotateSecret = (
  app: App,
  caller: UserCaller,
  place: WebhookPlace,
  overlapSeconds: number,
): Promise<endpoints.WithSecret> =>
  app.db.write(async (transaction) => {
    const webhook = await requireWebhook(transaction, caller, place);
    const rotated = await endpoints.rotateEndpointSecret(app, transaction, webhook, overlapSeconds);
    await auditWebhook(app, transaction, caller, rotated.webhook, 'rotate-secret');
    return rotated;
  });

export async function testWebhook(app: App, caller: Caller, place: WebhookPlace): Promise<Outcome> {
  return endpoints.sendTestEvent(app, await requireWebhook(app.db, caller, place));
}

export async function listDeliveries(app: App, caller: Caller, place: WebhookPlace, request: ListRequest) {
  const { id } = await requireWebhook(app.db, caller, place);
  return endpoints.listDeliveries(app.db.query, id, request);
}

export const replayDelivery = (
  app: App,
  caller: UserCaller,
  place: WebhookPlace,
  deliveryId: number,
): Promise<endpoints.DeliveryRow> =>
  app.db.write(async (transaction) => {
    const webhook = await requireWebhook(transaction, caller, place);
    const replayed = await endpoints.replayDelivery(app, transaction, webhook.id, deliveryId);
    if (!replayed) throw new ApiError('RESOURCE_NOT_FOUND');
    await auditWebhook(app, transaction, caller, webhook, 'replay');
    return replayed;
  });

export const replayParked = (app: App, caller: UserCaller, place: WebhookPlace): Promise<number> =>
  app.db.write(async (transaction) => {
    const webhook = await requireWebhook(transaction, caller, place);
    const replayed = await endpoints.replayParked(app, transaction, webhook.id);
    await auditWebhook(app, transaction, caller, webhook, 'replay');
    return replayed;
  });
