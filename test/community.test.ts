import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnyOperation } from '../src/http/operation.ts';
import { seededRandom } from '../src/random.ts';
import { followUserOperation, getUserFollowers, unfollowUserOperation } from '../src/resources/follows/operations.ts';
import { getGameStats } from '../src/resources/games/operations.ts';
import { getMod } from '../src/resources/mods/operations.ts';
import { addModRating } from '../src/resources/ratings/operations.ts';
import { subscribeToMod, unsubscribeFromMod } from '../src/resources/subscriptions/operations.ts';
import { type CallInput, startApi } from './api.ts';

const api = await startApi({ settings: { MODSTEAD_RATE_LIMITS: 'off' } });
const WRITERS = 16;
const STEPS = 30;
/** What a writer may meet because another, or they themselves, were there before. */
const KNOWN_ALREADY = [15005, 15028, 15043, 11134];

test('after 16 people have written at once, every counter equals a recount', async () => {
  const game = await api.aGame();
  const mods = await Promise.all(Array.from({ length: 4 }, () => api.aMod({ game })));
  for (const mod of mods) await api.aFile(mod);
  const users = await Promise.all(Array.from({ length: WRITERS }, () => api.aUser()));
  const random = seededRandom(7);
  const pick = <T>(from: readonly T[]): T => from[random.bytes(2).readUInt16LE() % from.length]!;
  // Half of the tokens belong to the same people as the other half, so that people race with themselves.
  const clients = await Promise.all(users.map((_, i) => api.as(users[i % 8]!)));

  const moves = (user_id: number): (() => [AnyOperation, CallInput])[] => {
    const at = () => ({ game_id: game.id, mod_id: pick(mods).id });
    const other = () => pick(users.filter(({ id }) => id !== user_id)).id;
    return [
      () => [subscribeToMod, { params: at(), body: { include_dependencies: false } }],
      () => [unsubscribeFromMod, { params: at() }],
      () => [addModRating, { params: at(), body: { rating: pick([-1, 0, 1]) } }],
      () => [followUserOperation, { params: { user_id }, body: { user_id: other() } }],
      () => [unfollowUserOperation, { params: { user_id, target_user_id: other() } }],
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
  const ofGame = await client.call(getGameStats, { params: { game_id: game.id } });
  assert.equal(ofGame.body.mods_subscribers_total, subscriptions.length);
  for (const { id } of users) {
    const { result_total } = (await client.call(getUserFollowers, { params: { user_id: id } })).body;
    assert.equal(result_total, follows.filter((row) => row.followed_id === id).length);
  }
});
