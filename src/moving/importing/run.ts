import { createHash } from 'node:crypto';
import { rebuildDocumentsOfMovedSite } from '../../catalogue/games/documents.ts';
import { rebuildGameWords } from '../../catalogue/games/games.ts';
import { rebuildModDocumentsOfMovedSite } from '../../catalogue/mods/documents.ts';
import { rebuildModWords } from '../../catalogue/mods/words.ts';
import { personalData } from '../../composition/resources.ts';
import { removeVersions } from '../../people/agreements/store.ts';
import type { App } from '../../platform/app.ts';
import { audit } from '../../records/audit/audit.ts';
import type { ImportRow } from '../../records/imports/imports.ts';
import * as store from '../../records/imports/store.ts';
import { type Described, describe } from '../archive/contents.ts';
import { type Line, linesOf } from '../archive/lines.ts';
import { FILES_KIND, kindOf } from '../archive/manifest.ts';
import type { Source } from '../archive/source.ts';
import { referencesOf } from '../tables/references.ts';
import { schemaOf } from '../tables/schema.ts';
import { absentIn, isAbsenceKind } from './absences.ts';
import { isEmpty, plannedParts, refusalOf, takeParts } from './import.ts';
import type { Importing, ImportOptions } from './importing.ts';
import { rebuild } from './rebuild.ts';
import { keptReason } from './removals.ts';
import { RowProblem } from './rows.ts';
import { changedHere, isVersioned, keptBecause } from './versions.ts';

export interface Refusal {
  readonly part: string;
  /** 0 for the whole part. */
  readonly line: number;
  readonly reason: string;
}

export interface Report {
  /** Rows by kind. */
  readonly taken: Readonly<Record<string, number>>;
  readonly refused: number;
  /** The first thousand. */
  readonly refusals: readonly Refusal[];
  readonly intoEmpty: boolean;
  /** What the source has no longer, by kind. */
  readonly removed: Readonly<Record<string, number>>;
  /** The first thousand. */
  readonly removals: readonly store.Removal[];
}

const SHOWN_MAX = 1_000;

/** Imports an archive, or continues an import that was interrupted. A complete one is not repeated. */
export async function importArchive(app: App, source: Source, options: ImportOptions): Promise<Report> {
  const described = await describe(source);
  // On empty tables this only remembers that nothing has to be rebuilt.
  await rebuildDocumentsOfMovedSite(app);
  await rebuildGameWords(app);
  await rebuildModDocumentsOfMovedSite(app);
  await rebuildModWords(app);
  const row = await begin(app, source, described, options);
  if (Number(row.date_finished) === 0) {
    const schema = await schemaOf(app.db);
    const references = referencesOf(schema, personalData);
    const importing = { app, source, described, options, schema, references, row };
    await takeParts(importing);
    await rebuild(importing);
    await finish(app, row, described);
  }
  return reportOf(app, row);
}

async function begin(app: App, source: Source, described: Described, options: ImportOptions): Promise<ImportRow> {
  const digest = await digestOf(source, described, options);
  const known = await store.byDigest(app.db.query, digest);
  if (known) return known;
  const into_empty = Number(await isEmpty(app));
  return app.db.write(async ({ query }) => {
    // A new service has the first versions of its agreements, which those of the archive replace.
    if (into_empty === 1) await removeVersions(query);
    const { source: origin } = described.manifest;
    return store.add(query, { source: origin, digest, into_empty, date_added: app.clock.now(), date_finished: 0 });
  });
}

/** Names what is imported and how: other bytes or other options are another import. */
async function digestOf(source: Source, { manifest, digest }: Described, options: ImportOptions) {
  const { powers, trusted, overwrite } = options;
  const how = [digest, powers, trusted, ...(overwrite ? ['overwrite'] : [])];
  const hash = createHash('sha256').update(JSON.stringify(how));
  if (!manifest.parts)
    for (const name of [...source.parts].sort())
      for await (const chunk of await source.open(name)) hash.update(name).update(chunk as Uint8Array);
  return hash.digest('hex');
}

async function finish(app: App, row: ImportRow, { digest, signedBy }: Described): Promise<void> {
  await app.db.write(async (transaction) => {
    await store.finish(transaction.query, row.id, app.clock.now());
    const data = { source: row.source, digest, ...(signedBy && { signed_by: signedBy }) };
    await audit(app, transaction, {
      actor: 0,
      action: 'service.import',
      subject: { resource: 'imports', id: row.id, gameId: 0 },
      data,
    });
  });
}

