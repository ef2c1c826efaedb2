// Runs on one database: the site talks to the API alone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { editModOperation } from '../src/catalogue/mods/operations.ts';
import { builtSite } from '../src/commands/site-build.ts';
import { addCollectionOperation } from '../src/community/collections/operations.ts';
import { editGuideOperation, getGuides } from '../src/community/guides/operations.ts';
import { subscribeToMod } from '../src/community/subscriptions/operations.ts';
import { startApi } from './api.ts';
import { Browser } from './browser.ts';

const api = await startApi({ site: builtSite() });
const game = await api.aGame({ name: 'Größe & <b>Sky</b>' });
const hubPath = `/g/${encodeURIComponent(game.name_id)}`;

test('the site answers on its own hosts alone, and the API everywhere as before', async () => {
  const home = await api.request('GET', '/');
  assert.equal(home.status, 200);
  assert.match(home.headers['content-type'] ?? '', /^text\/html/);
  for (const host of [`g-${game.id}.localhost`, 'api.localhost', `u-${game.owner.id}.test.localhost`]) {
    const { status, headers } = await api.request('GET', '/nothing-here', { host });
    assert.equal(status, 404);
    assert.match(headers['content-type'] ?? '', /^application\/json/);
  }
  const unknown = await api.request('GET', '/v1/nothing-here');
  assert.match(unknown.headers['content-type'] ?? '', /^application\/json/);
});

test('pages show what everyone may see, escaped', async () => {
  const closed = await api.aGame({ accepted: false });
  const { text } = await api.request('GET', '/');
  assert.ok(text.includes('Größe &amp; &lt;b>Sky&lt;/b>'), text);
  assert.ok(!text.includes(closed.name));
});

test('pages forbid inline code and frames, and send no referrer', async () => {
  for (const path of ['/', '/nothing-here']) {
    const { headers, text } = await api.request('GET', path);
    const policy = String(headers['content-security-policy']);
    assert.match(policy, /^default-src 'none'/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.doesNotMatch(policy, /unsafe-inline|unsafe-eval/);
    assert.equal(headers['x-frame-options'], 'DENY');
    assert.equal(headers['referrer-policy'], 'no-referrer');
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['cache-control'], 'private, no-store');
    assert.equal(headers['set-cookie'], undefined);
    assert.doesNotMatch(text, /\sstyle="|\son\w+="/);
  }
  const missing = await api.request('GET', '/nothing-here');
  assert.equal(missing.status, 404);
});

