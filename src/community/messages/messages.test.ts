import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, startApi, type User } from '../../../test/api.ts';
import { blockAUser, unblockAUser } from '../../people/blocks/operations.ts';
import { followUserOperation } from '../../people/follows/operations.ts';
import {
  INVITES_PER_HOUR_MAX,
  OPEN_INVITES_MAX,
  PEOPLE_MAX,
  REPLIES_PER_DAY_MAX,
  REPLIES_PER_MINUTE_MAX,
  SAME_TEXT_MAX,
  THREADS_PER_HOUR_MAX,
} from './limits.ts';
import {
  addMessage,
  addMessageThread,
  deleteAMessage,
  getMessageInvites,
  getMessageSettings,
  getMessages,
  getMessageThread,
  getMessageThreads,
  getUnreadMessages,
  inviteToThread,
  joinMessageThread,
  leaveMessageThread,
  readMessages,
  updateMessageSettings,
} from './operations.ts';

const api = await startApi();
let texts = 0;
const aText = () => `Hello for the ${++texts}. time`;
const letter = (users: readonly User[], content = aText()) => ({
  body: { subject: 'About your mod', content, user_ids: users.map(({ id }) => id) },
});
const named = (thread_id: number) => ({ params: { thread_id } });
const saying = (thread_id: number, content = aText()) => ({ ...named(thread_id), body: { content } });
const inviting = (thread_id: number, { id }: { id: number }) => ({ ...named(thread_id), body: { user_id: id } });

/** A user who started a conversation with others. */
async function aThread(people = 1) {
  const ada = await api.aUser();
  const others = await Promise.all(Array.from({ length: people }, () => api.aUser()));
  const client = await api.as(ada);
  const { body } = await client.call(addMessageThread, letter(others));
  const clients = await Promise.all(others.map((other) => api.as(other)));
  return { ada, client, others, clients, bob: others[0]!, asBob: clients[0]!, id: body.id };
}
const contents = async (client: Client, id: number) =>
  (await client.call(getMessages, named(id))).body.data.map(({ content }) => content);
const unread = async (client: Client) => (await client.call(getUnreadMessages)).body;

test('a first message starts a conversation that both sides see, and replies come first', async () => {
  const { ada, bob, client, asBob, id } = await aThread();
  const seen = (await asBob.call(getMessageThreads)).body.data[0]!;
  assert.deepEqual([seen.id, seen.subject, seen.started_by, seen.unread], [id, 'About your mod', ada.id, 1]);
  assert.deepEqual(
    seen.members.map(({ user, invited }) => [user.id, invited]),
    [
      [ada.id, false],
      [bob.id, false],
    ],
  );
  const answer = await asBob.call(addMessage, saying(id, 'Thanks'));
  assert.equal(answer.status, 201, answer.text);
  assert.equal(answer.body.user.id, bob.id);
  assert.equal((await contents(client, id))[0], 'Thanks');
});

test('unread messages are counted until they are read or deleted', async () => {
  const { client, asBob, id } = await aThread();
  const second = await client.call(addMessage, saying(id));
  assert.deepEqual(await unread(asBob), { messages: 2, threads: 1, invites: 0 });
  assert.deepEqual(await unread(client), { messages: 0, threads: 0, invites: 0 });
  const message = { params: { thread_id: id, message_id: second.body.id } };
  await asBob.refused(deleteAMessage, message, 404, 14000);
  assert.equal((await client.call(deleteAMessage, message)).status, 204);
  await client.refused(deleteAMessage, message, 404, 14000);
  assert.equal((await unread(asBob)).messages, 1);
  assert.equal((await contents(asBob, id)).length, 1);
  assert.equal((await asBob.call(readMessages, named(id))).status, 204);
  assert.deepEqual(await unread(asBob), { messages: 0, threads: 0, invites: 0 });
});

test('unsafe markup is not shown, and a message without visible text is refused', async () => {
  const { client, asBob, id } = await aThread();
  await client.call(addMessage, saying(id, '<b>Hi</b><script>alert(1)</script><a href="javascript:x">y</a>'));
  assert.doesNotMatch((await contents(asBob, id))[0]!, /script/);
  await client.refused(addMessage, saying(id, '<script>alert(1)</script>'), 422, 13009);
});

