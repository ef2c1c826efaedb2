import assert from 'node:assert/strict';
import { test } from 'node:test';
import sharp from 'sharp';
import { type Answer, assertRefused, type Client, type ErrorAnswer, START, startApi } from '../../../test/api.ts';
import { composeWorker } from '../../composition/compose.ts';
import { getGame } from '../games/operations.ts';
import { MANAGER, MODERATOR } from '../teams/teams.ts';
import { deleteModOperation, editModByPut, editModOperation, getMod, getMods } from './operations.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });

const HOUR = 3_600;
const png = (width: number, height: number, background = '#335577') =>
  sharp({ create: { width, height, channels: 3, background } })
    .png()
    .toBuffer();
const LOGO = await png(512, 288);

interface ModAnswer {
  id: number;
  status: number;
  visible: number;
  name: string;
  name_id: string;
  summary: string;
  description: string;
  homepage_url: string | null;
  logo: { original: string };
}

function multipart(fields: Record<string, string>, logo?: Buffer): Buffer {
  const parts: Buffer[] = Object.entries(fields).map(([name, value]) =>
    Buffer.from(`--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`),
  );
  if (logo) {
    const head =
      '--b\r\nContent-Disposition: form-data; name="logo"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n';
    parts.push(Buffer.from(head), logo, Buffer.from('\r\n'));
  }
  return Buffer.concat([...parts, Buffer.from('--b--\r\n')]);
}

function send(
  client: Client,
  path: string,
  fields: Record<string, string>,
  logo?: Buffer,
  headers: Record<string, string> = {},
): Promise<Answer<ModAnswer>> {
  const type = { 'content-type': 'multipart/form-data; boundary=b', authorization: `Bearer ${client.token}` };
  const options = { headers: { ...type, ...headers }, body: multipart(fields, logo) };
  return api.request('POST', `/v1${path}`, options) as Promise<Answer<ModAnswer>>;
}

const NEW = { name: 'Airship', summary: 'Flies' };
const game = await api.aGame();
const ada = await api.aUser();
const asAda = await api.as(ada);
const modsOf = ({ id }: { id: number }) => `/games/${id}/mods`;
const at = (mod: { id: number; game_id: number }) => ({ game_id: mod.game_id, mod_id: mod.id });

test('a new mod is public, not accepted, owned by its submitter, and has a profile address', async () => {
  const answer = await send(asAda, modsOf(game), { ...NEW, homepage: 'https://example.com/a' }, LOGO);
  assert.equal(answer.status, 201, answer.text);
  assert.match(
    answer.headers.location!,
    new RegExp(`^https://g-${game.id}\\.localhost/v1/games/${game.id}/mods/\\d+$`),
  );
  const { status, visible, homepage_url, logo } = answer.body;
  assert.deepEqual([status, visible, homepage_url], [0, 1, 'https://example.com/a']);
  assert.match(logo.original, /\/files\/images\/[0-9a-f]{32}-logo\/original\.png$/);
  const own = await asAda.call(getMod, { params: at({ id: answer.body.id, game_id: game.id }) });
  assert.equal(own.body.submitted_by.id, ada.id);
  assert.equal(own.body.profile_url, `https://localhost/g/${game.name_id}/m/${answer.body.name_id}`);
  assert.deepEqual([own.body.modfile, own.body.tags, own.body.dependencies], [{}, [], false]);
  await api.withKey(game).refused(getMod, { params: at({ id: answer.body.id, game_id: game.id }) }, 404, 15022);
});

test('the error names a logo that is too small or no picture', async () => {
  for (const logo of [await png(511, 288), Buffer.from('<svg/>')]) {
    const answer = await send(asAda, modsOf(game), NEW, logo);
    assertRefused(answer, 422, 13009);
    assert.deepEqual(Object.keys((answer as Answer<unknown> as Answer<ErrorAnswer>).body.error.errors!), ['logo']);
  }
});

test('the error names every invalid field', async () => {
  const fields = {
    name: 'x'.repeat(51),
    summary: 'x'.repeat(201),
    homepage_url: 'javascript:alert(1)',
    visible: '2',
    maturity_option: '16',
    name_id: 'No Spaces',
    description: 'x'.repeat(50_001),
  };
  const answer = await send(asAda, modsOf(game), fields, LOGO);
  assertRefused(answer, 422, 13009);
  const { errors } = (answer as Answer<unknown> as Answer<ErrorAnswer>).body.error;
  assert.deepEqual(Object.keys(errors!).sort(), Object.keys(fields).sort());
});

