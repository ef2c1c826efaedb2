// Runs on one database: a browser sees no difference.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { startApi } from './api.ts';
import { findChromium, launchChromium } from './chromium.ts';

const found = findChromium();
const skip = 'reason' in found ? found.reason : false;
const api = await startApi();
const site = `https://localhost:${api.port}`;
let browser: Browser | undefined;
after(() => browser?.close());

/** Long enough that only a hang exceeds it, even on a busy machine. */
const HANG_MS = 300_000;

async function aPage(options: { javaScriptEnabled?: boolean; viewport?: { width: number; height: number } } = {}) {
  browser ??= await launchChromium(found as { path: string }, api, { hosts: 'MAP localhost 127.0.0.1' });
  const context = await browser.newContext(options);
  context.setDefaultTimeout(HANG_MS);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  page.on('pageerror', (error) => problems.push(error.message));
  return { page, problems };
}

async function searchFor(page: Page, text: string): Promise<string[]> {
  await page.getByRole('searchbox').fill(text);
  await page.getByRole('status').getByText('found').waitFor();
  return page.locator('#results a').evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));
}

test('in Chromium the search finds an operation, a field and an error from any page, by the keyboard', {
  skip,
}, async () => {
  const { page, problems } = await aPage();
  await page.goto(`${site}/v1/docs/errors/15022`);
  await page.keyboard.press('/');
  await page.keyboard.type('15023');
  await page.locator('#results a').first().waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${site}/v1/docs/errors/15023#MOD_DELETED`);
  await page.getByRole('heading', { name: 'Error 15023' }).waitFor();
  assert.equal((await searchFor(page, 'add-mod'))[0], '/v1/docs/mods#add-mod');
  assert.ok((await searchFor(page, 'maturity_option')).includes('/v1/docs/objects#object-Mod'));
  await page.keyboard.press('Escape');
  await page.locator('#results').waitFor({ state: 'hidden' });
  assert.deepEqual(problems, []);
});

test('in Chromium links to the former single page redirect to the current pages', { skip }, async () => {
  const { page, problems } = await aPage();
  for (const [old, now] of [
    ['get-game', '/v1/docs/games#get-game'],
    ['object-Mod', '/v1/docs/objects#object-Mod'],
    ['error-MOD_NOT_FOUND', '/v1/docs/errors#MOD_NOT_FOUND'],
  ]) {
    await page.goto('about:blank');
    await page.goto(`${site}/v1/docs#${old}`);
    await page.waitForURL(site + now);
  }
  await page.goto(`${site}/v1/docs/games#get-game`);
  await page.locator('#get-game').getByText('An API key, an access token').waitFor();
  assert.deepEqual(problems, []);
});

test('in Chromium the form sends the request that it shows, and shows the response', { skip }, async () => {
  const game = await api.aGame({ name: 'Skyhaven' });
  const { page, problems } = await aPage();
  await page.goto(`${site}/v1/docs/games#get-game`);
  await page.getByRole('button', { name: 'Try get-game', exact: true }).click();
  const form = page.locator('#get-game form');
  await form.getByLabel('API key').fill(game.api_key);
  await form.getByLabel('game_id').fill(String(game.id));
  const shown = `GET /v1/games/${game.id}?api_key=…`;
  assert.equal(await form.getByLabel('Request').textContent(), shown);
  await form.getByText('optional', { exact: false }).click();
  await form.getByLabel('X-Service-Platform').selectOption('linux');
  assert.equal(await form.getByLabel('Request').textContent(), `${shown}\nX-Service-Platform: linux`);
  const sent = page.waitForRequest((request) => request.url().includes('/v1/games/'));
  await form.getByRole('button', { name: 'Send' }).click();
  assert.equal((await sent).url(), `${site}/v1/games/${game.id}?api_key=${game.api_key}`);
  await form.getByText('200 OK').waitFor();
  await form.getByLabel('Body of the answer').getByText('"name": "Skyhaven"').waitFor();
  assert.match((await form.getByLabel('Headers of the answer').textContent())!, /x-request-id: /);
  // All forms of the page share the key, and leaving the page forgets it.
  await page.goto(`${site}/v1/docs/games#get-games`);
  await page.reload();
  await page.getByRole('button', { name: 'Try get-games', exact: true }).click();
  assert.equal(await page.locator('#get-games form').getByLabel('API key').inputValue(), '');
  assert.deepEqual(await page.evaluate('[localStorage.length, sessionStorage.length, document.cookie]'), [0, 0, '']);
  assert.deepEqual(problems, []);
});

test('in Chromium a form is sent with a token and with lists as repeated fields, and an error is shown', {
  skip,
}, async () => {
  const owner = await api.aUser();
  const game = await api.aGame();
  const mod = await api.aMod({ owner, game });
  const { token } = await api.as(owner);
  const { page } = await aPage();
  await page.goto(`${site}/v1/docs/tags#add-mod-tags`);
  await page.getByRole('button', { name: 'Try add-mod-tags', exact: true }).click();
  const form = page.locator('#add-mod-tags form');
  await form.getByLabel('Access token').fill(token!);
  await form.getByLabel('game_id').fill(String(game.id));
  await form.getByLabel('mod_id').fill(String(mod.id));
  await form.getByLabel('tags[]').fill('Nowhere, Never');
  const shown = (await form.getByLabel('Request').textContent())!;
  assert.match(shown, /^POST .*\nAuthorization: …\n\ntags\[\]=Nowhere\ntags\[\]=Never$/);
  const sent = page.waitForRequest((request) => request.method() === 'POST');
  await form.getByRole('button', { name: 'Send' }).click();
  const request = await sent;
  assert.equal(request.postData(), 'tags%5B%5D=Nowhere&tags%5B%5D=Never');
  assert.equal((await request.allHeaders())['authorization'], `Bearer ${token}`);
  await form
    .locator('output strong')
    .getByText(/^4\d\d /)
    .waitFor();
  await form.getByLabel('Body of the answer').getByText('error_ref').waitFor();
});

test('in Chromium pages are readable without scripts and on a small screen', { skip }, async () => {
  const { page } = await aPage({ javaScriptEnabled: false, viewport: { width: 320, height: 640 } });
  for (const path of ['', '/games', '/errors', '/errors/15022', '/errors/13009', '/objects', '/me']) {
    await page.goto(`${site}/v1/docs${path}`);
    const width = await page.evaluate('document.documentElement.scrollWidth');
    assert.ok(Number(width) <= 320, `${path} is ${width} wide`);
  }
  await page.goto(`${site}/v1/docs/games`);
  assert.equal(await page.getByRole('searchbox').isVisible(), false);
  await page.locator('summary', { hasText: '/games' }).first().click();
  await page.locator('#get-games').getByText('An API key, an access token').waitFor();
});