test('the session makes the visitor known to pages, and never to the API', async () => {
  const browser = new Browser(api);
  await browser.signIn('/account', 'ada@example.org');
  const me = /\/u\/[\w-]+/.exec((await browser.get('/')).text);
  assert.ok(me);
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const called = await api.request('GET', '/v1/me', { headers: { cookie } });
  assert.equal(called.status, 401);
  const sandbox = new Browser(api, 'sandbox');
  for (const [name, value] of browser.cookies) sandbox.cookies.set(name, value);
  const { text } = await sandbox.get('/');
  assert.match(text, /Sandbox/);
  assert.doesNotMatch(text, /\/u\//);
});

test('a request that changes something needs the token of this browser, from this site', async () => {
  const browser = new Browser(api);
  await browser.signIn('/account', 'grace@example.org');
  assert.equal((await browser.post('/', {})).status, 403);
  assert.equal((await browser.post('/', { csrf: 'x' })).status, 403);
  assert.equal((await browser.post('/', {}, { origin: 'https://evil.example' })).status, 403);
  assert.equal((await browser.post('/', {}, { 'sec-fetch-site': 'cross-site' })).status, 403);
});

test('files for browsers are immutable and compressed', async () => {
  const { text } = await api.request('GET', '/');
  const [path] = /\/_app\/immutable\/entry\/start\.[\w-]+\.js/.exec(text)!;
  const { status, headers } = await api.request('GET', path, { headers: { 'accept-encoding': 'gzip' } });
  assert.equal(status, 200);
  assert.equal(headers['content-type'], 'text/javascript; charset=utf-8');
  assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable');
  assert.equal((await api.request('POST', path)).status, 405);
  assert.equal((await api.request('GET', '/_app/immutable/../../server/index.js')).status, 404);
});

test('a page and the file that tells open pages of a newer site name the same version', async () => {
  const { text } = await api.request('GET', '/');
  const told = await api.request('GET', '/_app/version.json');
  assert.equal(told.headers['cache-control'], 'no-cache');
  assert.ok(text.includes(`version: ${JSON.stringify(JSON.parse(told.text).version)}`));
});

test('a hub lists what everyone may see, and a mod shows its own markup escaped or cleaned', async () => {
  const evil = '<img src=x onerror=alert(1)><script>alert(2)</script>';
  const shown = await api.aMod({ game, name: `Sky ${evil}`, summary: evil, description: `<p>Fine</p>${evil}` });
  const hidden = await api.aMod({ game, accepted: false });
  const hub = await api.request('GET', `${hubPath}?q=sky`);
  assert.equal(hub.status, 200);
  const mod = await api.request('GET', `${hubPath}/m/${encodeURIComponent(shown.name_id)}`);
  assert.equal(mod.status, 200);
  assert.ok(mod.text.includes('<p>Fine</p>'));
  for (const { text } of [hub, mod]) {
    assert.doesNotMatch(text, /<img[^>]*onerror|<script>alert/);
    assert.ok(!text.includes(hidden.name));
  }
  for (const path of [`${hubPath}/m/${hidden.name_id}`, '/g/nothing', `${hubPath}/m/nothing`])
    assert.equal((await api.request('GET', path)).status, 404);
});

test('a visitor subscribes, rates and comments with forms, and sees the errors of the API', async () => {
  const mod = await api.aMod({ game });
  await api.aFile(mod);
  const path = `${hubPath}/m/${mod.name_id}`;
  const anonymous = await api.request('GET', path);
  assert.doesNotMatch(anonymous.text, /<form[^>]*method="post"/);
  const browser = new Browser(api);
  await browser.signIn('/account', 'lin@example.org');
  const csrf = async () => /name="csrf" value="([^"]+)"/.exec((await browser.get(path)).text)![1]!;
  const named = { game_id: game.id, mod_id: mod.id };
  for (const [action, fields] of [
    ['subscribe', {}],
    ['rate', { rating: 1 }],
    ['comment', { content: 'Works <b>well</b> & fast' }],
  ] as const) {
    assert.equal((await browser.post(`${path}?/${action}`, { ...named, ...fields })).status, 403);
    const done = await browser.post(`${path}?/${action}`, { csrf: await csrf(), ...named, ...fields });
    assert.equal(done.status, 200, done.text);
  }
  const { text } = await browser.get(path);
  assert.match(text, /\?\/unsubscribe/);
  assert.match(text, /fast/);
  const refused = await browser.post(`${path}?/rate`, { csrf: await csrf(), ...named, rating: 7 });
  assert.match(refused.text, /role="alert"/);
});

test('a collection shows its public mods, and a visitor follows it and subscribes to them all', async () => {
  const evil = '<img src=x onerror=alert(1)><script>alert(2)</script>';
  const [owner, shown, hidden] = [await api.aUser(), await api.aMod({ game }), await api.aMod({ game })];
  await api.aFile(shown);
  const asOwner = await api.as(owner);
  const { body: made } = await asOwner.call(addCollectionOperation, {
    params: { game_id: game.id },
    body: {
      name: 'Winter <b onclick=x>',
      summary: evil,
      description: `<p>Cold</p>${evil}`,
      mod_ids: [shown.id, hidden.id],
    },
  });
  const { body: secret } = await asOwner.call(addCollectionOperation, {
    params: { game_id: game.id },
    body: { name: 'My secret plan', visible: 0, mod_ids: [shown.id] },
  });
  await (await api.as(hidden.owner)).call(editModOperation, {
    params: { game_id: game.id, mod_id: hidden.id },
    body: { visible: 0 },
  });
  const path = `${hubPath}/c/${made.name_id}`;
  const list = await api.request('GET', `${hubPath}/c`);
  assert.ok(list.text.includes(path), list.text);
  assert.ok(!list.text.includes('secret'));
  assert.equal((await api.request('GET', `${hubPath}/c/${secret.name_id}`)).status, 404);
  const anonymous = await api.request('GET', path);
  assert.ok(anonymous.text.includes('<p>Cold</p>') && anonymous.text.includes(shown.name));
  assert.ok(!anonymous.text.includes(hidden.name));
  assert.doesNotMatch(anonymous.text, /<form[^>]*method="post"/);
  for (const { text } of [list, anonymous]) assert.doesNotMatch(text, /<img[^>]*onerror|<script>alert/);

  const browser = new Browser(api);
  await browser.signIn('/account', 'wynn@example.org');
  const act = async (action: string) => {
    const csrf = /name="csrf" value="([^"]+)"/.exec((await browser.get(path)).text)![1]!;
    return browser.post(`${path}?/${action}`, { csrf, game_id: game.id, collection_id: made.id });
  };
  const offers = ({ text }: { text: string }) =>
    [...text.matchAll(/action="\?\/((?:un)?(?:follow|subscribe))"/g)].map(([, name]) => name);
  assert.deepEqual(offers(await browser.get(path)), ['follow', 'subscribe']);
  assert.deepEqual(offers(await act('follow')), ['unfollow', 'subscribe']);
  assert.deepEqual(offers(await act('subscribe')), ['unfollow', 'unsubscribe']);
  assert.match((await act('subscribe')).text, /role="alert"/);
  assert.deepEqual(offers(await act('unsubscribe')), ['unfollow', 'subscribe']);
  assert.deepEqual(offers(await act('unfollow')), ['follow', 'subscribe']);
});

