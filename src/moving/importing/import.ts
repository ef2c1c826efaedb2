import { sql } from 'kysely';
import { commentsScope } from '../../community/comments/comments.ts';
import { personalData } from '../../composition/resources.ts';
import { concludeArrival } from '../../files/modfiles/bytes.ts';
import { awaitScan } from '../../files/modfiles/scans.ts';
import { accessChanged } from '../../platform/access/credentials.ts';
import type { App } from '../../platform/app.ts';
import { isDuplicate, type Transaction } from '../../platform/database/database.ts';
import { isMoved, type Moved } from '../../platform/manifest/treatment.ts';
import * as store from '../../records/imports/store.ts';
import { type Described, json, partNames } from '../archive/contents.ts';
import { ArchiveProblem, type Line, linesOf } from '../archive/lines.ts';
import { FILES_KIND, GONE_KIND, kindOf, LISTED_KIND } from '../archive/manifest.ts';
import type { Source } from '../archive/source.ts';
import { importOrder, referencesOf } from '../tables/references.ts';
import { schemaOf, type Table } from '../tables/schema.ts';
import { treatmentOf } from '../tables/treatments.ts';
import { isAbsenceKind } from './absences.ts';
import { requireSafe } from './checks.ts';
import type { Given } from './defaults.ts';
import { mapReferences } from './ids.ts';
import type { Importing } from './importing.ts';
import { accountsByAddress, giveFreeNames } from './people.ts';
import { takeAbsences } from './removals.ts';
import { modsBefore, partsOfKept, replaceParts, replaceWords } from './replaced-parts.ts';
import { type Row, RowProblem, rowOf } from './rows.ts';
import { changedStats, showStats } from './stats.ts';
import { type FileLine, type FromFiles, storeObject, takeFiles } from './stored-files.ts';
import { keepChanged, versionOf } from './versions.ts';
import { allocateIds, existing, putRows, reserveIds } from './writer.ts';

const ROWS_AT_ONCE = 500;
const BYTES_AT_ONCE = 4 * 1024 ** 2;
const FILES_AT_ONCE = 50;
const ABSENCES_AT_ONCE = 100;

/** The parts in the order in which they are taken: parents before children. */
export async function plannedParts(app: App, source: Source, described: Described): Promise<string[]> {
  const schema = await schemaOf(app.db);
  const order = [FILES_KIND, ...importOrder(schema, referencesOf(schema, personalData)), LISTED_KIND, GONE_KIND];
  const placeOf = (name: string) => order.indexOf(kindOf(name)!);
  return partNames(source, described.manifest)
    .filter((name) => placeOf(name) >= 0)
    .sort((one, other) => placeOf(one) - placeOf(other) || (one < other ? -1 : 1));
}

/** The tables are those of a new service. */
export async function isEmpty({ db }: App): Promise<boolean> {
  const found = await sql`select 1 from users union all select 1 from games union all select 1 from audit_log
    limit 1`.execute(db.query);
  return found.rows.length === 0;
}

/** Why a kind is not taken into this service, if it is not. */
export function refusalOf(kind: string, { row, options }: Pick<Importing, 'row' | 'options'>): string | undefined {
  const treatment = treatmentOf(kind);
  if (kind === FILES_KIND || isAbsenceKind(kind)) return undefined;
  if (!treatment) return 'no such kind';
  if (!isMoved(treatment)) return 'left' in treatment ? treatment.left : `rebuilt from ${treatment.rebuilt}`;
  if (treatment.moved === 'service' && row.into_empty === 0) return 'only an empty service takes it';
  if (treatment.moved === 'powers' && !options.powers) return 'it gives rights over others; pass --with-powers';
  return undefined;
}

/** Takes all parts of an archive. Each batch commits together with the place that it ended at. */
export async function takeParts(importing: Importing): Promise<void> {
  const { app, source, described, row, options } = importing;
  const done = new Map((await store.progressOf(app.db.query, row.id)).map((each) => [each.name, each]));
  await reserveAll(importing, done.size > 0);
  let taken = [...done.values()].reduce((sum, each) => sum + Number(each.rows_taken), 0);
  for (const name of await plannedParts(app, source, described)) {
    const refusal = refusalOf(kindOf(name)!, importing);
    const from = Number(done.get(name)?.done ?? 0);
    if (refusal !== undefined) {
      if (from === 0) await app.db.write((transaction) => skipPart(transaction, row.id, name, refusal));
      continue;
    }
    for await (const lines of batchesOf(source, name, from)) {
      taken += await takeBatch(importing, name, lines);
      options.progress?.(name, taken);
    }
  }
}

