import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, encodeForm, type Game, type Mod, START, startApi, type User } from '../../../test/api.ts';
import { addModDependencies } from '../../catalogue/dependencies/operations.ts';
import { getUserEvents } from '../../catalogue/events/operations.ts';
import { editGameOperation } from '../../catalogue/games/operations.ts';
import { deleteModOperation, editModOperation, getMod } from '../../catalogue/mods/operations.ts';
import { countDownload } from '../../catalogue/stats/stats.ts';
import { ADMINISTRATOR, MANAGER, MODERATOR } from '../../catalogue/teams/teams.ts';
import { getUserSubscriptions, subscribeToMod } from '../subscriptions/operations.ts';
import {
  addCollectionOperation,
  addCollectionRating,
  deleteCollectionMods,
  deleteCollectionOperation,
  followCollectionOperation,
  getCollectionMods,
  getCollectionsOfMod,
  getMeCollections,
  getMeFollowedCollections,
  getModCollection,
  getModCollections,
  getUserProfileCollections,
  subscribeToCollectionMods,
  unfollowCollectionOperation,
  unsubscribeFromCollectionMods,
  updateCollectionOperation,
} from './operations.ts';
import * as store from './store.ts';

const api = await startApi();
const game = await api.aGame();
const ada = await api.aUser();
const asAda = await api.as(ada);
const stranger = await api.aUser();
const asStranger = await api.as(stranger);
const at = (collection: { id: number; game_id?: number }) => ({
  game_id: collection.game_id ?? game.id,
  collection_id: collection.id,
});
const inGame = { game_id: game.id };
const MISSING = 999_999;

/** A member of the game’s team. */
async function ofTeam(level: number, of: { id: number } = game): Promise<Client> {
  const person = await api.aUser();
  await api.joins(person, of, level);
  return api.as(person);
}

async function mods(count: number, of: Game = game, owner?: User): Promise<Mod[]> {
  const made = [];
  for (let i = 0; i < count; i += 1) made.push(await api.aMod({ game: of, ...(owner && { owner }) }));
  return made;
}

const ids = (list: readonly { id: number }[]) => list.map(({ id }) => id);
type Body = NonNullable<Parameters<Client['call']>[1]>['body'];

async function aCollection(body: Body = {}, client = asAda, of: { id: number } = game) {
  const mod_ids = body?.['mod_ids'] ?? ids([await api.aMod({ game: of })]);
  const named = { name: api.unique('Collection'), ...body, mod_ids };
  const answer = await client.call(addCollectionOperation, { params: { game_id: of.id }, body: named });
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
}

const update = (collection: { id: number; game_id: number }, body: Body, client = asAda) =>
  client.call(updateCollectionOperation, { params: at(collection), body });

const modsOf = async (collection: { id: number; game_id: number }, query = {}, client: Client = asStranger) => {
  const { body } = await client.call(getCollectionMods, { params: at(collection), query });
  assert.equal(body.result_total, body.data.length);
  return ids(body.data);
};

const listOf = async (query = {}, client: Client = asStranger) => {
  const { body } = await client.call(getModCollections, { params: inGame, query });
  assert.equal(body.result_total, body.data.length);
  return ids(body.data);
};

test('a new collection has the sent fields, and the response is the whole object', async () => {
  const [one, two] = await mods(2);
  const made = await aCollection({
    name: 'Sky Essentials',
    summary: 'Fly',
    description: '<p>Up</p><script>alert(1)</script>',
    category: 'essential',
    tags: ['ui', 'Quality of Life'],
    mod_ids: [one!.id, two!.id],
  });
  const { submitted_by, logo, ...rest } = made;
  assert.equal(submitted_by.id, ada.id);
  assert.match(logo.original!, /placeholder\/logo/);
  assert.deepEqual(rest, {
    id: made.id,
    game_id: game.id,
    game_name: game.name,
    status: 1,
    visible: 1,
    category: 'Essential',
    date_added: START,
    date_updated: START,
    date_live: START,
    date_disabled: 0,
    limit_number_mods: 100,
    maturity_option: 0,
    filesize: 0,
    filesize_uncompressed: 0,
    platforms: ['ALL'],
    tags: ['UI', 'QUALITY_OF_LIFE'],
    stats: {
      collection_id: made.id,
      mods_total: 2,
      downloads_today: 0,
      downloads_unique: 0,
      downloads_total: 0,
      followers_total: 0,
      comments_total: 0,
      ratings_total: 0,
      ratings_positive: 0,
      ratings_negative: 0,
      ratings_positive_30_days: 0,
      ratings_percentage_positive: 0,
      ratings_weighted_aggregate: 0,
      ratings_display_text: 'Unrated',
    },
    name: 'Sky Essentials',
    name_id: 'sky-essentials',
    summary: 'Fly',
    description: '<p>Up</p>',
    description_plaintext: 'Up',
  });
  const read = await api.withKey(game).call(getModCollection, { params: at(made) });
  assert.deepEqual(read.body, made);
});

