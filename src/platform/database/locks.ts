import { sql } from 'kysely';
import type { Database, Statement, Tables, Transaction } from './database.ts';

/**
 * What is held while something is added under it, changed or ended, in the order in which everyone holds it: whoever
 * needs several asks for all of them at once, so that nobody waits in a circle. Within a kind the lower id is first.
 * `gone` says of a row that is still there that it has ended.
 */
const KINDS = {
  users: { gone: 'status = 3' },
  games: { gone: 'status = 3' },
  mods: { gone: 'status = 3' },
  guides: { gone: 'status = 3' },
  collections: { gone: 'status = 3' },
  comments: { gone: 'date_deleted > 0' },
  modfiles: { gone: 'status = 3' },
  message_threads: { gone: '1 = 0' },
} satisfies Partial<Record<keyof Tables, { gone: string }>>;

export type Kind = keyof typeof KINDS;
const ORDER = Object.keys(KINDS) as Kind[];

/**
 * `under`: something is added under it, which must not end before that is committed; others add as well.
 * `ends`: it ends, or changes hands or its name. Whoever adds under it waits, and those who were first are waited for.
 */
export type LockMode = 'under' | 'ends';

// An update of other columns than those with a unique index is compatible with a key share, so figures can be counted.
const CLAUSES: Record<LockMode, string> = { under: 'for key share', ends: 'for update' };
/** For a row that is changed but stays what it is: those who add under it go on. */
const CHANGE = 'for no key update';

export interface RowLock {
  readonly kind: Kind;
  readonly id: number;
  readonly mode: LockMode;
}

/** A row that is held. `status` and `locked` are told of people only. */
export interface LockedRow {
  readonly kind: Kind;
  readonly id: number;
  readonly isGone: boolean;
  readonly status: number;
  readonly isLocked: boolean;
}

interface LockRun {
  readonly kind: Kind;
  readonly mode: LockMode;
  readonly ids: number[];
}

/** In the order that is the same for all, each once with the stronger of its holds. */
function runsOf(locks: readonly RowLock[]): LockRun[] {
  const strongest = new Map<string, RowLock>();
  for (const each of locks) {
    const key = `${each.kind}/${each.id}`;
    if (strongest.get(key)?.mode !== 'ends') strongest.set(key, each);
  }
  const sorted = [...strongest.values()].sort(
    (one, other) => ORDER.indexOf(one.kind) - ORDER.indexOf(other.kind) || one.id - other.id,
  );
  const runs: LockRun[] = [];
  for (const { kind, id, mode } of sorted) {
    const last = runs.at(-1);
    if (last?.kind === kind && last.mode === mode) last.ids.push(id);
    else runs.push({ kind, mode, ids: [id] });
  }
  return runs;
}

const statements = new Map<string, Statement>();
const STATEMENTS_MAX = 1_000;

/** One statement for all of them. PostgreSQL runs the parts of a union one after the other. */
function statementOf(runs: readonly LockRun[]): Statement {
  const shape = runs.map(({ kind, mode, ids }) => `${kind} ${mode} ${ids.length}`).join();
  const known = statements.get(shape);
  if (known) return known;
  let number = 0;
  const part = ({ kind, mode, ids }: LockRun, isPostgres: boolean) => {
    const person = kind === 'users' ? 'status, case when date_locked is null then 0 else 1 end' : '0, 0';
    const values = ids.map(() => (isPostgres ? `$${++number}::bigint` : '?')).join(', ');
    return `select * from (select '${kind}' as kind, id, case when ${KINDS[kind].gone} then 1 else 0 end as gone,
      ${person.replace(',', ' as status,')} as locked from ${kind} where id in (${values}) order by id
      ${isPostgres ? CLAUSES[mode] : ''}) h`;
  };
  const made = {
    text: runs.map((run) => part(run, false)).join(' union all '),
    postgres: runs.map((run) => part(run, true)).join(' union all '),
  };
  if (statements.size >= STATEMENTS_MAX) statements.clear();
  statements.set(shape, made);
  return made;
}

interface FoundRow {
  readonly kind: Kind;
  readonly id: number;
  readonly gone: number;
  readonly status: number;
  readonly locked: number;
}

/**
 * Holds all of these until the transaction ends, and tells which of them are there. On SQLite there is one writer, so
 * that what is read stays true without being held.
 */
export async function lock(transaction: Transaction, locks: readonly RowLock[]): Promise<LockedRow[]> {
  if (locks.length === 0) return [];
  const runs = runsOf(locks);
  const rows = await transaction.all<FoundRow>(
    statementOf(runs),
    runs.flatMap(({ ids }) => ids),
  );
  return rows.map(({ kind, id, gone, status, locked }) => ({
    kind,
    id,
    isGone: gone === 1,
    status,
    isLocked: locked === 1,
  }));
}

/** The same read, and others who change this row wait from here on; `of` names it where the read joins others to it. */
export const withUpdateLock = (read: Statement, of = ''): Statement => ({
  text: read.text,
  postgres: `${read.postgres} ${CHANGE}${of && ` of ${of}`}`,
});

/** The same in a query that is put together: those who would end what `of` names wait. */
export const keyShareLock = (dialect: Database['dialect'], of: string) =>
  sql.raw(dialect === 'postgres' ? `${CLAUSES.under} of ${of}` : '');

/** Of rows in a queue, those that nobody else is about to take: of those who ask at once each gets another. */
export const skipLocked = (dialect: Database['dialect'], of: string) =>
  sql.raw(dialect === 'postgres' ? `for update of ${of} skip locked` : '');

const ADVISORY_LOCK: Statement = {
  text: 'select ? as turn',
  postgres: 'select 1 as turn from pg_advisory_xact_lock(hashtextextended($1, 0))',
};

/** Those who name the same wait for each other, each until the one before has committed. It comes after all rows. */
export const takeAdvisoryLock = async (transaction: Transaction, name: string): Promise<void> => {
  await transaction.first(ADVISORY_LOCK, [name]);
};
