import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, type Mod, startApi } from '../../../test/api.ts';
import { addModDependencies, getModDependants } from '../../catalogue/dependencies/operations.ts';
import { getModsEvents } from '../../catalogue/events/operations.ts';
import { getMod, getMods } from '../../catalogue/mods/operations.ts';
import { getModsStats } from '../../catalogue/stats/operations.ts';
import {
  addCollectionOperation,
  getCollectionMods,
  getCollectionsOfMod,
  getModCollections,
  getUserProfileCollections,
  subscribeToCollectionMods,
} from '../../community/collections/operations.ts';
import { modComments } from '../../community/comments/operations.ts';
import { getGuides } from '../../community/guides/operations.ts';
import { getUserSubscriptions, subscribeToMod } from '../../community/subscriptions/operations.ts';
import type { AnyOperation } from '../../platform/http/operation.ts';
import { blockAUser } from '../blocks/operations.ts';
import { followUserOperation, getMyFollowing, getUserFollowers } from '../follows/operations.ts';
import { getUsersMuted, muteAUser, syncUsersMuted, unmuteAUser } from './operations.ts';

const api = await startApi();

test('a muted user is listed until they are unmuted', async () => {
  const ada = await api.as(await api.aUser());
  const [bob, cleo] = [await api.aUser(), await api.aUser()];
  for (const each of [bob, cleo, bob]) {
    const answer = await ada.call(muteAUser, { params: { user_id: each.id } });
    assert.equal(answer.status, 204, answer.text);
  }
  const muted = async () => (await ada.call(getUsersMuted)).body.data.map((user) => user.id);
  assert.deepEqual(await muted(), [bob.id, cleo.id]);
  assert.equal((await ada.call(unmuteAUser, { params: { user_id: bob.id } })).status, 204);
  assert.deepEqual(await muted(), [cleo.id]);
});

test('a platform’s block list needs the portal header and an account on the platform', async () => {
  const client = await api.as(await api.aUser());
  const body = { portal_ids: ['b'] };
  await client.refused(syncUsersMuted, { headers: { 'X-Modio-Portal': 'PSN' }, body }, 403, 17032);
  await client.refused(syncUsersMuted, { body }, 403, 17065);
});

test('users blocked on a platform are muted here if they have an account', async () => {
  const [ada, bob, cleo, operator] = [
    await api.aUser(),
    await api.aUser(),
    await api.aUser(),
    await api.aUser({ admin: true }),
  ];
  const client = await api.as(ada);
  const headers = { 'X-Modio-Portal': 'PSN' };
  const sync = (portal_ids: string[]) => client.call(syncUsersMuted, { headers, body: { portal_ids } });
  await client.refused(syncUsersMuted, { headers, body: { portal_ids: ['b'] } }, 403, 17032);
  await api.app().db.write(async ({ query }) => {
    for (const [person, portal, portal_id] of [
      [ada, 'psn', 'a'],
      [bob, 'psn', 'b'],
      [cleo, 'steam', 'c'],
      [operator, 'psn', 'o'],
    ] as const) {
      const account = { user_id: person.id, portal, portal_id, game_id: 0, display_name: '', avatar: '' };
      await query
        .insertInto('portal_accounts')
        .values({ ...account, date_added: 0, date_used: 0 })
        .execute();
    }
  });
  await client.refused(syncUsersMuted, { body: { portal_ids: ['b'] } }, 403, 17065);
  assert.deepEqual(
    (await sync(['a', 'b', 'c', 'o', 'nobody'])).body.data.map(({ id }) => id),
    [bob.id],
  );
  assert.deepEqual(
    (await client.call(syncUsersMuted)).body.data.map(({ id }) => id),
    [bob.id],
    'without ids it only returns the list',
  );
});

test('a user cannot mute themselves, the site staff or a missing user', async () => {
  const ada = await api.aUser();
  const client = await api.as(ada);
  const admin = await api.aUser({ admin: true });
  await client.refused(muteAUser, { params: { user_id: ada.id } }, 403, 17039);
  await client.refused(muteAUser, { params: { user_id: admin.id } }, 403, 17064);
  await client.refused(muteAUser, { params: { user_id: 999_999 } }, 404, 17000);
  await client.refused(unmuteAUser, { params: { user_id: 999_999 } }, 404, 17000);
});

test('the mutes of one user do not affect the lists of others', async () => {
  const [ada, bob, cleo] = [await api.aUser(), await api.aUser(), await api.aUser()];
  await (await api.as(ada)).call(muteAUser, { params: { user_id: cleo.id } });
  assert.equal((await (await api.as(bob)).call(getUsersMuted)).body.result_total, 0);
});