test('a category is accepted by number or name, and others are refused', async () => {
  for (const [category, told] of [
    [1, 'Essential'],
    ['Miscellaneous', 'Miscellaneous'],
    [3, 'Themed'],
  ] as const)
    assert.equal((await aCollection({ category })).category, told);
  assert.equal((await aCollection()).category, 'Miscellaneous');
  for (const category of ['4', 'constructor', ''])
    await asAda.refused(addCollectionOperation, { params: inGame, body: { name: 'Any', category } }, 422, 13009);
});

test('names are at most 50 long, and so are the slugs made of them, which are unique in their game', async () => {
  const long = 'n'.repeat(50);
  const [first, second] = [await aCollection({ name: long }), await aCollection({ name: long })];
  assert.notEqual(first.name_id, second.name_id);
  assert.ok(second.name_id.length <= 50);
  const refused = async (body: Body) => {
    const answer = await asAda.refused(addCollectionOperation, { params: inGame, body }, 422, 13009);
    return Object.keys(answer.body.error.errors!);
  };
  assert.deepEqual(await refused({ name: `${long}n` }), ['name']);
  assert.deepEqual(await refused({ name: 'Any', name_id: first.name_id }), ['name_id']);
  assert.deepEqual(await refused({ name: 'Any', name_id: 's'.repeat(51) }), ['name_id']);
  assert.deepEqual(await refused({ name: 'Any', summary: 's'.repeat(251) }), ['summary']);
  assert.deepEqual(await refused({ name: 'Any', description: 'd'.repeat(50_001) }), ['description']);
  assert.deepEqual(await refused({ name: 'Any', tags: ['NONSENSE'] }), ['tags.0']);
});

test('in a game without collections none can be added or seen', async () => {
  const switched = await api.aGame();
  const params = { game_id: switched.id };
  const mod = await api.aMod({ game: switched });
  const made = await aCollection({ mod_ids: [mod.id] }, asAda, switched);
  const options = async (bits: number) =>
    (await api.as(switched.owner)).call(editGameOperation, { params, body: { community_options: bits } });
  await options(1);
  await asAda.refused(addCollectionOperation, { params, body: { name: 'Any' } }, 403, 29600);
  await asAda.refused(getModCollection, { params: at(made) }, 404, 14000);
  const total = async (answer: Promise<{ body: { result_total: number } }>) => (await answer).body.result_total;
  assert.equal(await total(asAda.call(getModCollections, { params })), 0);
  assert.equal(await total(asAda.call(getCollectionsOfMod, { params: { ...params, mod_id: mod.id } })), 0);
  assert.equal(
    await total(asAda.call(getUserProfileCollections, { params: { user_id: ada.id }, query: { id: made.id } })),
    0,
  );
  assert.equal(await total(asAda.call(getMeCollections, { query: { id: made.id } })), 0);
  await options(1 | 8_192);
  assert.equal((await asAda.call(getModCollection, { params: at(made) })).body.id, made.id);
});

test('a mod with a price cannot be added to a collection', async () => {
  const paid = await api.aMod({ game });
  await api
    .app()
    .db.write(({ query }) => query.updateTable('mods').set({ price: 5 }).where('id', '=', paid.id).execute());
  const body = { name: 'Any', mod_ids: [paid.id] };
  await asAda.refused(addCollectionOperation, { params: inGame, body }, 400, 29604);
});