test('name_id is derived from a name in any script, and is unique within the game', async () => {
  const elsewhere = await api.aGame();
  const ids = [];
  for (const where of [game, game, elsewhere])
    ids.push((await api.aMod({ game: where, name: '星の Schlüssel!' })).name_id);
  assert.deepEqual(ids, ['星の-schlussel', '星の-schlussel-2', '星の-schlussel']);
});

test('concurrent submissions of the same name each get a name_id of their own', async () => {
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, n) => send(asAda, modsOf(game), { name: 'Twin', summary: `Number ${n}` }, LOGO)),
  );
  for (const { status, text } of answers) assert.equal(status, 201, text);
  assert.equal(new Set(answers.map(({ body }) => body.name_id)).size, 6);
});

test('a name_id that another mod of the game has is refused', async () => {
  const taken = await api.aMod({ game });
  const mod = await api.aMod({ game, owner: ada });
  await asAda.refused(editModByPut, { params: at(mod), body: { name_id: taken.name_id } }, 422, 13009);
  const other = await asAda.call(editModByPut, { params: at(mod), body: { name_id: 'quite-free' } });
  assert.equal(other.body.name_id, 'quite-free');
});

test('a name_id cannot be a name of the service or its staff', async () => {
  for (const name_id of ['modstead', 'm0d-stead', 'official-support']) {
    const added = await send(asAda, modsOf(game), { name: 'Any', summary: 'Any', name_id }, LOGO);
    assertRefused(added, 422, 13009);
    const { errors } = (added as Answer<unknown> as Answer<ErrorAnswer>).body.error;
    assert.deepEqual(Object.keys(errors!), ['name_id']);
    const mod = await api.aMod({ game, owner: ada });
    await asAda.refused(editModByPut, { params: at(mod), body: { name_id } }, 422, 13009);
  }
  const named = async (name: string) => (await api.aMod({ game, name })).name_id;
  assert.equal(await named('Modstead'), 'modstead-2');
  assert.equal(await named('System Overhaul'), 'system-overhaul');
});

test('a manager edits a mod by POST and by PUT, as a form or multipart, and the next read shows it', async () => {
  const mod = await api.aMod({ game, owner: ada });
  const reader = api.withKey(game);
  const summary = async () => (await reader.call(getMod, { params: at(mod) })).body.summary;
  await summary();
  await asAda.call(editModByPut, { params: at(mod), body: { summary: 'by PUT' } });
  assert.equal(await summary(), 'by PUT');
  await asAda.call(editModOperation, { params: at(mod), body: { summary: 'by POST' } });
  assert.equal(await summary(), 'by POST');
  const inParts = await send(asAda, `${modsOf(game)}/${mod.id}`, { summary: 'in parts', homepage_url: '' }, LOGO);
  assert.deepEqual([inParts.body.summary, inParts.body.homepage_url], ['in parts', null]);
  assert.equal(await summary(), 'in parts');
  const listed = await reader.call(getMods, { params: { game_id: game.id }, query: { id: mod.id } });
  assert.equal(listed.body.data[0]!.summary, 'in parts');
});

test('an old logo is removed when the last row that names it is gone, and not before', async () => {
  const worker = composeWorker(api.app());
  const first = await png(600, 400, '#111111');
  const one = await send(asAda, modsOf(game), NEW, first);
  const two = await send(asAda, modsOf(game), { ...NEW, summary: 'Another' }, first);
  const isThere = async () =>
    (await api.app().storage.stat(new URL(one.body.logo.original).pathname.slice('/files/'.length))) !== undefined;
  for (const [answer, left] of [
    [one, true],
    [two, false],
  ] as const) {
    await send(asAda, `${modsOf(game)}/${answer.body.id}`, {}, await png(600, 400, '#222222'));
    api.clock.advance(2 * HOUR);
    await worker.runDue();
    assert.equal(await isThere(), left);
  }
});

