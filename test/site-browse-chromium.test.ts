// Runs on one database: a browser sees no difference.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Browser, Locator, Page } from 'playwright-core';
import sharp from 'sharp';
import { addModMedia } from '../src/catalogue/media/operations.ts';
import { builtSite } from '../src/commands/site-build.ts';
import { addCollectionOperation } from '../src/community/collections/operations.ts';
import { modComments } from '../src/community/comments/operations.ts';
import { accessibilityProblems } from '../tools/site-pages.ts';
import { startApi } from './api.ts';
import { Browser as Visitor } from './browser.ts';
import { findChromium, launchChromium } from './chromium.ts';
import { aPack, aPaidMod, aSellingGame } from './money.ts';
import { scriptsRun } from './site-visits.ts';

const found = findChromium();
const skip = 'reason' in found ? found.reason : false;
const api = await startApi({ site: builtSite(), settings: { MODSTEAD_PAYMENTS: 'simulated' } });
const origin = 'https://localhost';
/** Long enough that only a hang exceeds it, even on a busy machine. */
const HANG_MS = 300_000;
const game = await api.aGame({ name: 'Skyfarers' });
const author = await api.aUser({ username: 'Ada', email: 'ada@example.org' });
const mod = await api.aMod({ game, owner: author, name: 'Better Rivers' });
const modPath = `/g/${game.name_id}/m/${mod.name_id}`;
const VIDEO = 'https://www.youtube-nocookie.com/**';
const MODEL = 'https://sketchfab.com/**';

let browser: Browser | undefined;
after(() => browser?.close());

/** A page of a signed-in visitor, with what went wrong on it. */
async function aPage(email: string, { scripts = true } = {}) {
  browser ??= await launchChromium(found as { path: string }, api, {
    hosts: `MAP localhost 127.0.0.1:${api.port}`,
    // The game’s page has no address of its own here, and may frame a page on this machine.
    args: ['--disable-features=LocalNetworkAccessChecks'],
  });
  const context = await browser.newContext({ locale: 'en-US', javaScriptEnabled: scripts });
  context.setDefaultTimeout(HANG_MS);
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin });
  const visitor = new Visitor(api);
  await visitor.signIn('/account', email);
  await context.addCookies([...visitor.cookies].map(([name, value]) => ({ name, value, url: origin, secure: true })));
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', ({ message }) => {
    if (!message.startsWith('Transition was')) problems.push(message);
  });
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  const sound = async () => {
    const found = await accessibilityProblems(page);
    problems.push(...found.map((problem) => `${page.url()}: ${problem}`));
  };
  return { page, problems, sound };
}

/** Answers for the other sites that a mod’s media come from, and keeps what they were asked. */
async function otherSites(page: Page): Promise<string[]> {
  const asked: string[] = [];
  for (const address of [VIDEO, MODEL])
    await page.route(address, (route) => {
      asked.push(route.request().url());
      return route.fulfill({ contentType: 'text/html', body: '<title>Played elsewhere</title>' });
    });
  return asked;
}

const article = (page: Page, text: string) => page.getByRole('article').filter({ hasText: text }).first();

