import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, startApi, type User } from '../../../test/api.ts';
import { addModTeamMember } from '../../catalogue/teams/operations.ts';
import { modComments } from '../../community/comments/operations.ts';
import { addMessageThread, inviteToThread } from '../../community/messages/operations.ts';
import { composeWorker } from '../../composition/compose.ts';
import { blockAUser } from '../blocks/operations.ts';
import { followUserOperation, unfollowUserOperation } from '../follows/operations.ts';
import { muteAUser } from '../mutes/operations.ts';
import {
  deleteNotification,
  deleteNotifications,
  getNotificationSettings,
  getNotifications,
  readNotifications,
  updateNotification,
  updateNotificationSettings,
} from './operations.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
const notificationsOf = async (client: Client) => (await client.call(getNotifications)).body.data;
const kinds = async (client: Client) => (await notificationsOf(client)).map(({ kind }) => kind);
const named = (notification_id: number) => ({ params: { notification_id } });

async function follow(follower: User, followed: User): Promise<void> {
  const input = { params: { user_id: follower.id }, body: { user_id: followed.id } };
  await (await api.as(follower)).call(followUserOperation, input);
}

/** A user with a follower and the notification about it. */
async function aFollowed() {
  const [ada, bob] = [await api.aUser(), await api.aUser()];
  await follow(bob, ada);
  const client = await api.as(ada);
  return { ada, bob, client, id: (await notificationsOf(client))[0]!.id };
}

test('a new follower gives one notification that names them', async () => {
  const { ada, bob, client } = await aFollowed();
  const input = { params: { user_id: bob.id, target_user_id: ada.id } };
  assert.equal((await (await api.as(bob)).call(unfollowUserOperation, input)).status, 204);
  await follow(bob, ada);
  const [one, ...more] = await notificationsOf(client);
  assert.deepEqual(
    [one!.kind, one!.user!.id, one!.resource, one!.is_read, more],
    ['follower', bob.id, 'users', false, []],
  );
});

test('a comment notifies the owner, a reply its addressee, and a mention the named user, each once', async () => {
  const mod = await api.aMod();
  const params = { game_id: mod.game_id, mod_id: mod.id };
  const [ada, bob, cleo] = [await api.aUser(), await api.aUser(), await api.aUser()];
  const [owner, asAda, asBob, asCleo] = await Promise.all([mod.owner, ada, bob, cleo].map((each) => api.as(each)));
  const first = (await asAda!.call(modComments.add, { params, body: { content: 'Nice' } })).body.id;
  const content = `Yes, @${cleo.name_id} and @${ada.name_id}`;
  const second = (await asBob!.call(modComments.add, { params, body: { content, reply_id: first } })).body.id;
  assert.deepEqual(await kinds(owner!), ['comment', 'comment']);
  assert.deepEqual(await kinds(asAda!), ['mention']);
  assert.deepEqual(await kinds(asCleo!), ['mention']);
  assert.deepEqual(await kinds(asBob!), []);
  await asCleo!.call(modComments.add, { params, body: { content: 'Me too', reply_id: second } });
  const [reply] = await notificationsOf(asBob!);
  assert.deepEqual([reply!.kind, reply!.resource_id, reply!.game_id], ['reply', mod.id, mod.game_id]);
});

test('notifications about a comment are removed with it', async () => {
  const mod = await api.aMod();
  const params = { game_id: mod.game_id, mod_id: mod.id };
  const [author, owner] = [await api.as(await api.aUser()), await api.as(mod.owner)];
  const comment_id = (await author.call(modComments.add, { params, body: { content: 'Nice' } })).body.id;
  const [notification] = await notificationsOf(owner);
  await author.call(modComments.remove, { params: { ...params, comment_id } });
  assert.deepEqual(await notificationsOf(owner), []);
  await owner.refused(updateNotification, { ...named(notification!.id), body: { is_read: true } }, 404, 26001);
});