async function reportOf(app: App, { id, into_empty }: ImportRow): Promise<Report> {
  const taken: Record<string, number> = {};
  for (const { name, rows_taken } of await store.progressOf(app.db.query, id)) {
    const kind = kindOf(name);
    if (kind !== undefined && Number(rows_taken) > 0) taken[kind] = (taken[kind] ?? 0) + Number(rows_taken);
  }
  return {
    taken,
    refused: await store.refusalCount(app.db.query, id),
    refusals: await store.refusalsOf(app.db.query, id, SHOWN_MAX),
    intoEmpty: Number(into_empty) === 1,
    removed: await store.removalCounts(app.db.query, id),
    removals: await store.removalsOf(app.db.query, id, SHOWN_MAX),
  };
}

/** What a dry run counts. */
interface Counted {
  readonly taken: Record<string, number>;
  readonly refusals: Refusal[];
  readonly removed: Record<string, number>;
  readonly removals: store.Removal[];
}

const LINES_AT_ONCE = 500;

/** Counts what an import would take, and writes nothing. */
export async function dryRun(app: App, source: Source, options: ImportOptions): Promise<Report> {
  const described = await describe(source);
  const into_empty = Number(await isEmpty(app));
  const row = { id: 0, source: described.manifest.source, digest: '', into_empty, date_added: 0, date_finished: 0 };
  const counted: Counted = { taken: {}, refusals: [], removed: {}, removals: [] };
  for (const name of await plannedParts(app, source, described)) {
    const kind = kindOf(name)!;
    const reason = kind === FILES_KIND ? undefined : refusalOf(kind, { row, options });
    if (reason !== undefined) counted.refusals.push({ part: name, line: 0, reason });
    else if (isAbsenceKind(kind)) await countAbsences(app, source, { row, options }, name, counted);
    else await countRows(app, source, { row, options }, name, counted);
  }
  const { refusals, removals } = counted;
  return {
    ...counted,
    refused: refusals.length,
    refusals: refusals.slice(0, SHOWN_MAX),
    removals: removals.slice(0, SHOWN_MAX),
    intoEmpty: into_empty === 1,
  };
}

type Dry = Pick<Importing, 'row' | 'options'>;

async function countRows(app: App, source: Source, dry: Dry, name: string, { taken, refusals }: Counted) {
  const kind = kindOf(name)!;
  const isCompared = isVersioned(kind) && dry.row.into_empty === 0 && !dry.options.overwrite;
  let held: Line[] = [];
  const compare = async () => {
    const kept = await keptAmongLines(app, dry.row.source, kind, held);
    for (const { line, reason } of kept) refusals.push({ part: name, line, reason });
    taken[kind] = (taken[kind] ?? 0) + held.length - kept.length;
    held = [];
  };
  for await (const line of linesOf(name, await source.open(name))) {
    if (isCompared) held.push(line);
    else taken[kind] = (taken[kind] ?? 0) + 1;
    if (held.length === LINES_AT_ONCE) await compare();
  }
  if (held.length > 0) await compare();
}

async function keptAmongLines(app: App, source: string, kind: string, lines: readonly Line[]) {
  const numbers = new Map(lines.flatMap(({ number, text }) => idsIn(text).map((id) => [id, number] as const)));
  const changed = await changedHere(app.db.query, source, kind, [...numbers.keys()]);
  return [...changed].map(([id, what]) => ({ line: numbers.get(id)!, reason: keptBecause(kind, id, what) }));
}

function idsIn(text: string): number[] {
  try {
    const { id } = JSON.parse(text) as { id?: unknown };
    return Number.isSafeInteger(id) ? [id as number] : [];
  } catch {
    return [];
  }
}

async function countAbsences(app: App, source: Source, dry: Dry, name: string, counted: Counted): Promise<void> {
  const { query } = app.db;
  const { refusals, removed, removals } = counted;
  for await (const line of linesOf(name, await source.open(name)))
    try {
      for (const absent of await absentIn(query, dry.row.source, kindOf(name)!, line)) {
        const { kind, old_id, state, name: title } = absent;
        const reason = await keptReason(query, dry, absent);
        if (reason !== undefined) {
          refusals.push({ part: name, line: line.number, reason });
          continue;
        }
        removed[kind] = (removed[kind] ?? 0) + 1;
        removals.push({ resource: kind, old_id, change: state, name: title });
      }
    } catch (error) {
      if (!(error instanceof RowProblem)) throw error;
      refusals.push({ part: name, line: line.number, reason: error.message });
    }
}
