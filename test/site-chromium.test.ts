// Runs alone: it starts programs, which end with its process.
// Runs on one database: a browser sees no difference.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Browser, chromium, type Page } from 'playwright-core';
import { builtSite } from '../src/commands/site-build.ts';
import { startApi } from './api.ts';
import { codesSentTo } from './browser.ts';
import { findChromium } from './chromium.ts';

const found = findChromium();
const skip = 'reason' in found ? found.reason : false;
const api = await startApi({ site: builtSite() });
const origin = `https://localhost:${api.port}`;
const EVIL = '<img src=x onerror="document.title=`taken`"><script>document.title="taken"</script>';
const game = await api.aGame({ name: 'Skyfarers' });
const mod = await api.aMod({ game, name: `Better Rivers ${EVIL}`, description: `<p>Rivers <b>flow</b>.</p>${EVIL}` });
await api.aFile(mod);
await api.counted();

let browser: Browser | undefined;
after(() => browser?.close());
/** Long enough that only a hang exceeds it, even on a busy machine. */
const HANG_MS = 300_000;

async function aPage(options: { javaScriptEnabled: boolean; width: number; colorScheme: 'light' | 'dark' }) {
  const args = ['--no-sandbox', '--host-resolver-rules=MAP localhost 127.0.0.1'];
  browser ??= await chromium.launch({ executablePath: (found as { path: string }).path, args });
  const { width, ...rest } = options;
  const viewport = { width, height: 900 };
  const context = await browser.newContext({ ignoreHTTPSErrors: true, locale: 'en-US', viewport, ...rest });
  context.setDefaultTimeout(HANG_MS);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', ({ message }) => {
    // A transition ends where the next page has none.
    if (!message.startsWith('Transition was aborted')) problems.push(message);
  });
  page.on('console', (message) => {
    const { url } = message.location();
    // Addresses of pictures lack the port of this test, and sign-in pages have no icon.
    const isExpected = message.text().includes('https://localhost/files/') || url.endsWith('/favicon.ico');
    if (message.type() === 'error' && !isExpected) problems.push(`${message.text()} ${url}`);
  });
  return { page, problems };
}

async function signIn(page: Page, email: string): Promise<void> {
  await page.getByLabel('Email address').fill(email);
  await page.getByRole('button', { name: 'Send code' }).click();
  await page.getByLabel('Code from the email').waitFor();
  await page.getByLabel('Code from the email').fill(codesSentTo(api, email).at(-1)!);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

for (const { javaScriptEnabled, width, colorScheme } of [
  { javaScriptEnabled: true, width: 1280, colorScheme: 'light' },
  { javaScriptEnabled: false, width: 320, colorScheme: 'dark' },
] as const)
  test(`in Chromium a player finds a mod, subscribes, rates and comments, ${javaScriptEnabled ? 'with' : 'without'} scripts`, {
    skip,
  }, async () => {
    const { page, problems } = await aPage({ javaScriptEnabled, width, colorScheme });
    await page.goto(`${origin}/g/${game.name_id}`);
    await page.getByRole('searchbox').fill('rivers');
    await page.getByRole('searchbox').press('Enter');
    await page.waitForURL(/[?&]q=rivers/);
    await page
      .getByRole('link', { name: /Better Rivers/ })
      .first()
      .click();
    await page.getByRole('heading', { level: 1, name: /Better Rivers/ }).waitFor();
    await page.getByRole('link', { name: 'Sign in to subscribe, rate and comment' }).click();
    await signIn(page, `player-${width}@example.org`);
    await page.getByRole('button', { name: 'Subscribe', exact: true }).click();
    await page.getByRole('button', { name: 'Unsubscribe' }).waitFor();
    await page.getByRole('button', { name: 'Works well' }).click();
    const said = `It *flows* at ${width}`;
    await page.getByLabel('Your comment').fill(`${said} ${EVIL}`);
    await page.getByRole('button', { name: 'Send' }).click();
    await page
      .getByRole('article')
      .filter({ hasText: `at ${width}` })
      .waitFor();
    if (javaScriptEnabled) {
      assert.doesNotMatch(await page.title(), /^taken/);
      const beyond = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      assert.equal(await page.evaluate(beyond), 0);
    }
    await page.goto(`${origin}/library`);
    await page
      .getByRole('link', { name: /Better Rivers/ })
      .first()
      .waitFor();
    assert.deepEqual(problems, []);
  });
