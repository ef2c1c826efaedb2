import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { type Browser, chromium } from 'playwright-core';
import { findChromium, keyOf } from '../test/chromium.ts';
import { freePort } from '../test/free-port.ts';
import { addWork, startEmpty } from './sample-work.ts';
import { MISSING, OWNER, ownPages, pagesOf, type Started, signedIn, startService } from './site-check.ts';

/** Fetched when it runs: nothing else needs its 200 packages. */
const LIGHTHOUSE = 'lighthouse@13';
const BUDGETS = { performance: 95, accessibility: 100, 'best-practices': 100, seo: 100 } as const;
type Category = keyof typeof BUDGETS;
const CATEGORIES = Object.keys(BUDGETS) as Category[];

const HELP = `npm run site-lighthouse [-- --runs 3 --only PATTERN]

Runs Lighthouse, as a phone on a slow line, over a page of each kind of a service with sample content: home, game, mod, guide,
collection and profile. Then it looks once at the accessibility of the other public pages, those of a signed-in owner, all
dashboards and the wizard. It prints the median of the runs, with the speed that Lighthouse measured of the machine: below 1,000 it is
too slow or too busy for a score of performance. It ends with an error if one is below ${CATEGORIES.map((name) => `${name} ${BUDGETS[name]}`).join(', ')}.`;

const KINDS = {
  home: /^\/$/,
  game: /^\/g\/[^/]+$/,
  mod: /^\/g\/[^/]+\/m\/[^/]+$/,
  guide: /^\/g\/[^/]+\/r\/[^/]+$/,
  collection: /^\/g\/[^/]+\/c\/[^/]+$/,
  profile: /^\/u\/[^/]+$/,
} as const;

interface Result {
  /** The speed of the machine, as Lighthouse measures it. */
  readonly speed: number;
  readonly scores: Partial<Record<Category, number>>;
  /** Audits that cost points, by their names. */
  readonly lost: readonly string[];
}

interface Printed {
  readonly categories: Record<Category, { score: number; auditRefs: { id: string; weight: number }[] }>;
  readonly audits: Record<string, { score: number | null; displayValue?: string }>;
  readonly environment: { readonly benchmarkIndex: number };
  readonly runtimeError?: { readonly message: string };
}

type Lighthouse = (address: string, flags: object) => Promise<{ readonly lhr: Printed }>;