async function skipPart(transaction: Transaction, importId: number, name: string, reason: string): Promise<void> {
  await store.refuse(transaction, importId, name, 0, reason);
  await store.putProgress(transaction, importId, name, 1, 0);
}

async function* batchesOf(source: Source, name: string, from: number): AsyncGenerator<Line[]> {
  const kind = kindOf(name)!;
  const most = kind === FILES_KIND ? FILES_AT_ONCE : isAbsenceKind(kind) ? ABSENCES_AT_ONCE : ROWS_AT_ONCE;
  let batch: Line[] = [];
  let bytes = 0;
  for await (const line of linesOf(name, await source.open(name))) {
    if (line.number <= from) continue;
    batch.push(line);
    bytes += line.text.length;
    if (batch.length < most && bytes < BYTES_AT_ONCE) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}

/** Other writers must not get the ids of rows that are still to come. */
async function reserveAll({ app, source, described, schema }: Importing, isResumed: boolean): Promise<void> {
  if (isResumed) return;
  const last = new Map<string, number>();
  for (const name of await plannedParts(app, source, described)) {
    const kind = kindOf(name)!;
    if (!schema.get(kind)?.hasId) continue;
    for await (const { text } of linesOf(name, await source.open(name))) {
      const id = Number(/"id":\s*(\d{1,16})/.exec(text)?.[1] ?? 0);
      if (Number.isSafeInteger(id) && id > (last.get(kind) ?? 0)) last.set(kind, id);
    }
  }
  await app.db.write(async (transaction) => {
    for (const [kind, id] of last) await reserveIds(transaction, app.db.dialect, kind, id);
  });
}

interface Taken {
  readonly line: number;
  readonly row: Row;
  readonly files: FromFiles | undefined;
}

interface Refused {
  readonly line: number;
  readonly reason: string;
}

/** Returns the number of taken rows. A row that the database refuses is found by halving the batch. */
async function takeBatch(importing: Importing, name: string, lines: readonly Line[]): Promise<number> {
  const kind = kindOf(name)!;
  if (kind === FILES_KIND) return takeObjects(importing, name, lines);
  if (isAbsenceKind(kind)) return takeLists(importing, name, lines);
  const prepared = await prepareLines(importing, kind, name, lines);
  return put(importing, name, prepared.taken, prepared.refused, lines.at(-1)!.number);
}

async function put(
  importing: Importing,
  name: string,
  taken: readonly Taken[],
  refused: readonly Refused[],
  last: number,
): Promise<number> {
  const { app } = importing;
  try {
    return await app.db.write((transaction) => putBatch(importing, transaction, name, taken, refused, last));
  } catch (error) {
    const reason = constraintOf(error);
    if (reason === undefined || taken.length === 0) throw error;
    if (taken.length === 1) return put(importing, name, [], [...refused, { line: taken[0]!.line, reason }], last);
    const middle = Math.floor(taken.length / 2);
    const [first, second] = [taken.slice(0, middle), taken.slice(middle)];
    const border = first.at(-1)!.line;
    const before = refused.filter(({ line }) => line <= border);
    const after = refused.filter(({ line }) => line > border);
    return (await put(importing, name, first, before, border)) + (await put(importing, name, second, after, last));
  }
}

const SQLITE_CONSTRAINT = 19;

/** The reason if the database refused a row for what it contains. */
function constraintOf(error: unknown): string | undefined {
  const { code, errcode, message } = error as { code?: string; errcode?: number; message?: string };
  if (isDuplicate(error)) return `an equal row exists (${message})`;
  const isConstraint = /^(?:23|21000|22)/.test(code ?? '') || ((errcode ?? 0) & 0xff) === SQLITE_CONSTRAINT;
  return isConstraint ? `it does not fit the rows that it names (${message})` : undefined;
}

async function takeObjects({ app, source, row }: Importing, name: string, lines: readonly Line[]): Promise<number> {
  const refused: Refused[] = [];
  for (const { number, text } of lines) {
    try {
      await storeObject(app, source, json(Buffer.from(text), `line ${number}`) as FileLine);
    } catch (error) {
      refused.push(refusalFor(error, number));
    }
  }
  await app.db.write(async (transaction) => {
    for (const { line, reason } of refused) await store.refuse(transaction, row.id, name, line, reason);
    await store.putProgress(transaction, row.id, name, lines.at(-1)!.number, lines.length - refused.length);
  });
  return lines.length - refused.length;
}

/** An empty service had nothing that could be gone. */
async function takeLists(importing: Importing, name: string, lines: readonly Line[]): Promise<number> {
  const { app, row } = importing;
  return app.db.write(async (transaction) => {
    let taken = 0;
    for (const line of row.into_empty === 1 ? [] : lines)
      try {
        taken += await takeAbsences(importing, transaction, name, line);
      } catch (error) {
        const { reason } = refusalFor(error, line.number);
        await store.refuse(transaction, row.id, name, line.number, reason);
      }
    await store.putProgress(transaction, row.id, name, lines.at(-1)!.number, 0);
    return taken;
  });
}

function refusalFor(error: unknown, line: number): Refused {
  if (error instanceof RowProblem || error instanceof ArchiveProblem) return { line, reason: error.message };
  throw error;
}

async function prepareLines(importing: Importing, kind: string, name: string, lines: readonly Line[]) {
  const table = importing.schema.get(kind)!;
  const treatment = treatmentOf(kind) as Moved;
  const taken: Taken[] = [];
  const refused: Refused[] = [];
  for (const { number, text } of lines) {
    try {
      const given = json(Buffer.from(text), `line ${number} of ${name}`);
      if (typeof given !== 'object' || given === null || Array.isArray(given))
        throw new RowProblem('not a JSON object');
      const files =
        'file' in given || Object.keys(given).some((field) => field.endsWith('_file'))
          ? await takeFiles(importing.app, importing.source, kind, given as Given)
          : undefined;
      const row = rowOf(table, treatment, { ...(given as Given), ...files?.fields }, importing.app.clock.now());
      requireSafe(kind, treatment, row);
      requireAllowed(importing, kind, row);
      for (const reason of files?.problems ?? []) refused.push({ line: number, reason });
      taken.push({ line: number, row, files });
    } catch (error) {
      refused.push(refusalFor(error, number));
    }
  }
  return { taken, refused };
}

/** Rights over others, and results of scans, are taken only on request. */
function requireAllowed({ options }: Importing, kind: string, row: Row): void {
  if (!options.powers && kind === 'team_members' && row['resource'] === 'games')
    throw new RowProblem('it gives rights over a game; pass --with-powers');
  if (!options.powers && kind === 'users') row['admin'] = 0;
  if (!options.trusted && kind === 'modfiles')
    Object.assign(row, { date_scanned: 0, virus_status: 0, virus_positive: 0, virustotal_hash: null });
}

async function putBatch(
  importing: Importing,
  transaction: Transaction,
  name: string,
  taken: readonly Taken[],
  refused: readonly Refused[],
  last: number,
): Promise<number> {
  const {
    app,
    row: { id, into_empty, source },
    schema,
    references,
  } = importing;
  const kind = kindOf(name)!;
  const table = schema.get(kind)!;
  // Copies, because a batch that the database refuses is put again in halves.
  const copies = taken.map((each) => ({ ...each, row: { ...each.row } }));
  const lineOf = new Map(copies.map(({ row, line }) => [row, line]));
  const problems = [...refused];
  let rows = copies.map(({ row }) => row);
  const kept = into_empty === 0 ? await keepChanged(importing, transaction, kind, rows) : new Map<Row, string>();
  rows = rows.filter((row) => !kept.has(row));
  const ids = await giveIds(importing, transaction, table, rows);
  if (into_empty === 0) {
    const missing = await mapReferences(transaction, source, references, table, rows, ids.here);
    for (const [row, reason] of [...kept, ...missing]) problems.push({ line: lineOf.get(row)!, reason });
    const ofKept = await partsOfKept(transaction, id, kind, rows);
    rows = rows.filter((row) => !missing.has(row) && !ofKept.has(row));
  }
  for (const { files } of copies) for (const token of files?.arrivals ?? []) await concludeArrival(transaction, token);
  const written = await putKind(importing, transaction, table, rows, ids);
  if (kind === 'modfiles' && !importing.options.trusted)
    for (const row of written) await awaitScan(app, transaction, { storage_key: String(row['storage_key']) });
  if (['team_members', 'site_staff', 'users'].includes(kind)) accessChanged(transaction);
  if (kind === 'comments')
    for (const { resource, resource_id } of written)
      transaction.changed(commentsScope({ resource: String(resource), id: resource_id as number }));
  for (const { line, reason } of problems) await store.refuse(transaction, id, name, line, reason.slice(0, 500));
  await store.putProgress(transaction, id, name, last, rows.length);
  return rows.length;
}

/** The ids of rows at the source and here. */
interface Ids {
  readonly old: ReadonlyMap<Row, number>;
  readonly here: ReadonlyMap<number, number>;
  /** Rows that an earlier import brought. */
  readonly again: ReadonlySet<Row>;
  /** Users who have an account here. */
  readonly accounts: ReadonlySet<Row>;
}

/** Gives every row with an id the one that it has here: its own, a new one if that is taken, or the known one. */
async function giveIds(
  importing: Importing,
  transaction: Transaction,
  table: Table,
  rows: readonly Row[],
): Promise<Ids> {
  const named = table.hasId ? rows.filter((row) => row['id'] !== null) : [];
  const { source, into_empty } = importing.row;
  const old = new Map(named.map((row) => [row, row['id'] as number]));
  const known = await store.newIdsOf(transaction.query, source, table.name, [...old.values()]);
  const fresh = named.filter((row) => !known.has(row['id'] as number));
  const again = new Set(named).difference(new Set(fresh));
  for (const row of again) row['id'] = known.get(row['id'] as number)!;
  const isMerging = into_empty === 0;
  const accounts =
    table.name === 'users' && isMerging ? await accountsByAddress(transaction, fresh) : new Map<Row, number>();
  for (const [row, account] of accounts) row['id'] = account;
  if (isMerging)
    await giveFreeIds(
      importing,
      transaction,
      table,
      fresh.filter((row) => !accounts.has(row)),
    );
  const here = new Map(named.map((row) => [old.get(row)!, row['id'] as number]));
  return { old, here, again, accounts: new Set(accounts.keys()) };
}

/** Returns the rows that were written. */
async function putKind(
  importing: Importing,
  transaction: Transaction,
  table: Table,
  rows: readonly Row[],
  { old, again, accounts }: Ids,
): Promise<readonly Row[]> {
  const { dialect } = importing.app.db;
  if (!table.hasId) {
    const isRefreshed = table.name === 'mod_stats' && importing.row.into_empty === 0;
    const changed = isRefreshed ? await changedStats(transaction, rows) : rows;
    await putRows(transaction, dialect, table, changed, { withIds: true });
    if (isRefreshed) await showStats(transaction, changed);
    return changed;
  }
  const named = rows.filter((row) => row['id'] !== null);
  const unnamed = rows.filter((row) => row['id'] === null);
  await putRows(transaction, dialect, table, unnamed, { withIds: false });
  // An account belongs to its user from the first import on.
  const isOwned = (row: Row) => table.name === 'users' && (again.has(row) || accounts.has(row));
  const written = named.filter((row) => !isOwned(row));
  if (table.name === 'users' || table.name === 'games') await giveFreeNames(transaction, table.name, written);
  const updated = written.filter((row) => again.has(row));
  const before = table.name === 'mods' ? await modsBefore(transaction, updated) : [];
  await putRows(transaction, dialect, table, written, { withIds: true });
  await replaceParts(importing.schema, transaction, table.name, updated);
  await replaceWords(transaction, before, updated);
  await rememberIds(transaction, importing, table.name, named, old);
  return [...unnamed, ...written];
}

async function giveFreeIds({ app }: Importing, transaction: Transaction, table: Table, rows: readonly Row[]) {
  const taken = await existing(
    transaction,
    table.name,
    rows.map((row) => row['id'] as number),
  );
  const moved = rows.filter((row) => taken.has(row['id'] as number));
  const ids = await allocateIds(transaction, app.db.dialect, table.name, moved.length);
  for (const [index, row] of moved.entries()) row['id'] = ids[index]!;
}

async function rememberIds(
  transaction: Transaction,
  { app, schema, row: { id: import_id, source } }: Importing,
  resource: string,
  rows: readonly Row[],
  oldIds: ReadonlyMap<Row, number>,
): Promise<void> {
  const remembered = rows.map((row) => ({
    source,
    resource,
    old_id: oldIds.get(row)!,
    new_id: row['id']!,
    import_id,
    version: versionOf(resource, row),
    kept_in: 0,
  }));
  await putRows(transaction, app.db.dialect, schema.get('imported_ids')!, remembered, { withIds: true });
}