test('only public mods of the same game that allow it can be added to a collection', async () => {
  const hidden = await api.aMod({ game, owner: ada, visible: 0 });
  const unseen = await api.aMod({ game, visible: 0 });
  const elsewhere = await api.aMod();
  const hiddenElsewhere = await api.aMod({ visible: 0 });
  const closed = await api.aMod({ game, community_options: 1 });
  const deleted = await api.aMod({ game, owner: ada });
  await asAda.call(deleteModOperation, { params: { ...inGame, mod_id: deleted.id } });
  const collection = await aCollection();
  const refused = async (mod: { id: number }, status: number, ref: number) => {
    const body = { name: 'Any', mod_ids: [mod.id] };
    await asAda.refused(addCollectionOperation, { params: inGame, body }, status, ref);
    await asAda.refused(updateCollectionOperation, { params: at(collection), body }, status, ref);
  };
  await refused(hidden, 400, 29601);
  await refused(elsewhere, 400, 29602);
  for (const mod of [unseen, hiddenElsewhere, deleted, { id: MISSING }]) await refused(mod, 404, 29605);
  await refused(closed, 400, 29615);
  assert.equal((await modsOf(collection)).length, 1);
});

test('a mod with dependencies can be added only together with them', async () => {
  const [above, below] = await mods(2, game, ada);
  await asAda.call(addModDependencies, {
    params: { ...inGame, mod_id: above!.id },
    body: { dependencies: [below!.id] },
  });
  const body = { name: 'Any', mod_ids: [above!.id] };
  await asAda.refused(addCollectionOperation, { params: inGame, body }, 400, 29609);
  assert.deepEqual(await modsOf(await aCollection({ mod_ids: [above!.id, below!.id] })), [above!.id, below!.id]);
});

test('the game limits the number of mods in a collection, and its administrators can change the limit of one', async () => {
  const small = await api.aGame({ settings: { limit_collection_mods: 2 } });
  const three = ids(await mods(3, small));
  const params = { game_id: small.id };
  await asAda.refused(addCollectionOperation, { params, body: { name: 'Any', mod_ids: three } }, 400, 29616);
  const made = await aCollection({ mod_ids: three.slice(1) }, asAda, small);
  assert.equal(made.limit_number_mods, 2);
  const third = { mod_ids: [three[0]!] };
  await asAda.refused(updateCollectionOperation, { params: at(made), body: third }, 400, 29616);
  await asAda.refused(updateCollectionOperation, { params: at(made), body: { limit_number_mods: 3 } }, 403, 29607);
  const manager = await ofTeam(MANAGER, small);
  await manager.refused(updateCollectionOperation, { params: at(made), body: { limit_number_mods: 3 } }, 403, 29607);
  assert.equal((await update(made, { limit_number_mods: 2, summary: 'Same limit' })).status, 200);
  const raised = await update(made, { limit_number_mods: 3 }, await api.as(small.owner));
  assert.equal(raised.body.limit_number_mods, 3);
  assert.equal((await update(made, third)).status, 200);
  assert.deepEqual(await modsOf(made, { _sort: 'added_to_collection' }), [three[1], three[2], three[0]]);
});

test('with sync the mods are replaced, without it they are added', async () => {
  const [a, b, c] = ids(await mods(3));
  const made = await aCollection({ mod_ids: [a!, b!] });
  await update(made, { mod_ids: [b!, c!] });
  assert.deepEqual(await modsOf(made), [a, b, c]);
  const inOrder = { _sort: 'added_to_collection' };
  await update(made, { mod_ids: [c!, a!, b!], sync: true });
  assert.deepEqual(await modsOf(made, inOrder), [c, a, b]);
  await update(made, { mod_ids: [c!], sync: true });
  assert.deepEqual(await modsOf(made), [c]);
});

test('a public collection needs a mod, so an empty one is hidden', async () => {
  const empty = await aCollection({ mod_ids: [] });
  assert.deepEqual([empty.visible, empty.date_live], [0, 0]);
  await asAda.refused(updateCollectionOperation, { params: at(empty), body: { visible: 1 } }, 400, 29614);
  await asAda.refused(addCollectionOperation, { params: inGame, body: { name: 'Any', visible: 1 } }, 400, 29614);
  const mod = await api.aMod({ game });
  api.clock.advance(10);
  const shown = (await update(empty, { visible: 1, mod_ids: [mod.id] })).body;
  assert.deepEqual([shown.visible, shown.date_live - START > 0], [1, true]);
  const taken = { params: at(shown), body: { mod_ids: [mod.id] } };
  await asAda.refused(deleteCollectionMods, taken, 400, 29614);
  await update(shown, { visible: 0 });
  assert.equal((await asAda.call(deleteCollectionMods, taken)).status, 204);
  assert.deepEqual(await modsOf(shown, {}, asAda), []);
});

