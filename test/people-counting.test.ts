import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getUserEvents } from '../src/catalogue/events/operations.ts';
import { getGameStats } from '../src/catalogue/games/operations.ts';
import { getMod } from '../src/catalogue/mods/operations.ts';
import { getGameRestrictions, restrictUserInGame } from '../src/catalogue/restrictions/operations.ts';
import { getModTeamMembers } from '../src/catalogue/teams/operations.ts';
import {
  addCollectionOperation,
  addCollectionRating,
  followCollectionOperation,
  getModCollection,
} from '../src/community/collections/operations.ts';
import { collectionComments, guideComments, modComments } from '../src/community/comments/operations.ts';
import { getGuide } from '../src/community/guides/operations.ts';
import {
  addMessage,
  addMessageThread,
  getMessages,
  getMessageThread,
  getUnreadMessages,
  inviteToThread,
} from '../src/community/messages/operations.ts';
import { addModRating } from '../src/community/ratings/operations.ts';
import { getUserSubscriptions, subscribeToMod } from '../src/community/subscriptions/operations.ts';
import { composeWorker } from '../src/composition/compose.ts';
import { blockAUser, getUsersBlocked } from '../src/people/blocks/operations.ts';
import { followUserOperation, getMyFollowing, getUserFollowers } from '../src/people/follows/operations.ts';
import type { AnyOperation } from '../src/platform/http/operation.ts';
import { seededRandom } from '../src/platform/runtime/random.ts';
import { deleteAUser, mergeOwnAccount } from '../src/signin/accounts/operations.ts';
import { type CallInput, type Client, startApi } from './api.ts';

const api = await startApi({ settings: { MODSTEAD_RATE_LIMITS: 'off', MODSTEAD_JOBS: 'off' } });
const worker = composeWorker(api.app());
const { query } = api.app().db;
const game = await api.aGame();
const mods = await Promise.all(Array.from({ length: 5 }, () => api.aMod({ game })));
for (const mod of mods) await api.aFile(mod);
const guide = await api.aGuide({ game });
const ofAll = { name: 'All of them', mod_ids: mods.map(({ id }) => id) };
const owner = await api.as(mods[0]!.owner);
const collection = await owner.call(addCollectionOperation, { params: { game_id: game.id }, body: ofAll });
const inCollection = { game_id: game.id, collection_id: collection.body.id };
const COMMENTED: { on: typeof modComments; params: Record<string, number> }[] = [
  { on: modComments, params: { game_id: game.id, mod_id: mods[0]!.id } },
  { on: guideComments as typeof modComments, params: { game_id: game.id, guide_id: guide.id } },
  { on: collectionComments as typeof modComments, params: inCollection },
];
const operator = await api.as(await api.aUser({ admin: true }));
const at = (index: number) => ({ game_id: game.id, mod_id: mods[index]!.id });

/** Asserts that every counter equals a recount. */
async function recount(): Promise<void> {
  const client = await api.as(await api.aUser());
  const subscriptions = await query.selectFrom('subscriptions').selectAll().execute();
  const ratings = await query.selectFrom('ratings').selectAll().execute();
  for (const { id } of mods) {
    const { stats } = (await client.call(getMod, { params: { game_id: game.id, mod_id: id } })).body;
    const given = ratings.filter((row) => row.resource_id === id).map((row) => row.rating);
    assert.deepEqual(
      [stats.subscribers_total, stats.ratings_total, stats.ratings_positive, stats.ratings_negative],
      [
        subscriptions.filter((row) => row.mod_id === id).length,
        given.length,
        given.filter((rating) => rating === 1).length,
        given.filter((rating) => rating === -1).length,
      ],
    );
  }
  await api.counted();
  const ofGame = await client.call(getGameStats, { params: { game_id: game.id } });
  assert.equal(ofGame.body.mods_subscribers_total, subscriptions.length);
  const votes = await query.selectFrom('comment_votes').selectAll().execute();
  for (const { id, karma } of await query.selectFrom('comments').selectAll().execute()) {
    const given = votes.filter(({ comment_id }) => comment_id === id);
    assert.equal(
      karma,
      given.reduce((sum, vote) => sum + vote.karma, 0),
    );
  }
  const shown = (await client.call(guideComments.getAll, { params: COMMENTED[1]!.params })).body.result_total;
  const ofGuide = await client.call(getGuide, { params: { game_id: game.id, guide_id: guide.id } });
  assert.equal(ofGuide.body.stats[0]!.comments_total, shown);
  const followers = await query.selectFrom('collection_followers').selectAll().execute();
  const rated = await query.selectFrom('collection_ratings').selectAll().execute();
  const row = await query.selectFrom('collections').selectAll().executeTakeFirstOrThrow();
  const stats = (await client.call(getModCollection, { params: inCollection })).body.stats;
  const ofCollection = (await client.call(collectionComments.getAll, { params: COMMENTED[2]!.params })).body
    .result_total;
  assert.equal(stats.comments_total, ofCollection);
  const positive = rated.filter(({ rating }) => rating === 1).length;
  assert.deepEqual(
    [stats.followers_total, stats.ratings_positive_30_days, row.ratings_positive, row.ratings_negative],
    [followers.length, positive, positive, rated.length - positive],
  );
  const messages = await query.selectFrom('messages').selectAll().execute();
  for (const member of await query.selectFrom('message_members').selectAll().where('status', '=', 1).execute())
    assert.equal(
      member.unread,
      messages.filter(
        ({ thread_id, id, user_id, date_deleted }) =>
          thread_id === member.thread_id &&
          id > member.last_read_id &&
          user_id !== member.user_id &&
          date_deleted === 0,
      ).length,
    );
}

