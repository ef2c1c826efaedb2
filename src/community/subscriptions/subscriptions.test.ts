import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, type Mod, startApi, type User } from '../../../test/api.ts';
import { manyUsers } from '../../../test/bulk-rows.ts';
import { addModDependencies } from '../../catalogue/dependencies/operations.ts';
import { getModsEvents, getUserEvents } from '../../catalogue/events/operations.ts';
import { editGameOperation, getGameStats } from '../../catalogue/games/operations.ts';
import { deleteModOperation, editModByPut, getMod, getMods } from '../../catalogue/mods/operations.ts';
import { ADMINISTRATOR } from '../../catalogue/teams/teams.ts';
import { composeWorker } from '../../composition/compose.ts';
import { getModfiles } from '../../files/modfiles/operations.ts';
import { decideOverContent } from '../../moderation/moderation/operations.ts';
import { getUserSubscriptions, subscribeToMod, unsubscribeFromMod } from './operations.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
const game = await api.aGame();
const worker = composeWorker(api.app());
const at = (mod: Mod) => ({ game_id: mod.game_id, mod_id: mod.id });

async function person(): Promise<{ user: User; client: Client }> {
  const user = await api.aUser();
  return { user, client: await api.as(user) };
}

/** A mod that users can subscribe to. */
async function aMod(mod: Parameters<typeof api.aMod>[0] = {}): Promise<Mod> {
  const added = await api.aMod({ game, ...mod });
  await api.aFile(added);
  return added;
}

const subscribed = async (client: Client, query: Record<string, string | number> = {}, headers = {}) =>
  (await client.call(getUserSubscriptions, { query, headers })).body.data.map(({ id }) => id);
const eventsOf = async (client: Client) =>
  (await client.call(getUserEvents)).body.data.map(({ event_type, mod_id }) => [event_type, mod_id]);
const hide = async (mod: Mod) =>
  (await api.as(mod.owner)).call(editModByPut, { params: at(mod), body: { visible: 0 } });

function set(mod: Mod, columns: { price?: number; stock?: number; monetization_options?: number }): Promise<unknown> {
  return api.app().db.write(({ query }) => query.updateTable('mods').set(columns).where('id', '=', mod.id).execute());
}

test('a new subscription returns the mod with 201, and a repeated one with 200', async () => {
  const { client } = await person();
  const mod = await aMod();
  const first = await client.call(subscribeToMod, { params: at(mod) });
  assert.deepEqual([first.status, first.body.id, first.body.stats.subscribers_total], [201, mod.id, 1], first.text);
  assert.match(first.headers.location!, new RegExp(`/games/${game.id}/mods/${mod.id}$`));
  const again = await client.call(subscribeToMod, { params: at(mod), body: { include_dependencies: 'false' } });
  assert.deepEqual([again.status, again.headers.location, again.body.stats.subscribers_total], [200, undefined, 1]);
  assert.deepEqual(await subscribed(client), [mod.id]);
  assert.deepEqual(await eventsOf(client), [['USER_SUBSCRIBE', mod.id]]);
});

test('unsubscribing removes the mod from the list, and a second time is refused', async () => {
  const { client } = await person();
  const mod = await aMod();
  await client.call(subscribeToMod, { params: at(mod) });
  assert.equal((await client.call(unsubscribeFromMod, { params: at(mod) })).status, 204);
  assert.deepEqual(await subscribed(client), []);
  assert.equal((await client.call(getMod, { params: at(mod) })).body.stats.subscribers_total, 0);
  assert.deepEqual(await eventsOf(client), [
    ['USER_UNSUBSCRIBE', mod.id],
    ['USER_SUBSCRIBE', mod.id],
  ]);
  await client.refused(unsubscribeFromMod, { params: at(mod) }, 400, 15005);
});

const SAME_MOMENT = Array.from({ length: 8 });
const totalOf = async (client: Client, mod: Mod) =>
  (await client.call(getMod, { params: at(mod) })).body.stats.subscribers_total;