test('submitter, moderators, managers and administrators each change only what they may', async () => {
  const made = await aCollection();
  const another = await api.aMod({ game });
  const [moderator, manager, admin] = [await ofTeam(MODERATOR), await ofTeam(MANAGER), await ofTeam(ADMINISTRATOR)];
  const refused = (client: Client, body: Body, ref: number) =>
    client.refused(updateCollectionOperation, { params: at(made), body }, 403, ref);
  await refused(asStranger, { summary: 'Mine' }, 29607);
  await refused(asStranger, { mod_ids: [another.id] }, 29607);
  await refused(asStranger, { status: 0 }, 29607);
  await refused(asStranger, { status: 1 }, 29607);
  await refused(moderator, { summary: 'Mine' }, 29607);
  await refused(manager, { mod_ids: [another.id] }, 29603);
  await refused(asAda, { status: 0 }, 29607);
  const takeOut = { params: at(made), body: { mod_ids: [another.id] } };
  for (const client of [asStranger, moderator, manager])
    await client.refused(deleteCollectionMods, takeOut, 403, 29603);
  assert.equal((await update(made, { summary: 'Theirs' }, manager)).body.summary, 'Theirs');
  assert.equal((await update(made, { mod_ids: [another.id] }, admin)).status, 200);
  assert.equal((await admin.call(deleteCollectionMods, takeOut)).status, 204);
  assert.equal((await update(made, { status: 0 }, moderator)).body.status, 0);
  await asStranger.refused(getModCollection, { params: at(made) }, 404, 14000);
  await refused(asAda, { status: 1 }, 29607);
  assert.equal((await update(made, { status: 1 }, moderator)).body.status, 1);
});

test('editors set tags, and only the game’s team sets locked ones', async () => {
  const locking = await api.aGame({
    tagGroups: [{ name: 'Official', type: 'checkboxes', locked: true, tags: ['Quality of Life'] }],
  });
  const made = await aCollection({ tags: ['AUDIO'] }, asAda, locking);
  const refused = (client: Client, tags: readonly string[], ref: number) =>
    client.refused(updateCollectionOperation, { params: at(made), body: { tags } }, 403, ref);
  await refused(asStranger, ['AUDIO', 'UI'], 29617);
  await refused(asStranger, [''], 29619);
  const locked = ['AUDIO', 'QUALITY_OF_LIFE'];
  await refused(asAda, locked, 29618);
  const body = { name: 'Any', tags: locked };
  await asAda.refused(addCollectionOperation, { params: { game_id: locking.id }, body }, 403, 29618);
  const ofGame = await api.as(locking.owner);
  assert.deepEqual((await update(made, { tags: locked }, ofGame)).body.tags, locked);
  await refused(asAda, ['AUDIO'], 29620);
  assert.deepEqual((await update(made, { tags: ['QUALITY_OF_LIFE', 'VISUAL'] })).body.tags, [
    'QUALITY_OF_LIFE',
    'VISUAL',
  ]);
  const found = async (tags: string) =>
    (await asAda.call(getModCollections, { params: { game_id: locking.id }, query: { tags } })).body.result_total;
  assert.deepEqual([await found('visual'), await found('VISUAL,QUALITY_OF_LIFE'), await found('AUDIO')], [1, 1, 0]);
});

