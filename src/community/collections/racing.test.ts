import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { type Mod, seededRandom, startApi } from '../../../test/api.ts';
import { deleteModOperation } from '../../catalogue/mods/operations.ts';
import {
  addCollectionOperation,
  addCollectionRating,
  deleteCollectionMods,
  followCollectionOperation,
  getCollectionMods,
  getModCollection,
  unfollowCollectionOperation,
  updateCollectionOperation,
} from './operations.ts';

const WRITERS = 16;
const STEPS = 14;
const DAY = 86_400;

const api = await startApi();
const game = await api.aGame();
const ada = await api.aUser();
const asAda = await api.as(ada);
const params = { game_id: game.id };

async function aCollection() {
  const base = await api.aMod({ game });
  const answer = await asAda.call(addCollectionOperation, {
    params,
    body: { name: api.unique('Collection'), mod_ids: [base.id] },
  });
  assert.equal(answer.status, 201, answer.text);
  return answer.body.id;
}

test('after 16 concurrent writers every counter equals a recount', async () => {
  const random = seededRandom(6_003);
  const pick = <T>(items: readonly T[]): T =>
    items[Math.floor((random.bytes(4).readUInt32BE() / 2 ** 32) * items.length)]!;
  const collections = [await aCollection(), await aCollection(), await aCollection()];
  const mods: Mod[] = [];
  for (let i = 0; i < 8; i += 1) mods.push(await api.aMod({ game, owner: ada }));
  const writers = await Promise.all(Array.from({ length: WRITERS }, async () => api.as(await api.aUser())));
  const plans = writers.map(() =>
    Array.from({ length: STEPS }, () => ({
      at: { ...params, collection_id: pick(collections) },
      what: pick(['follow', 'unfollow', 'rate', 'rate', 'put', 'take', 'leave'] as const),
      rating: pick([-1, 0, 1, 1]),
      mod: pick(mods),
    })),
  );
  const met = new Set<number>();
  await Promise.all(
    writers.map(async (writer, index) => {
      for (const { at, what, rating, mod } of plans[index]!) {
        const body = { mod_ids: [mod.id] };
        const ofMod = { params: { ...params, mod_id: mod.id } };
        const steps = {
          follow: () => writer.call(followCollectionOperation, { params: at }),
          unfollow: () => writer.call(unfollowCollectionOperation, { params: at }),
          rate: () => writer.call(addCollectionRating, { params: at, body: { rating } }),
          put: () => asAda.call(updateCollectionOperation, { params: at, body }),
          take: () => asAda.call(deleteCollectionMods, { params: at, body }),
          // A mod is deleted permanently while other requests add it.
          leave: async () => {
            if (mod !== mods[0]) return writer.call(getModCollection, { params: at });
            await asAda.call(deleteModOperation, ofMod);
            return asAda.call(deleteModOperation, { ...ofMod, body: { permanent: true } });
          },
        };
        const answer = await steps[what]();
        met.add(answer.status);
      }
    }),
  );
  for (const status of met) assert.ok(status < 500, String(status));
  await recount(collections);
});

async function recount(collections: readonly number[]): Promise<void> {
  const { query } = api.app().db;
  const counted = async (text: ReturnType<typeof sql<{ n: number }>>) => Number((await text.execute(query)).rows[0]!.n);
  for (const id of collections) {
    const row = await query.selectFrom('collections').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    const rated = (rating: number) =>
      counted(sql`select count(*) as n from collection_ratings where collection_id = ${id} and rating = ${rating}`);
    const followers = await counted(sql`select count(*) as n from collection_followers where collection_id = ${id}`);
    assert.equal(row.followers_total, followers);
    assert.deepEqual([row.ratings_positive, row.ratings_negative], [await rated(1), await rated(-1)]);
    const days = await query.selectFrom('collection_rating_days').selectAll().where('collection_id', '=', id).execute();
    for (const { day, positive } of days)
      assert.equal(
        positive,
        await counted(sql`select count(*) as n from collection_ratings where collection_id = ${id} and rating = 1
          and date_added >= ${day * DAY} and date_added < ${(day + 1) * DAY}`),
      );
    assert.equal(row.registering_until, 0);
    const held = await counted(sql`select count(*) as n from collection_mods where collection_id = ${id}`);
    const there = await counted(sql`select count(*) as n from collection_mods x join mods m on m.id = x.mod_id
      where x.collection_id = ${id}`);
    assert.equal(held, there);
    const at = { ...params, collection_id: id };
    const { stats } = (await asAda.call(getModCollection, { params: at })).body;
    assert.deepEqual([stats.followers_total, stats.ratings_positive_30_days], [followers, await rated(1)]);
    const shown = (await asAda.call(getCollectionMods, { params: at })).body.result_total;
    assert.equal(
      shown,
      await counted(sql`select count(*) as n from collection_mods x join mods m on m.id = x.mod_id
        where x.collection_id = ${id} and m.status = 1 and m.visible = 1`),
    );
  }
}

test('of 16 concurrent collections with the same name each gets its own name_id', async () => {
  const mod = await api.aMod({ game });
  const clients = await Promise.all(Array.from({ length: WRITERS }, async () => api.as(await api.aUser())));
  const body = { name: 'Everyone’s Favourite', mod_ids: [mod.id] };
  const answers = await Promise.all(clients.map((client) => client.call(addCollectionOperation, { params, body })));
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201]);
  assert.equal(new Set(answers.map(({ body: { name_id } }) => name_id)).size, WRITERS);
});
