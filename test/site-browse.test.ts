import assert from 'node:assert/strict';
import { test } from 'node:test';
import { editModOperation } from '../src/catalogue/mods/operations.ts';
import { builtSite } from '../src/commands/site-build.ts';
import { startApi } from './api.ts';
import { Browser } from './browser.ts';

const api = await startApi({ site: builtSite() });
const game = await api.aGame({ name: 'Skyfarers' });
const hub = `/g/${game.name_id}`;
/** Far more than there are changes on their way. */
const READS_MAX = 50;

const page = async (path: string, headers: Record<string, string> = {}) => api.request('GET', path, { headers });

test('a hub shows its list as a table, keeps unknown filters out, and names its feeds', async () => {
  const mod = await api.aMod({ game, name: 'Better Rivers' });
  const { status, text } = await page(`${hub}?view=table&price=nonsense&platform=nothing&tag=none&sort=nothing`);
  assert.equal(status, 200);
  assert.match(text, /<table/);
  assert.ok(text.includes(mod.name));
  assert.match(text, /type="application\/atom\+xml"/);
});

test('feeds list what everyone may see, in both formats, with any character', async () => {
  const shown = await api.aMod({ game, name: 'A & B <i>c</i>', summary: 'It’s “fine” ]]> \u{1F600}' });
  const hidden = await api.aMod({ game, accepted: false });
  await api.aFile(shown);
  for (const path of [hub, `${hub}/m/${encodeURIComponent(shown.name_id)}`]) {
    const atom = await page(`${path}/feed.atom`);
    assert.equal(atom.headers['content-type'], 'application/atom+xml; charset=utf-8');
    assert.ok(atom.text.includes('A &amp; B &lt;i&gt;c&lt;/i&gt;'), atom.text);
    assert.ok(!atom.text.includes(hidden.name));
    const json = await page(`${path}/feed.json`);
    const feed = JSON.parse(json.text) as { version: string; items: { title: string }[] };
    assert.equal(feed.version, 'https://jsonfeed.org/version/1.1');
    assert.ok(feed.items.some(({ title }) => title.startsWith(shown.name)));
  }
  assert.equal((await page(`${hub}/feed.rss`)).status, 404);
  const searched = await page(`${hub}/feed.json?q=nothing-has-this-word`);
  assert.deepEqual((JSON.parse(searched.text) as { items: unknown[] }).items, []);
});

test('robots.txt leads to the sitemaps, which lead to every public mod', async () => {
  const mod = await api.aMod({ game });
  const hidden = await api.aMod({ game, accepted: false });
  await api.counted();
  const robots = await page('/robots.txt');
  const [, index] = /^Sitemap: https:\/\/[^/]+(\/\S+)$/m.exec(robots.text)!;
  const parts = [...(await page(index!)).text.matchAll(/<loc>https:\/\/[^/]+(\/[^<]+)<\/loc>/g)].map(
    ([, path]) => path!,
  );
  const listed = (await Promise.all(parts.map(async (path) => (await page(path)).text))).join('');
  assert.ok(listed.includes(`${hub}/m/${mod.name_id}`));
  assert.ok(!listed.includes(`/m/${hidden.name_id}<`));
  assert.equal((await page(`/sitemap${hub}/0.xml`)).status, 404);
});

test('a mod offers its card by oEmbed, and only its card may be framed', async () => {
  const mod = await api.aMod({ game, name: '"><script>alert(1)</script>' });
  const path = `${hub}/m/${encodeURIComponent(mod.name_id)}`;
  const { text } = await page(path);
  const address = /href="(\/oembed[^"]+)"/.exec(text)![1]!.replaceAll('&amp;', '&');
  const answer = await page(address);
  const card = JSON.parse(answer.text) as { type: string; html: string };
  assert.equal(card.type, 'rich');
  assert.doesNotMatch(card.html, /<script/);
  const framed = await page(`/embed/${game.name_id}/${encodeURIComponent(mod.name_id)}`);
  assert.equal(framed.status, 200);
  assert.match(String(framed.headers['content-security-policy']), /frame-ancestors \*/);
  assert.equal(framed.headers['x-frame-options'], undefined);
  assert.doesNotMatch(framed.text, /<form[^>]*method="post"/);
  assert.match(String((await page(path)).headers['content-security-policy']), /frame-ancestors 'none'/);
  for (const url of ['https://evil.example/g/a/m/b', '/g/a', `${hub}/m/nothing`])
    assert.equal((await page(`/oembed?url=${encodeURIComponent(url)}`)).status, 404);
});

test('a profile lists the public mods of its user in all games', async () => {
  const author = await api.aUser();
  const other = await api.aGame({ name: 'Gridline' });
  const shown = await api.aMod({ game: other, owner: author, name: 'Neon' });
  const hidden = await api.aMod({ game: other, owner: author, name: 'Secret', accepted: false });
  const { status, text } = await page(`/u/${author.name_id}`);
  assert.equal(status, 200);
  assert.ok(text.includes(shown.name));
  assert.ok(!text.includes(hidden.name));
  assert.ok((await page(`/u/${author.name_id}/feed.atom`)).text.includes('Neon'));
  assert.equal((await page('/u/nobody-has-this-name')).status, 404);
});