test('while one request sets the mods of a collection, others get a conflict error until its claim expires', async () => {
  const made = await aCollection();
  const mod = await api.aMod({ game });
  const now = api.app().clock.now();
  await api.app().db.write((transaction) => store.claim(transaction, made.id, now, now + 60));
  const body = { mod_ids: [mod.id] };
  await asAda.refused(updateCollectionOperation, { params: at(made), body }, 409, 29613);
  await asAda.refused(deleteCollectionMods, { params: at(made), body }, 409, 29613);
  assert.equal((await update(made, { summary: 'No mods' })).status, 200);
  api.clock.advance(61);
  assert.equal((await update(made, body)).status, 200);
  await asAda.refused(updateCollectionOperation, { params: at(made), body: { mod_ids: [MISSING] } }, 404, 29605);
  assert.equal((await update(made, { ...body, sync: true })).status, 200);
});

test('users follow public collections, once, and can unfollow hidden ones', async () => {
  const made = await aCollection();
  const params = at(made);
  const first = await asStranger.call(followCollectionOperation, { params });
  assert.deepEqual([first.status, first.body.stats.followers_total], [201, 1]);
  assert.match(first.headers.location!, new RegExp(`/collections/${made.id}$`));
  const again = await asStranger.call(followCollectionOperation, { params });
  assert.deepEqual([again.status, again.body.stats.followers_total], [200, 1]);
  const followed = async () => ids((await asStranger.call(getMeFollowedCollections)).body.data);
  assert.ok((await followed()).includes(made.id));
  await update(made, { visible: 0 });
  assert.ok(!(await followed()).includes(made.id));
  await asAda.refused(followCollectionOperation, { params }, 403, 29608);
  const other = await api.as(await api.aUser());
  await other.refused(followCollectionOperation, { params }, 404, 14000);
  await other.refused(unfollowCollectionOperation, { params }, 404, 14000);
  assert.equal((await asStranger.call(unfollowCollectionOperation, { params })).status, 204);
  await asStranger.refused(unfollowCollectionOperation, { params }, 404, 14000);
  assert.equal((await asAda.call(getModCollection, { params })).body.stats.followers_total, 0);
});

test('subscribing to a collection subscribes to all of its available mods, and unsubscribing ends all of them', async () => {
  const [had, open, hidden, fileless] = await mods(4);
  for (const mod of [had!, open!, hidden!]) await api.aFile(mod);
  const made = await aCollection({ mod_ids: ids([had!, open!, hidden!, fileless!]) });
  const hide = { params: { game_id: game.id, mod_id: hidden!.id }, body: { visible: 0 } };
  await (await api.as(hidden!.owner)).call(editModOperation, hide);
  const person = await api.as(await api.aUser());
  const subscribed = async () => ids((await person.call(getUserSubscriptions, { query: { _sort: 'id' } })).body.data);
  const subscribersOf = async (mod: Mod) =>
    (await person.call(getMod, { params: { game_id: game.id, mod_id: mod.id } })).body.stats.subscribers_total;
  await person.call(subscribeToMod, { params: { game_id: game.id, mod_id: had!.id } });
  const answer = await person.call(subscribeToCollectionMods, { params: at(made) });
  assert.deepEqual([answer.status, answer.body.id], [200, made.id], answer.text);
  await person.refused(subscribeToCollectionMods, { params: at(made) }, 400, 15004);
  assert.deepEqual(await subscribed(), ids([had!, open!]));
  assert.deepEqual([await subscribersOf(had!), await subscribersOf(open!)], [1, 1]);
  assert.equal((await person.call(getUserEvents)).body.result_total, 2);
  await (await api.as(open!.owner)).call(editModOperation, {
    params: { game_id: game.id, mod_id: open!.id },
    body: { visible: 0 },
  });
  const left = await person.call(unsubscribeFromCollectionMods, { params: at(made) });
  assert.deepEqual([left.status, left.body.id], [200, made.id], left.text);
  await person.refused(unsubscribeFromCollectionMods, { params: at(made) }, 400, 15005);
  assert.deepEqual(await subscribed(), []);
  assert.equal((await person.call(getUserEvents)).body.result_total, 4);
  assert.equal(await subscribersOf(had!), 0);
});

test('users cannot subscribe to the mods of a collection that they do not see', async () => {
  const made = await aCollection({ visible: 0 });
  for (const operation of [subscribeToCollectionMods, unsubscribeFromCollectionMods]) {
    await asStranger.refused(operation, { params: at(made) }, 404, 14000);
    assert.notEqual((await asAda.call(operation, { params: at(made) })).status, 404);
  }
});

