import { execFile } from 'node:child_process';
import { parseArgs, promisify } from 'node:util';
import { findChromium, keyOf } from '../test/chromium.ts';
import { pagesOf, startService } from './site-check.ts';

/** Fetched when it runs: nothing else needs its 200 packages. */
const LIGHTHOUSE = 'lighthouse@13';
const BUDGETS = { performance: 95, accessibility: 100, 'best-practices': 100, seo: 100 } as const;
type Category = keyof typeof BUDGETS;
const CATEGORIES = Object.keys(BUDGETS) as Category[];

const HELP = `npm run site-lighthouse [-- --runs 3 --only PATTERN]

Runs Lighthouse, as a phone on a slow line, over a page of each kind of a service with sample content: home, game, mod, guide,
collection and profile. It prints the median of the runs, and ends with an error if one is below ${CATEGORIES.map((name) => `${name} ${BUDGETS[name]}`).join(', ')}.`;

const KINDS = {
  home: /^\/$/,
  game: /^\/g\/[^/]+$/,
  mod: /^\/g\/[^/]+\/m\/[^/]+$/,
  guide: /^\/g\/[^/]+\/r\/[^/]+$/,
  collection: /^\/g\/[^/]+\/c\/[^/]+$/,
  profile: /^\/u\/[^/]+$/,
} as const;

const run = promisify(execFile);

interface Result {
  readonly scores: Record<Category, number>;
  /** Audits that cost points, by their names. */
  readonly lost: readonly string[];
}

interface Printed {
  readonly categories: Record<Category, { score: number; auditRefs: { id: string; weight: number }[] }>;
  readonly audits: Record<string, { score: number | null; displayValue?: string }>;
}

async function measure(address: string, chromium: string, flags: readonly string[]): Promise<Result> {
  const args = ['--yes', LIGHTHOUSE, address, '--quiet', '--output=json', '--output-path=stdout'];
  const options = { env: { ...process.env, CHROME_PATH: chromium }, maxBuffer: 64 * 1024 * 1024 };
  const only = `--only-categories=${CATEGORIES.join(',')}`;
  const { stdout } = await run('npx', [...args, only, `--chrome-flags=${flags.join(' ')}`], options);
  const { categories, audits } = JSON.parse(stdout) as Printed;
  const scores = Object.fromEntries(CATEGORIES.map((name) => [name, Math.round(categories[name].score * 100)]));
  const lost = CATEGORIES.flatMap((name) => categories[name].auditRefs.filter(({ weight }) => weight > 0))
    .filter(({ id }) => (audits[id]?.score ?? 1) < 0.9)
    .map(({ id }) => `${id} ${audits[id]?.displayValue ?? ''}`.trim());
  return { scores: scores as Record<Category, number>, lost };
}

const median = (values: readonly number[]) => values.toSorted((one, other) => one - other)[values.length >> 1]!;

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
  const service = await startService();
  try {
    const key = await keyOf(Number(new URL(service.site).port));
    const flags = ['--headless=new', '--no-sandbox', `--ignore-certificate-errors-spki-list=${key}`];
    // The service's own certificate is not known to this process.
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    const pages = ['/', ...(await pagesOf(service.site, 1))];
    for (const [kind, pattern] of Object.entries(KINDS).filter(([kind]) => new RegExp(values.only).test(kind))) {
      const page = pages.find((each) => pattern.test(each));
      if (!page) throw new Error(`there is no ${kind}`);
      const results: Result[] = [];
      for (let count = 0; count < Number(values.runs); count += 1)
        results.push(await measure(service.site + page, found.path, flags));
      const scores = CATEGORIES.map((name) => [name, median(results.map((each) => each.scores[name]))] as const);
      const isMet = scores.every(([name, score]) => score >= BUDGETS[name]);
      const lost = isMet ? [] : [...new Set(results.flatMap((each) => each.lost))];
      const line = scores.map(([name, score]) => `${name} ${score}`).join(', ');
      console.log([`${isMet ? 'ok  ' : 'FAIL'} ${kind} ${page}: ${line}`, ...lost].join('\n       '));
      if (!isMet) process.exitCode = 1;
    }
  } finally {
    await service.stop();
  }
}

if (import.meta.main) await main();
