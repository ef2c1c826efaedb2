import assert from 'node:assert/strict';
import { test } from 'node:test';
import { START, startApi } from '../../test/api.ts';
import { refreshMod } from '../catalogue/mods/mods.ts';
import { getMods } from '../catalogue/mods/operations.ts';
import { rebuildModWords } from '../catalogue/mods/words.ts';
import { countTagsOfMod } from '../catalogue/tags/counts.ts';
import { joinTeam, MODERATOR } from '../catalogue/teams/teams.ts';
import { getModCollections } from '../community/collections/operations.ts';
import { modComments } from '../community/comments/operations.ts';
import { getGuides } from '../community/guides/operations.ts';
import { enliven } from './community.ts';
import { fillGame } from './filling.ts';
import { popularModsOf } from './store.ts';
import { GAMES } from './texts.ts';

const MODS = 200;
const PICTURED = 5;
const api = await startApi();
const app = api.app();
const game = await api.aGame();
await fillGame(app, { gameId: game.id, mods: MODS, seed: 'test', pictured: { mods: PICTURED, scenery: 'sky' } });

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

test('the first mods show pictures, the same for the same seed, and some have a gallery', async () => {
  const pictured = mods.slice(0, PICTURED);
  assert.equal(new Set(pictured.map(({ logo }) => logo)).size, PICTURED);
  assert.ok(mods.slice(PICTURED).every(({ logo }) => logo === null));
  const media = await query.selectFrom('mod_media').select(['mod_id', 'value', 'position']).orderBy('id').execute();
  const [first, fifth] = [mods[0]!.id, mods[4]!.id];
  assert.deepEqual(
    media.map(({ mod_id, position }) => [mod_id, position]),
    [
      [first, 0],
      [fifth, 0],
      [fifth, 1],
    ],
  );
  const shownMods = await api.withKey(game).call(getMods, { params: { game_id: game.id }, query: { id: fifth } });
  const { logo, media: gallery } = shownMods.body.data[0]!;
  const addresses = [...Object.values(logo), ...Object.values(gallery.images[1]!)].filter((at) =>
    at?.includes('://'),
  ) as string[];
  assert.equal(addresses.length, 7);
  for (const address of addresses) {
    const { status, bytes } = await api.request('GET', new URL(address).pathname);
    assert.deepEqual([status, bytes.toString('latin1', 1, 4)], [200, 'PNG'], address);
  }
  const again = await api.aGame();
  await fillGame(app, { gameId: again.id, mods: 1, seed: 'test', pictured: { mods: 1, scenery: 'sky' } });
  const { logo: same } = await query
    .selectFrom('mods')
    .select('logo')
    .where('game_id', '=', again.id)
    .executeTakeFirstOrThrow();
  assert.equal(same, mods[0]!.logo);
});

test('players rate, subscribe, discuss, collect and write, so that every order of the mods is another', async () => {
  const { id: gameId } = await api.aGame();
  const players: number[] = [];
  for (let number = 0; number < 5; number += 1) players.push((await api.aUser()).id);
  await fillGame(app, { gameId, mods: 24, seed: GAMES[0]!.name, authors: players });
  await app.db.write((transaction) =>
    joinTeam(app, transaction, {
      resource: 'games',
      resourceId: gameId,
      userId: players[0]!,
      level: MODERATOR,
      position: '',
    }),
  );
  await enliven(app, { ...GAMES[0]!, gameId, players });
  await api.counted();
  const client = api.withKey(game);
  const params = { game_id: gameId };
  const orders = new Set<string>();
  const sorts = ['-popular', '-downloads', '-rating', '-subscribers', '-date_updated', '-id'];
  for (const _sort of sorts) {
    const { body } = await client.call(getMods, { params, query: { _sort } });
    orders.add(body.data.map(({ id }) => id).join());
  }
  assert.equal(orders.size, sorts.length);
  const [favourite] = await popularModsOf(query, gameId);
  const comments = await client.call(modComments.getAll, { params: { ...params, mod_id: favourite!.id } });
  assert.ok(comments.body.data.some(({ reply_id }) => reply_id > 0));
  assert.ok(comments.body.data.every(({ date_added }) => date_added < START));
  const collections = await client.call(getModCollections, { params });
  assert.deepEqual(
    collections.body.data.map(({ name, stats }) => [name, stats.mods_total, stats.followers_total]),
    [['First voyage', 6, 3]],
  );
  const guides = await client.call(getGuides, { params });
  assert.deepEqual(
    guides.body.data.map(({ name, stats }) => [name, stats[0]!.comments_total]),
    [[GAMES[0]!.guide!.name, 2]],
  );
  for (const { logo } of [collections.body.data[0]!, guides.body.data[0]!])
    assert.equal((await api.request('GET', new URL(logo!.thumb_320x180!).pathname)).status, 200);
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