test('users rate whether the mods work together, and withdraw the rating', async () => {
  const made = await aCollection();
  const params = at(made);
  const rate = (rating: number) => asStranger.call(addCollectionRating, { params, body: { rating } });
  const recent = async () =>
    (await api.withKey(game).call(getModCollection, { params })).body.stats.ratings_positive_30_days;
  await asStranger.refused(addCollectionRating, { params, body: { rating: 0 } }, 400, 15043);
  const answer = await rate(1);
  assert.deepEqual([answer.status, answer.body.code], [201, 201]);
  assert.equal(await recent(), 1);
  await asStranger.refused(addCollectionRating, { params, body: { rating: 1 } }, 400, 15028);
  await rate(-1);
  assert.equal(await recent(), 0);
  await asStranger.refused(addCollectionRating, { params, body: { rating: -1 } }, 400, 15028);
  await rate(1);
  api.clock.advance(31 * 86_400);
  assert.equal(await recent(), 0);
  await (await api.as(await api.aUser())).call(addCollectionRating, { params, body: { rating: 1 } });
  await rate(0);
  assert.equal(await recent(), 1);
  await asStranger.refused(addCollectionRating, { params, body: { rating: 2 } }, 422, 13009);
});

test('statistics include only the public mods', async () => {
  const [big, small] = await mods(2, game, ada);
  await asAda.call(editModOperation, { params: { ...inGame, mod_id: small!.id }, body: { summary: 'Small' } });
  const app = api.app();
  const made = await aCollection({ mod_ids: [big!.id, small!.id] });
  await app.db.write((transaction) => countDownload(app, transaction, big!, 5));
  await app.db.write((transaction) => countDownload(app, transaction, small!, 2));
  await api.counted();
  await api.aFile(big!);
  await app.db.write(({ query }) =>
    query.updateTable('mods').set({ maturity_option: 5 }).where('id', '=', big!.id).execute(),
  );
  const told = async () => {
    const { stats, filesize, maturity_option } = (await asAda.call(getModCollection, { params: at(made) })).body;
    return [stats.downloads_today, stats.downloads_total, stats.downloads_unique, filesize > 0, maturity_option];
  };
  assert.deepEqual(await told(), [7, 7, 5, true, 5]);
  const ofMaturity = async (value: number) => (await listOf({ maturity_option: value })).includes(made.id);
  assert.deepEqual([await ofMaturity(5), await ofMaturity(0)], [true, false]);
  assert.deepEqual(await modsOf(made, { _sort: '-filesize' }), [big!.id, small!.id]);
  assert.deepEqual(await modsOf(made, { _sort: 'filesize' }), [small!.id, big!.id]);
  assert.deepEqual(await modsOf(made, { maturity_option: 0 }), [small!.id]);
  await asAda.call(editModOperation, { params: { ...inGame, mod_id: big!.id }, body: { visible: 0 } });
  assert.deepEqual(await told(), [2, 2, 2, false, 0]);
});

test('a hidden mod is listed in a collection only for callers who may see it and ask for it', async () => {
  const [shown, hidden] = await mods(2);
  const made = await aCollection({ mod_ids: [shown!.id, hidden!.id] });
  const owner = await api.as(hidden!.owner);
  const asKey = api.withKey(game);
  const asked = { show_hidden_mods: true };
  assert.deepEqual(await modsOf(made, asked, asKey), [shown!.id, hidden!.id]);
  await owner.call(editModOperation, { params: { ...inGame, mod_id: hidden!.id }, body: { visible: 0 } });
  for (const client of [asKey, asAda, asStranger]) assert.deepEqual(await modsOf(made, asked, client), [shown!.id]);
  const moderator = await ofTeam(MODERATOR);
  for (const client of [owner, moderator]) {
    assert.deepEqual(await modsOf(made, {}, client), [shown!.id]);
    assert.deepEqual(await modsOf(made, asked, client), [shown!.id, hidden!.id]);
  }
  assert.deepEqual(await listOf({ mod_id: hidden!.id }), []);
  assert.deepEqual(await listOf({ mod_id: shown!.id }), [made.id]);
  await asStranger.refused(getCollectionsOfMod, { params: { ...inGame, mod_id: hidden!.id } }, 404, 15022);
});