test('invitations and messages give notifications', async () => {
  const email = 'notified@example.org';
  const ada = await api.aUser({ email });
  const [client, mod] = [await api.as(ada), await api.aMod()];
  const params = { game_id: mod.game_id, mod_id: mod.id };
  const owner = await api.as(mod.owner);
  await owner.call(addModTeamMember, { params, body: { email, level: 1 } });
  const letter = { subject: 'Hello', content: 'There' };
  await owner.call(addMessageThread, { body: { ...letter, user_ids: [ada.id] } });
  const other = { ...letter, user_ids: [(await api.aUser()).id] };
  const thread_id = (await owner.call(addMessageThread, { body: other })).body.id;
  await owner.call(inviteToThread, { params: { thread_id }, body: { user_id: ada.id } });
  assert.deepEqual(await kinds(client), ['message_invite', 'message', 'team_invite']);
});

test('muted and blocked users cause no notifications', async () => {
  for (const operation of [muteAUser, blockAUser]) {
    const mod = await api.aMod();
    const [owner, bob] = [await api.as(mod.owner), await api.aUser()];
    await owner.call(operation, { params: { user_id: bob.id } });
    const params = { game_id: mod.game_id, mod_id: mod.id };
    await (await api.as(bob)).call(modComments.add, { params, body: { content: 'Hey' } });
    assert.deepEqual(await notificationsOf(owner), []);
  }
});

test('users choose a mode for each kind of notification', async () => {
  const { ada, client } = await aFollowed();
  assert.equal((await client.call(getNotificationSettings)).body.follower, 'site');
  const changed = (await client.call(updateNotificationSettings, { body: { follower: 'off' } })).body;
  assert.deepEqual([changed.follower, changed.comment, changed.denied], ['off', 'site', 'email']);
  await follow(await api.aUser(), ada);
  assert.equal((await notificationsOf(client)).length, 1);
  await client.call(updateNotificationSettings, { body: { follower: 'site' } });
  await follow(await api.aUser(), ada);
  assert.equal((await notificationsOf(client)).length, 2);
  await client.refused(updateNotificationSettings, { body: { team_invite: 'email' as 'site' } }, 422, 13009);
});

test('notifications are marked as read one by one or all at once', async () => {
  const { ada, client, id } = await aFollowed();
  await follow(await api.aUser(), ada);
  const news = async () => (await client.call(getNotifications, { query: { is_read: 0 } })).body.result_total;
  assert.equal(await news(), 2);
  assert.equal((await client.call(updateNotification, { ...named(id), body: { is_read: true } })).body.is_read, true);
  assert.equal(await news(), 1);
  assert.equal((await client.call(readNotifications)).status, 204);
  assert.equal(await news(), 0);
  await client.call(updateNotification, { ...named(id), body: { is_read: false } });
  assert.equal(await news(), 1);
});

test('a removed notification or another user’s is not found', async () => {
  const { client, id } = await aFollowed();
  const other = await api.as(await api.aUser());
  await other.refused(deleteNotification, named(id), 404, 26001);
  await other.refused(updateNotification, { ...named(id), body: { is_read: true } }, 404, 26001);
  assert.equal((await client.call(deleteNotification, named(id))).status, 204);
  await client.refused(deleteNotification, named(id), 404, 26001);
});

test('all notifications can be removed, and are removed after ninety days', async () => {
  const { client } = await aFollowed();
  assert.equal((await client.call(deleteNotifications)).status, 204);
  assert.deepEqual(await notificationsOf(client), []);
  const other = await aFollowed();
  api.clock.advance(90 * 86_400 + 1);
  await composeWorker(api.app()).runDue();
  assert.deepEqual(await api.app().db.query.selectFrom('notifications').selectAll().execute(), []);
  assert.ok(other.id > 0);
});

test('sixteen concurrent followers all give notifications', async () => {
  const ada = await api.aUser();
  const people = await Promise.all(Array.from({ length: 16 }, () => api.aUser()));
  await Promise.all(people.map((each) => follow(each, ada)));
  assert.equal((await notificationsOf(await api.as(ada))).length, 16);
});
