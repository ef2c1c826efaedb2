import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, type Game, type Mod, startApi } from '../../../test/api.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { recordModEvent, recordUserEvent, removeOldEvents } from '../../records/events/events.ts';
import { deleteModOperation, editModByPut } from '../mods/operations.ts';
import { MODERATOR } from '../teams/teams.ts';
import { getModEvents, getModsEvents, getUserEvents } from './operations.ts';

const api = await startApi();
const DAY = 24 * 3_600;

const inputOf = (mod: Mod) => ({ params: { game_id: mod.game_id, mod_id: mod.id } });

async function edit(mod: Mod, body: Record<string, string | number>): Promise<void> {
  const answer = await (await api.as(mod.owner)).call(editModByPut, { ...inputOf(mod), body });
  assert.equal(answer.status, 200, answer.text);
}

async function remove(mod: Mod): Promise<void> {
  assert.equal((await (await api.as(mod.owner)).call(deleteModOperation, inputOf(mod))).status, 204);
}

/** The events of a game as a client sees them, oldest first. */
async function eventsIn(game: Game, client: Client, query: Record<string, string | number | boolean> = {}) {
  const asked = { params: { game_id: game.id }, query: { latest: false, ...query } };
  const { body, text } = await client.call(getModsEvents, asked);
  assert.equal(body.result_total, body.data.length, text);
  return body.data.toReversed();
}

const typesIn = async (...asked: Parameters<typeof eventsIn>) =>
  (await eventsIn(...asked)).map(({ event_type }) => event_type);

test('each change of a mod gives one event with its actor and time, newest first', async () => {
  const game = await api.aGame();
  const mod = await api.aMod({ game });
  const moderator = await api.aUser();
  await api.joins(moderator, game, 8);
  await (await api.as(moderator)).call(editModByPut, { ...inputOf(mod), body: { summary: 'Better' } });
  await edit(mod, { visible: 0 });
  await edit(mod, { visible: 1 });
  await remove(mod);
  const { body } = await (await api.as(moderator)).call(getModsEvents, {
    params: { game_id: game.id },
    query: { latest: false },
  });
  assert.deepEqual(
    body.data.map(({ event_type, mod_id, user_id, date_added }) => [event_type, mod_id, user_id, date_added]),
    [
      ['MOD_DELETED', mod.id, mod.owner.id],
      ['MOD_AVAILABLE', mod.id, mod.owner.id],
      ['MOD_UNAVAILABLE', mod.id, mod.owner.id],
      ['MOD_EDITED', mod.id, moderator.id],
      ['MOD_AVAILABLE', mod.id, mod.owner.id],
    ].map((event) => [...event, api.clock.now()]),
  );
  const ids = body.data.map(({ id }) => id);
  assert.deepEqual(
    ids,
    ids.toSorted((a, b) => b - a),
  );
});

test('a list contains only the latest event per mod and type, unless all are requested', async () => {
  const game = await api.aGame();
  const [one, two] = [await api.aMod({ game }), await api.aMod({ game })];
  for (const mod of [one, two, one]) await edit(mod, { summary: 'Another' });
  const key = api.withKey(game);
  const listed = async (query: Record<string, boolean>) =>
    (await key.call(getModsEvents, { params: { game_id: game.id }, query })).body.data.map((event) => [
      event.mod_id,
      event.event_type,
    ]);
  const latest = [
    [one.id, 'MOD_EDITED'],
    [two.id, 'MOD_EDITED'],
    [two.id, 'MOD_AVAILABLE'],
    [one.id, 'MOD_AVAILABLE'],
  ];
  assert.deepEqual(await listed({}), latest);
  assert.deepEqual(await listed({ latest: true }), latest);
  assert.equal((await listed({ latest: false })).length, 5);
});

test('events are filtered by id, mod, user, date and type, and paged', async () => {
  const game = await api.aGame();
  const [one, two] = [await api.aMod({ game }), await api.aMod({ game })];
  const before = api.clock.now();
  api.clock.advance(10);
  await edit(one, { summary: 'Later' });
  const key = api.withKey(game);
  const all = await eventsIn(game, key);
  assert.equal(all.length, 3);
  const found = async (query: Record<string, string | number>) =>
    (await eventsIn(game, key, query)).map(({ id }) => all.findIndex((event) => event.id === id));
  assert.deepEqual(await found({ 'id-gt': all[0]!.id }), [1, 2]);
  assert.deepEqual(await found({ id: all[1]!.id }), [1]);
  assert.deepEqual(await found({ mod_id: two.id }), [1]);
  assert.deepEqual(await found({ user_id: one.owner.id }), [0, 2]);
  assert.deepEqual(await found({ 'date_added-gt': before }), [2]);
  assert.deepEqual(await found({ event_type: 'MOD_EDITED' }), [2]);
  assert.deepEqual(await found({ 'event_type-in': 'MOD_EDITED,MOD_DELETED' }), [2]);
  const query = { _limit: 1, _offset: 1, _sort: 'id' };
  const { body } = await key.call(getModsEvents, { params: { game_id: game.id }, query });
  assert.deepEqual([body.data.map(({ id }) => id), body.result_total], [[all[1]!.id], 3]);
});

