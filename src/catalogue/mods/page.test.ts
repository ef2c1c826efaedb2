import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { z } from 'zod';
import { type Mod, startApi } from '../../../test/api.ts';
import { isValidLink } from '../live-files/links.ts';
import type { ModObject as ModSchema } from './object.ts';
import { editModByPut, getMod, getMods } from './operations.ts';
import { pageOfMods } from './page.ts';
import { singleMod, singleModJson } from './single.ts';
import { addToModStats, changeModStats } from './stats.ts';

type ModObject = z.output<typeof ModSchema>;

const api = await startApi();
const game = await api.aGame();
const client = api.withKey(game);
const owner = await api.aUser({ username: 'Ann "the \\ slash" Ünal' });
const NAMES = ['Plain', 'With "quotes" and \\', '星の船', 'ÉCLAIR'];
const stats = { ratings_weighted_aggregate: 1 / 3, downloads_total: 7 };
const mods: Mod[] = [];
for (const name of NAMES) mods.push(await api.aMod({ game, owner, name, stats }));
await api.aFile(mods[1]!);
await api.aFile(mods[3]!);
async function translate(mod_id: number) {
  const german = { params: { game_id: game.id, mod_id }, headers: { 'content-language': 'de' } };
  await (await api.as(owner)).call(editModByPut, { ...german, body: { summary: 'Auf Deutsch' } });
}
await translate(mods[0]!.id);

/** A request from a portal is built from columns, any other is assembled by the database. */
const ON_PORTAL = { 'x-modio-portal': 'steam' };

for (const language of ['en', 'de']) {
  const headers = { 'accept-language': language };
  const onPortal = { ...headers, ...ON_PORTAL };

  test(`a page that the database assembles equals one that is built from columns (${language})`, async () => {
    const asked = { params: { game_id: game.id }, query: { _sort: '-id' } };
    const { body } = await client.call(getMods, { ...asked, headers });
    assert.deepEqual(body, (await client.call(getMods, { ...asked, headers: onPortal })).body);
    assert.deepEqual(
      body.data.map(({ name }) => name),
      NAMES.toReversed(),
    );
    assert.equal(body.data[0]!.stats.ratings_weighted_aggregate, 1 / 3);
    assert.equal(body.data[3]!.summary === 'Auf Deutsch', language === 'de');
  });

  test(`a single mod that the database assembles equals one that is built from columns (${language})`, async () => {
    for (const { id } of mods) {
      const asked = { params: { game_id: game.id, mod_id: id } };
      const { body } = await client.call(getMod, { ...asked, headers });
      assert.deepEqual(body, (await client.call(getMod, { ...asked, headers: onPortal })).body);
    }
  });
}

test('a page that the database assembles contains signed links to files', async () => {
  const { body } = await client.call(getMods, { params: { game_id: game.id }, query: { id: mods[1]!.id } });
  const { pathname } = new URL((body.data[0]!.modfile as { download: { binary_url: string } }).download.binary_url);
  assert.match(pathname, /\/download\/\d{10}-[\w-]{43}$/);
  const { sha256 } = (body.data[0]!.modfile as { filehash: { sha256: string } }).filehash;
  const [, modId, fileId, segment] = /mods\/(\d+)\/files\/(\d+)\/download\/(.+)$/.exec(pathname)!;
  const file = { id: Number(fileId), mod_id: Number(modId), game_id: game.id, sha256 };
  assert.ok(isValidLink(api.app(), file, segment!, api.clock.now()));
});

test('a page leaves out a mod that was removed after its id was found, at any position', async () => {
  const [first, second] = mods.map(({ id }) => id) as [number, number];
  const GONE = 999_999;
  for (const ids of [[GONE, first, second], [first, GONE, second], [first, second, GONE], [GONE], []]) {
    const request = { gameId: game.id, ids, language: 'en', platform: undefined, limit: 10, offset: 0, total: 3 };
    const page = JSON.parse(String((await pageOfMods(api.app(), request)).text));
    const left = ids.filter((id) => id !== GONE);
    assert.deepEqual([page.data.map(({ id }: Mod) => id), page.result_count], [left, left.length]);
  }
});