test('a deleted mod is in no visible collection, and a permanently deleted one in none at all', async () => {
  const [stays, goes] = await mods(2);
  const made = await aCollection({ mod_ids: [stays!.id, goes!.id] });
  const owner = await api.as(goes!.owner);
  const params = { ...inGame, mod_id: goes!.id };
  await owner.call(deleteModOperation, { params });
  const moderator = await ofTeam(MODERATOR);
  for (const client of [asStranger, owner, moderator])
    assert.deepEqual(await modsOf(made, { show_hidden_mods: true }, client), [stays!.id]);
  const held = () => store.modIdsOf(api.app().db.query, made.id);
  assert.deepEqual(await held(), [stays!.id, goes!.id]);
  assert.equal((await owner.call(deleteModOperation, { params, body: { permanent: true } })).status, 204);
  assert.deepEqual(await held(), [stays!.id]);
});

test('a hidden, unaccepted or deleted collection is in no list, total or cached response for others', async () => {
  const mod = await api.aMod({ game });
  const made = await aCollection({ mod_ids: [mod.id] });
  const moderator = await ofTeam(MODERATOR);
  const asKey = api.withKey(game);
  const params = at(made);
  const ofMod = { ...inGame, mod_id: mod.id };
  const everywhere = async (client: Client) => [
    (await listOf({ id: made.id }, client)).length,
    (await listOf({ id: made.id, 'status-in': '0,1,3', 'visible-in': '0,1' }, client)).length,
    (await client.call(getCollectionsOfMod, { params: ofMod, query: { 'status-in': '0,1,3' } })).body.result_total,
    (await client.call(getCollectionsOfMod, { params: ofMod })).body.result_total,
    (await client.call(getModCollection, { params })).status,
    (await client.call(getCollectionMods, { params })).status,
  ];
  const ofProfile = async () => {
    const query = { id: made.id };
    const answer = await asStranger.call(getUserProfileCollections, { params: { user_id: ada.id }, query });
    return answer.body.result_total;
  };
  for (const client of [asStranger, asKey, asAda]) assert.deepEqual(await everywhere(client), [1, 1, 1, 1, 200, 200]);
  assert.equal(await ofProfile(), 1);
  const gone = async () => {
    // Callers who may see it read first, so that a response wrongly cached for them would reach the others.
    for (const client of [asAda, moderator]) assert.deepEqual(await everywhere(client), [0, 1, 0, 0, 200, 200]);
    for (const client of [asStranger, asKey]) assert.deepEqual(await everywhere(client), [0, 0, 0, 0, 404, 404]);
    assert.equal(await ofProfile(), 0);
    await asStranger.refused(addCollectionRating, { params, body: { rating: 1 } }, 404, 14000);
    await asStranger.refused(updateCollectionOperation, { params, body: { summary: 'x' } }, 404, 14000);
    await asStranger.refused(deleteCollectionOperation, { params }, 404, 14000);
    await asStranger.refused(deleteCollectionMods, { params, body: { mod_ids: [mod.id] } }, 404, 14000);
  };
  await update(made, { visible: 0 });
  await gone();
  await update(made, { visible: 1 });
  await update(made, { status: 0 }, moderator);
  await gone();
  await update(made, { status: 1 }, moderator);
  await asAda.call(deleteCollectionOperation, { params });
  await gone();
});

test('the submitter or the game’s team deletes a collection, with a reason, and an administrator restores it', async () => {
  const made = await aCollection();
  const params = at(made);
  const [moderator, admin] = [await ofTeam(MODERATOR), await ofTeam(ADMINISTRATOR)];
  await asStranger.refused(deleteCollectionOperation, { params }, 403, 29606);
  await moderator.refused(deleteCollectionOperation, { params, body: { permanent: true } }, 403, 29606);
  assert.equal((await moderator.call(deleteCollectionOperation, { params, body: { reason: 'Spam' } })).status, 204);
  const row = await store.byId(api.app().db, made.id);
  assert.deepEqual([row!.status, row!.deleted_reason], [3, 'Spam']);
  const deleted = (await asAda.call(getMeCollections, { query: { status: 3, id: made.id } })).body.data[0]!;
  assert.deepEqual([deleted.status, deleted.date_disabled > 0], [3, true]);
  assert.deepEqual((await asAda.call(getMeCollections, { query: { id: made.id } })).body.data, []);
  for (const client of [asAda, moderator])
    await client.refused(updateCollectionOperation, { params, body: { status: 1 } }, 403, 29607);
  await admin.refused(updateCollectionOperation, { params, body: { summary: 'x' } }, 403, 29607);
  const back = (await update(made, { status: 1 }, admin)).body;
  assert.deepEqual([back.status, back.date_disabled], [1, 0]);
  assert.equal((await asAda.call(deleteCollectionOperation, { params, body: { permanent: true } })).status, 204);
  await admin.refused(getModCollection, { params }, 404, 14000);
  const { query } = api.app().db;
  const left = await query
    .selectFrom('collection_mods')
    .where('collection_id', '=', made.id)
    .select('mod_id')
    .execute();
  assert.deepEqual(left, []);
});