test('after deletions and merges of accounts every counter equals a recount', async () => {
  const random = seededRandom(11);
  const pick = <T>(from: readonly T[]): T => from[random.bytes(2).readUInt16LE() % from.length]!;
  const users = await Promise.all(Array.from({ length: 8 }, () => api.aUser()));
  const clients = await Promise.all(users.map((user) => api.as(user)));
  const comments: { on: typeof modComments; params: Record<string, number> }[] = [];
  let written = 0;
  const moves: ((client: Client, id: number) => [AnyOperation, CallInput])[] = [
    () => [subscribeToMod, { params: at(pick([0, 1, 2, 3, 4])) }],
    () => [addModRating, { params: at(pick([0, 1, 2, 3, 4])), body: { rating: pick([-1, 1]) } }],
    () => [followCollectionOperation, { params: inCollection }],
    () => [addCollectionRating, { params: inCollection, body: { rating: pick([-1, 1]) } }],
    (_, id) => [
      followUserOperation,
      { params: { user_id: id }, body: { user_id: pick(users.filter((user) => user.id !== id)).id } },
    ],
    () => {
      const { on, params } = pick(COMMENTED);
      return [on.add, { params, body: { content: `Comment ${++written}` } }];
    },
    () => {
      const { on, params } = pick(comments);
      return [on.vote, { params, body: { karma: pick([-1, 1]) } }];
    },
    (_, id) => {
      const user_ids = [pick(users.filter((user) => user.id !== id)).id];
      const texts = { subject: `Subject ${++written}`, content: `Message ${written}` };
      return [addMessageThread, { body: { ...texts, user_ids } }];
    },
  ];
  for (let step = 0; step < 40; step += 1)
    for (const [index, client] of clients.entries()) {
      const able = comments.length === 0 ? moves.filter((_, at) => at !== 6) : moves;
      const [operation, input] = pick(able)(client, users[index]!.id);
      const answer = await client.call(operation, input);
      assert.ok(answer.status < 500, answer.text);
      const place = COMMENTED.find(({ on }) => on.add === operation);
      if (place && answer.status === 201)
        comments.push({
          on: place.on,
          params: { ...place.params, comment_id: (answer.body as { id: number }).id },
        });
    }
  await recount();
  for (const [from, to] of [
    [0, 1],
    [2, 1],
    [3, 4],
  ] as const) {
    const merged = await clients[to]!.call(mergeOwnAccount, { body: { access_token: clients[from]!.token! } });
    assert.equal(merged.status, 204, merged.text);
    await worker.runDue();
    await recount();
  }
  for (const index of [1, 5, 6]) {
    assert.equal((await operator.call(deleteAUser, { params: { user_id: users[index]!.id } })).status, 204);
    await worker.runDue();
    await recount();
  }
  const left = await query.selectFrom('users').select('id').where('status', '=', 3).execute();
  const gone = left.map(({ id }) => id);
  for (const table of ['subscriptions', 'ratings', 'comment_votes', 'collection_followers', 'messages'] as const) {
    const rows = await query.selectFrom(table).select('user_id').where('user_id', 'in', gone).execute();
    assert.deepEqual(rows, [], table);
  }
});