test('users outside the team and moderators of the mod cannot edit it', async () => {
  const mod = await api.aMod({ game });
  const moderator = await api.aUser();
  await api.joinsMod(moderator, mod, MODERATOR);
  for (const client of [asAda, await api.as(moderator)]) {
    await client.refused(editModByPut, { params: at(mod), body: { summary: 'Mine' } }, 403, 15013);
    await client.refused(editModByPut, { params: at(mod), body: { maturity_option: 1 } }, 403, 15014);
    await client.refused(editModByPut, { params: at(mod), body: { status: 0 } }, 403, 15015);
    assertRefused(await send(client, `${modsOf(game)}/${mod.id}`, {}, LOGO), 403, 15013);
  }
  const manager = await api.aUser();
  await api.joinsMod(manager, mod, MANAGER);
  const edited = await (await api.as(manager)).call(editModByPut, { params: at(mod), body: { summary: 'Ours' } });
  assert.equal(edited.body.summary, 'Ours');
});

test('only the game’s team sets the status, and accepting needs a file', async () => {
  const mod = await api.aMod({ game, owner: ada });
  const waiting = await api.aMod({ game, owner: ada, accepted: false });
  const moderator = await api.aUser();
  await api.joins(moderator, game, MODERATOR);
  const client = await api.as(moderator);
  await asAda.refused(editModByPut, { params: at(mod), body: { status: 0 } }, 403, 15015);
  assert.equal((await asAda.call(editModByPut, { params: at(mod), body: { status: 1 } })).status, 200);
  await client.refused(editModByPut, { params: at(mod), body: { summary: 'Not mine' } }, 403, 15013);
  await client.refused(editModByPut, { params: at(waiting), body: { status: 1 } }, 403, 15016);
  const taken = await client.call(editModByPut, { params: at(mod), body: { status: 0 } });
  assert.equal(taken.body.status, 0);
  await api.withKey(game).refused(getMod, { params: at(mod) }, 404, 15022);
});

test('mature content is refused in a game that does not allow it', async () => {
  const grown = await api.aGame({ settings: { maturity_options: 1 } });
  const mod = await api.aMod({ game: grown, owner: ada });
  const tame = await api.aMod({ game, owner: ada });
  assert.equal(
    (await asAda.call(editModByPut, { params: at(mod), body: { maturity_option: 5 } })).body.maturity_option,
    5,
  );
  await asAda.refused(editModByPut, { params: at(tame), body: { maturity_option: 4 } }, 403, 15054);
  assertRefused(await send(asAda, modsOf(game), { ...NEW, maturity_option: '1' }, LOGO), 403, 15054);
});

test('administrators of a mod and the game’s team can delete it, and then nobody sees it', async () => {
  const mod = await api.aMod({ game, owner: ada });
  const manager = await api.aUser();
  const moderator = await api.aUser();
  await api.joinsMod(manager, mod, MANAGER);
  await api.joins(moderator, game, MODERATOR);
  await (await api.as(manager)).refused(deleteModOperation, { params: at(mod) }, 403, 15019);
  await (await api.as(await api.aUser())).refused(deleteModOperation, { params: at(mod) }, 403, 15019);
  assert.equal((await asAda.call(deleteModOperation, { params: at(mod) })).status, 204);
  await api.withKey(game).refused(getMod, { params: at(mod) }, 404, 15022);
  for (const client of [asAda, await api.as(moderator)]) {
    await client.refused(getMod, { params: at(mod) }, 403, 15023);
    await client.refused(deleteModOperation, { params: at(mod) }, 403, 15023);
    await client.refused(editModByPut, { params: at(mod), body: { summary: 'Late' } }, 403, 15023);
  }
  const other = await api.aMod({ game });
  assert.equal((await (await api.as(moderator)).call(deleteModOperation, { params: at(other) })).status, 204);
});

