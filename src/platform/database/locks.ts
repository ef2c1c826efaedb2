import { sql } from 'kysely';
import type { Database, Statement, Tables, Transaction } from './database.ts';

/**
 * The lockable tables in global lock order, which prevents deadlocks: a transaction locks all its rows at once, lower
 * ids first. `gone` is the condition for a deleted row that still exists.
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
 * `under`: a shared lock on the parent of something that is added, so that it cannot end first. `ends`: an exclusive
 * lock for deleting, transferring or renaming, which waits for all `under` locks.
 */
export type LockMode = 'under' | 'ends';

// An update of columns without a unique index is compatible with a key-share lock, so counters can change.
const CLAUSES: Record<LockMode, string> = { under: 'for key share', ends: 'for update' };
/** For a changed row that keeps its identity: transactions that add to it continue. */
const CHANGE = 'for no key update';

export interface RowLock {
  readonly kind: Kind;
  readonly id: number;
  readonly mode: LockMode;
}

/** A locked row. `status` and `locked` are set for users only. */
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

/** In global lock order, each row once in its strongest mode. */
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

/** One statement for all locks. PostgreSQL runs the parts of a union in order. */
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
 * Locks the rows until the transaction ends and returns those that exist. SQLite has one writer, so a plain read is
 * enough.
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

const SHARED = Object.fromEntries(
  ORDER.map((kind): [Kind, Statement] => [
    kind,
    {
      text: `select id from ${kind} where id in (select value from json_each(?)) order by id`,
      postgres: `select id from ${kind} where id = any(array(select json_array_elements_text($1::json)::bigint))
        order by id ${CLAUSES.under}`,
    },
  ]),
) as Record<Kind, Statement>;

/** Locks any number of rows of a table as `under`, and returns the ids of those that exist. */
export async function lockExisting(transaction: Transaction, kind: Kind, ids: readonly number[]): Promise<Set<number>> {
  const rows = await transaction.all<{ id: number }>(SHARED[kind], [JSON.stringify(ids)]);
  return new Set(rows.map(({ id }) => id));
}

/** Adds an update lock to a read; `of` names the table if the read joins others. */
export const withUpdateLock = (read: Statement, of = ''): Statement => ({
  text: read.text,
  postgres: `${read.postgres} ${CHANGE}${of && ` of ${of}`}`,
});

/** A shared lock for the query builder: the rows neither end nor change until the transaction ends. */
export const shareLock = (dialect: Database['dialect'], of: string) =>
  sql.raw(dialect === 'postgres' ? `for share of ${of}` : '');

/** Skips queue rows that another transaction has claimed, so that each worker gets different rows. */
export const skipLocked = (dialect: Database['dialect'], of: string) =>
  sql.raw(dialect === 'postgres' ? `for update of ${of} skip locked` : '');

const ADVISORY_LOCK: Statement = {
  text: 'select ? as turn',
  postgres: 'select 1 as turn from pg_advisory_xact_lock(hashtextextended($1, 0))',
};

/** Serialises transactions by name until the commit. Take it after all row locks. */
export const takeAdvisoryLock = async (transaction: Transaction, name: string): Promise<void> => {
  await transaction.run(ADVISORY_LOCK, [name]);
};

const FREE_ADVISORY_LOCK: Statement = {
  text: 'select 1 as taken where ? is not null',
  postgres: 'select 1 as taken where pg_try_advisory_xact_lock(hashtextextended($1, 0))',
};

/** As `takeAdvisoryLock`, but returns false instead of waiting for another transaction. */
export const tryAdvisoryLock = async (transaction: Transaction, name: string): Promise<boolean> =>
  (await transaction.first(FREE_ADVISORY_LOCK, [name])) !== undefined;
