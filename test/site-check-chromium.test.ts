// Runs on one database: a browser sees no difference.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { builtSite } from '../src/commands/site-build.ts';
import { addCollectionOperation } from '../src/community/collections/operations.ts';
import { checkPage, VIEWS } from '../tools/site-pages.ts';
import { startApi } from './api.ts';
import { Browser as Visitor } from './browser.ts';
import { findChromium, launchChromium } from './chromium.ts';

const found = findChromium();
const skip = 'reason' in found ? found.reason : false;
const api = await startApi({ site: builtSite() });
const origin = 'https://localhost';

let browser: Browser | undefined;
after(() => browser?.close());

/** One page of each kind, each in one view; `npm run site-check` opens all of them in all views. */
async function pages() {
  const author = await api.aUser({ email: 'author@example.org' });
  const game = await api.aGame({ owner: author, name: 'Skyfarers' });
  const mod = await api.aMod({ game, owner: author, description: '<h2>Rivers</h2><p>Deep.</p>' });
  await api.aFile(mod, { version: '1.0.0', changelog: 'First' });
  const guide = await api.aGuide({ game, owner: author });
  const { body: collection } = await (await api.as(author)).call(addCollectionOperation, {
    params: { game_id: game.id },
    body: { name: 'Waters', mod_ids: [mod.id] },
  });
  await api.counted();
  const hub = `/g/${game.name_id}`;
  const visitor = new Visitor(api);
  await visitor.signIn('/account', 'author@example.org');
  const cookies = [...visitor.cookies].map(([name, value]) => ({ name, value, url: origin, secure: true }));
  return {
    open: ['/', hub, `${hub}/m/${mod.name_id}`, `${hub}/r/${guide.name_id}`, `${hub}/c/${collection.name_id}`],
    own: [
      ...[`/u/${author.name_id}`, '/library', '/account', '/mods', `${hub}/m/${mod.name_id}/edit/files`],
      ...[`${hub}/admin/settings`, `${hub}/admin/portals`],
    ],
    cookies,
  };
}

test('in Chromium each kind of page keeps its budgets, and axe-core finds nothing', { skip }, async () => {
  browser ??= await launchChromium(found as { path: string }, api, { hosts: `MAP localhost 127.0.0.1:${api.port}` });
  const { open, own, cookies } = await pages();
  const problems: string[] = [];
  const check = async (path: string, view: (typeof VIEWS)[number], options = {}) => {
    const report = await checkPage(browser!, origin + path, view, options);
    problems.push(...report.problems.map((problem) => `${path} at ${view.width} px, ${view.colorScheme}: ${problem}`));
  };
  const left = [...open.map((path) => ({ path, cookies: [] })), ...own.map((path) => ({ path, cookies }))].entries();
  const checkSome = async () => {
    for (const [index, { path, cookies }] of left) await check(path, VIEWS[index % 2]!, { cookies });
  };
  // While one page is drawn, the checker reads another.
  await Promise.all([checkSome(), checkSome()]);
  assert.deepEqual(problems, []);
});