test('only its teams get events of a mod that was never public', async () => {
  const game = await api.aGame();
  const mod = await api.aMod({ game, visible: 0 });
  const moderator = await api.aUser();
  await api.joins(moderator, game, MODERATOR);
  await edit(mod, { summary: 'In secret' });
  await remove(mod);
  for (const stranger of [api.withKey(game), await api.as(await api.aUser())]) {
    assert.deepEqual(await typesIn(game, stranger), []);
    assert.deepEqual(await typesIn(game, stranger, { latest: true }), []);
    await stranger.refused(getModEvents, inputOf(mod), 404, 15022);
  }
  for (const member of [mod.owner, moderator, game.owner]) {
    assert.deepEqual(await typesIn(game, await api.as(member)), ['MOD_EDITED', 'MOD_DELETED']);
    assert.deepEqual(await typesIn(game, await api.as(member), { latest: true }), ['MOD_EDITED', 'MOD_DELETED']);
  }
});

test('strangers get the event that a public mod disappeared, and none of what happens while it is hidden', async () => {
  const game = await api.aGame();
  const mod = await api.aMod({ game });
  const other = await api.aMod({ game });
  const [key, owner] = [api.withKey(game), await api.as(mod.owner)];
  const seen = (client: Client, latest = false) => typesIn(game, client, { latest, mod_id: mod.id });
  await edit(mod, { summary: 'In public' });
  assert.deepEqual(await seen(key), ['MOD_AVAILABLE', 'MOD_EDITED']);
  await edit(mod, { visible: 0 });
  await edit(mod, { summary: 'In secret' });
  assert.deepEqual(await seen(key), ['MOD_UNAVAILABLE']);
  assert.deepEqual(await seen(key, true), ['MOD_UNAVAILABLE']);
  assert.deepEqual(await seen(owner), ['MOD_AVAILABLE', 'MOD_EDITED', 'MOD_UNAVAILABLE', 'MOD_EDITED']);
  assert.deepEqual(await seen(owner, true), ['MOD_AVAILABLE', 'MOD_UNAVAILABLE', 'MOD_EDITED']);
  await edit(mod, { visible: 1 });
  assert.deepEqual(await seen(key), ['MOD_UNAVAILABLE', 'MOD_AVAILABLE']);
  await edit(mod, { visible: 0 });
  await remove(mod);
  assert.deepEqual(await seen(key, true), ['MOD_UNAVAILABLE', 'MOD_DELETED']);
  assert.deepEqual(await typesIn(game, owner, { mod_id: other.id }), ['MOD_AVAILABLE']);
});

test('the event that a mod disappeared is recorded even when its other events have been removed', async () => {
  const game = await api.aGame();
  const mod = await api.aMod({ game });
  api.clock.advance(91 * DAY);
  await removeOldEvents(api.app());
  assert.deepEqual(await typesIn(game, api.withKey(game)), []);
  await edit(mod, { visible: 0 });
  assert.deepEqual(await typesIn(game, api.withKey(game)), ['MOD_UNAVAILABLE']);
});

test('the list of one mod contains all its events, including repeated types', async () => {
  const mod = await api.aMod();
  await api.aMod({ game: { id: mod.game_id } });
  for (const summary of ['One', 'Two']) await edit(mod, { summary });
  const { body } = await (await api.as(await api.aUser())).call(getModEvents, inputOf(mod));
  assert.deepEqual(
    body.data.map(({ mod_id, event_type }) => [mod_id, event_type]),
    ['MOD_EDITED', 'MOD_EDITED', 'MOD_AVAILABLE'].map((type) => [mod.id, type]),
  );
});