/** Installs it in the folder for temporary files, for this and later runs. */
async function loadLighthouse(): Promise<Lighthouse> {
  const folder = path.join(os.tmpdir(), `modstead-${LIGHTHOUSE.replace('@', '-')}`);
  const entry = path.join(folder, 'node_modules/lighthouse/core/index.js');
  if (!fs.existsSync(entry)) {
    fs.mkdirSync(folder, { recursive: true });
    execFileSync('npm', ['install', '--no-save', '--prefix', folder, LIGHTHOUSE], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
  return ((await import(pathToFileURL(entry).href)) as { default: Lighthouse }).default;
}

interface Measured {
  readonly address: string;
  readonly categories: readonly Category[];
  /** Those of somebody who is signed in. */
  readonly cookie?: string;
}

type Measure = (measured: Measured) => Promise<Result>;

const measuring =
  (lighthouse: Lighthouse, port: number): Measure =>
  async ({ address, categories, cookie }) => {
    // A slow line changes nothing about accessibility, but takes time.
    const line = categories.includes('performance')
      ? {}
      : { throttlingMethod: 'provided', disableFullPageScreenshot: true };
    const headers = cookie ? { extraHeaders: { Cookie: cookie } } : {};
    const { lhr } = await lighthouse(address, {
      port,
      onlyCategories: categories,
      logLevel: 'silent',
      ...line,
      ...headers,
    });
    if (lhr.runtimeError) throw new Error(`${address}: ${lhr.runtimeError.message}`);
    const scores = Object.fromEntries(categories.map((name) => [name, Math.round(lhr.categories[name].score * 100)]));
    const lost = categories
      .flatMap((name) => lhr.categories[name].auditRefs.filter(({ weight }) => weight > 0))
      .filter(({ id }) => (lhr.audits[id]?.score ?? 1) < 0.9)
      .map(({ id }) => `${id} ${lhr.audits[id]?.displayValue ?? ''}`.trim());
    return { speed: lhr.environment.benchmarkIndex, scores, lost };
  };

const median = (values: readonly number[]) => values.toSorted((one, other) => one - other)[values.length >> 1]!;

/** Prints one line, and what cost points if a budget is not met. */
async function report(measure: Measure, name: string, measured: Measured, runs = 1): Promise<void> {
  const results: Result[] = [];
  for (let count = 0; count < runs; count += 1) results.push(await measure(measured));
  const scores = measured.categories.map((each) => [each, median(results.map(({ scores }) => scores[each]!))] as const);
  const isMet = scores.every(([category, score]) => score >= BUDGETS[category]);
  const lost = isMet ? [] : [...new Set(results.flatMap((each) => each.lost))];
  const speed = Math.round(median(results.map((each) => each.speed)));
  const line = [...scores.map(([category, score]) => `${category} ${score}`), `machine ${speed}`].join(', ');
  console.log([`${isMet ? 'ok  ' : 'FAIL'} ${name}: ${line}`, ...lost].join('\n       '));
  if (!isMet) process.exitCode = 1;
}

/** A page that another page links to, such as the first item of a queue. */
async function linked(site: string, page: string, pattern: RegExp, cookie: string): Promise<string> {
  const html = await (await fetch(site + page, { headers: { cookie } })).text();
  const [path] = pattern.exec(html) ?? [];
  if (!path) throw new Error(`${page} links to no ${pattern}`);
  return path.startsWith('/') ? path : `${page}/${path.split('/').at(-1)}`;
}

/** The pages of a signed-in owner, with one of each kind of thing in the dashboards. */
async function pagesOfOwner(browser: Browser, service: Started, listed: readonly string[]) {
  const cookies = await signedIn(browser, service, OWNER);
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  const of = (page: string, pattern: RegExp) => linked(service.site, page, pattern, cookie);
  const items = [
    await of('/g/gridline-99/admin/moderation', /\/g\/gridline-99\/admin\/moderation\/mods\/\d+/),
    await of('/g/skyfarers/admin/moderation/files', /\/g\/skyfarers\/admin\/moderation\/files\/\d+\/\d+/),
    await of('/g/skyfarers/admin/rules', /rules\/\d+/),
    await of('/g/skyfarers/admin/webhooks', /webhooks\/\d+/),
  ];
  return { cookie, pages: [...items, ...ownPages(listed)] };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      help: { type: 'boolean' },
      runs: { type: 'string', default: '3' },
      only: { type: 'string', default: '' },
    },
  });
  if (values.help) return console.log(HELP);
  const found = findChromium();
  if ('reason' in found) throw new Error(found.reason);
  // The services' own certificates are not known to this process.
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
  const lighthouse = await loadLighthouse();
  const [service, empty] = [await startService(), await startEmpty()];
  const keys = await Promise.all([service.site, empty.address].map((each) => keyOf(Number(new URL(each).port))));
  const port = await freePort();
  const args = ['--no-sandbox', `--remote-debugging-port=${port}`];
  const browser = await chromium.launch({
    executablePath: found.path,
    args: [...args, `--ignore-certificate-errors-spki-list=${keys.join(',')}`],
  });
  try {
    await addWork(service);
    await reportAll(measuring(lighthouse, port), { browser, service, empty: empty.address }, values);
  } finally {
    await browser.close();
    await Promise.all([service.stop(), empty.stop()]);
  }
}

interface Site {
  readonly browser: Browser;
  readonly service: Started;
  /** Where an empty installation is set up. */
  readonly empty: string;
}

async function reportAll(measure: Measure, { browser, service, empty }: Site, asked: { runs: string; only: string }) {
  const only = new RegExp(asked.only);
  const { site } = service;
  const pages = ['/', ...(await pagesOf(site, 1))];
  const kinds = Object.entries(KINDS).map(([kind, pattern]) => {
    const page = pages.find((each) => pattern.test(each));
    if (!page) throw new Error(`there is no ${kind}`);
    return { kind, page };
  });
  for (const { kind, page } of kinds.filter(({ kind }) => only.test(kind)))
    await report(measure, `${kind} ${page}`, { address: site + page, categories: CATEGORIES }, Number(asked.runs));
  const categories: readonly Category[] = ['accessibility'];
  const own = await pagesOfOwner(browser, service, pages);
  for (const page of own.pages.filter((each) => only.test(each)))
    await report(measure, page, { address: site + page, categories, cookie: own.cookie });
  // Lighthouse takes no page that is missing.
  const others = pages.filter((each) => each !== MISSING && !kinds.some(({ page }) => page === each));
  for (const page of others.filter((each) => only.test(each)))
    await report(measure, page, { address: site + page, categories });
  if (only.test('/setup')) await report(measure, '/setup', { address: empty, categories });
}

if (import.meta.main) await main();