test('a guide shows its cleaned text and comments, counts the visit, and a visitor comments', async () => {
  const evil = '<img src=x onerror=alert(1)><script>alert(2)</script>';
  const guide = await api.aGuide({ game, name: 'First <i>steps', description: `<p>Wake up.</p>${evil}` });
  const path = `${hubPath}/r/${guide.name_id}`;
  const list = await api.request('GET', `${hubPath}/r`);
  assert.ok(list.text.includes(path), list.text);
  const anonymous = await api.request('GET', path);
  assert.ok(anonymous.text.includes('<p>Wake up.</p>'));
  assert.doesNotMatch(anonymous.text, /<form[^>]*method="post"/);
  assert.equal((await api.request('GET', `${hubPath}/r/nothing`)).status, 404);

  const browser = new Browser(api);
  await browser.signIn('/account', 'noor@example.org');
  const comment = async (content: string) => {
    const csrf = /name="csrf" value="([^"]+)"/.exec((await browser.get(path)).text)![1]!;
    return browser.post(`${path}?/comment`, { csrf, game_id: game.id, guide_id: guide.id, content });
  };
  const commented = await comment(`It <b>helped</b>${evil}`);
  assert.ok(commented.text.includes('<b>helped</b>'), commented.text);
  for (const { text } of [list, anonymous, commented])
    assert.doesNotMatch(text, /<img[^>]*onerror|<script>alert|<i>steps/);
  assert.match((await comment('')).text, /role="alert"/);

  const { body } = await api.withKey(game).call(getGuides, { params: { game_id: game.id }, query: { id: guide.id } });
  assert.equal(body.data[0]!.stats[0]!.visits_total, 1);
  await (await api.as(guide.owner)).call(editGuideOperation, {
    params: { game_id: game.id, guide_id: guide.id },
    body: { community_options: 0 },
  });
  const closed = await browser.get(path);
  assert.ok(closed.text.includes('helped'));
  assert.doesNotMatch(closed.text, /\?\/comment/);
});

test('the library lists the subscriptions of the signed-in person over all games, page by page', async () => {
  const iris = await api.aUser({ email: 'iris@example.org' });
  const browser = new Browser(api);
  const empty = await browser.signIn('/library', 'iris@example.org');
  assert.equal(empty.status, 200, empty.text);
  assert.doesNotMatch(empty.text, /\?\/unsubscribe/);
  const other = await api.aGame();
  const asIris = await api.as(iris);
  for (let i = 0; i < 25; i += 1) {
    const mod = await api.aMod({ game: i % 2 ? game : other, owner: game.owner });
    await api.aFile(mod);
    const done = await asIris.call(subscribeToMod, { params: { game_id: mod.game_id, mod_id: mod.id } });
    assert.equal(done.status, 201, done.text);
  }
  const shown = ({ text }: { text: string }) =>
    [...text.matchAll(/name="game_id" value="(\d+)"\/?> <input type="hidden" name="mod_id" value="(\d+)"/g)].map(
      ([, game_id, mod_id]) => ({ game_id: Number(game_id), mod_id: Number(mod_id) }),
    );
  const [first, second] = [await browser.get('/library'), await browser.get('/library?page=2')];
  assert.deepEqual([shown(first).length, shown(second).length], [24, 1]);
  const all = [...shown(first), ...shown(second)];
  assert.equal(new Set(all.map(({ mod_id }) => mod_id)).size, 25);
  assert.ok(first.text.includes(`/g/${other.name_id}/m/`) && first.text.includes(`${hubPath}/m/`));
  const csrf = /name="csrf" value="([^"]+)"/.exec(first.text)![1]!;
  const ended = await browser.post('/library?/unsubscribe', { csrf, ...all[0] });
  assert.equal(shown(ended).length, 24);
  assert.ok(!shown(ended).some(({ mod_id }) => mod_id === all[0]!.mod_id));
  assert.match((await browser.post('/library?/unsubscribe', { csrf, ...all[0] })).text, /role="alert"/);
});
