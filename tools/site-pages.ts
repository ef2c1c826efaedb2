import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { gzipSync } from 'node:zlib';
import type { Browser, BrowserContext, Page, Response } from 'playwright-core';

/** The budgets of one page on a first visit. */
export const BUDGETS = { scriptBytes: 60_000, styleBytes: 20_000, requests: 100, shift: 0.02 } as const;

export interface View {
  readonly width: number;
  readonly colorScheme: 'light' | 'dark';
  readonly scripts: boolean;
  readonly direction: 'ltr' | 'rtl';
  /** Everything twice as large, as browsers zoom: half of the pixels, each twice as wide. */
  readonly zoom?: 2;
}

/** Every combination would take long; these have each value with each other one at least once. */
export const VIEWS: readonly View[] = [
  { width: 1280, colorScheme: 'light', scripts: true, direction: 'ltr' },
  { width: 320, colorScheme: 'dark', scripts: true, direction: 'ltr' },
  { width: 1280, colorScheme: 'dark', scripts: true, direction: 'rtl' },
  { width: 320, colorScheme: 'light', scripts: false, direction: 'ltr' },
  { width: 1280, colorScheme: 'light', scripts: true, direction: 'ltr', zoom: 2 },
];

export interface Report {
  readonly path: string;
  readonly view: View;
  readonly scriptBytes: number;
  readonly styleBytes: number;
  readonly requests: number;
  /** Layout shift and milliseconds to the largest paint; 0 without scripts. */
  readonly shift: number;
  readonly paint: number;
  readonly problems: readonly string[];
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Runs before the page, so that nothing is missed. */
const OBSERVE = `
  window.__shift = 0; window.__paint = 0;
  window.__said = () => {
    const walker = document.createTreeWalker(document.querySelector('main') ?? document.body, NodeFilter.SHOW_TEXT);
    const said = [];
    // Scripts keep what is typed as a value.
    while (walker.nextNode()) if (!walker.currentNode.parentElement.closest('textarea')) said.push(walker.currentNode.data);
    return said;
  };
  document.addEventListener('readystatechange', () => {
    if (document.readyState === 'interactive') window.__written = window.__said();
  });
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.__shift += entry.value; })
    .observe({ type: 'layout-shift', buffered: true });
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.__paint = entry.startTime; })
    .observe({ type: 'largest-contentful-paint', buffered: true });`;

/** Its scripts load others after the page itself has loaded; this exists once all of them run. */
export const RUNNING = '#svelte-announcer';
const HAS_SCRIPTS = 'document.querySelector("link[rel=modulepreload]") !== null';

/** What scripts change after the page has loaded is drawn by then. */
const SETTLED =
  'new Promise((done) => requestIdleCallback(() => requestAnimationFrame(() => requestAnimationFrame(done)), { timeout: 5_000 }))';

/** What the service wrote, and what the scripts made of it. */
const SAID = '[window.__written ?? [], window.__said()]';

const BEYOND = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

/** Longer, and something waits for what never comes. */
const LONGEST_MS = 120_000;

/** Those of a visitor who is signed in. */
export type Cookies = Parameters<BrowserContext['addCookies']>[0];

/** Opens a page in a fresh browser profile, as on a first visit, and measures it. */
export async function checkPage(
  browser: Browser,
  address: string,
  view: View,
  { cookies = [], isKnown = () => false }: { cookies?: Cookies; isKnown?: (text: string) => boolean } = {},
): Promise<Report> {
  const context = await browser.newContext({
    ignoreHTTPSErrors: true,
    locale: 'en-US',
    viewport: { width: view.width / (view.zoom ?? 1), height: 900 / (view.zoom ?? 1) },
    deviceScaleFactor: view.zoom ?? 1,
    colorScheme: view.colorScheme,
    javaScriptEnabled: view.scripts,
  });
  await context.addCookies([...cookies]);
  const page = await context.newPage();
  const problems: string[] = [];
  const answers: Response[] = [];
  page.on('response', (response) => answers.push(response));
  page.on('pageerror', ({ message }) => {
    // A transition ends where the next page has none.
    if (!message.startsWith('Transition was')) problems.push(message);
  });
  page.on('console', (message) => {
    if (message.type() === 'error' && !isKnown(message.text())) problems.push(`console: ${message.text()}`);
  });
  try {
    if (view.scripts) await page.addInitScript(OBSERVE);
    const opened = await page.goto(address, { waitUntil: 'load', timeout: LONGEST_MS });
    if (!opened || opened.status() >= 500) problems.push(`status ${opened?.status()}`);
    // Measured before the direction is turned, which moves everything.
    const { shift, paint } = view.scripts ? await paintOf(page) : { shift: 0, paint: 0 };
    const sizes = await sizesOf(answers, (await opened?.text()) ?? '');
    if (view.scripts) problems.push(...(await unsaid(page)));
    if (view.direction === 'rtl' && view.scripts) await page.evaluate('document.documentElement.dir = "rtl"');
    problems.push(...(await layoutProblems(page)), ...overBudget({ ...sizes, shift }));
    // The checker itself adds a style, which the policy of the page refuses.
    page.removeAllListeners('console');
    if (view.scripts) problems.push(...(await accessibilityProblems(page)));
    return { path: new URL(address).pathname + new URL(address).search, view, ...sizes, shift, paint, problems };
  } finally {
    await context.close();
  }
}

async function sizesOf(answers: readonly Response[], html: string) {
  const styles = [...html.matchAll(/<style>(.*?)<\/style>/gs)].map(([, style]) => style!).join('');
  const sizes = { scriptBytes: 0, styleBytes: styles === '' ? 0 : gzipSync(styles).length, requests: answers.length };
  for (const answer of answers) {
    const type = answer.headers()['content-type'] ?? '';
    const kind = type.includes('javascript') ? 'scriptBytes' : type.includes('text/css') ? 'styleBytes' : undefined;
    if (!kind) continue;
    const { responseBodySize } = await answer.request().sizes();
    sizes[kind] += responseBodySize;
  }
  return sizes;
}

async function paintOf(page: Page): Promise<{ shift: number; paint: number }> {
  // Not until the network is idle: pages of visitors keep a stream of notifications open.
  if (await page.evaluate(HAS_SCRIPTS)) await page.locator(RUNNING).waitFor({ state: 'attached', timeout: LONGEST_MS });
  await page.evaluate(SETTLED);
  return page.evaluate<{ shift: number; paint: number }>('({ shift: window.__shift, paint: window.__paint })');
}

/** A text for browsers without scripts alone. */
const WITHOUT_SCRIPTS = /^Without scripts/;

/** Texts that the service wrote and scripts took away, such as those that a browser did not get. */
async function unsaid(page: Page): Promise<string[]> {
  const [written = [], shown = []] = await page.evaluate<string[][]>(SAID);
  // Times and counts go on.
  const plain = (text: string) => text.replaceAll(/\d+|\s+/g, ' ').trim();
  const left = new Set(shown.map(plain));
  const lost = written.map(plain).filter((each) => !left.has(each) && !WITHOUT_SCRIPTS.test(each));
  return lost.length > 0 ? [`its scripts removed: ${lost.slice(0, 3).join(' | ')}`] : [];
}

export async function layoutProblems(page: Page): Promise<string[]> {
  const beyond = await page.evaluate<number>(BEYOND);
  return beyond > 0 ? [`${beyond} px wider than the window`] : [];
}

function overBudget(measured: { scriptBytes: number; styleBytes: number; requests: number; shift: number }): string[] {
  return Object.entries(BUDGETS).flatMap(([name, most]) => {
    const value = measured[name as keyof typeof BUDGETS];
    return value > most ? [`${name} ${Math.round(value * 1000) / 1000}, at most ${most}`] : [];
  });
}

export async function accessibilityProblems(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const violations = await page.evaluate<{ id: string; nodes: { target: string[]; failureSummary?: string }[] }[]>(
    'axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations.map(({ id, nodes }) => ({ id, nodes })))',
  );
  return violations.map(({ id, nodes }) => {
    const [first] = nodes;
    const why = first?.failureSummary?.split('\n').slice(1, 2).join(' ').trim() ?? '';
    return `axe ${id}: ${nodes.length} × ${first?.target.join(' ')} ${why}`;
  });
}
