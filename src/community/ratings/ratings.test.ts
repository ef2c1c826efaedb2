import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Mod, startApi } from '../../../test/api.ts';
import { manyUsers } from '../../../test/bulk-rows.ts';
import { editGameOperation } from '../../catalogue/games/operations.ts';
import { deleteModOperation, editModByPut, getMod } from '../../catalogue/mods/operations.ts';
import { composeWorker } from '../../composition/compose.ts';
import { subscribeToMod } from '../subscriptions/operations.ts';
import { addModRating, getUserRatings } from './operations.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
const game = await api.aGame();
const at = (mod: Mod) => ({ game_id: mod.game_id, mod_id: mod.id });
const person = async () => api.as(await api.aUser());

async function statsOf(mod: Mod) {
  const { stats } = (await (await person()).call(getMod, { params: at(mod) })).body;
  return [stats.ratings_total, stats.ratings_positive, stats.ratings_negative];
}

test('a rating is counted, a different one replaces it, and 0 removes it', async () => {
  const mod = await api.aMod({ game });
  const client = await person();
  const rate = (rating: number) => client.call(addModRating, { params: at(mod), body: { rating } });
  const listed = async () => (await client.call(getUserRatings)).body.data.map(({ rating }) => rating);
  const answer = await rate(1);
  assert.deepEqual([answer.status, answer.body.code], [201, 201]);
  assert.deepEqual([await listed(), await statsOf(mod)], [[1], [1, 1, 0]]);
  await rate(-1);
  assert.deepEqual([await listed(), await statsOf(mod)], [[-1], [1, 0, 1]]);
  await rate(0);
  assert.deepEqual([await listed(), await statsOf(mod)], [[], [0, 0, 0]]);
});

test('repeating a rating, and removing one that does not exist, are refused', async () => {
  const mod = await api.aMod({ game });
  const client = await person();
  await client.refused(addModRating, { params: at(mod), body: { rating: 0 } }, 400, 15043);
  // Older clients send the rating in the query, without a body.
  assert.equal((await client.call(addModRating, { params: at(mod), query: { rating: 1 } })).status, 201);
  await client.refused(addModRating, { params: at(mod), body: { rating: 1 } }, 400, 15028);
  assert.deepEqual(await statsOf(mod), [1, 1, 0]);
});

test('a rating is 1, 0 or -1, and never negative if the game does not allow it', async () => {
  const kind = await api.aGame();
  const owner = await api.as(kind.owner);
  await owner.call(editGameOperation, { params: { game_id: kind.id }, body: { community_options: 1 } });
  const client = await person();
  const mod = await api.aMod({ game: kind });
  for (const rating of [2, -2, -1]) {
    const refused = await client.refused(addModRating, { params: at(mod), body: { rating } }, 422, 13009);
    assert.deepEqual(Object.keys(refused.body.error.errors!), ['rating']);
  }
  assert.equal((await client.call(addModRating, { params: at(mod), body: { rating: 1 } })).status, 201);
});

test('users filter their own ratings, and nobody else sees them', async () => {
  const other = await api.aGame();
  const [one, two] = [await api.aMod({ game }), await api.aMod({ game: other })];
  const client = await person();
  await client.call(addModRating, { params: at(one), body: { rating: 1 } });
  await client.call(addModRating, { params: at(two), body: { rating: -1 } });
  const asked = async (query: Record<string, string | number>) =>
    (await client.call(getUserRatings, { query })).body.data.map(({ mod_id }) => mod_id);
  assert.deepEqual(await asked({}), [one.id, two.id]);
  assert.deepEqual(await asked({ game_id: other.id }), [two.id]);
  assert.deepEqual(await asked({ mod_id: one.id, resource_type: 'mods' }), [one.id]);
  assert.deepEqual(await asked({ rating: -1 }), [two.id]);
  assert.deepEqual(await asked({ resource_type: 'collections' }), []);
  assert.equal((await (await person()).call(getUserRatings)).body.result_total, 0);
});

test('a mod that the caller cannot see cannot be rated, and ratings are deleted with their mod', async () => {
  const mod = await api.aMod({ game });
  const client = await person();
  const hidden = await api.aMod({ game, visible: 0 });
  await client.refused(addModRating, { params: at(hidden), body: { rating: 1 } }, 404, 15022);
  await client.call(addModRating, { params: at(mod), body: { rating: 1 } });
  const owner = await api.as(mod.owner);
  await owner.call(deleteModOperation, { params: at(mod) });
  assert.equal((await client.call(getUserRatings)).body.result_total, 0);
  await client.refused(addModRating, { params: at(mod), body: { rating: -1 } }, 404, 15022);

  const { db } = api.app();
  const MANY = 1_200;
  const rows = (await manyUsers(api.app(), MANY)).map((user_id) => ({
    ...ROW,
    user_id,
    resource_id: mod.id,
  }));
  await db.write(({ query }) => query.insertInto('ratings').values(rows).execute());
  await owner.call(deleteModOperation, { params: at(mod), body: { permanent: true } });
  await composeWorker(api.app()).runDue();
  const left = await db.query.selectFrom('ratings').selectAll().where('resource_id', '=', mod.id).execute();
  assert.equal(left.length, 0);
});

const ROW = { game_id: game.id, resource: 'mods', rating: 1, date_added: 1 };

test('a mod that is not accepted cannot be rated, and earlier ratings can be removed', async () => {
  const mod = await api.aMod({ game });
  await api.aFile(mod);
  const [subscriber, owner] = [await person(), await api.as(mod.owner)];
  await subscriber.call(subscribeToMod, { params: at(mod) });
  await subscriber.call(addModRating, { params: at(mod), body: { rating: 1 } });
  const body = { status: 0 };
  await (await api.as(game.owner)).call(editModByPut, { params: at(mod), body });
  for (const client of [subscriber, owner])
    await client.refused(addModRating, { params: at(mod), body: { rating: -1 } }, 403, 15011);
  await (await person()).refused(addModRating, { params: at(mod), body: { rating: 1 } }, 404, 15022);
  assert.equal((await subscriber.call(addModRating, { params: at(mod), body: { rating: 0 } })).status, 201);
});
