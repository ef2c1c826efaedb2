import { z } from 'zod';
import { user, userOrService } from '../../platform/access/caller.ts';
import { GamePath, PathId, page, pageOf, pageOfAll, pagesOnly } from '../../platform/http/objects.ts';
import { Created, created, eventStream, noContent, ok, operation, Stream } from '../../platform/http/operation.ts';
import { deliveryListing } from '../../records/webhooks/endpoints.ts';
import { STUDIO_EVENTS } from '../../records/webhooks/kinds.ts';
import type { StudioEventRow } from '../../records/webhooks/outbox.ts';
import {
  ReplayObject,
  toDelivery,
  toServerSentEvent,
  toWebhook,
  toWebhookSecret,
  toWebhookTest,
  WebhookDeliveryObject,
  WebhookObject,
  WebhookSecretObject,
  WebhookTestObject,
} from './object.ts';
import { streamEvents } from './stream.ts';
import {
  addWebhook,
  editWebhook,
  listDeliveries,
  listWebhooks,
  removeWebhook,
  replayDelivery,
  replayParked,
  rotateSecret,
  testWebhook,
} from './webhooks.ts';

const REFUSALS = ['GAME_NOT_FOUND', 'GAME_DELETED', 'GAME_NO_ADMIN_PERMISSION'] as const;
const DAY = 24 * 3_600;
const WebhookPath = GamePath.extend({ webhook_id: PathId });
const DeliveryPath = WebhookPath.extend({ delivery_id: PathId });

type Path = z.output<typeof WebhookPath>;
const placeOf = ({ game_id, webhook_id }: Path) => ({ gameId: game_id, webhookId: webhook_id });

const Name = z.string().trim().min(1).max(80);
/** Refuses credentials in the address, because it is shown and logged; egress refuses them too. */
const isEndpoint = (text: string) =>
  z.url({ protocol: /^https?$/ }).safeParse(text).success && URL.parse(text)?.username === '';
const Url = z
  .string()
  .max(2_000)
  .refine(isEndpoint, { params: { rule: 'url' } });
const Events = z
  .array(z.enum(STUDIO_EVENTS))
  .max(STUDIO_EVENTS.length)
  .meta({ description: 'The events to send; an empty list means all.' });

export const getGameWebhooks = operation({
  id: 'get-game-webhooks',
  tag: 'Webhooks',
  method: 'GET',
  path: '/games/{game_id}/webhooks',
  says: 'Lists the webhook endpoints of a game. Administrators of the game only.',
  access: user('read', 'team'),
  params: GamePath,
  list: pagesOnly,
  returns: ok(pageOf(WebhookObject)),
  errors: REFUSALS,
  handle: async (app, { caller, params, list }) =>
    pageOfAll((await listWebhooks(app, caller, params.game_id)).map(toWebhook), list),
});

export const addGameWebhook = operation({
  id: 'add-game-webhook',
  tag: 'Webhooks',
  method: 'POST',
  path: '/games/{game_id}/webhooks',
  says: 'Adds an endpoint that receives the events of a game from now on. The answer contains the secret that signs the messages. Administrators of the game only.',
  access: user('write', 'team'),
  params: GamePath,
  body: z.object({ name: Name, url: Url, events: Events.default([]), is_active: z.boolean().default(true) }),
  once: true,
  returns: created(WebhookSecretObject),
  errors: REFUSALS,
  handle: async (app, { caller, params, body }) => {
    const settings = { name: body.name, url: body.url, kinds: body.events, isActive: body.is_active };
    const added = await addWebhook(app, caller, params.game_id, settings);
    return new Created(
      toWebhookSecret(added),
      `${app.addresses.gameApi(params.game_id)}/games/${params.game_id}/webhooks/${added.webhook.id}`,
    );
  },
});

export const editGameWebhook = operation({
  id: 'edit-game-webhook',
  tag: 'Webhooks',
  method: 'PUT',
  path: '/games/{game_id}/webhooks/{webhook_id}',
  says: 'Changes an endpoint. Pending deliveries go to the new address. While the endpoint is disabled, nothing is sent and no events are recorded for it. Administrators of the game only.',
  access: user('write', 'team'),
  params: WebhookPath,
  body: z.object({
    name: Name.optional(),
    url: Url.optional(),
    events: Events.optional(),
    is_active: z.boolean().optional(),
  }),
  returns: ok(WebhookObject),
  errors: REFUSALS,
  handle: async (app, { caller, params, body }) => {
    const settings = {
      ...(body.name !== undefined && { name: body.name }),
      ...(body.url !== undefined && { url: body.url }),
      ...(body.events !== undefined && { kinds: body.events }),
      ...(body.is_active !== undefined && { isActive: body.is_active }),
    };
    return toWebhook(await editWebhook(app, caller, placeOf(params), settings));
  },
});

export const deleteGameWebhook = operation({
  id: 'delete-game-webhook',
  tag: 'Webhooks',
  method: 'DELETE',
  path: '/games/{game_id}/webhooks/{webhook_id}',
  says: 'Removes an endpoint and its deliveries. Administrators of the game only.',
  access: user('write', 'team'),
  params: WebhookPath,
  returns: noContent,
  errors: REFUSALS,
  handle: (app, { caller, params }) => removeWebhook(app, caller, placeOf(params)),
});