test('equal requests at the same moment begin or end one subscription, and count it once', async () => {
  const { client } = await person();
  const mod = await aMod();
  const begun = await Promise.all(SAME_MOMENT.map(() => client.call(subscribeToMod, { params: at(mod) })));
  assert.deepEqual(begun.map(({ status }) => status).sort(), [...Array(7).fill(200), 201]);
  assert.equal(await totalOf(client, mod), 1);
  const ended = await Promise.all(SAME_MOMENT.map(() => client.call(unsubscribeFromMod, { params: at(mod) })));
  assert.deepEqual(ended.map(({ status }) => status).sort(), [204, ...Array(7).fill(400)]);
  // Another process of a fleet may have cached the mod.
  if (api.others.length > 0) await api.counted();
  assert.equal(await totalOf(client, mod), 0);
  assert.deepEqual(
    (await eventsOf(client)).map(([type]) => type),
    ['USER_UNSUBSCRIBE', 'USER_SUBSCRIBE'],
  );
});

test('subscribers are counted for the game as well', async () => {
  const own = await api.aGame();
  const mod = await aMod({ game: own });
  for (let i = 0; i < 3; i += 1) await (await person()).client.call(subscribeToMod, { params: at(mod) });
  const { client } = await person();
  await api.counted();
  const stats = await client.call(getGameStats, { params: { game_id: own.id } });
  assert.equal(stats.body.mods_subscribers_total, 3);
});

test('with dependencies the user also subscribes to all public dependencies, recursively', async () => {
  const owner = await api.aUser();
  const [top, middle, low, hidden, fileless] = [
    await aMod({ owner }),
    await aMod({ owner }),
    await aMod({ owner }),
    await aMod({ owner, visible: 0 }),
    await api.aMod({ game, owner }),
  ];
  const asOwner = await api.as(owner);
  const needs = async (mod: Mod, others: Mod[]) =>
    asOwner.call(addModDependencies, { params: at(mod), body: { dependencies: others.map(({ id }) => id) } });
  await needs(top, [middle, hidden, fileless]);
  await needs(middle, [low]);
  const alone = await person();
  await alone.client.call(subscribeToMod, { params: at(top) });
  assert.deepEqual(await subscribed(alone.client), [top.id]);
  for (const [query, body] of [
    [{ include_dependencies: true }, undefined],
    [undefined, { include_dependencies: 1 }],
  ] as const) {
    const { client } = await person();
    const answer = await client.call(subscribeToMod, {
      params: at(top),
      ...(query && { query }),
      ...(body && { body }),
    });
    assert.equal(answer.status, 201, answer.text);
    assert.deepEqual(await subscribed(client), [top.id, middle.id, low.id]);
  }
  assert.equal(
    (await alone.client.call(subscribeToMod, { params: at(top), query: { include_dependencies: 'True' } })).status,
    200,
  );
  assert.deepEqual(await subscribed(alone.client), [top.id, middle.id, low.id]);
});

test('a mod that is sold out, or must be bought, cannot be subscribed to', async () => {
  const { client } = await person();
  const mod = await aMod();
  await set(mod, { price: 5, monetization_options: 1 | 8, stock: 0 });
  await client.refused(subscribeToMod, { params: at(mod) }, 403, 15003);
  await set(mod, { stock: 3 });
  await client.refused(subscribeToMod, { params: at(mod) }, 403, 15002);
  await set(mod, { price: 0, monetization_options: 0 });
  assert.equal((await client.call(subscribeToMod, { params: at(mod) })).status, 201);
});

test('a mod with a complaint, or without a file, cannot be subscribed to', async () => {
  const { client } = await person();
  const mod = await aMod();
  const team = await api.as(game.owner);
  const decides = async (decision: string) => {
    const body = { resource: 'mods', id: mod.id, decision, reason: 'A claim' };
    const decided = await team.call(decideOverContent, { params: { game_id: game.id }, body });
    assert.ok(decided.status < 300, decided.text);
  };
  await decides('open-dmca');
  await client.refused(subscribeToMod, { params: at(mod) }, 403, 15000);
  await decides('close-dmca');
  assert.equal((await client.call(subscribeToMod, { params: at(mod) })).status, 201);
  await client.refused(subscribeToMod, { params: at(await api.aMod({ game })) }, 403, 15020);
});

