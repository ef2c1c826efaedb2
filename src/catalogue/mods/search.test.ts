import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi } from '../../../test/api.ts';
import { getGames } from '../games/operations.ts';
import { deleteModOperation, editModByPut, getMods, getUserMods } from './operations.ts';
import { changeModStats } from './stats.ts';

const api = await startApi();

/** The names that a search finds in a game with these mods, the best match first. Later mods are more popular. */
async function searched(names: readonly string[], _q: string, query: Record<string, string> = {}) {
  const game = await api.aGame();
  const owner = await api.aUser();
  for (const [popularity, name] of names.entries()) await api.aMod({ game, owner, name, stats: { popularity } });
  const { body } = await api.withKey(game).call(getMods, { params: { game_id: game.id }, query: { _q, ...query } });
  assert.equal(body.result_total, body.data.length);
  return body.data.map(({ name }) => name);
}

test('whole words rank above prefixes, and prefixes above words with a typo', async () => {
  const names = ['Dragon Castle', 'Dragonfly', 'Dragom', 'The Dragon', 'Zebra'];
  assert.deepEqual(await searched(names, 'dragon'), ['The Dragon', 'Dragon Castle', 'Dragonfly', 'Dragom']);
});

test('mods with two of the words rank above those with one', async () => {
  const names = ['Sky Harbour Ship', 'Ship', 'Sky'];
  assert.deepEqual(await searched(names, 'ship sky'), ['Sky Harbour Ship', 'Sky', 'Ship']);
});

test('a search tolerates one inserted, missing, replaced or swapped letter', async () => {
  for (const typed of ['lanntern', 'lantrn', 'lamtern', 'latnern'])
    assert.deepEqual(await searched(['Lantern', 'Tavern'], typed), ['Lantern'], typed);
});

test('a search tolerates no typos in short words', async () => {
  assert.deepEqual(await searched(['Cat'], 'cut'), []);
});

test('a search finds text without spaces by any part of it', async () => {
  assert.deepEqual(await searched(['星空の飛行船', '森の物語'], '飛行'), ['星空の飛行船']);
  assert.deepEqual(await searched(['星空の飛行船', '古代飞船'], '船'), ['古代飞船', '星空の飛行船']);
  assert.deepEqual(await searched(['空の城', '星空の飛行船'], '星空の'), ['星空の飛行船', '空の城']);
});

test('a search can be sorted and filtered', async () => {
  const names = ['Ship', 'Shipyard', 'Ship of Fools'];
  assert.deepEqual(await searched(names, 'ship', { _sort: 'name' }), ['Ship', 'Ship of Fools', 'Shipyard']);
  assert.deepEqual(await searched(names, 'ship', { 'name-not': 'Ship' }), ['Ship of Fools', 'Shipyard']);
});

test('a prefix of very many words is found as well, the most popular mods first', async () => {
  const names = Array.from({ length: 60 }, (_, index) => `Sa${String.fromCodePoint(0x61 + (index % 26))}${index}`);
  assert.deepEqual(await searched(names, 'sa'), names.toReversed());
});

test('a search neither finds nor counts hidden mods, and finds changes at once', async () => {
  const game = await api.aGame();
  const mod = await api.aMod({ game, name: 'Windmill' });
  await api.aMod({ game, name: 'Windmills' });
  const seen = async (_q: string) =>
    (await api.withKey(game).call(getMods, { params: { game_id: game.id }, query: { _q } })).body.result_total;
  const params = { game_id: game.id, mod_id: mod.id };
  const owner = await api.as(mod.owner);
  assert.equal(await seen('windmill'), 2);
  await owner.call(editModByPut, { params, body: { name: 'Watermill' } });
  assert.deepEqual([await seen('windmill'), await seen('watermill')], [1, 1]);
  await owner.call(editModByPut, { params, body: { visible: 0 } });
  assert.equal(await seen('watermill'), 0);
  await owner.call(editModByPut, { params, body: { visible: 1 } });
  assert.equal(await seen('watermill'), 1);
  await owner.call(deleteModOperation, { params });
  assert.equal(await seen('watermill'), 0);
});

test('a search uses a changed popularity at once', async () => {
  const game = await api.aGame();
  const [one, two] = [await api.aMod({ game, name: 'Harbour' }), await api.aMod({ game, name: 'Harbour' })];
  const app = api.app();
  const first = async () => {
    const { body } = await api
      .withKey(game)
      .call(getMods, { params: { game_id: game.id }, query: { _q: 'harbour', _limit: 1 } });
    return body.data[0]!.id;
  };
  for (const { id } of [two, one, two]) {
    const other = id === one.id ? two : one;
    await app.db.write(async (transaction) => {
      await changeModStats(api.app(), transaction, { id, game_id: game.id }, { popularity: 5 });
      await changeModStats(api.app(), transaction, { id: other.id, game_id: game.id }, { popularity: 1 });
    });
    assert.equal(await first(), id);
  }
});

test('a user’s own mods and games are searched in the same way', async () => {
  const mod = await api.aMod({ name: 'Lighthouse', visible: 0 });
  const owner = await api.as(mod.owner);
  assert.equal((await owner.call(getUserMods, { query: { _q: 'lihgthouse' } })).body.data[0]?.id, mod.id);
  const game = await api.aGame({ name: 'Cathedral Builder' });
  const { body } = await api.withKey(game).call(getGames, { query: { _q: 'cathedrel' } });
  assert.equal(body.data[0]?.id, game.id);
});

test('mods are filtered by the display name of their submitter and by whether they are paid', async () => {
  const game = await api.aGame();
  const owner = await api.aUser({ username: 'Élodie Marchand' });
  const mod = await api.aMod({ game, owner });
  await api.aMod({ game });
  const total = async (query: Record<string, string>) =>
    (await api.withKey(game).call(getMods, { params: { game_id: game.id }, query })).body.result_total;
  assert.equal(await total({ submitted_by_display_name: 'élodie marchand' }), 1);
  assert.equal(await total({ 'submitted_by_display_name-lk': '*MARCH*', id: String(mod.id) }), 1);
  assert.equal(await total({ 'submitted_by_display_name-not': 'Élodie Marchand' }), 1);
  assert.deepEqual(
    await Promise.all(['0', '1', '2', '3'].map((revenue_type) => total({ revenue_type }))),
    [2, 0, 2, 2],
  );
});
