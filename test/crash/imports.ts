import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { type RawBuilder, sql } from 'kysely';
import { closeApp, composeApp, outsideOf } from '../../src/composition/compose.ts';
import { addDemo } from '../../src/demo/demo.ts';
import { fillGame } from '../../src/demo/filling.ts';
import { schemaOf, type Table } from '../../src/moving/tables/schema.ts';
import { treatmentOf } from '../../src/moving/tables/treatments.ts';
import { issueKey } from '../../src/platform/access/credentials.ts';
import type { App } from '../../src/platform/app.ts';
import { readSettings } from '../../src/platform/config/settings.ts';
import { systemClock } from '../../src/platform/runtime/clock.ts';
import { type Ended, endOf, startProgram } from '../commands.ts';
import { crawl, withoutSignatures } from '../crawler.ts';
import { freePort } from '../free-port.ts';
import { temporaryFolder } from '../temporary.ts';
import { startAhead } from './ahead.ts';
import { withService } from './crash.ts';

export interface ImportCrashOptions {
  readonly mods: number;
  readonly kills: number;
  /** What is not imported, such as files. */
  readonly without?: readonly string[];
}

export interface ImportCrashResult {
  readonly kills: number;
  /** Mods of the game that was imported. */
  readonly mods: number;
  /** How long the run took that was not killed. */
  readonly seconds: number;
  /** Rows and answers of the two services that were compared. */
  readonly rows: number;
  readonly answers: number;
  readonly differences: string[];
}

type Env = Record<string, string>;

/**
 * Imports a game from another service twice: in one run, and in one that is killed with -9 again and again. Rows and
 * public answers of both services must be the same.
 */
export function importCrashLoop(options: ImportCrashOptions, said: (line: string) => void = () => {}) {
  return withService((source, sourceFolder) =>
    withService((one) =>
      withService(async (killed): Promise<ImportCrashResult> => {
        const port = String(await freePort());
        const { MODSTEAD_TRUST_PROXY: _, ...direct } = source;
        // Jobs would refresh ranks between the two imports.
        const env = { ...direct, MODSTEAD_PORT: port, MODSTEAD_PUBLIC_PORT: port, MODSTEAD_JOBS: 'off' };
        const game = await fillSource(env, options.mods);
        said(`the source has ${game.mods} mods`);
        const service = await startAhead(env);
        try {
          const egress = {
            MODSTEAD_EGRESS_ALLOW: '127.0.0.0/8,::1/128',
            MODSTEAD_EGRESS_CA: join(sourceFolder, 'tls', 'local-ca.pem'),
          };
          const args = [
            ...['import', 'modio', '--url', `https://localhost:${port}/v1`, '--game', String(game.id)],
            ...['--api-key', game.api_key, '--with-powers'],
            ...(options.without ?? []).flatMap((piece) => ['--without', piece]),
          ];
          const begun = systemClock.now();
          const whole = await runWhole([...args, temporaryFolder('import')], { ...one, ...egress });
          said(`one run: ${whole.seconds.toFixed(1)} seconds`);
          const folder = temporaryFolder('import');
          const again = { folder, args: [...args, folder], env: { ...killed, ...egress } };
          const kills = await killRuns(again, { kills: options.kills, ...whole }, said);
          const reports = isImported(folder) ? [] : differingReports(whole, await ended(again.args, again.env));
          said(`${kills} kills, and a run that completed the import`);
          const { rows, answers, differences } = await compare(one, killed, withoutDatesSince(begun), said);
          return {
            kills,
            mods: game.mods,
            seconds: whole.seconds,
            rows,
            answers,
            differences: [...reports, ...differences],
          };
        } finally {
          await service.stop();
        }
      }),
    ),
  );
}

async function withApp<T>(env: Env, work: (app: App) => Promise<T>): Promise<T> {
  const settings = readSettings(env);
  const app = await composeApp(settings, 'production', outsideOf(settings));
  try {
    return await work(app);
  } finally {
    await closeApp(app);
  }
}