test('a mod that was public gets the error for hidden mods; one that never was is not found', async () => {
  const { client } = await person();
  const [mod, draft] = [await aMod(), await api.aMod({ game, accepted: false })];
  await hide(mod);
  await client.refused(subscribeToMod, { params: at(mod) }, 403, 15001);
  await client.refused(subscribeToMod, { params: at(draft) }, 404, 15022);
  await client.refused(subscribeToMod, { params: { game_id: game.id, mod_id: 999_999 } }, 404, 15022);
  const elsewhere = await api.aGame();
  await client.refused(subscribeToMod, { params: { game_id: elsewhere.id, mod_id: mod.id } }, 404, 15022);
});

test('subscribers still see a hidden mod, by its id and in their list, and nobody else does', async () => {
  const mod = await aMod();
  const [inside, outside] = [await person(), await person()];
  await inside.client.call(subscribeToMod, { params: at(mod) });
  await hide(mod);
  for (let again = 0; again < 2; again += 1) {
    assert.equal((await inside.client.call(getMod, { params: at(mod) })).body.visible, 0);
    assert.equal((await inside.client.call(getModfiles, { params: at(mod) })).body.result_total, 1);
    await outside.client.refused(getMod, { params: at(mod) }, 404, 15022);
    await outside.client.refused(getModfiles, { params: at(mod) }, 404, 15022);
  }
  assert.deepEqual(await subscribed(inside.client), [mod.id]);
  const query = { id: mod.id };
  assert.equal((await inside.client.call(getMods, { params: { game_id: game.id }, query })).body.result_total, 0);
  assert.equal((await inside.client.call(subscribeToMod, { params: at(mod) })).status, 200);
  await inside.client.call(unsubscribeFromMod, { params: at(mod) });
  await inside.client.refused(getMod, { params: at(mod) }, 404, 15022);
});

test('the list is filtered, sorted and paged like lists of mods', async () => {
  const { client } = await person();
  const other = await api.aGame();
  const mods = [await aMod({ name: 'Pear' }), await aMod({ name: 'Apple' }), await aMod({ name: 'Plum', game: other })];
  for (const mod of mods) await client.call(subscribeToMod, { params: at(mod) });
  const [pear, apple, plum] = mods.map(({ id }) => id);
  assert.deepEqual(await subscribed(client, { game_id: game.id }), [pear, apple]);
  assert.deepEqual(await subscribed(client, { 'game_id-in': `${game.id},${other.id}`, _sort: 'name' }), [
    apple,
    pear,
    plum,
  ]);
  assert.deepEqual(await subscribed(client, { _q: 'apple' }), [apple]);
  assert.deepEqual(await subscribed(client, { 'id-not-in': String(pear) }), [apple, plum]);
  const page = await client.call(getUserSubscriptions, { query: { _limit: 1, _offset: 1 } });
  assert.deepEqual([page.body.data.map(({ id }) => id), page.body.result_total], [[apple], 3]);
});

test('a platform filters the list only within one game', async () => {
  const consoles = await api.aGame();
  await (await api.as(consoles.owner)).call(editGameOperation, {
    params: { game_id: consoles.id },
    body: { 'platforms[0][platform]': 'windows', 'platforms[1][platform]': 'linux' },
  });
  const mod = await api.aMod({ game: consoles });
  await api.aFile(mod, { platforms: ['linux'] });
  const { client } = await person();
  const answer = await client.call(subscribeToMod, { params: at(mod) });
  assert.equal(answer.status, 201, answer.text);
  const on = (platform: string) => ({ 'x-modio-platform': platform });
  assert.deepEqual(await subscribed(client, { game_id: consoles.id }, on('linux')), [mod.id]);
  assert.deepEqual(await subscribed(client, { game_id: consoles.id }, on('windows')), []);
  assert.deepEqual(await subscribed(client, {}, on('windows')), [mod.id]);
});

test('users can request only the events of mods to which they have subscribed', async () => {
  const own = await api.aGame();
  const [mine, other] = [await aMod({ game: own }), await aMod({ game: own })];
  const { client } = await person();
  await client.call(subscribeToMod, { params: at(mine) });
  const ask = async (subscribed: boolean) =>
    (await client.call(getModsEvents, { params: { game_id: own.id }, query: { subscribed } })).body.data;
  for (const asked of [true, false, true]) {
    const ids = new Set((await ask(asked)).map(({ mod_id }) => mod_id));
    assert.deepEqual([...ids].sort(), asked ? [mine.id] : [mine.id, other.id].sort());
  }
  const query = { subscribed: true };
  await api.withKey(own).refused(getModsEvents, { params: { game_id: own.id }, query }, 401, 11059);
});

