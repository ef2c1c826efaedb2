import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getGameStats } from '../src/catalogue/games/operations.ts';
import { getMod } from '../src/catalogue/mods/operations.ts';
import {
  addCollectionOperation,
  addCollectionRating,
  followCollectionOperation,
  getModCollection,
  subscribeToCollectionMods,
  unfollowCollectionOperation,
  unsubscribeFromCollectionMods,
} from '../src/community/collections/operations.ts';
import { collectionComments, guideComments, modComments } from '../src/community/comments/operations.ts';
import { getGuide } from '../src/community/guides/operations.ts';
import { addModRating } from '../src/community/ratings/operations.ts';
import { subscribeToMod, unsubscribeFromMod } from '../src/community/subscriptions/operations.ts';
import { followUserOperation, getUserFollowers, unfollowUserOperation } from '../src/people/follows/operations.ts';
import type { AnyOperation } from '../src/platform/http/operation.ts';
import { seededRandom } from '../src/platform/runtime/random.ts';
import { type CallInput, startApi } from './api.ts';

const api = await startApi({ settings: { MODSTEAD_RATE_LIMITS: 'off' } });
const WRITERS = 16;
const STEPS = 45;
/** Errors that a writer may get because the same action was already done. */
const KNOWN_ALREADY = [
  15004, 15005, 15028, 15043, 11134, 15026, 15027, 15041, 15055, 15059, 15090, 17011, 19027, 19041, 29610, 29612,
];

test('after concurrent writes of 16 users every counter equals a recount', async () => {
  const game = await api.aGame();
  const mods = await Promise.all(Array.from({ length: 4 }, () => api.aMod({ game })));
  for (const mod of mods) await api.aFile(mod);
  const guide = await api.aGuide({ game });
  const owner = await api.as(mods[0]!.owner);
  const ofAll = { name: 'All of them', mod_ids: mods.map(({ id }) => id) };
  const added = await owner.call(addCollectionOperation, { params: { game_id: game.id }, body: ofAll });
  const inCollection = { game_id: game.id, collection_id: added.body.id };
  /** The commented resources and the comments so far. */
  const commented: { on: typeof modComments; params: Record<string, number>; known: number[] }[] = [
    { on: modComments, params: { game_id: game.id, mod_id: mods[0]!.id }, known: [0] },
    { on: guideComments, params: { game_id: game.id, guide_id: guide.id }, known: [0] },
    { on: collectionComments, params: inCollection, known: [0] },
  ];
  const users = await Promise.all(Array.from({ length: WRITERS }, () => api.aUser()));
  const random = seededRandom(7);
  const pick = <T>(from: readonly T[]): T => from[random.bytes(2).readUInt16LE() % from.length]!;
  // Each user has two tokens, so that users also race with themselves.
  const clients = await Promise.all(users.map((_, i) => api.as(users[i % 8]!)));

  let written = 0;
  const moves = (user_id: number): (() => [AnyOperation, CallInput])[] => {
    const at = () => ({ game_id: game.id, mod_id: pick(mods).id });
    const comment = () => {
      const { on, params, known } = pick(commented);
      return { on, params, comment_id: pick(known) };
    };
    const other = () => pick(users.filter(({ id }) => id !== user_id)).id;
    return [
      () => [subscribeToMod, { params: at(), body: { include_dependencies: false } }],
      () => [unsubscribeFromMod, { params: at() }],
      () => [addModRating, { params: at(), body: { rating: pick([-1, 0, 1]) } }],
      () => [followUserOperation, { params: { user_id }, body: { user_id: other() } }],
      () => [unfollowUserOperation, { params: { user_id, target_user_id: other() } }],
      () => [pick([followCollectionOperation, unfollowCollectionOperation]), { params: inCollection }],
      () => [pick([subscribeToCollectionMods, unsubscribeFromCollectionMods]), { params: inCollection }],
      () => [addCollectionRating, { params: inCollection, body: { rating: pick([-1, 0, 1]) } }],
      ...[1, 2].map(() => (): [AnyOperation, CallInput] => {
        const { on, params, comment_id: reply_id } = comment();
        written += 1;
        return [on.add, { params, body: { content: `Comment ${written}`, reply_id } }];
      }),
      ...[1, 2].map(() => (): [AnyOperation, CallInput] => {
        const { on, params, comment_id } = comment();
        return [on.vote, { params: { ...params, comment_id: comment_id || 1 }, body: { karma: pick([-1, 1]) } }];
      }),
      (): [AnyOperation, CallInput] => {
        const { on, params, comment_id } = comment();
        return [on.remove, { params: { ...params, comment_id: comment_id || 1 } }];
      },
    ];
  };
  await Promise.all(
    clients.map(async (client, i) => {
      const own = moves(users[i % 8]!.id);
      for (let step = 0; step < STEPS; step += 1) {
        const [operation, input] = pick(own)();
        const answer = await client.call(operation, input);
        const ref = (answer.body as { error?: { error_ref: number } } | undefined)?.error?.error_ref;
        assert.ok(answer.status < 300 || KNOWN_ALREADY.includes(ref!), answer.text);
        const place = commented.find(({ on }) => on.add === operation);
        if (place && answer.status === 201) place.known.push((answer.body as { id: number }).id);
      }
    }),
  );

  const { query } = api.app().db;
  const subscriptions = await query.selectFrom('subscriptions').selectAll().execute();
  const ratings = await query.selectFrom('ratings').selectAll().execute();
  const follows = await query.selectFrom('follows').selectAll().execute();
  const client = await api.as(await api.aUser());
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
  for (const { on, params } of commented) {
    const rows = await query
      .selectFrom('comments')
      .selectAll()
      .where('resource_id', '=', Object.values(params)[1]!)
      .where('resource', '=', on.getAll.declaration.path.split('/')[3]!)
      .where('date_deleted', '=', 0)
      .execute();
    const votes = await query.selectFrom('comment_votes').selectAll().execute();
    const { data, result_total } = (await client.call(on.getAll, { params, query: { _limit: 100 } })).body;
    assert.equal(result_total, rows.length);
    assert.ok(result_total > 0 && result_total <= 100, `${result_total} comments`);
    for (const { id, karma } of data) {
      const given = votes.filter(({ comment_id }) => comment_id === id).map((vote) => vote.karma);
      assert.equal(
        karma,
        given.reduce((sum, vote) => sum + vote, 0),
      );
    }
    if (on === guideComments)
      assert.equal((await client.call(getGuide, { params })).body.stats[0]!.comments_total, rows.length);
  }
  const followers = await query.selectFrom('collection_followers').selectAll().execute();
  const votes = await query.selectFrom('collection_ratings').selectAll().execute();
  const { stats } = (await client.call(getModCollection, { params: inCollection })).body;
  assert.deepEqual(
    [stats.followers_total, stats.ratings_positive_30_days],
    [followers.length, votes.filter(({ rating }) => rating === 1).length],
  );
  await api.counted();
  const ofGame = await client.call(getGameStats, { params: { game_id: game.id } });
  assert.equal(ofGame.body.mods_subscribers_total, subscriptions.length);
  for (const { id } of users) {
    const { result_total } = (await client.call(getUserFollowers, { params: { user_id: id } })).body;
    assert.equal(result_total, follows.filter((row) => row.followed_id === id).length);
  }
});