/** Sample games with comments, guides, collections and pictures, of which the first gets many more mods. */
const fillSource = (env: Env, mods: number) =>
  withApp(env, async (app) => {
    const [game] = (await addDemo(app, { mods: 6, pictured: 1 }))!.games;
    await fillGame(app, { gameId: game!.id, mods, seed: 'killed' });
    const found = app.db.query.selectFrom('mods').select((eb) => eb.fn.countAll().as('n'));
    const { n } = await found.where('game_id', '=', game!.id).executeTakeFirstOrThrow();
    return { ...game!, mods: Number(n) };
  });

async function ended(args: readonly string[], env: Env): Promise<Ended> {
  const end = await endOf(startProgram(args, env));
  if (end.code !== 0) throw new Error(`the import ended with ${end.code}: ${end.err}`);
  return end;
}

async function runWhole(args: readonly string[], env: Env) {
  const begun = performance.now();
  const { out, err } = await ended(args, env);
  return { out, seconds: (performance.now() - begun) / 1_000, ...linesIn(err) };
}

interface Progress {
  /** Lines about what was fetched, and about what was taken from that. */
  readonly fetched: number;
  readonly taken: number;
}

function linesIn(text: string): Progress {
  const lines = text.trimEnd().split('\n');
  const taken = lines.filter((line) => /^\d+ rows, /.test(line)).length;
  return { fetched: lines.length - taken, taken };
}

/** A run that is killed when all is imported prints no report, and one after it would be another import. */
const isImported = (folder: string): boolean =>
  (JSON.parse(readFileSync(join(folder, 'state.json'), 'utf8')) as { isComplete: boolean }).isComplete;

const differingReports = (whole: Pick<Ended, 'out'>, last: Ended): string[] =>
  whole.out === last.out ? [] : [`reports: ${whole.out} | ${last.out}`];

interface Run {
  readonly folder: string;
  readonly args: readonly string[];
  readonly env: Env;
}

/**
 * Kills runs at places all over the import: one half while they fetch, the other while they write, each after some
 * further lines of progress and a random part of the time that a line takes. Returns how many were killed.
 */
async function killRuns(
  { folder, args, env }: Run,
  { kills, fetched, taken }: Progress & { readonly kills: number },
  said: (line: string) => void,
): Promise<number> {
  const stepOf = (lines: number) => Math.max(1, Math.floor(lines / (kills * 0.75)));
  for (let killed = 0; killed < kills; killed += 1) {
    const isFetching = killed < kills / 2;
    const isDue = (seen: Progress) =>
      isFetching ? seen.fetched >= stepOf(fetched) || seen.taken > 0 : seen.taken > stepOf(taken);
    const child = startProgram(args, env);
    const end = endOf(child);
    let printed = '';
    let begun: number | undefined;
    let timer: NodeJS.Timeout | undefined;
    child.stderr!.on('data', (text: string) => {
      begun ??= performance.now();
      printed += text;
      const seen = linesIn(printed);
      if (!isDue(seen)) return;
      const perLine = (performance.now() - begun) / (seen.fetched + seen.taken);
      timer ??= setTimeout(() => child.kill('SIGKILL'), Math.random() * perLine);
    });
    const { code, err } = await end;
    clearTimeout(timer);
    if (code === 0) return killed;
    if (code !== null) throw new Error(`the import ended with ${code}: ${err}`);
    said(`kill ${killed + 1} of ${kills} after "${err.trimEnd().split('\n').at(-1)}"`);
    if (isImported(folder)) return killed + 1;
  }
  return kills;
}

type Normalise = (text: string) => string;

/** Rows without a date of the source are dated with the time of the import. */
const withoutDatesSince = (begun: number): Normalise => {
  const isLater = (digits: string) => Number(digits) >= begun && Number(digits) <= systemClock.now();
  return (text) => text.replace(/\b\d{10}\b/g, (digits) => (isLater(digits) ? '0' : digits));
};

async function compare(one: Env, other: Env, normalise: Normalise, said: (line: string) => void) {
  const [rows, differingRows] = await withApp(one, (here) =>
    withApp(other, (there) => compareRows(here, there, normalise)),
  );
  said(`${rows} rows compared, ${differingRows.length} differ`);
  const [answers, differingAnswers] = await compareAnswers(one, other, normalise);
  said(`${answers} answers compared, ${differingAnswers.length} differ`);
  return { rows, answers, differences: [...differingRows, ...differingAnswers] };
}