test('deleting a mod ends its subscriptions, also if it is restored', async () => {
  const mod = await aMod();
  const people = await Promise.all(Array.from({ length: 5 }, person));
  for (const { client } of people) await client.call(subscribeToMod, { params: at(mod) });
  const owner = await api.as(mod.owner);
  await owner.call(deleteModOperation, { params: at(mod) });
  const [first, second] = people.map(({ client }) => client);
  assert.deepEqual(await subscribed(first!), []);
  await first!.refused(getMod, { params: at(mod) }, 404, 15022);
  // Until the job has run the mod has subscribers, and is not removed.
  await owner.refused(deleteModOperation, { params: at(mod), body: { permanent: true } }, 403, 15051);

  const admin = await api.aUser();
  await api.joins(admin, game, ADMINISTRATOR);
  const asAdmin = await api.as(admin);
  api.clock.advance(60);
  await asAdmin.call(editModByPut, { params: at(mod), body: { status: 1 } });
  await second!.call(subscribeToMod, { params: at(mod) });
  await worker.runDue();
  assert.deepEqual([await subscribed(first!), await subscribed(second!)], [[], [mod.id]]);
  assert.equal((await first!.call(getMod, { params: at(mod) })).body.stats.subscribers_total, 1);
  assert.deepEqual((await eventsOf(first!))[0], ['USER_UNSUBSCRIBE', mod.id]);

  await owner.call(deleteModOperation, { params: at(mod) });
  await worker.runDue();
  assert.equal((await owner.call(deleteModOperation, { params: at(mod), body: { permanent: true } })).status, 204);
});

test('a subscriber who leaves while the job ends the subscriptions of a restored mod is counted once', async () => {
  const mod = await aMod();
  const people = await Promise.all(SAME_MOMENT.map(person));
  for (const { client } of people) await client.call(subscribeToMod, { params: at(mod) });
  await (await api.as(mod.owner)).call(deleteModOperation, { params: at(mod) });
  const admin = await api.aUser();
  await api.joins(admin, game, ADMINISTRATOR);
  const asAdmin = await api.as(admin);
  await asAdmin.call(editModByPut, { params: at(mod), body: { status: 1 } });
  const leaving = people.map(({ client }) => client.call(unsubscribeFromMod, { params: at(mod) }));
  const [left] = await Promise.all([Promise.all(leaving), worker.runDue()]);
  for (const { status } of left) assert.ok(status === 204 || status === 400, `${status}`);
  assert.equal(await totalOf(asAdmin, mod), 0);
  for (const { client } of people)
    assert.deepEqual(
      (await eventsOf(client)).map(([type]) => type),
      ['USER_UNSUBSCRIBE', 'USER_SUBSCRIBE'],
    );
});

test('the job removes more subscribers than fit in one batch', async () => {
  const own = await api.aGame();
  const mod = await aMod({ game: own });
  const app = api.app();
  const PEOPLE = 450;
  const rows = (await manyUsers(app, PEOPLE)).map((user_id) => ({ user_id, mod_id: mod.id, date_added: 1 }));
  await app.db.write(async ({ query }) => {
    await query.insertInto('subscriptions').values(rows).execute();
    await query.updateTable('mods').set({ subscribers_total: PEOPLE }).where('id', '=', mod.id).execute();
    await query.updateTable('mod_stats').set({ subscribers_total: PEOPLE }).where('mod_id', '=', mod.id).execute();
  });
  await (await api.as(mod.owner)).call(deleteModOperation, { params: at(mod) });
  await worker.runDue();
  const left = await app.db.query.selectFrom('subscriptions').selectAll().where('mod_id', '=', mod.id).execute();
  assert.equal(left.length, 0);
  const stats = app.db.query.selectFrom('mod_stats').select('subscribers_total').where('mod_id', '=', mod.id);
  assert.equal((await stats.executeTakeFirstOrThrow()).subscribers_total, 0);
});