test('only members access a conversation, and a missing one gets its own error', async () => {
  const { id } = await aThread();
  const eve = await api.as(await api.aUser({ admin: true }));
  for (const [operation, input] of [
    [getMessageThread, named(id)],
    [getMessages, named(id)],
    [addMessage, saying(id)],
    [readMessages, named(id)],
    [joinMessageThread, named(id)],
    [leaveMessageThread, named(id)],
    [inviteToThread, inviting(id, await api.aUser())],
    [deleteAMessage, { params: { thread_id: id, message_id: 1 } }],
  ] as const) {
    await eve.refused(operation, input, 403, 17006);
    await eve.refused(operation, { ...input, params: { ...input.params, thread_id: 999_999 } }, 404, 17008);
  }
});

test('an invited user reads nothing before joining, and is not invited twice', async () => {
  const { client, bob, id } = await aThread();
  const cleo = await api.aUser();
  const asCleo = await api.as(cleo);
  assert.equal((await client.call(inviteToThread, inviting(id, cleo))).status, 204);
  assert.equal((await asCleo.call(getMessageInvites)).body.data[0]!.id, id);
  assert.equal((await unread(asCleo)).invites, 1);
  await asCleo.refused(getMessages, named(id), 403, 17006);
  await client.refused(inviteToThread, inviting(id, cleo), 400, 17007);
  await client.refused(inviteToThread, inviting(id, bob), 400, 17007);
  assert.equal((await asCleo.call(joinMessageThread, named(id))).status, 200);
  await asCleo.refused(joinMessageThread, named(id), 400, 17007);
  assert.equal((await contents(asCleo, id)).length, 1);
});

test('a user who declined or left is not invited again, and an empty conversation is deleted', async () => {
  const { client, bob, asBob, id } = await aThread();
  const cleo = await api.aUser();
  await client.call(inviteToThread, inviting(id, cleo));
  assert.equal((await (await api.as(cleo)).call(leaveMessageThread, named(id))).status, 204);
  assert.equal((await asBob.call(leaveMessageThread, named(id))).status, 204);
  for (const gone of [bob, cleo]) await client.refused(inviteToThread, inviting(id, gone), 403, 17010);
  await asBob.refused(getMessages, named(id), 403, 17006);
  assert.equal((await client.call(leaveMessageThread, named(id))).status, 204);
  await client.refused(getMessageThread, named(id), 404, 17008);
});

test('users choose from whom they accept conversations', async () => {
  const [ada, bob] = [await api.aUser(), await api.aUser()];
  const [asAda, asBob] = [await api.as(ada), await api.as(bob)];
  assert.equal((await asBob.call(getMessageSettings)).body.accept_from, 'everyone');
  await asBob.call(updateMessageSettings, { body: { accept_from: 'followed' } });
  await asAda.refused(addMessageThread, letter([bob]), 403, 17010);
  await asBob.call(followUserOperation, { params: { user_id: bob.id }, body: { user_id: ada.id } });
  assert.equal((await asAda.call(addMessageThread, letter([bob]))).status, 201);
  await asBob.call(updateMessageSettings, { body: { accept_from: 'nobody' } });
  const { client, id } = await aThread();
  await client.refused(inviteToThread, inviting(id, bob), 403, 17010);
  const operator = await api.as(await api.aUser({ admin: true }));
  assert.equal((await operator.call(addMessageThread, letter([bob]))).status, 201);
});

test('a message to oneself, or to a missing user, is refused', async () => {
  const ada = await api.aUser();
  const client = await api.as(ada);
  await client.refused(addMessageThread, letter([ada]), 422, 13009);
  await client.refused(addMessageThread, letter([{ ...ada, id: 999_999 }]), 404, 17000);
});

test('a blocked user cannot reach the user who blocked them', async () => {
  const { ada, client, bob, asBob, id } = await aThread();
  await asBob.call(blockAUser, { params: { user_id: ada.id } });
  await client.refused(addMessageThread, letter([bob]), 403, 17062);
  await client.refused(addMessage, saying(id), 403, 17062);
  await asBob.refused(addMessage, saying(id), 403, 17062);
  const other = await aThread();
  await client.refused(inviteToThread, inviting(id, bob), 403, 17062);
  assert.equal((await other.client.call(addMessageThread, letter([bob]))).status, 201);
  await asBob.call(unblockAUser, { params: { user_id: ada.id } });
  assert.equal((await client.call(addMessage, saying(id))).status, 201);
});