test('everyone may report a mod, and the form shows the errors of the API', async () => {
  const mod = await api.aMod({ game });
  const browser = new Browser(api);
  const path = `/report?resource=mods&id=${mod.id}`;
  const form = await browser.get(path);
  const csrf = /name="csrf" value="([^"]+)"/.exec(form.text)![1]!;
  const sent = { csrf, resource: 'mods', id: mod.id, type: 2, reason: 1 };
  assert.equal((await browser.post(path, { ...sent, csrf: 'x', summary: 'It crashes' })).status, 403);
  assert.equal((await browser.post(path, { ...sent, summary: '' })).status, 422);
  const done = await browser.post(path, { ...sent, summary: 'It crashes' });
  assert.equal(done.status, 200);
  assert.match(done.text, /moderators will look/);
  assert.equal((await browser.get('/report?resource=nothing&id=1')).status, 404);
});

test('legal texts have their versions, and consoles get them without links', async () => {
  const { status, text } = await page('/legal/terms');
  assert.equal(status, 200);
  assert.match(text, /<header/);
  const plain = await page('/legal/terms?no_links=true');
  assert.doesNotMatch(plain.text, /<header|<a /);
  assert.equal((await page('/legal/terms?version=999999')).status, 404);
});

test('visitors without a session get cached pages until what they show changes', async () => {
  const mod = await api.aMod({ game, name: 'Cached Rivers' });
  const path = `${hub}/m/${mod.name_id}`;
  const gzip = { 'accept-language': 'en' };
  const first = await page(path, gzip);
  const second = await page(path, gzip);
  assert.equal(second.text, first.text);
  assert.deepEqual(second.headers['content-security-policy'], first.headers['content-security-policy']);
  const german = await page(path, { 'accept-language': 'de' });
  assert.match(german.text, /<html lang="de"/);
  await (await api.as(mod.owner)).call(editModOperation, {
    params: { game_id: game.id, mod_id: mod.id },
    body: { summary: 'It changed at once' },
  });
  assert.ok((await page(path, gzip)).text.includes('It changed at once'));
  const browser = new Browser(api);
  await browser.signIn('/account', 'cached@example.org');
  assert.match((await browser.get(path)).text, /action="\?\/subscribe"/);
  assert.doesNotMatch((await page(path, gzip)).text, /action="\?\/subscribe"/);
});

/** How often pages have called an operation. */
const asked = async (operation: string) =>
  Number(new RegExp(`_count\\{operation="${operation}"[^}]*\\} (\\d+)`).exec((await page('/metrics')).text)?.[1]);

test('visitors who come at once share one rendering', async (t) => {
  api.stayInOneProcess(t);
  await api.changesArrived();
  await page(hub);
  const before = await asked('get-mods');
  await page(`${hub}?sort=name`);
  const once = (await asked('get-mods')) - before;
  assert.ok(once > 0);
  // Nobody has asked for this page before, so none of them finds it in the cache.
  const answers = await Promise.all(Array.from({ length: 12 }, () => page(`${hub}?sort=newest`)));
  assert.equal((await asked('get-mods')) - before - once, once);
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  assert.equal(new Set(answers.map(({ headers }) => headers['x-request-id'])).size, answers.length);
});

test('an address that has to be counted first gets the cached page, as often as it may ask', async (t) => {
  const limited = await startApi({
    site: builtSite(),
    settings: { MODSTEAD_RATE_LIMITS: 'address=20', MODSTEAD_TRUST_PROXY: '127.0.0.1' },
  });
  limited.stayInOneProcess(t);
  const { name_id } = await limited.aGame({ name: 'Skyfarers' });
  await limited.changesArrived();
  const visit = (address: string) =>
    limited.request('GET', `/g/${name_id}`, { headers: { 'x-forwarded-for': address } });
  const from = async (address: string) => (await visit(address)).status;
  const reads = async () => {
    const { text } = await limited.request('GET', '/metrics');
    return /_count\{operation="get-mods"[^}]*\} (\d+)/.exec(text)?.[1];
  };
  assert.equal(await from('198.51.100.1'), 200);
  const before = await reads();
  assert.ok(Number(before) > 0);
  for (const address of ['198.51.100.2', '198.51.100.3', '198.51.100.4']) assert.equal(await from(address), 200);
  const statuses = [];
  for (let i = 0; i < 22; i += 1) statuses.push(await from('198.51.100.5'));
  assert.deepEqual(statuses, [...Array(20).fill(200), 429, 429]);
  assert.match((await visit('198.51.100.5')).headers['retry-after'] ?? '', /^[1-9]\d?$/);
  assert.equal(await reads(), before);
});

