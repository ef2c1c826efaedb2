import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi, type User } from '../../../test/api.ts';
import { EventListener } from '../../../test/event-streams.ts';
import { anotherService } from '../../../test/wire.ts';
import { modComments } from '../../community/comments/operations.ts';
import { subscribeToMod } from '../../community/subscriptions/operations.ts';
import { composeWorker } from '../../composition/compose.ts';
import { banUser } from '../../moderation/user-bans/operations.ts';
import { revokeTokens } from '../../platform/access/credentials.ts';
import { closeOwnAccount, deleteOwnAccount } from '../../signin/accounts/operations.ts';
import { followUserOperation } from '../follows/operations.ts';
import type { Unread } from './live.ts';
import {
  deleteNotification,
  deleteNotifications,
  getNotifications,
  readNotifications,
  streamNotifications,
  updateNotification,
} from './operations.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
const worker = composeWorker(api.app());

type Heard = Unread & { readonly id: number; readonly kind: string; readonly is_read: boolean };

async function aReader() {
  const user = await api.aUser();
  const client = await api.as(user);
  const listen = (headers: Record<string, string> = {}, port = api.port) =>
    EventListener.open<Heard>(api, '/v1/me/notifications/stream', client.token!, { headers, port });
  return { user, client, listen };
}

async function isFollowed({ id }: User): Promise<void> {
  const follower = await api.aUser();
  const input = { params: { user_id: follower.id }, body: { user_id: id } };
  await (await api.as(follower)).call(followUserOperation, input);
}

const NONE: Unread = { count: 0, ids: [] };

test('a user hears of each new notification, and which are unread, wherever they are read or removed', async () => {
  const { user, client, listen } = await aReader();
  await isFollowed(user);
  const [earlier] = (await client.call(getNotifications)).body.data;
  const heard = await listen();
  const next = async () => (await heard.next())!;
  const unread = async () => {
    const { type, data } = await next();
    assert.equal(type, 'unread');
    return data;
  };
  assert.deepEqual(await unread(), { count: 1, ids: [earlier!.id] });
  await isFollowed(user);
  const { id, type, data } = await next();
  assert.deepEqual([type, data], ['notification', (await client.call(getNotifications)).body.data[0]]);
  assert.equal(id, data.id);
  assert.deepEqual(await unread(), { count: 2, ids: [id, earlier!.id] });
  const named = { params: { notification_id: id } };
  await client.call(updateNotification, { ...named, body: { is_read: true } });
  assert.deepEqual(await unread(), { count: 1, ids: [earlier!.id] });
  await client.call(updateNotification, { ...named, body: { is_read: false } });
  assert.deepEqual(await unread(), { count: 2, ids: [id, earlier!.id] });
  await client.call(deleteNotification, named);
  assert.deepEqual(await unread(), { count: 1, ids: [earlier!.id] });
  await client.call(readNotifications);
  assert.deepEqual(await unread(), NONE);
  await client.call(updateNotification, { params: { notification_id: earlier!.id }, body: { is_read: false } });
  assert.equal((await unread()).count, 1);
  await client.call(deleteNotifications);
  assert.deepEqual(await unread(), NONE);
  heard.close();
});

test('subscribers hear of a new file, and an author of a comment that comes and goes', async () => {
  const mod = await api.aMod();
  const params = { game_id: mod.game_id, mod_id: mod.id };
  const subscriber = await aReader();
  await api.aFile(mod);
  await subscriber.client.call(subscribeToMod, { params });
  const heard = await subscriber.listen();
  assert.deepEqual((await heard.next())!.data, NONE);
  api.clock.advance(60);
  await api.aFile(mod);
  await worker.runDue();
  assert.equal((await heard.next())!.data.kind, 'mod_updated');
  heard.close();
  const author = await EventListener.open<Heard>(api, '/v1/me/notifications/stream', (await api.as(mod.owner)).token!);
  const { count } = (await author.next())!.data;
  const { body: comment } = await subscriber.client.call(modComments.add, { params, body: { content: 'Nice' } });
  assert.equal((await author.next())!.data.kind, 'comment');
  assert.equal((await author.next())!.data.count, count + 1);
  await subscriber.client.call(modComments.remove, { params: { ...params, comment_id: comment.id } });
  assert.equal((await author.next())!.data.count, count);
  author.close();
});

test('a client continues after the last notification that it received', async () => {
  const { user, client, listen } = await aReader();
  for (let i = 0; i < 3; i += 1) await isFollowed(user);
  const ids = (await client.call(getNotifications)).body.data.map(({ id }) => id).reverse();
  const again = await listen({ 'last-event-id': String(ids[0]) });
  assert.deepEqual([(await again.next())!.id, (await again.next())!.id], ids.slice(1));
  assert.deepEqual((await again.next())!.data, { count: 3, ids: ids.toReversed() });
  again.close();
  const path = '/v1/me/notifications/stream?last_event_id=0';
  const whole = await EventListener.open<Heard>(api, path, client.token!);
  assert.equal((await whole.next())!.id, ids[0]);
  whole.close();
  const head = await client.send('HEAD', '/me/notifications/stream');
  assert.deepEqual([head.status, head.text], [200, '']);
  await (await api.withKey(await api.aGame())).refused(streamNotifications, {}, 401, 11_059);
});

test('the stream ends when the token is revoked, or the account is banned or deleted', async () => {
  const { db } = api.app();
  const admin = await api.as(await api.aUser({ admin: true }));
  const ends: ((reader: Awaited<ReturnType<typeof aReader>>) => Promise<unknown>)[] = [
    ({ user }) => db.write((transaction) => revokeTokens(api.app(), transaction, { userId: user.id })),
    ({ user }) => admin.call(banUser, { params: { user_id: user.id }, body: { reason: 'Spam' } }),
    async ({ user, client }) => {
      await client.call(closeOwnAccount);
      await client.call(deleteOwnAccount, { body: { email: user.username } });
    },
  ];
  for (const end of ends) {
    const reader = await aReader();
    const heard = await reader.listen();
    assert.deepEqual((await heard.next())!.data, NONE);
    await end(reader);
    assert.equal(await heard.next(), undefined);
  }
});

test('a user whom another process serves hears the same', async () => {
  const other = await anotherService(api);
  const { user, client, listen } = await aReader();
  const heard = await listen({}, other.port);
  assert.deepEqual((await heard.next())!.data, NONE);
  await isFollowed(user);
  assert.equal((await heard.next())!.data.kind, 'follower');
  assert.equal((await heard.next())!.data.count, 1);
  await client.call(readNotifications);
  assert.deepEqual((await heard.next())!.data, NONE);
  await other.stop();
  assert.equal(await heard.next(), undefined);
});

test('one user has up to 32 streams, and another one when one of them has ended', async () => {
  const { listen } = await aReader();
  const streams = await Promise.all(Array.from({ length: 32 }, () => listen()));
  assert.ok(streams.every(({ response }) => response.statusCode === 200));
  const refused = await listen();
  assert.deepEqual([refused.response.statusCode, refused.response.headers['retry-after']], [429, '60']);
  refused.close();
  const stranger = await (await aReader()).listen();
  assert.equal(stranger.response.statusCode, 200);
  streams.pop()!.close();
  let another = await listen();
  // The service learns of the closed connection a moment later.
  while (another.response.statusCode === 429) {
    another.close();
    another = await listen();
  }
  assert.equal(another.response.statusCode, 200);
  for (const stream of [...streams, another, stranger]) stream.close();
});
