import assert from 'node:assert/strict';
import { test } from 'node:test';
import { START, startApi } from '../../test/api.ts';
import { refreshMod } from '../catalogue/mods/mods.ts';
import { getMods } from '../catalogue/mods/operations.ts';
import { rebuildModWords } from '../catalogue/mods/words.ts';
import { countTagsOfMod } from '../catalogue/tags/counts.ts';
import { fillGame } from './filling.ts';

const MODS = 200;
const api = await startApi();
const app = api.app();
const game = await api.aGame();
await fillGame(app, { gameId: game.id, mods: MODS, seed: 'test' });

const { query } = app.db;
const mods = await query.selectFrom('mods').selectAll().where('game_id', '=', game.id).orderBy('id').execute();
const shown = mods.filter(({ status, visible }) => status === 1 && visible === 1);

const documents = () => query.selectFrom('mod_documents').selectAll().orderBy('mod_id').orderBy('language').execute();
const cards = () => query.selectFrom('mod_cards').selectAll().orderBy('mod_id').execute();
const words = () => query.selectFrom('mod_words').selectAll().orderBy('mod_id').orderBy('word').execute();
const vocabulary = () =>
  query.selectFrom('mod_vocabulary').selectAll().where('mods_count', '>', 0).orderBy('word').execute();
const variants = () => query.selectFrom('word_variants').selectAll().orderBy('variant').orderBy('word').execute();
const tagCounts = () => query.selectFrom('game_tags').select(['id', 'mods_count']).orderBy('id').execute();
const tagPairs = () =>
  query
    .selectFrom('mod_tag_pairs')
    .selectAll()
    .where('mods_count', '>', 0)
    .orderBy('tag_id')
    .orderBy('other_id')
    .execute();

test('the documents equal those that an edit of the mod would write', async () => {
  const before = { cards: await cards(), documents: await documents() };
  for (const mod of mods) await app.db.write((transaction) => refreshMod(app, transaction, mod));
  assert.deepEqual({ cards: await cards(), documents: await documents() }, before);
  assert.equal(before.cards.length, mods.length);
  assert.ok(before.documents.length > 0, 'some mods are translated');
});

test('the word index contains the words of the names', async () => {
  const [found, counted, learned] = [await words(), await vocabulary(), await variants()];
  await app.db.write(async ({ query }) => {
    await query.deleteFrom('facts').where('name', '=', 'mods.words').execute();
  });
  await rebuildModWords(app);
  assert.deepEqual(await words(), found);
  assert.deepEqual(await vocabulary(), counted);
  assert.deepEqual(await variants(), learned);
});

test('the tag counts equal those of tagging one by one', async () => {
  const [counts, pairs] = [await tagCounts(), await tagPairs()];
  for (const difference of [-1, 1])
    for (const mod of shown) await app.db.write((transaction) => countTagsOfMod(transaction, mod, difference));
  assert.deepEqual([await tagCounts(), await tagPairs()], [counts, pairs]);
  const rows = await query.selectFrom('mod_tags').select(['mod_id', 'tag_id', 'shown']).execute();
  const isShown = new Set(shown.map(({ id }) => id));
  for (const { id, mods_count } of counts)
    assert.equal(rows.filter((row) => row.tag_id === id && isShown.has(row.mod_id)).length, mods_count);
  for (const row of rows) assert.equal(row.shown, Number(isShown.has(row.mod_id)));
});

test('the game counts its public mods and ranks them by popularity', async () => {
  const stats = await query
    .selectFrom('game_stats')
    .selectAll()
    .where('game_id', '=', game.id)
    .executeTakeFirstOrThrow();
  assert.equal(stats.mods_count_total, shown.length);
  const sum = (figure: 'downloads_today' | 'downloads_total' | 'subscribers_total') =>
    mods.reduce((total, mod) => total + mod[figure], 0);
  assert.equal(stats.mods_downloads_total, sum('downloads_total'));
  assert.equal(stats.mods_subscribers_total, sum('subscribers_total'));
  const { body } = await api.withKey(game).call(getMods, { params: { game_id: game.id }, query: { _sort: 'popular' } });
  assert.deepEqual(
    body.data.map(({ stats: { popularity_rank_position } }) => popularity_rank_position),
    body.data.map((_, index) => index + 1),
  );
});

test('every mod has a live file that can be downloaded, and accepts another file', async () => {
  const { body } = await api.withKey(game).call(getMods, { params: { game_id: game.id }, query: { _limit: 20 } });
  for (const { id, modfile } of body.data) {
    const { download, filename } = modfile as { download: { binary_url: string }; filename: string };
    const { pathname } = new URL(download.binary_url);
    const answer = await api.request('GET', pathname);
    assert.deepEqual([answer.status, answer.bytes.toString('latin1', 0, 2)], [200, 'PK'], `${id} ${filename}`);
  }
  const files = await query.selectFrom('modfiles').select('id').where('game_id', '=', game.id).execute();
  assert.equal(files.length, MODS);
  const another = await api.aFile(await api.aMod({ game }));
  assert.ok(files.every(({ id }) => id < another.id));
});

test('the same seed creates the same mods, and another seed others', async () => {
  const namesOf = async (seed: string) => {
    const { id } = await api.aGame();
    await fillGame(app, { gameId: id, mods: 30, seed });
    return await query
      .selectFrom('mods')
      .select(['name', 'popularity'])
      .where('game_id', '=', id)
      .orderBy('id')
      .execute();
  };
  const one = await namesOf('one');
  assert.deepEqual(await namesOf('one'), one);
  assert.notDeepEqual(await namesOf('two'), one);
});

test('a mod that is added through the API comes after the sample mods', async () => {
  const mod = await api.aMod({ game, name: 'By Hand' });
  assert.ok(mod.id > mods.at(-1)!.id);
  const { body } = await api.withKey(game).call(getMods, { params: { game_id: game.id }, query: { _q: 'by hand' } });
  assert.equal(body.data[0]!.id, mod.id);
  assert.equal(api.clock.now(), START);
});