export const rotateGameWebhookSecret = operation({
  id: 'rotate-game-webhook-secret',
  tag: 'Webhooks',
  method: 'POST',
  path: '/games/{game_id}/webhooks/{webhook_id}/secret',
  says: 'Rotates the secret of an endpoint. Messages are signed with both secrets until the old one ends. Administrators of the game only.',
  access: user('write', 'team'),
  params: WebhookPath,
  query: z.object({
    overlap: z
      .int()
      .min(0)
      .max(7 * DAY)
      .default(DAY)
      .meta({ description: 'For how many seconds the old secret also signs.' }),
  }),
  returns: ok(WebhookSecretObject),
  errors: REFUSALS,
  handle: async (app, { caller, params, query }) =>
    toWebhookSecret(await rotateSecret(app, caller, placeOf(params), query.overlap)),
});

export const testGameWebhook = operation({
  id: 'test-game-webhook',
  tag: 'Webhooks',
  method: 'POST',
  path: '/games/{game_id}/webhooks/{webhook_id}/test',
  says: 'Sends an event `WEBHOOK_TEST` to an endpoint and returns its answer. Administrators of the game only.',
  access: user('write', 'team'),
  unlocked: 'nothing is written',
  limit: 20,
  params: WebhookPath,
  returns: ok(WebhookTestObject),
  errors: REFUSALS,
  handle: async (app, { caller, params, language }) =>
    toWebhookTest(await testWebhook(app, caller, placeOf(params)), language),
});

export const getGameWebhookDeliveries = operation({
  id: 'get-game-webhook-deliveries',
  tag: 'Webhooks',
  method: 'GET',
  path: '/games/{game_id}/webhooks/{webhook_id}/deliveries',
  says: 'Lists the deliveries of the last 30 days to an endpoint: sent, pending and parked, newest first. Administrators of the game only.',
  access: user('read', 'team'),
  params: WebhookPath,
  list: deliveryListing,
  returns: ok(pageOf(WebhookDeliveryObject)),
  errors: REFUSALS,
  handle: async (app, { caller, params, list, language }) => {
    const { rows, total } = await listDeliveries(app, caller, placeOf(params), list);
    return page(
      rows.map((row) => toDelivery(row, language)),
      total,
      list,
    );
  },
});

export const replayGameWebhookDelivery = operation({
  id: 'replay-game-webhook-delivery',
  tag: 'Webhooks',
  method: 'POST',
  path: '/games/{game_id}/webhooks/{webhook_id}/deliveries/{delivery_id}/replay',
  says: 'Sends a delivery again, whether it was parked or delivered, or waits for its next attempt. Administrators of the game only.',
  access: user('write', 'team'),
  params: DeliveryPath,
  returns: ok(WebhookDeliveryObject),
  errors: REFUSALS,
  handle: async (app, { caller, params, language }) =>
    toDelivery(await replayDelivery(app, caller, placeOf(params), params.delivery_id), language),
});

export const replayGameWebhook = operation({
  id: 'replay-game-webhook',
  tag: 'Webhooks',
  method: 'POST',
  path: '/games/{game_id}/webhooks/{webhook_id}/replay',
  says: 'Sends all parked deliveries again. Administrators of the game only.',
  access: user('write', 'team'),
  params: WebhookPath,
  returns: ok(ReplayObject),
  errors: REFUSALS,
  handle: async (app, { caller, params }) => ({ replayed: await replayParked(app, caller, placeOf(params)) }),
});

async function* textOf(pages: AsyncIterable<readonly StudioEventRow[]>): AsyncGenerator<string> {
  for await (const events of pages) yield events.map(toServerSentEvent).join('');
}

export const streamGameEvents = operation({
  id: 'stream-game-events',
  tag: 'Webhooks',
  method: 'GET',
  path: '/games/{game_id}/events/stream',
  says: 'Streams the events of a game as Server-Sent Events. With the id of the last received event it continues after it, up to 30 days back; without it, it starts with the next event. The team and the backend of the game only.',
  access: userOrService('read', 'read', 'team'),
  params: GamePath,
  query: z.object({
    last_event_id: z.int().min(0).optional().meta({ description: 'For clients that cannot send Last-Event-ID.' }),
  }),
  headers: { 'last-event-id': { says: 'The id of the last received event.' } },
  returns: eventStream,
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED', 'RESOURCE_NO_MODERATE_PERMISSION'],
  handle: async (app, { caller, params, query, headers }) => {
    const [named] = /^\d{1,15}$/.exec(headers['last-event-id'] ?? '') ?? [];
    const lastHeard = named === undefined ? query.last_event_id : Number(named);
    const pages = await streamEvents(app, caller, params.game_id, lastHeard);
    return new Stream((signal) => textOf(pages(signal)));
  },
});

export const webhookOperations = [
  getGameWebhooks,
  addGameWebhook,
  editGameWebhook,
  deleteGameWebhook,
  rotateGameWebhookSecret,
  testGameWebhook,
  getGameWebhookDeliveries,
  replayGameWebhookDelivery,
  replayGameWebhook,
  streamGameEvents,
];
