// Runs alone: it starts programs, which end with its process.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Browser, chromium } from 'playwright-core';
import { builtSite } from '../src/commands/site-build.ts';
import { addCollectionOperation } from '../src/community/collections/operations.ts';
import { modComments } from '../src/community/comments/operations.ts';
import { startApi } from './api.ts';
import { findChromium } from './chromium.ts';

// The pages are the same on both databases, and a browser is slow.
const found = process.env['MODSTEAD_TEST_DATABASE'] === 'postgres' ? { reason: 'it ran on SQLite' } : findChromium();
const skip = 'reason' in found ? found.reason : false;
const api = await startApi({ site: builtSite() });
const origin = `https://localhost:${api.port}`;

/** Each sets the title if it runs, from every context that a page writes users' texts into. */
const ATTACKS = [
  '<img src=x onerror="document.title=`taken`">',
  '<script>document.title="taken"</script>',
  '</script><script>document.title="taken"</script>',
  '</title><script>document.title="taken"</script>',
  '"><svg onload="document.title=`taken`">',
  "' onfocus='document.title=`taken`' autofocus='",
  '<a href="javascript:document.title=`taken`">x</a>',
  '<iframe srcdoc="<script>top.document.title=`taken`</script>"></iframe>',
  '<math><mtext><table><mglyph><style><img src=x onerror="document.title=`taken`">',
  '<style>@import "javascript:document.title=`taken`"</style>',
  '{{constructor.constructor("document.title=`taken`")()}}',
  '<!--><img src=x onerror="document.title=`taken`">-->',
];
const ALL = ATTACKS.join(' ');

const game = await api.aGame({ name: `Sky ${ATTACKS[0]}`, summary: ALL.slice(0, 250) });
const author = await api.aUser({ username: `Ada ${ATTACKS[4]}`.slice(0, 40) });
const mod = await api.aMod({
  game,
  owner: author,
  name: `Rivers ${ATTACKS[2]}`,
  summary: ALL.slice(0, 250),
  description: ALL,
});
await api.aFile(mod);
const guide = await api.aGuide({ game, owner: author, name: `Guide ${ATTACKS[3]}`, description: ALL });
const asAuthor = await api.as(author);
const named = { game_id: game.id, mod_id: mod.id };
for (const content of ATTACKS)
  await (await api.as(await api.aUser())).call(modComments.add, { params: named, body: { content } });
const { body: collection } = await asAuthor.call(addCollectionOperation, {
  params: { game_id: game.id },
  body: { name: `Best ${ATTACKS[4]}`.slice(0, 50), summary: ALL.slice(0, 250), description: ALL, mod_ids: [mod.id] },
});
await api.counted();

const hub = `/g/${encodeURIComponent(game.name_id)}`;
const modName = encodeURIComponent(mod.name_id);
const PAGES = [
  '/',
  `/?q=${encodeURIComponent(ATTACKS[1]!)}`,
  hub,
  `${hub}?view=table&q=rivers`,
  `${hub}?q=${encodeURIComponent(ATTACKS[2]!)}`,
  `${hub}/m/${modName}`,
  `${hub}/c`,
  `${hub}/c/${encodeURIComponent(collection.name_id)}`,
  `${hub}/r`,
  `${hub}/r/${encodeURIComponent(guide.name_id)}`,
  `/u/${encodeURIComponent(author.name_id)}`,
  `/embed/${encodeURIComponent(game.name_id)}`,
  `/embed/${encodeURIComponent(game.name_id)}/${modName}`,
  `/report?resource=mods&id=${mod.id}&back=${encodeURIComponent('javascript:document.title="taken"')}`,
  '/legal/terms',
  `/${encodeURIComponent(ATTACKS[0]!)}`,
];

let browser: Browser | undefined;
after(() => browser?.close());
async function started(): Promise<Browser> {
  const args = ['--no-sandbox', '--host-resolver-rules=MAP localhost 127.0.0.1'];
  browser ??= await chromium.launch({ executablePath: (found as { path: string }).path, args });
  return browser;
}
test('what users write runs on no page of the site', { skip }, async () => {
  const page = await (await (await started()).newContext({ ignoreHTTPSErrors: true })).newPage();
  page.setDefaultTimeout(300_000);
  for (const path of PAGES) {
    await page.goto(origin + path, { waitUntil: 'load' });
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
    assert.doesNotMatch(await page.title(), /^taken$/, path);
    const handlers =
      '[...document.querySelectorAll("*")].filter((each) => [...each.attributes].some(({ name }) => name.startsWith("on"))).length';
    assert.equal(await page.evaluate(handlers), 0, path);
    assert.equal(await page.evaluate('document.querySelectorAll(`[href^="javascript:" i]`).length'), 0, path);
  }
});
