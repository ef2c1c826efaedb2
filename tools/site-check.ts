import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { type Browser, chromium } from 'playwright-core';
import { SECTIONS } from '../site/src/routes/g/[game]/admin/sections.ts';
import { findChromium } from '../test/chromium.ts';
import { codeIn, mailsOf } from '../test/mails.ts';
import { BUDGETS, type Cookies, checkPage, type Report, VIEWS } from './site-pages.ts';

const HELP = `npm run site-check [-- --all --site https://localhost:8443 --only PATTERN --per-kind 1]

Opens the pages of the site in Chromium, at 320 and 1280 px, zoomed to 200 %, in light and dark, from right to left, with
and without scripts, and checks them against the budgets: at most ${BUDGETS.scriptBytes} bytes of scripts and ${BUDGETS.styleBytes} of styles as
sent, layout shift at most ${BUDGETS.shift}, no violation that axe-core finds, nothing wider than the window, no error in the
console, and nothing that the service wrote and scripts remove. Public pages come from the sitemap, --per-kind of each kind.
Without --site it starts a service with sample content, and also opens the pages of its owner, with all dashboards.
A page is opened in two views if it is public, and in one of them if it is the owner's, in turn; with --all, in all five
and in both. It ends with the largest pages and the number of pages over budget.`;

/** The sample content is made before the service is ready. */
const READY_MS = 300_000;

export interface Started {
  readonly site: string;
  /** The newest code that was mailed. */
  code(): string;
  /** Runs a command on the data of the service and returns what it prints. */
  command(...args: string[]): string;
  stop(): Promise<void>;
}

export async function startService(): Promise<Started> {
  const data = fs.mkdtempSync(path.join(os.tmpdir(), 'modstead-site-check-'));
  const env = { ...process.env, MODSTEAD_DATA: data, MODSTEAD_PORT: '0', MODSTEAD_RATE_LIMITS: 'off' };
  const child = spawn(process.execPath, ['bin/modstead.mjs', 'serve', '--demo', '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [ready] = (await once(createInterface(child.stdout), 'line', { signal: AbortSignal.timeout(READY_MS) })) as [
    string,
  ];
  const command = (...args: string[]) =>
    execFileSync(process.execPath, ['bin/modstead.mjs', ...args], { env, encoding: 'utf8' });
  // The owner of the sample games sees the pages of the staff as well.
  command('staff', 'set', '--user', '1', '--level', 'owner');
  const stop = async () => {
    child.kill('SIGTERM');
    await once(child, 'exit');
    fs.rmSync(data, { recursive: true });
  };
  const code = () => codeIn(mailsOf({ folder: data }).at(-1)!.text)!;
  return { site: (JSON.parse(ready) as { site: string }).site.replace(/\/$/, ''), code, command, stop };
}

export const MISSING = '/nothing-here';
/** Pages that no sitemap lists. */
const OTHERS = ['/?q=sky', MISSING, '/legal/privacy', '/report?resource=mods&id=1', '/sign-in'];

/** `/g/skyfarers/m/rivers` is of the kind `g/m`. */
const kindOf = (page: string) =>
  page
    .split('?')[0]!
    .split('/')
    .filter((_, index) => index % 2 === 1)
    .join('/');

export async function pagesOf(site: string, perKind: number): Promise<string[]> {
  const read = async (address: string) => {
    const answer = await fetch(address);
    const text = await answer.text();
    return [...text.matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, found]) => found!.replaceAll('&amp;', '&'));
  };
  const parts = await read(`${site}/sitemap.xml`);
  const listed = (await Promise.all(parts.map(read))).flat().map((address) => new URL(address).pathname);
  const [game] = listed.filter((page) => /^\/g\/[^/]+$/.test(page));
  const [mod] = listed.filter((page) => /^\/g\/[^/]+\/m\/[^/]+$/.test(page));
  const html = mod ? await (await fetch(site + mod)).text() : '';
  const [user] = /\/u\/[\w%-]+/.exec(html) ?? [];
  const derived = game
    ? [`${game}?view=table`, `${game}?q=nothing-has-this-word`, `${game}/c`, `${game}/r`, `/embed${game.slice(2)}`]
    : [];
  const card = mod ? [`/embed${mod.slice(2).replace('/m/', '/')}`] : [];
  const groups = Map.groupBy(listed, kindOf);
  const chosen = [...groups.values()].flatMap((pages) => pages.slice(0, perKind));
  return [...new Set([...chosen, ...derived, ...card, ...(user ? [user] : []), ...OTHERS])];
}

/** The pages of somebody who signed in and makes mods, guides and collections; `{}` is a mod of the first game. */
const OWN = [
  ...['/library', '/notifications', '/messages', '/messages/new', '/agree', '/mods', '/mods/invitations', '/earnings'],
  ...['', '/security', '/connections', '/notifications', '/people', '/purchases', '/tokens', '/data'].map(
    (section) => `/account${section}`,
  ),
  ...['mod', 'guide', 'collection'].map((kind) => `{game}/add/${kind}`),
  '{game}',
  '{game}/tokens',
  '{mod}',
  ...['', 'files', 'media', 'dependencies', 'translations', 'team', 'preview', 'statistics', 'state', 'prices'].map(
    (section) => `{mod}/edit/${section}`.replace(/\/$/, ''),
  ),
];

