import assert from 'node:assert/strict';
import { test } from 'node:test';
import sharp from 'sharp';
import { getMods } from '../src/catalogue/mods/operations.ts';
import { builtSite } from '../src/commands/site-build.ts';
import { decideOverContent } from '../src/moderation/moderation/operations.ts';
import { type Answer, startApi } from './api.ts';
import { Browser } from './browser.ts';
import { zipOf } from './zips.ts';

const EVIL = '<img src=x onerror=alert(1)><script>alert(2)</script>';
const api = await startApi({ site: builtSite() });
const game = await api.aGame({ name: 'Skyfarers' });
const gamePath = `/g/${game.name_id}`;
const picture = await sharp({ create: { width: 512, height: 288, channels: 3, background: '#345' } })
  .png()
  .toBuffer();

type Parts = Record<string, string | { filename: string; bytes: Buffer }>;
const BOUNDARY = '-----making';

function encoded(parts: Parts): string {
  const texts = Object.entries(parts).map(([name, value]) => {
    const file = typeof value === 'string' ? '' : `; filename="${value.filename}"`;
    const content = typeof value === 'string' ? value : value.bytes.toString('latin1');
    return `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"${file}\r\n\r\n${content}\r\n`;
  });
  return `${texts.join('')}--${BOUNDARY}--\r\n`;
}

/** A visitor without scripts, whose forms carry the token of the page. */
class Author extends Browser {
  async token(path: string): Promise<string> {
    const { text } = await this.get(path);
    return /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? assert.fail(text);
  }

  async send(path: string, fields: Record<string, string | number>, action = ''): Promise<Answer> {
    return this.post(path + action, { csrf: await this.token(path), ...fields });
  }

  async sendFiles(path: string, parts: Parts, action = ''): Promise<Answer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return api.request('POST', path + action, {
      headers: { accept: 'text/html', cookie, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
      body: Buffer.from(encoded({ csrf: await this.token(path), ...parts }), 'latin1'),
    });
  }
}

async function anAuthor(email: string): Promise<Author> {
  const author = new Author(api);
  await author.signIn('/mods', email);
  return author;
}

test('an author adds a mod and publishes a file with plain forms, and what was typed never runs', async () => {
  const author = await anAuthor('ada@example.org');
  const path = `${gamePath}/add/mod`;
  const refused = await author.sendFiles(path, { name: EVIL, summary: '' });
  assert.equal(refused.status, 422, refused.text);
  for (const field of ['name', 'summary']) assert.match(refused.text, new RegExp(`id="field-${field}-error"`));
  const incomplete = await author.sendFiles(path, { name: 'Sky', summary: 'Blue' });
  assert.match(incomplete.text, /id="field-logo-error"/);
  const logo = { filename: 'logo.png', bytes: picture };
  const added = await author.sendFiles(path, { name: `Sky ${EVIL}`.slice(0, 50), summary: EVIL, logo });
  assert.equal(added.status, 303, added.text);
  const filesPath = added.headers.location!;
  const archive = { filename: 'sky.zip', bytes: zipOf({ 'readme.txt': 'Hello' }) };
  const form = { version: '1.0.0', changelog: EVIL, active: 'true', filedata: archive };
  const published = await author.sendFiles(filesPath, form, '?/add');
  assert.equal(published.status, 200, published.text);
  assert.match(published.text, /Version 1\.0\.0/);
  const edit = filesPath.replace(/\/files$/, '');
  for (const page of [
    '',
    '/media',
    '/files',
    '/dependencies',
    '/translations',
    '/team',
    '/preview',
    '/statistics',
    '/state',
  ]) {
    const { status, text } = await author.get(edit + page);
    assert.equal(status, 200, text);
    assert.doesNotMatch(text, /<img[^>]*onerror|<script>alert|\sstyle="|\son\w+="/);
  }
  const { text } = await author.get('/mods');
  assert.doesNotMatch(text, /<img[^>]*onerror|<script>alert/);
  assert.ok(text.includes('Skyfarers'));
});

test('an editor changes every field, and each error is beside its field', async () => {
  const author = await anAuthor('grace@example.org');
  const logo = { filename: 'logo.png', bytes: picture };
  const added = await author.sendFiles(`${gamePath}/add/mod`, { name: 'Rivers', summary: 'Water', logo });
  const path = added.headers.location!.replace(/\/files$/, '');
  const changed = await author.send(path, {
    name: 'Better rivers',
    name_id: 'better-rivers',
    summary: 'More water',
    description: `<p>Wet</p>${EVIL}`,
    homepage_url: 'https://example.org/rivers',
    visible: 0,
    community_options: 1,
    metakey: 'river',
    metavalue: 'Nile',
    metadata_blob: 'blob',
  });
  assert.equal(changed.status, 303, changed.text);
  const moved = changed.headers.location!.replace('?saved', '');
  assert.equal(moved, `${gamePath}/m/better-rivers/edit`);
  const { text } = await author.get(moved);
  for (const shown of ['Better rivers', 'More water', 'https://example.org/rivers', 'Nile', '<p>Wet</p>'])
    assert.ok(text.includes(shown), shown);
  const refused = await author.send(moved, {
    name: '',
    name_id: 'better-rivers',
    summary: 'x',
    homepage_url: 'nowhere',
  });
  assert.equal(refused.status, 422);
  for (const field of ['name', 'homepage_url']) assert.match(refused.text, new RegExp(`id="field-${field}-error"`));
  const translated = await author.send(`${moved}/translations`, {
    language: 'de',
    name: 'Bessere Flüsse',
    summary: 'Mehr Wasser',
    description: '',
  });
  assert.equal(translated.status, 200, translated.text);
  assert.ok((await author.get(`${moved}/translations?language=de`)).text.includes('Bessere Flüsse'));
  assert.ok((await author.get(moved)).text.includes('Better rivers'));
});