const isCompared = ({ name }: Table) => {
  const treatment = treatmentOf(name);
  // Each service signs its own audit log, which has the times of both imports.
  if (name.startsWith('audit_') || treatment === undefined) return false;
  return !('left' in treatment) || name === 'imported_ids' || name === 'import_parts';
};

async function compareRows(here: App, there: App, normalise: Normalise): Promise<[number, string[]]> {
  const differences: string[] = [];
  let rows = 0;
  for (const table of (await schemaOf(here.db)).values()) {
    if (!isCompared(table)) continue;
    const [ours, theirs] = [await rowsOf(here, table, normalise), await rowsOf(there, table, normalise)];
    rows += ours.length;
    if (ours.length !== theirs.length) differences.push(`${table.name}: ${ours.length} | ${theirs.length} rows`);
    for (const [index, row] of ours.entries())
      if (row !== theirs[index]) differences.push(`${table.name}: ${row} | ${theirs[index]}`);
  }
  return [rows, differences];
}

/** Tables that are compared by a sum: which rows have it depends on the connections that added to it. */
const SOURCES: Readonly<Record<string, RawBuilder<unknown>>> = {
  game_usage: sql`(select game_id, 0 as slot, sum(mods) as mods, sum(bytes) as bytes from game_usage group by game_id) as summed`,
};

/** Ids that no archive names depend on how often the database began to assign them; their order does not. */
async function rowsOf({ db }: App, { name, primaryKey, columns }: Table, normalise: Normalise): Promise<string[]> {
  const key = (primaryKey.length > 0 ? primaryKey : columns.map((column) => column.name)).map((each) => sql.ref(each));
  const isNamed = await sql`select 1 from imported_ids where resource = ${name} limit 1`.execute(db.query);
  const { rows } = await sql<Record<string, unknown>>`select * from ${SOURCES[name] ?? sql.table(name)}
    order by ${sql.join(key)}`.execute(db.query);
  const isAssigned = isNamed.rows.length === 0 && primaryKey.join() === 'id';
  const assigned = { ...(isAssigned && { id: undefined }), import_id: undefined };
  return rows.map((row) => normalise(JSON.stringify({ ...row, ...assigned })));
}

/** Answers consist of rows that were compared, so that some of very many mods suffice. */
const MODS_CRAWLED = 1_000;

async function compareAnswers(one: Env, other: Env, normalise: Normalise): Promise<[number, string[]]> {
  const services = await Promise.all([one, other].map((env) => startAhead({ ...env, MODSTEAD_JOBS: 'off' })));
  const agent = new Agent({ keepAlive: true });
  try {
    const read = await Promise.all(
      services.map(async ({ port, apps: { production } }) => {
        const api_key = await keyOf(production);
        return (target: string) => answerOf(agent, port, target, api_key, normalise);
      }),
    );
    const differences: string[] = [];
    const { query } = services[0]!.apps.production.db;
    const { n } = await query
      .selectFrom('mods')
      .select((eb) => eb.fn.countAll().as('n'))
      .executeTakeFirstOrThrow();
    const modsEvery = Math.ceil(Number(n) / MODS_CRAWLED);
    const answers = await crawl(
      query,
      async (target) => {
        const [ours, theirs] = await Promise.all(read.map((each) => each(target)));
        if (ours!.status !== theirs!.status || ours!.text !== theirs!.text)
          differences.push(`${target}: ${ours!.status} ${ours!.text} | ${theirs!.status} ${theirs!.text}`);
        return ours!;
      },
      modsEvery,
    );
    return [answers, differences];
  } finally {
    agent.destroy();
    for (const service of services) await service.stop();
  }
}

async function keyOf(app: App): Promise<string> {
  const games = app.db.query.selectFrom('games').select('submitted_by').orderBy('id');
  const { submitted_by: userId } = await games.executeTakeFirstOrThrow();
  return app.db.write((transaction) => issueKey(app, transaction, { userId }));
}

function answerOf(agent: Agent, port: number, target: string, apiKey: string, normalise: Normalise) {
  const path = `/v1${target}${target.includes('?') ? '&' : '?'}api_key=${apiKey}`;
  const headers = { 'x-forwarded-proto': 'https' };
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const sent = request({ agent, port, host: '127.0.0.1', path, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: normalise(withoutSignatures(text)) }));
      response.on('error', reject);
    });
    sent.on('error', reject).end();
  });
}