for (const kind of ['page', 'single mod'])
  test(`a ${kind} that was shown before shows what has changed since, whoever changed it`, () => showsChanges(kind));

async function showsChanges(kind: string) {
  const app = api.app();
  const { id } = await api.aMod({ game, owner, name: 'Plain' });
  await translate(id);
  const request = { gameId: game.id, ids: [id], platform: undefined, limit: 10, offset: 0, total: 1 };
  const onPage = async (language: string) =>
    (JSON.parse(String((await pageOfMods(app, { ...request, language })).text)) as { data: ModObject[] }).data[0]!;
  const alone = async (language: string) =>
    JSON.parse(singleModJson(app, id, (await singleMod(app, id, language))!).text) as ModObject;
  const shown = kind === 'page' ? onPage : alone;
  const write = (scope: string, work: (query: typeof app.db.query) => Promise<unknown>) =>
    app.db.write(async ({ query, changed }) => {
      await work(query);
      changed(scope);
    });
  const [ofMod, ofGame, ofOwner] = [`mods/${id}`, `games/${game.id}`, `users/${owner.id}`];
  await Promise.all([shown('en'), shown('de')]);

  const username = `Renamed on a ${kind}`;
  await write(ofOwner, (query) => query.updateTable('users').set({ username }).where('id', '=', owner.id).execute());
  assert.equal((await shown('en')).submitted_by.username, username);

  const body = `{"id":${id},"name":"Auf Deutsch"`;
  await write(ofMod, (query) => query.updateTable('mod_documents').set({ body }).where('mod_id', '=', id).execute());
  assert.equal((await shown('de')).name, 'Auf Deutsch');
  assert.equal((await shown('en')).name, NAMES[0]);

  await write(ofMod, (query) => query.updateTable('mod_cards').set({ body }).where('mod_id', '=', id).execute());
  assert.equal((await shown('en')).name, 'Auf Deutsch');

  const counted = '"downloads_total":8';
  await write(ofMod, (query) => query.updateTable('mod_stats').set({ counted }).where('mod_id', '=', id).execute());
  assert.equal((await shown('en')).stats.downloads_total, 8);

  const place = `elsewhere-${id}`;
  await write(ofGame, (query) =>
    query.updateTable('games').set({ name_id: place }).where('id', '=', game.id).execute(),
  );
  assert.ok((await shown('en')).profile_url.includes(`/g/${place}/`));
}

test('a single mod that was shown before shows each count at once, before and after it is folded in', async () => {
  const mod = await api.aMod({ game, owner });
  const subscribers = async () => {
    const params = { game_id: game.id, mod_id: mod.id };
    return (await client.call(getMod, { params })).body.stats.subscribers_total;
  };
  assert.equal(await subscribers(), 0);
  for (const expected of [1, 2]) {
    await api.app().db.write((transaction) => addToModStats(transaction, { ...mod }, { subscribers_total: 1 }));
    assert.equal(await subscribers(), expected);
  }
  await api.counted();
  assert.equal(await subscribers(), 2);
});

test('the entity tag of a page changes with each of its mods, their order, and its place among the pages', async () => {
  const app = api.app();
  const ids = mods.map(({ id }) => id);
  const request = { gameId: game.id, language: 'en', platform: undefined, limit: 10, total: 9 };
  const tagOf = async (some: readonly number[], offset = 0) =>
    (await pageOfMods(app, { ...request, ids: some, offset })).checksum;
  const same = await tagOf(ids);
  assert.equal(await tagOf(ids), same);
  const tags = [same, await tagOf(ids.toReversed()), await tagOf(ids.slice(1)), await tagOf(ids, 10)];
  await app.db.write((transaction) => changeModStats(app, transaction, mods[2]!, { downloads_total: 77 }));
  tags.push(await tagOf(ids));
  api.clock.advance(3_600);
  tags.push(await tagOf(ids));
  assert.equal(new Set(tags).size, tags.length);
});