test('nobody changes the mod of others, or anything without the token of the page', async () => {
  const mod = await api.aMod({ game });
  await api.aFile(mod);
  const stranger = await anAuthor('eve@example.org');
  const path = `${gamePath}/m/${mod.name_id}/edit`;
  assert.equal((await stranger.get(path)).status, 404);
  const csrf = await stranger.token(`${gamePath}/add/mod`);
  assert.equal((await stranger.post(path, { name: 'Mine' })).status, 403);
  const foreign = await stranger.post(path, { csrf, name: 'Mine' });
  assert.equal(foreign.status, 404, foreign.text);
  const parts = `${path}/files/parts`;
  const opened = { filename: 'a.zip', nonce: 'n' };
  assert.equal((await stranger.post(parts, opened)).status, 403);
  const refused = await stranger.post(parts, opened, { 'x-csrf-token': csrf });
  assert.equal(refused.status, 403);
  assert.match(refused.headers['content-type'] ?? '', /^application\/json/);
  const deleted = await stranger.post(`${path}/state?/delete`, { csrf, confirmed: mod.name });
  assert.equal(deleted.status, 404);
  const anonymous = await api.request('GET', path);
  assert.equal(anonymous.status, 303);
  assert.match(anonymous.headers.location ?? '', /^\/sign-in\?/);
});

test('an author reads why a mod was refused, and appeals once', async () => {
  const author = await anAuthor('lin@example.org');
  const logo = { filename: 'logo.png', bytes: picture };
  const added = await author.sendFiles(`${gamePath}/add/mod`, { name: 'Lakes', summary: 'Water', logo });
  const edit = added.headers.location!.replace(/\/files$/, '');
  const archive = { filename: 'lakes.zip', bytes: zipOf({ 'readme.txt': 'Lakes' }) };
  await author.sendFiles(`${edit}/files`, { version: '1', active: 'true', filedata: archive }, '?/add');
  const team = await api.as(game.owner);
  const query = { name_id: 'lakes', 'status-in': '0,1' };
  const { body } = await team.call(getMods, { params: { game_id: game.id }, query });
  await team.call(decideOverContent, {
    params: { game_id: game.id },
    body: { resource: 'mods', id: body.data[0]!.id, decision: 'deny', reason: `Too wet ${EVIL}` },
  });
  const state = await author.get(`${edit}/state`);
  assert.match(state.text, /Too wet &lt;img/);
  assert.equal((await author.send(`${edit}/state`, { reason: '' }, '?/appeal')).status, 422);
  const appealed = await author.send(`${edit}/state`, { reason: 'It is drier now.' }, '?/appeal');
  assert.equal(appealed.status, 200, appealed.text);
  assert.match(appealed.text, /It is drier now\./);
  assert.doesNotMatch(appealed.text, /\?\/appeal/);
});

test('an author writes a guide, and puts the mods of a collection in order', async () => {
  const author = await anAuthor('mary@example.org');
  const mods = [await api.aMod({ game, name: 'First mod' }), await api.aMod({ game, name: 'Second mod' })];
  for (const mod of mods) await api.aFile(mod);
  const logo = { filename: 'logo.png', bytes: picture };
  const guide = await author.sendFiles(`${gamePath}/add/guide`, {
    name: 'Sailing',
    summary: 'How to sail in short',
    description: `<p>Like this</p>${EVIL}`,
    tags: 'wind, water',
    status: '1',
    logo,
  });
  assert.equal(guide.status, 303, guide.text);
  const collection = await author.sendFiles(`${gamePath}/add/collection`, { name: 'Best', category: 'Themed' });
  assert.equal(collection.status, 303, collection.text);
  const edit = collection.headers.location!;
  const [first, second] = mods.map(({ id }) => id);
  const found = await author.get(`${edit}?find=second`);
  assert.match(found.text, /Second mod/);
  for (const id of [first!, second!]) assert.equal((await author.send(edit, { id }, '?/add')).status, 200);
  const moved = await author.send(edit, { id: second!, by: -1 }, '?/move');
  assert.ok(moved.text.indexOf('Second mod') < moved.text.indexOf('First mod'), moved.text);
});