test('filters are accepted in the query, or in a form as the dialect documents it', async () => {
  const mod = await api.aMod({ game });
  const body = { name: 'Zephyr Winds', category: 'Themed', mod_ids: [mod.id] };
  const made = await aCollection(body);
  const later = await aCollection({ name: 'Alpha Winds', category: 1, mod_ids: [mod.id] });
  const byForm = async (fields: Record<string, string>) => {
    const headers = { 'content-length': String(encodeForm(fields).length) };
    const { body: found } = await asStranger.call(getModCollections, { params: inGame, body: fields, headers });
    return ids(found.data);
  };
  for (const find of [byForm, (fields: Record<string, string>) => listOf(fields)]) {
    assert.deepEqual(await find({ mod_id: String(mod.id) }), [made.id, later.id]);
    assert.deepEqual(await find({ mod_id: String(mod.id), _sort: 'name' }), [later.id, made.id]);
    assert.deepEqual(await find({ mod_id: String(mod.id), category: 'themed' }), [made.id]);
    assert.deepEqual(await find({ mod_id: String(mod.id), 'category-in': '1,2' }), [later.id]);
    assert.deepEqual(await find({ name: 'zephyr winds' }), [made.id]);
    assert.deepEqual(await find({ name_id: made.name_id }), [made.id]);
    assert.deepEqual(await find({ _q: 'zeph' }), [made.id]);
    const mine = { submitted_by_display_name: ada.username, id: String(made.id) };
    assert.deepEqual(await find(mine), [made.id]);
    assert.deepEqual(await find({ ...mine, submitted_by: String(stranger.id) }), []);
  }
  await asStranger.refused(getModCollections, { params: inGame, query: { category: 'nonsense' } }, 422, 13009);
  await asStranger.refused(getModCollections, { params: inGame, query: { mod_id: 'x' } }, 422, 13009);
});

test('a URL with the id of a public collection redirects to its page, and one of a hidden collection is not found', async () => {
  const made = await aCollection();
  const path = `/search/collections/${made.id}`;
  const answer = await api.request('GET', path);
  const address = `https://localhost/g/${game.name_id}/c/${made.name_id}`;
  assert.deepEqual([answer.status, answer.headers.location], [302, address]);
  await update(made, { visible: 0 });
  assert.equal((await api.request('GET', path)).status, 404);
});

test('lists across games contain nothing of a game that the caller cannot access', async () => {
  const closed = await api.aGame();
  const made = await aCollection({}, asAda, closed);
  const params = { user_id: ada.id };
  const query = { id: made.id };
  const follower = await api.as(stranger);
  await follower.call(followCollectionOperation, { params: at(made) });
  const totals = async (client: Client) => [
    (await client.call(getUserProfileCollections, { params, query })).body.result_total,
    (await client.call(getMeFollowedCollections, { query })).body.result_total,
  ];
  assert.deepEqual(await totals(follower), [1, 1]);
  const body = { api_access_options: 0 };
  await (await api.as(closed.owner)).call(editGameOperation, { params: { game_id: closed.id }, body });
  assert.deepEqual(await totals(follower), [0, 0]);
  assert.deepEqual(await totals(await api.as(stranger, { gameId: closed.id })), [1, 1]);
  await asStranger.refused(getUserProfileCollections, { params: { user_id: MISSING } }, 404, 17000);
});