test('in Chromium a player downloads, looks, shares, reports and votes on the page of a mod', { skip }, async () => {
  const png = await sharp({ create: { width: 640, height: 360, channels: 3, background: '#27a' } })
    .png()
    .toBuffer();
  await (await api.as(author)).call(addModMedia, {
    params: { game_id: game.id, mod_id: mod.id },
    body: { youtube: ['https://youtu.be/dQw4w9WgXcQ'], sketchfab: [`https://sketchfab.com/models/${'0a'.repeat(16)}`] },
    files: { image1: { filename: 'river.png', bytes: png } },
  });
  await api.aFile(mod, { version: '1.0.0', changelog: 'First' });
  const said = await (await api.as(author)).call(modComments.add, {
    params: { game_id: game.id, mod_id: mod.id },
    body: { content: 'Ask me anything.' },
  });
  assert.equal(said.status, 201);
  const { page, problems, sound } = await aPage('player@example.org');
  const asked = await otherSites(page);
  await page.goto(origin + modPath);
  // Before scripts run, the link leads to the host of the game, which this browser does not reach.
  await scriptsRun(page);

  const downloading = page.waitForEvent('download');
  await page
    .getByRole('link', { name: /^Download/ })
    .first()
    .click();
  assert.equal((await downloading).suggestedFilename(), 'example.zip');
  await page.getByText('Downloaded and checked.').waitFor();

  await page.getByRole('link', { name: 'Picture 1' }).click();
  const gallery = page.getByRole('dialog', { name: 'Pictures and videos' });
  await gallery.getByRole('img', { name: 'Picture 1' }).waitFor();
  assert.deepEqual(asked, [], 'nothing is asked of other sites before the visitor wants it');
  await page.keyboard.press('ArrowRight');
  await gallery.frameLocator('iframe').locator('html').waitFor({ state: 'attached' });
  assert.match(asked[0]!, /youtube-nocookie\.com\/embed\/dQw4w9WgXcQ/);
  await gallery.getByRole('button', { name: 'Next' }).click();
  await page.locator('dialog[open] iframe[src*="sketchfab"]').waitFor();
  await gallery.getByRole('button', { name: 'Close' }).click();
  await page.locator('dialog iframe').waitFor({ state: 'detached' });

  await article(page, 'Ask me').getByRole('button', { name: 'Helpful', exact: true }).click();
  await article(page, 'Ask me')
    .getByTitle('Helpful votes')
    .and(page.getByText('1', { exact: true }))
    .waitFor();
  await page.getByLabel('Your comment').fill(`Thanks @${author.name_id}`);
  await page.getByRole('button', { name: 'Send', exact: true }).first().click();
  await page.getByRole('link', { name: `@${author.name_id}` }).waitFor();

  await sound();

  await page.getByText('Share', { exact: true }).click();
  assert.equal(await page.getByLabel('Link to this page').inputValue(), origin + modPath);
  await page.getByRole('button', { name: 'Copy link' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), origin + modPath);

  await page.locator('aside').getByRole('link', { name: 'Report' }).click();
  await sound();
  await page.getByLabel('What is wrong?').fill('It is stolen.');
  await page.getByRole('button', { name: 'Send report' }).click();
  await page.getByText('The moderators will look at it.').waitFor();

  const { body: collection } = await (await api.as(author)).call(addCollectionOperation, {
    params: { game_id: game.id },
    body: { name: 'Waters', mod_ids: [mod.id] },
  });
  await page.goto(`${origin}/g/${game.name_id}/c/${collection.name_id}`);
  await page.getByRole('button', { name: 'Work together', exact: true }).click();
  await page.getByText(/100% say that its mods work together/).waitFor();
  await sound();

  await page.goto(`${origin}/g/${game.name_id}`);
  await scriptsRun(page);
  await page.keyboard.press('j');
  await page.locator('article a:focus').waitFor();
  await page.keyboard.press('/');
  await page.locator('input[type="search"]:focus').waitFor();
  await page.locator('h1').first().click();
  await page.evaluate('document.activeElement?.blur()');
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await sound();
  await page.keyboard.press('Escape');
  await page.keyboard.press('g');
  await page.keyboard.press('l');
  await page.waitForURL(`${origin}/library`);
  assert.deepEqual(problems, []);
  await page.context().close();

  const team = await aPage('ada@example.org');
  await team.page.goto(origin + modPath);
  await article(team.page, 'Thanks').getByRole('button', { name: 'Pin', exact: true }).click();
  await article(team.page, 'Thanks').getByText('Pinned').waitFor();
  await article(team.page, 'Thanks').getByRole('button', { name: 'Lock', exact: true }).click();
  await article(team.page, 'Thanks').getByText('Locked').waitFor();
  assert.deepEqual(team.problems, []);
  await team.page.context().close();
});