test('in a group, messages of a blocked user are hidden from the user who blocked them', async () => {
  const { client, clients, others, id } = await aThread(2);
  const [asBob, asCleo] = clients as [Client, Client];
  await asBob.call(blockAUser, { params: { user_id: others[1]!.id } });
  await asBob.call(readMessages, named(id));
  assert.equal((await asCleo.call(addMessage, saying(id, 'From Cleo'))).status, 201);
  assert.equal((await unread(asBob)).messages, 0);
  assert.equal((await contents(asBob, id)).includes('From Cleo'), false);
  assert.equal((await contents(client, id))[0], 'From Cleo');
});

test('many links, and the same message to many users, are spam', async () => {
  const { client, id } = await aThread();
  await client.refused(addMessage, saying(id, 'https://a.example '.repeat(6)), 403, 17011);
  const content = 'Buy my boots';
  for (let sent = 0; sent < SAME_TEXT_MAX; sent++)
    assert.equal((await client.call(addMessageThread, letter([await api.aUser()], content))).status, 201);
  await client.refused(addMessageThread, letter([await api.aUser()], 'BUY  my boots'), 403, 17011);
  await client.refused(addMessage, saying(id, content), 403, 17011);
});

test('replies are limited per minute and per day', async () => {
  const { client, id } = await aThread();
  for (let sent = 0; sent < REPLIES_PER_DAY_MAX; sent++) {
    if (sent === REPLIES_PER_MINUTE_MAX) {
      const answer = await client.refused(addMessage, saying(id), 429, 24002);
      assert.equal(answer.headers['retry-after'], '60');
    }
    if (sent % REPLIES_PER_MINUTE_MAX === 0) api.clock.advance(60);
    assert.equal((await client.call(addMessage, saying(id))).status, 201);
  }
  api.clock.advance(60);
  await client.refused(addMessage, saying(id), 429, 24001);
  api.clock.advance(24 * 3_600);
  assert.equal((await client.call(addMessage, saying(id))).status, 201);
});

test('new conversations are limited per hour, also for 16 concurrent requests', async () => {
  const client = await api.as(await api.aUser());
  const bob = await api.aUser();
  const answers = await Promise.all(Array.from({ length: 16 }, () => client.call(addMessageThread, letter([bob]))));
  assert.equal(answers.filter(({ status }) => status === 201).length, THREADS_PER_HOUR_MAX);
  await client.refused(addMessageThread, letter([bob]), 429, 24003);
  api.clock.advance(3_600);
  assert.equal((await client.call(addMessageThread, letter([bob]))).status, 201);
});

test('invitations are limited per hour, and by the number of open ones', async () => {
  const { client, id } = await aThread();
  for (let sent = 0; sent < OPEN_INVITES_MAX; sent++) {
    if (sent === INVITES_PER_HOUR_MAX) {
      await client.refused(inviteToThread, inviting(id, await api.aUser()), 429, 24004);
      api.clock.advance(3_600);
    }
    assert.equal((await client.call(inviteToThread, inviting(id, await api.aUser()))).status, 204);
  }
  await client.refused(inviteToThread, inviting(id, await api.aUser()), 403, 17009);
});

test('the number of users in a conversation is limited, regardless of who invites', async () => {
  const { clients, id } = await aThread(PEOPLE_MAX - 2);
  const newcomers = await Promise.all(clients.slice(0, 8).map(() => api.aUser()));
  const answers = await Promise.all(
    newcomers.map((each, index) => clients[index]!.call(inviteToThread, inviting(id, each))),
  );
  assert.equal(answers.filter(({ status }) => status === 204).length, 1);
  await clients[9]!.refused(inviteToThread, inviting(id, await api.aUser()), 429, 24005);
});

test('16 concurrent replies of different users are all stored and counted', async () => {
  const { client, clients, id } = await aThread(16);
  const answers = await Promise.all(clients.map((each) => each.call(addMessage, saying(id))));
  assert.ok(answers.every(({ status }) => status === 201));
  assert.equal((await unread(client)).messages, 16);
  assert.equal((await contents(client, id)).length, 17);
});