/** The dashboards of a game, of the staff and of the first run. */
const DASHBOARDS = [
  ...SECTIONS.flatMap(({ pages }) => pages.map(([path]) => `{game}/admin/${path}`.replace(/\/$/, ''))),
  ...['', '/users', '/users/2', '/users/2?into=3', '/staff', '/bans', '/games', '/reports', '/plans', '/look'].map(
    (path) => `/admin${path}`,
  ),
  ...['/installation', '/jobs', '/agreements', '/agreements/1', '/limits', '/slow', '/money', '/books', '/audit'].map(
    (path) => `/admin${path}`,
  ),
  ...['{game}/admin/rules/decisions', '/studio', '/setup/site', '/setup/game'],
];

export const OWNER = 'studio@example.com';

/** The cookies of somebody who signed in by mail. */
export async function signedIn(browser: Browser, { site, code }: Started, email: string): Promise<Cookies> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, locale: 'en-US' });
  try {
    const page = await context.newPage();
    await page.goto(`${site}/sign-in?return=/account`);
    await page.locator('#email').fill(email);
    await page.locator('main button').first().click();
    await page.locator('#code').fill(code());
    await page.locator('main button').first().click();
    await page.waitForURL(`${site}/account`);
    return await context.cookies();
  } finally {
    await context.close();
  }
}

/** The pages of the owner. */
export function ownPages(listed: readonly string[]): string[] {
  const mod = listed.find((each) => /^\/g\/[^/]+\/m\/[^/]+$/.test(each)) ?? '';
  return [...OWN, ...DASHBOARDS].map((each) => each.replace('{mod}', mod).replace('{game}', mod.split('/m/')[0]!));
}

function line({ path, view, scriptBytes, styleBytes, requests, shift, paint, problems }: Report): string {
  const how = `${view.width} ${view.colorScheme} ${view.direction}${view.zoom ? ' zoomed' : ''}${view.scripts ? '' : ' no scripts'}`;
  const sizes = `${(scriptBytes / 1000).toFixed(1)} kB js, ${(styleBytes / 1000).toFixed(1)} kB css, ${requests} requests`;
  const painted = view.scripts ? `, shift ${shift.toFixed(3)}, paint ${Math.round(paint)} ms` : '';
  return `${problems.length === 0 ? 'ok  ' : 'FAIL'} ${path} (${how}): ${sizes}${painted}${problems.map((each) => `\n       ${each}`).join('')}`;
}

/** A view in its own profile, and the pages of the owner with their cookies. */
interface Task {
  readonly address: string;
  readonly view: (typeof VIEWS)[number];
  readonly cookies: Cookies;
}

/** Two at a time: one draws while the other waits. */
async function checkAll(browser: Browser, tasks: readonly Task[]): Promise<Report[]> {
  const left = [...tasks];
  const reports: Report[] = [];
  const work = async () => {
    for (let task = left.shift(); task; task = left.shift()) {
      // A missing page is shown with its own status.
      const report = await checkPage(browser, task.address, task.view, {
        cookies: task.cookies,
        isKnown: (text) => text.includes('status of 404'),
      });
      reports.push(report);
      console.log(line(report));
    }
  };
  await Promise.all([work(), work()]);
  return reports;
}

const views = (count: number) => VIEWS.slice(0, count);
const LARGEST = 5;

function summarize(reports: readonly Report[], ms: number): void {
  const failed = reports.filter(({ problems }) => problems.length > 0).length;
  const most = (pick: (report: Report) => number) => Math.max(0, ...reports.map(pick));
  const largest = new Map(reports.map(({ path, scriptBytes }) => [path, scriptBytes]));
  const sorted = [...largest].toSorted(([, one], [, other]) => other - one).slice(0, LARGEST);
  for (const [path, bytes] of sorted) console.log(`${(bytes / 1000).toFixed(1)} kB js: ${path}`);
  console.log(
    `${largest.size} pages, ${reports.length} views in ${(ms / 60_000).toFixed(1)} minutes, ${failed} over budget; most: ${(most((each) => each.scriptBytes) / 1000).toFixed(1)} kB js, ${(most((each) => each.styleBytes) / 1000).toFixed(1)} kB css, ${most((each) => each.requests)} requests, shift ${most((each) => each.shift).toFixed(3)}`,
  );
  if (failed > 0) process.exitCode = 1;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      help: { type: 'boolean' },
      site: { type: 'string' },
      all: { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
      'per-kind': { type: 'string', default: '1' },
    },
  });
  if (values.help) return console.log(HELP);
  const found = findChromium();
  if ('reason' in found) throw new Error(found.reason);
  const service = values.site === undefined ? await startService() : undefined;
  const site = (values.site ?? service!.site).replace(/\/$/, '');
  const begun = performance.now();
  // The service's own certificate is not known to this process.
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
  const args = ['--no-sandbox', '--host-resolver-rules=MAP localhost 127.0.0.1,MAP *.localhost 127.0.0.1'];
  const browser = await chromium.launch({ executablePath: found.path, args });
  try {
    const pages = await pagesOf(site, Number(values['per-kind']));
    const cookies = service && (await signedIn(browser, service, OWNER));
    const only = new RegExp(values.only);
    const own = cookies ? ownPages(pages) : [];
    const tasks: Task[] = [
      ...pages.flatMap((page) => views(values.all ? 5 : 2).map((view) => ({ page, view, cookies: [] }))),
      ...own.flatMap((page, index) =>
        (values.all ? views(2) : [VIEWS[index % 2]!]).map((view) => ({ page, view, cookies: cookies! })),
      ),
    ].map(({ page, ...task }) => ({ address: site + page, ...task }));
    const reports = await checkAll(
      browser,
      tasks.filter(({ address }) => only.test(address)),
    );
    summarize(reports, performance.now() - begun);
  } finally {
    await browser.close();
    await service?.stop();
  }
}

if (import.meta.main) await main();