test('only the user reads their own events', async () => {
  const ada = await api.aUser();
  const mod = await api.aMod({ owner: ada });
  await api.aMod();
  const { body } = await (await api.as(ada)).call(getUserEvents, { query: { game_id: mod.game_id } });
  const [event] = body.data;
  assert.deepEqual(body.data, [
    {
      id: event!.id,
      game_id: mod.game_id,
      mod_id: mod.id,
      user_id: ada.id,
      date_added: api.clock.now(),
      event_type: 'USER_TEAM_JOIN',
    },
  ]);
  assert.equal((await (await api.as(await api.aUser())).call(getUserEvents)).body.result_total, 0);
});

test('events are removed after 90 days', async () => {
  const game = await api.aGame();
  const mod = await api.aMod({ game });
  api.clock.advance(60 * DAY);
  await edit(mod, { summary: 'Later' });
  const key = api.withKey(game);
  await removeOldEvents(api.app());
  assert.deepEqual(await typesIn(game, key), ['MOD_AVAILABLE', 'MOD_EDITED']);
  api.clock.advance(31 * DAY);
  await removeOldEvents(api.app());
  assert.deepEqual(await typesIn(game, key), ['MOD_EDITED']);
  assert.equal((await (await api.as(mod.owner)).call(getUserEvents)).body.result_total, 0);
});

test('a change that fails leaves no event', async () => {
  const mod = await api.aMod();
  const app = api.app();
  const failing = app.db.write(async (transaction) => {
    const names = { gameId: mod.game_id, modId: mod.id, userId: mod.owner.id };
    await recordModEvent(app, transaction, { ...names, type: 'MOD_EDITED', isPublic: true });
    throw new Error('changed my mind');
  });
  await assert.rejects(failing, /changed my mind/);
  assert.equal((await (await api.as(mod.owner)).call(getModEvents, inputOf(mod))).body.result_total, 1);
});

const app = api.app();
type EventTable = 'mod_events' | 'user_events';

/** Transactions that stay open after recording, so that they would commit in any order. */
async function recordAtOnce(record: (transaction: Transaction, i: number) => Promise<void>): Promise<void> {
  const one = (i: number) =>
    app.db.write(async (transaction) => {
      await record(transaction, i);
      for (let query = 0; query < (i * 7) % 11; query += 1)
        await transaction.query.selectFrom('games').select('id').limit(1).execute();
    });
  await Promise.all(Array.from({ length: 100 }, (_, i) => one(i)));
}

async function idsAfter(table: EventTable, gameId: number, last: number): Promise<number[]> {
  const events = app.db.query.selectFrom(table).select('id').where('game_id', '=', gameId).where('id', '>', last);
  return (await events.orderBy('id').execute()).map(({ id }) => id);
}

/** Polls for events after the last one that it has seen. */
async function poll(table: EventTable, gameId: number, isOver: () => boolean): Promise<number[]> {
  const seen: number[] = [];
  for (let over = false; !over; ) {
    over = isOver();
    seen.push(...(await idsAfter(table, gameId, seen.at(-1) ?? 0)));
    await new Promise((turn) => setImmediate(turn));
  }
  return seen;
}

for (const table of ['mod_events', 'user_events'] as const)
  test(`a client that polls ${table} with id-gt during concurrent writes misses none`, async () => {
    const [game, owner] = [await api.aGame(), await api.aUser()];
    const mods = await Promise.all(Array.from({ length: 20 }, () => api.aMod({ game, owner })));
    let isOver = false;
    const polling = poll(table, game.id, () => isOver);
    await recordAtOnce(async (transaction, i) => {
      const names = { gameId: game.id, modId: mods[i % mods.length]!.id, userId: owner.id };
      if (table === 'user_events') await recordUserEvent(app, transaction, { ...names, type: 'USER_SUBSCRIBE' });
      else await recordModEvent(app, transaction, { ...names, type: 'MOD_EDITED', isPublic: true });
    });
    isOver = true;
    const seen = await polling;
    assert.deepEqual(seen, await idsAfter(table, game.id, 0));
    assert.equal(seen.length, 120);
    const { body } = await api.withKey(game).call(getModsEvents, { params: { game_id: game.id } });
    assert.equal(body.result_total, table === 'mod_events' ? 40 : 20);
  });

test('a writer of one game’s events does not wait for a writer of another game’s', async () => {
  const [one, two] = [await api.aMod(), await api.aMod()];
  if (app.db.dialect === 'sqlite') return;
  const record = (transaction: Transaction, mod: Mod) =>
    recordModEvent(app, transaction, {
      gameId: mod.game_id,
      modId: mod.id,
      userId: mod.owner.id,
      type: 'MOD_EDITED',
      isPublic: true,
    });
  await app.db.write(async (transaction) => {
    await record(transaction, one);
    await app.db.write((other) => record(other, two));
  });
});