test('a page that cannot be cached is rendered for each visitor', async (t) => {
  api.stayInOneProcess(t);
  const guide = await api.aGuide({ game });
  const path = `${hub}/r/${guide.name_id}`;
  await page(path);
  const before = await asked('get-guide');
  const visits = await Promise.all(Array.from({ length: 4 }, () => page(path)));
  assert.deepEqual(new Set(visits.map(({ status }) => status)), new Set([200]));
  assert.equal((await asked('get-guide')) - before, visits.length);
  const missing = await Promise.all(Array.from({ length: 4 }, () => page(`${hub}/m/missing`)));
  assert.deepEqual(new Set(missing.map(({ status }) => status)), new Set([404]));
});

test('a page is cached again after a part of what it shows has changed', async (t) => {
  api.stayInOneProcess(t);
  const mod = await api.aMod({ game, name: 'Changing Rivers' });
  // The game stays in the response cache, while the list of its mods is read again.
  await page(hub);
  await (await api.as(mod.owner)).call(editModOperation, {
    params: { game_id: game.id, mod_id: mod.id },
    body: { summary: 'Other water' },
  });
  const asksFor = async () => {
    const before = await asked('get-mods');
    assert.ok((await page(hub)).text.includes('Other water'));
    return (await asked('get-mods')) - before;
  };
  // PostgreSQL also notifies the process that made the change, perhaps after it has stored the page.
  const reads: number[] = [];
  while (reads.length < READS_MAX && reads.at(-1) !== 0) reads.push(await asksFor());
  assert.equal(reads.at(-1), 0, `a page was never cached: ${reads}`);
});

test('a repeated request meets no page that its visitor may not see any more', async () => {
  const author = await api.aUser();
  const mod = await api.aMod({ game, owner: author, name: 'Repeated Rivers' });
  const path = `${hub}/m/${mod.name_id}`;
  const ask = (more: Record<string, string> = {}) =>
    page(path, { accept: 'text/html', 'accept-language': 'en', ...more });
  const edit = async (body: Record<string, string | number>) =>
    (await api.as(author)).call(editModOperation, { params: { game_id: game.id, mod_id: mod.id }, body });
  // The first is rendered, the second cached, and from the third on the request is known by its headers.
  const seen = [await ask(), await ask(), await ask(), await ask()];
  assert.equal(new Set(seen.map(({ text }) => text)).size, 1);
  const ids = new Set(seen.map(({ headers }) => headers['x-request-id']));
  assert.equal(ids.size, seen.length);
  for (let times = 0; times < 3; times += 1) {
    const packed = await page(`${path}?packed`, { 'accept-encoding': 'gzip' });
    assert.equal(packed.headers['content-encoding'], 'gzip');
    const plain = await page(`${path}?packed`);
    assert.equal(plain.headers['content-encoding'], undefined);
    assert.equal(plain.text, packed.text);
  }
  assert.match((await ask({ 'accept-language': 'de' })).text, /<html lang="de"/);
  assert.match((await ask({ 'accept-language': 'de' })).text, /<html lang="de"/);

  const browser = new Browser(api, 'production', { 'accept-language': 'en' });
  await browser.signIn('/account', 'repeated@example.org');
  for (let times = 0; times < 3; times += 1) assert.match((await browser.get(path)).text, /action="\?\/subscribe"/);
  await edit({ summary: 'Other water' });
  assert.ok((await ask()).text.includes('Other water'));
  assert.ok((await ask()).text.includes('Other water'));
  await edit({ visible: 0 });
  for (let times = 0; times < 3; times += 1) assert.equal((await ask()).status, 404);
  await edit({ visible: 1, maturity_option: 2 });
  for (let times = 0; times < 3; times += 1) assert.equal((await ask()).status, (await page(`${path}?x`)).status);
  api.clock.advance(61);
  assert.equal((await ask()).status, (await page(`${path}?y`)).status);
});

test('a mod is read in the language that the visitor chooses, beside that of the page', async () => {
  const mod = await api.aMod({ game, name: 'Deep Rivers', summary: 'Deep' });
  const client = await api.as(mod.owner);
  const params = { game_id: game.id, mod_id: mod.id };
  const headers = { 'content-language': 'ja' };
  await client.call(editModOperation, { params, body: { name: '深い川' }, headers });
  const path = `${hub}/m/${mod.name_id}`;
  const english = await page(path, { 'accept-language': 'en' });
  assert.match(english.text, /<h1[^>]*><bdi>Deep Rivers</);
  assert.match(english.text, /href="\?language=ja"/);
  const japanese = await page(`${path}?language=ja`, { 'accept-language': 'en' });
  assert.match(japanese.text, /<html lang="en"/);
  assert.match(japanese.text, /<h1[^>]*><bdi>深い川</);
  assert.match(japanese.text, new RegExp(`rel="canonical" href="https://localhost${path}"`));
  assert.match((await page(`${path}?language=xx`)).text, /<h1[^>]*><bdi>Deep Rivers</);
});