test('the mods of muted users are missing from the caller’s lists and totals, and from no one else’s', async () => {
  const game = await api.aGame();
  const [loud, calm] = [await api.aUser(), await api.aUser()];
  const mods: Mod[] = [];
  for (let i = 0; i < 6; i += 1) {
    // Popularity that follows from downloads: a job computes it again when it folds the subscriptions below in.
    const stats = { downloads_today: 6 - i, popularity: 10 * (6 - i) };
    mods.push(await api.aMod({ game, owner: i % 2 ? loud : calm, name: `Sword ${i}`, stats }));
  }
  for (const mod of mods) await api.aFile(mod);
  const [ada, bob] = [await api.as(await api.aUser()), await api.as(await api.aUser())];
  const params = { game_id: game.id };
  for (const mod of mods) await ada.call(subscribeToMod, { params: { ...params, mod_id: mod.id } });
  const asked = async (client: Client, query: Record<string, string | number>) => {
    const { data, result_total } = (await client.call(getMods, { params, query })).body;
    return [data.map(({ id }) => id), result_total];
  };
  const calmIds = mods.filter((_, i) => i % 2 === 0).map(({ id }) => id);
  const QUERIES: Record<string, string | number>[] = [
    {},
    { _q: 'sword' },
    { _q: 'swo' },
    { 'name-lk': 'sword*' },
    { _sort: 'popular' },
    { 'submitted_by-in': `${loud.id},${calm.id}` },
  ];
  for (const query of QUERIES) assert.equal((await asked(ada, query))[1], 6);
  await ada.call(muteAUser, { params: { user_id: loud.id } });
  for (const query of QUERIES) {
    assert.deepEqual(await asked(ada, query), [calmIds, 3], JSON.stringify(query));
    assert.deepEqual(await asked(ada, { ...query, _limit: 1, _offset: 1 }), [[calmIds[1]], 3]);
    assert.equal((await asked(bob, query))[1], 6);
    assert.equal((await asked(api.withKey(game), query))[1], 6);
  }
  assert.deepEqual(await asked(ada, { submitted_by: loud.id }), [[], 0]);
  assert.deepEqual(
    (await ada.call(getModsStats, { params })).body.data.map(({ mod_id }) => mod_id),
    calmIds,
  );
  const events = (await ada.call(getModsEvents, { params })).body.data;
  assert.deepEqual([...new Set(events.map(({ mod_id }) => mod_id))].sort(), [...calmIds].sort());
  const subscribed = (await ada.call(getUserSubscriptions)).body;
  assert.deepEqual([subscribed.data.map(({ id }) => id), subscribed.result_total], [calmIds, 3]);
  // A mod stays readable by its id, so that shared links work.
  assert.equal((await ada.call(getMod, { params: { ...params, mod_id: mods[1]!.id } })).status, 200);
  await ada.call(unmuteAUser, { params: { user_id: loud.id } });
  assert.equal((await asked(ada, {}))[1], 6);
});

test('the content of muted or blocked users is missing from all other lists of the caller too', async () => {
  const game = await api.aGame();
  const params = { game_id: game.id };
  const [loud, calm, mute] = [await api.aUser(), await api.aUser(), await api.aUser()];
  const base = await api.aMod({ game, owner: calm });
  await api.aFile(base);
  const of = { mod_id: base.id };
  let collection_id = 0;
  const mods: Mod[] = [];
  for (const owner of [loud, calm]) {
    const client = await api.as(owner);
    mods.push(await api.aMod({ game, owner }));
    await api.aFile(mods.at(-1)!);
    await api.aGuide({ game, owner });
    await client.call(addModDependencies, {
      params: { ...params, mod_id: mods.at(-1)!.id },
      body: { dependencies: [base.id] },
    });
    const body = { name: 'Best', mod_ids: [base.id, ...mods.map(({ id }) => id)] };
    collection_id = (await client.call(addCollectionOperation, { params, body })).body.id;
    await client.call(modComments.add, { params: { ...params, ...of }, body: { content: 'Hello' } });
    await client.call(followUserOperation, { params: { user_id: owner.id }, body: { user_id: mute.id } });
  }
  const [ada, bob] = [await api.as(mute), await api.as(await api.aUser())];
  for (const { id } of [loud, calm])
    await ada.call(followUserOperation, { params: { user_id: mute.id }, body: { user_id: id } });
  const LISTS: [AnyOperation, Record<string, number>, number][] = [
    [getGuides, params, 1],
    [getModCollections, params, 1],
    [getCollectionsOfMod, { ...params, ...of }, 1],
    [getCollectionMods, { ...params, collection_id }, 2],
    [modComments.getAll, { ...params, ...of }, 1],
    [getModDependants, { ...params, ...of }, 1],
    [getUserProfileCollections, { user_id: loud.id }, 0],
    [getUserFollowers, { user_id: mute.id }, 1],
  ];
  const look = async (client: Client) => {
    const totals = [];
    for (const [operation, where] of LISTS) {
      const { body } = await client.call(operation, { params: where });
      const { data, result_total } = body as { data: unknown[]; result_total: number };
      assert.equal(data.length, result_total);
      totals.push(result_total);
    }
    return totals;
  };
  const all = [2, 2, 2, 3, 2, 2, 1, 2];
  for (const client of [ada, bob]) assert.deepEqual(await look(client), all);
  await ada.call(muteAUser, { params: { user_id: loud.id } });
  const less = LISTS.map(([, , total]) => total);
  assert.deepEqual(await look(ada), less);
  assert.deepEqual(await look(bob), all);
  // Followed users stay listed even if they are muted, so that they can be unfollowed.
  assert.equal((await ada.call(getMyFollowing)).body.result_total, 2);
  await ada.call(subscribeToCollectionMods, { params: { ...params, collection_id } });
  const { query } = api.app().db;
  const had = await query.selectFrom('subscriptions').select('mod_id').where('user_id', '=', mute.id).execute();
  assert.deepEqual(had.map(({ mod_id }) => mod_id).sort(), [base.id, mods[1]!.id].sort());
  await ada.call(unmuteAUser, { params: { user_id: loud.id } });
  assert.deepEqual(await look(ada), all);
  await ada.call(blockAUser, { params: { user_id: loud.id } });
  // A block also ends the follow.
  assert.deepEqual(await look(ada), less);
});

test('a game’s team sees the content of users it has muted where it acts as the team', async () => {
  const game = await api.aGame();
  const loud = await api.aUser();
  await api.aGuide({ game, owner: loud });
  const team = await api.as(game.owner);
  await team.call(muteAUser, { params: { user_id: loud.id } });
  const total = async (query: Record<string, number>) =>
    (await team.call(getGuides, { params: { game_id: game.id }, query })).body.result_total;
  assert.deepEqual([await total({}), await total({ status: 1 })], [0, 1]);
});