test('in Chromium a page around the embedded hub hears which mod is chosen, and searches it', { skip }, async () => {
  await api.aFile(mod);
  const { page, problems } = await aPage('embedder@example.org');
  await page.context().route('https://game.example/**', (route) =>
    route.fulfill({
      contentType: 'text/html',
      body: `<!doctype html><title>A game</title><script>window.heard = []; addEventListener('message', ({ data }) => heard.push(data));</script>
<iframe src="${origin}/embed/${game.name_id}?target=message" width="800" height="600"></iframe>`,
    }),
  );
  await page.goto('https://game.example/');
  const heard = (type: string) => page.waitForFunction(`heard.find(({ type }) => type === ${JSON.stringify(type)})`);
  await heard('modstead:ready');
  await heard('modstead:size');
  const hub = page.frameLocator('iframe');
  await hub
    .getByRole('link', { name: /Better Rivers/ })
    .first()
    .click();
  const chosen = (await (await heard('modstead:select')).jsonValue()) as { mod: { id: number } };
  assert.equal(chosen.mod.id, mod.id);
  await page.evaluate('frames[0].postMessage({ type: "modstead:search", query: "nothing-like-it" }, "*")');
  await hub
    .getByRole('link', { name: /Better Rivers/ })
    .first()
    .waitFor({ state: 'detached' });
  assert.deepEqual(problems, []);
  await page.context().close();
});

const TABS_MAX = 100;

/** Moves the focus with the Tab key until it is on the element, which shows it. */
async function tabTo(page: Page, element: Locator): Promise<void> {
  await element.waitFor();
  const focused = element.and(page.locator(':focus-visible'));
  for (let tabs = 0; (await focused.count()) === 0; tabs += 1) {
    assert.ok(tabs < TABS_MAX, `the Tab key does not reach ${element}`);
    await page.keyboard.press('Tab');
  }
}

async function press(page: Page, element: Locator, key = 'Enter'): Promise<void> {
  await tabTo(page, element);
  await page.keyboard.press(key);
}

for (const scripts of [true, false])
  test(`in Chromium a player buys tokens and a mod with the keyboard alone, ${scripts ? 'with' : 'without'} scripts`, {
    skip,
  }, async () => {
    const selling = await aSellingGame(api);
    await aPack(api, selling, { tokens: 100, price: 499 });
    const { mod: paid } = await aPaidMod(api, selling, { price: 40 });
    const { page, problems, sound } = await aPage(`buyer-${scripts}@example.org`, { scripts });
    const path = `${origin}/g/${selling.name_id}/m/${paid.name_id}`;
    await page.goto(path);
    if (scripts) await sound();
    await press(page, page.getByRole('link', { name: 'Token packs' }));
    await page.getByRole('button', { name: 'Buy for $4.99' }).waitFor();
    if (scripts) await sound();
    await press(page, page.getByRole('button', { name: 'Buy for $4.99' }));
    // With scripts the page leads there by itself.
    if (!scripts) await press(page, page.getByRole('link', { name: 'Pay' }));
    await press(page, page.locator('button[value=pay]'));
    await page.locator('button[value=dispute]').waitFor();
    await press(page, page.getByRole('link', { name: 'Continue' }));
    await page.waitForURL(`${origin}/account/purchases`);
    await page.getByText(/Paid/i).first().waitFor();
    if (scripts) await sound();
    await page.goto(path);
    await press(page, page.getByRole('button', { name: /^Buy for 40/ }));
    await page.getByText('You own this mod').waitFor();
    await page
      .getByRole('link', { name: /^Download/ })
      .first()
      .waitFor();
    assert.deepEqual(problems, []);
    await page.context().close();
  });

test('in Chromium a player buys a mod with money at the simulated provider', { skip }, async () => {
  const selling = await aSellingGame(api);
  const pack = await aPack(api, selling, { tokens: 40, price: 299 });
  const { mod: paid } = await aPaidMod(api, selling, { tokenpack_id: pack.id });
  const { page, problems } = await aPage('payer@example.org');
  await page.goto(`${origin}/g/${selling.name_id}/m/${paid.name_id}`);
  for (const name of ['terms', 'refund']) await press(page, page.locator(`input[name=${name}]`), 'Space');
  await press(page, page.getByRole('button', { name: 'Buy with money' }));
  await press(page, page.locator('button[value=pay]'));
  await page.locator('button[value=dispute]').waitFor();
  await page.goto(`${origin}/g/${selling.name_id}/m/${paid.name_id}`);
  await page.getByText('You own this mod').waitFor();
  assert.deepEqual(problems, []);
  await page.context().close();
});
