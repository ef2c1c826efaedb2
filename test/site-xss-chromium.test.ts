// Runs on one database: a browser sees no difference.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Browser, BrowserContext } from 'playwright-core';
import { builtSite } from '../src/commands/site-build.ts';
import { startApi } from './api.ts';
import { Browser as Visitor } from './browser.ts';
import { findChromium, launchChromium } from './chromium.ts';
import { hostileContent } from './hostile-content.ts';

const found = findChromium();
const skip = 'reason' in found ? found.reason : false;
const api = await startApi({ site: builtSite() });
const origin = 'https://localhost';
/** Long enough that only a hang exceeds it, even on a busy machine. */
const HANG_MS = 300_000;

let browser: Browser | undefined;
after(() => browser?.close());

/** Runs before each page. A refused handler or script is a report of its own, even where the policy saved the visitor. */
const WATCH = `
  window.__reports = [];
  window.taken = () => { window.__reports.push('ran'); };
  document.addEventListener('securitypolicyviolation', ({ effectiveDirective, sourceFile, sample }) => {
    if (effectiveDirective !== 'img-src') window.__reports.push(effectiveDirective + ' ' + sourceFile + ' ' + sample);
  });`;

const DANGERS = `[
  ...[...document.querySelectorAll('*')].filter((each) => [...each.attributes].some(({ name }) => name.startsWith('on'))),
  ...document.querySelectorAll('[href^="javascript:" i], [src^="javascript:" i], [action^="javascript:" i], [srcdoc], object, embed, base'),
].map((each) => each.outerHTML.slice(0, 100))`;

async function aContext(cookies: ReadonlyMap<string, string>): Promise<BrowserContext> {
  browser ??= await launchChromium(found as { path: string }, api, { hosts: `MAP localhost 127.0.0.1:${api.port}` });
  const context = await browser.newContext({ locale: 'en-US' });
  context.setDefaultTimeout(HANG_MS);
  await context.addCookies([...cookies].map(([name, value]) => ({ name, value, url: origin, secure: true })));
  await context.addInitScript(WATCH);
  return context;
}

const TABS = 3;

async function visit(context: BrowserContext, addresses: Iterable<string>): Promise<string[]> {
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('dialog', (dialog) => {
    problems.push(`${page.url()}: a dialog says ${dialog.message()}`);
    return dialog.dismiss();
  });
  for (const address of addresses) {
    await page.goto(origin + address, { waitUntil: 'load' });
    // The page has its scripts by then, and has drawn what they change.
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
    const reports = await page.evaluate<string[]>(`[...window.__reports, ...${DANGERS}]`);
    problems.push(...reports.map((report) => `${address}: ${report}`));
  }
  return problems;
}

test('in Chromium nothing that users write or upload runs on any page of the site', { skip }, async () => {
  const hostile = await hostileContent(api);
  const author = new Visitor(api);
  await author.signIn('/account', hostile.email);
  const context = await aContext(author.cookies);
  const problems: string[] = [];
  const addresses = [...hostile.pages.values()].flat().values();
  // While one tab waits for the service, another draws.
  await Promise.all(Array.from({ length: TABS }, async () => problems.push(...(await visit(context, addresses)))));
  assert.deepEqual(problems, []);
  await context.close();
});