test('texts are stored per content language and shown in the language of the request', async () => {
  const mod = await api.aMod({ game, owner: ada, name: 'Key', summary: 'A key' });
  const body = { name: 'Schlüssel', description: '<b>Öffnet</b> alles' };
  await asAda.call(editModByPut, { params: at(mod), body, headers: { 'content-language': 'de' } });
  const readIn = async (language: string) =>
    (await api.withKey(game).call(getMod, { params: at(mod), headers: { 'accept-language': language } })).body;
  const [german, french] = [await readIn('de'), await readIn('fr')];
  assert.deepEqual([german.name, german.summary, german.description_plaintext], ['Schlüssel', 'A key', 'Öffnet alles']);
  assert.deepEqual([french.name, french.description], ['Key', '']);
  const query = { id: mod.id };
  const headers = { 'accept-language': 'de' };
  const listed = await api.withKey(game).call(getMods, { params: { game_id: game.id }, query, headers });
  assert.equal(listed.body.data[0]!.name, 'Schlüssel');
  await asAda.call(editModByPut, { params: at(mod), body: { description: '' }, headers: { 'content-language': 'de' } });
  const withdrawn = await readIn('de');
  assert.deepEqual([withdrawn.name, withdrawn.description], ['Schlüssel', '']);
});

test('a new mod needs English texts first; Arabic and Indonesian are no content languages', async () => {
  const texts = { name: 'Luftschiff', summary: 'Fliegt' };
  const refused = await send(asAda, modsOf(game), texts, LOGO, { 'content-language': 'de' });
  assertRefused(refused, 422, 13009);
  assert.deepEqual(Object.keys((refused.body as unknown as ErrorAnswer).error.errors!), ['name', 'summary']);
  for (const language of ['ar', 'id', 'tlh']) {
    const headers = { 'content-language': language };
    const added = await send(asAda, modsOf(game), { name: 'Airship', summary: 'Flies' }, LOGO, headers);
    assert.equal(added.status, 201, added.text);
    const mod = { id: added.body.id, game_id: game.id };
    const { body } = await asAda.call(editModByPut, { params: at(mod), body: { name: `In ${language}` }, headers });
    assert.equal(body.name, `In ${language}`, 'taken as English');
  }
});

test('scripts are removed from a description', async () => {
  const mod = await api.aMod({ game, owner: ada });
  const description =
    '<p>Hi<script>alert(1)</script> <a href="javascript:x" onclick="y">there</a></p><img src=x onerror=z>';
  const { body } = await asAda.call(editModByPut, { params: at(mod), body: { description } });
  assert.deepEqual([body.description, body.description_plaintext], ['<p>Hi <a>there</a></p>', 'Hi there']);
});

test('the stats of a game count its public mods', async () => {
  const counted = await api.aGame();
  const count = async () =>
    (await api.withKey(counted).call(getGame, { params: { game_id: counted.id } })).body.stats.mods_count_total;
  const mod = await api.aMod({ game: counted, owner: ada });
  await api.aMod({ game: counted, accepted: false });
  assert.equal(await count(), 1);
  await asAda.call(editModByPut, { params: at(mod), body: { visible: 0 } });
  assert.equal(await count(), 0);
  await asAda.call(editModByPut, { params: at(mod), body: { visible: 1 } });
  await asAda.call(deleteModOperation, { params: at(mod) });
  assert.equal(await count(), 0);
});

test('only the key and team of a game that is not accepted see its mods', async () => {
  const quiet = await api.aGame({ accepted: false });
  const mod = await api.aMod({ game: quiet });
  assert.equal((await api.withKey(quiet).call(getMod, { params: at(mod) })).status, 200);
  await asAda.refused(getMod, { params: at(mod) }, 404, 14001);
  await asAda.refused(getMods, { params: { game_id: quiet.id } }, 404, 14001);
  assertRefused(await send(asAda, modsOf(quiet), NEW, LOGO), 404, 14001);
});

test('a mod shows when it was added and when it went live', async () => {
  const mod = await api.aMod({ game, accepted: false });
  const live = await api.aMod({ game });
  const owner = await api.as(mod.owner);
  assert.equal((await owner.call(getMod, { params: at(mod) })).body.date_live, 0);
  const { date_added, date_live } = (await owner.call(getMod, { params: at(live) })).body;
  assert.ok(date_added >= START && date_live === date_added);
});

test('a member of the site staff may do what an administrator of the game may', async () => {
  const mod = await api.aMod({ game });
  const admin = await api.as(await api.aUser({ admin: true }));
  assert.equal((await admin.call(editModByPut, { params: at(mod), body: { visible: 0 } })).body.visible, 0);
  assert.equal((await admin.call(deleteModOperation, { params: at(mod) })).status, 204);
});