test('merging two accounts of a user combines their content, each subscription, vote and follow once', async () => {
  const [ada, old, carl, dora] = [await api.aUser(), await api.aUser(), await api.aUser(), await api.aUser()];
  const [asAda, asOld, asCarl] = [await api.as(ada), await api.as(old), await api.as(carl)];
  const mod = await api.aMod({ game });
  await api.joinsMod(ada, mod, 1);
  await api.joinsMod(old, mod, 4);
  const here = { game_id: game.id, mod_id: mod.id };
  for (const client of [asAda, asOld]) await client.call(subscribeToMod, { params: at(0) });
  await asOld.call(subscribeToMod, { params: at(1) });
  const { id: mine } = (await asOld.call(modComments.add, { params: at(0), body: { content: 'Well made' } })).body;
  await asAda.call(modComments.vote, { params: { ...at(0), comment_id: mine }, body: { karma: 1 } });
  await asCarl.call(modComments.vote, { params: { ...at(0), comment_id: mine }, body: { karma: 1 } });
  await asAda.call(followUserOperation, { params: { user_id: ada.id }, body: { user_id: dora.id } });
  await asCarl.call(followUserOperation, { params: { user_id: carl.id }, body: { user_id: old.id } });
  await asOld.call(blockAUser, { params: { user_id: dora.id } });
  for (const [user, options] of [
    [ada, 1],
    [old, 4],
  ] as const) {
    const which = { game_id: game.id, user_id: user.id };
    await (await api.as(game.owner)).call(restrictUserInGame, { params: which, body: { options } });
  }
  const letter = { subject: 'Hello', content: 'To both', user_ids: [ada.id, old.id] };
  const thread_id = (await asCarl.call(addMessageThread, { body: letter })).body.id;
  await asOld.call(addMessage, { params: { thread_id }, body: { content: 'Here I am' } });
  await asCarl.call(inviteToThread, { params: { thread_id }, body: { user_id: dora.id } });
  // Cached, so that the merge must invalidate it.
  const comment = () => api.withKey(game).call(modComments.getOne, { params: { ...at(0), comment_id: mine } });
  assert.deepEqual([(await comment()).body.user.id, (await comment()).body.karma], [old.id, 2]);
  assert.equal((await asAda.call(mergeOwnAccount, { body: { access_token: asOld.token! } })).status, 204);
  await worker.runDue();
  assert.deepEqual([(await comment()).body.user.id, (await comment()).body.karma], [ada.id, 1]);
  const subscribed = (await asAda.call(getUserSubscriptions)).body.data.map(({ id }) => id);
  assert.deepEqual(subscribed.toSorted(), [mods[0]!.id, mods[1]!.id].toSorted());
  const events = (await asAda.call(getUserEvents)).body.data.map(({ mod_id, event_type }) => `${event_type} ${mod_id}`);
  assert.ok(events.includes(`USER_SUBSCRIBE ${mods[1]!.id}`));
  const team = (await asAda.call(getModTeamMembers, { params: here })).body.data;
  assert.deepEqual(
    team.map(({ user, level }) => [user.id, level]),
    [
      [mod.owner.id, 8],
      [ada.id, 4],
    ],
  );
  assert.deepEqual((await asAda.call(getMyFollowing)).body.data, []);
  assert.deepEqual(
    (await asAda.call(getUsersBlocked)).body.data.map(({ id }) => id),
    [dora.id],
  );
  const followers = await asAda.call(getUserFollowers, { params: { user_id: ada.id } });
  assert.deepEqual(
    followers.body.data.map(({ id }) => id),
    [carl.id],
  );
  const restricted = await (await api.as(game.owner)).call(getGameRestrictions, { params: { game_id: game.id } });
  assert.deepEqual(
    restricted.body.data.map(({ user, options }) => [user.id, options]),
    [[ada.id, 5]],
  );
  const thread = (await asAda.call(getMessageThread, { params: { thread_id } })).body;
  assert.deepEqual(
    thread.members.map(({ user }) => user.id),
    [ada.id, carl.id, dora.id],
  );
  assert.equal((await asAda.call(getUnreadMessages)).body.messages, 0);
  const texts = (await asAda.call(getMessages, { params: { thread_id } })).body.data;
  assert.deepEqual(
    texts.map(({ user, content }) => [user.id, content]),
    [
      [ada.id, 'Here I am'],
      [carl.id, 'To both'],
    ],
  );
  // Private messages are deleted with the account.
  await operator.call(deleteAUser, { params: { user_id: ada.id } });
  await worker.runDue();
  const left = (await asCarl.call(getMessages, { params: { thread_id } })).body.data;
  assert.deepEqual(
    left.map(({ content }) => content),
    ['To both'],
  );
  assert.equal((await comment()).body.user.username, `deleted-${ada.id}`);
});
