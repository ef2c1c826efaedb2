import { sql } from 'kysely';
import { type Database, isDuplicate, type Query, statement } from '../database/database.ts';
import { skipLocked } from '../database/locks.ts';
import './tables.ts';

/** The scope of added jobs; a change wakes the workers. */
export const JOBS_SCOPE = 'jobs';

export interface NewJob {
  readonly kind: string;
  readonly key: string | null;
  readonly payload: string;
  readonly due: number;
  readonly now: number;
}

/**
 * An equal waiting job is updated with its own values: on PostgreSQL this locks its row, so that no worker runs the job
 * without seeing what the transaction changed.
 */
export async function add(query: Query, { kind, key, payload, due, now }: NewJob): Promise<void> {
  await sql`insert into jobs (kind, key, payload, state, date_due, attempt, date_added)
    values (${kind}, ${key}, ${payload}, 'waiting', ${due}, 0, ${now})
    on conflict (kind, key) where state = 'waiting' do update set key = excluded.key`.execute(query);
}

export interface Schedule {
  readonly kind: string;
  readonly every: number;
}

const SCHEDULE_KEY = 'schedule';

/** Keeps one row for each scheduled kind, and corrects its due time if the clock was set back since it was written. */
export async function schedule(db: Database, schedules: readonly Schedule[], now: number): Promise<void> {
  if (schedules.length === 0) return;
  const kinds = schedules.map(({ kind }) => kind);
  // One condition for each state, because each state has its own index.
  const rows = await db.query
    .selectFrom('jobs')
    .select(['id', 'kind', 'date_due', 'state'])
    .where((eb) => {
      const inState = (state: 'waiting' | 'running') =>
        eb.and([eb('state', '=', state), eb('kind', 'in', kinds), eb('key', '=', SCHEDULE_KEY)]);
      return eb.or([inState('waiting'), inState('running')]);
    })
    .execute();
  const known = new Map(rows.map((row) => [row.kind, row]));
  for (const { kind, every } of schedules) {
    const row = known.get(kind);
    if (!row) await db.write(({ query }) => addSchedule(query, kind, now));
    else if (row.state === 'waiting' && row.date_due > now + every) await bringNear(db, row.id, now + every);
  }
}

/** Adds nothing if another process has added the job, also if that job already runs. */
export async function addSchedule(query: Query, kind: string, now: number): Promise<void> {
  await sql`insert into jobs (kind, key, payload, state, date_due, attempt, date_added)
    values (${kind}, ${SCHEDULE_KEY}, 'null', 'waiting', ${now}, 0, ${now})
    on conflict (kind) where key = 'schedule' and state <> 'parked' do nothing`.execute(query);
}

const bringNear = (db: Database, id: number, due: number) =>
  db.write(({ query }) =>
    query
      .updateTable('jobs')
      .set({ date_due: due })
      .where('id', '=', id)
      .where('state', '=', 'waiting')
      .where('date_due', '>', due)
      .execute(),
  );

export interface DueTime {
  readonly now: number;
  /** A lease that ends after this time is from before the clock was set back. */
  readonly leaseEndMax: number;
}

const DUE = statement(
  "select 1 as due from jobs where state <> 'parked' and (date_due <= ? or (state = 'running' and date_due > ?)) limit 1",
);

/** Writes nothing, so it is cheap enough for every poll. */
export async function isAnyDue(db: Database, { now, leaseEndMax }: DueTime): Promise<boolean> {
  return (await db.first(DUE, [now, leaseEndMax])) !== undefined;
}

export interface DueJob {
  readonly id: number;
  readonly kind: string;
  readonly payload: string;
  readonly attempt: number;
  readonly last_error: string | null;
}

/** The jobs that may start now, locked until the transaction ends. Jobs with equal keys run one after the other. */
export function selectDue(
  query: Query,
  dialect: Database['dialect'],
  { now, leaseEndMax }: DueTime,
  limit: number,
): Promise<DueJob[]> {
  return query
    .selectFrom('jobs')
    .select(['id', 'kind', 'payload', 'attempt', 'last_error'])
    .where('state', '<>', 'parked')
    .where(sql<boolean>`(date_due <= ${now} or (state = 'running' and date_due > ${leaseEndMax}))`)
    .where(sql<boolean>`not exists (select 1 from jobs as other where other.kind = jobs.kind and other.key = jobs.key
      and other.state = 'running' and other.id <> jobs.id)`)
    .orderBy('date_due')
    .orderBy('id')
    .limit(limit)
    .modifyEnd(skipLocked(dialect, 'jobs'))
    .execute();
}

export async function start(query: Query, id: number, lease: string, leaseEnd: number, attempt: number): Promise<void> {
  await query
    .updateTable('jobs')
    .set({ state: 'running', lease, date_due: leaseEnd, attempt })
    .where('id', '=', id)
    .execute();
}

export async function park(query: Query, id: number, error: string): Promise<void> {
  await query
    .updateTable('jobs')
    .set({ state: 'parked', lease: null, last_error: error })
    .where('id', '=', id)
    .execute();
}

/** A job and the lease of its worker. The worker's writes apply only while it owns the lease. */
export interface LeasedJob {
  readonly id: number;
  readonly lease: string;
}

export async function extendLease(db: Database, { id, lease }: LeasedJob, leaseEnd: number): Promise<boolean> {
  return db.write(async ({ query }) => {
    const update = query.updateTable('jobs').set({ date_due: leaseEnd });
    const { numUpdatedRows } = await update.where('id', '=', id).where('lease', '=', lease).executeTakeFirst();
    return numUpdatedRows > 0n;
  });
}

export async function remove(db: Database, { id, lease }: LeasedJob): Promise<boolean> {
  return db.write(async ({ query }) => {
    const held = query.deleteFrom('jobs').where('id', '=', id).where('lease', '=', lease);
    return (await held.executeTakeFirst()).numDeletedRows > 0n;
  });
}

export async function parkLeased(db: Database, { id, lease }: LeasedJob, error: string): Promise<boolean> {
  return db.write(async ({ query }) => {
    const update = query.updateTable('jobs').set({ state: 'parked', lease: null, last_error: error });
    const { numUpdatedRows } = await update.where('id', '=', id).where('lease', '=', lease).executeTakeFirst();
    return numUpdatedRows > 0n;
  });
}

export type Requeueable = LeasedJob | { readonly id: number; readonly state: 'parked' };

export interface Requeue {
  readonly due: number;
  readonly attempt: number;
  readonly error: string | null;
}

/** Requeues a job; it is dropped if an equal one already waits. */
export async function requeue(db: Database, which: Requeueable, { due, attempt, error }: Requeue): Promise<boolean> {
  const condition = 'lease' in which ? sql<boolean>`lease = ${which.lease}` : sql<boolean>`state = 'parked'`;
  try {
    return await db.write(async ({ query, changed }) => {
      changed(JOBS_SCOPE);
      const update = query
        .updateTable('jobs')
        .set({ state: 'waiting', lease: null, date_due: due, attempt, last_error: error });
      return (await update.where('id', '=', which.id).where(condition).executeTakeFirst()).numUpdatedRows > 0n;
    });
  } catch (cause) {
    if (!isDuplicate(cause)) throw cause;
    return db.write(async ({ query }) => {
      const held = query.deleteFrom('jobs').where('id', '=', which.id).where(condition);
      return (await held.executeTakeFirst()).numDeletedRows > 0n;
    });
  }
}

export interface ParkedJob {
  readonly id: number;
  readonly kind: string;
  readonly key: string | null;
  readonly payload: string;
  readonly attempt: number;
  readonly last_error: string | null;
  readonly date_added: number;
}

export function listParked(db: Database, limit: number): Promise<ParkedJob[]> {
  return db.query
    .selectFrom('jobs')
    .select(['id', 'kind', 'key', 'payload', 'attempt', 'last_error', 'date_added'])
    .where('state', '=', 'parked')
    .orderBy('id')
    .limit(limit)
    .execute();
}

export async function parkedWith(db: Database, error: string, kinds: readonly string[]): Promise<number[]> {
  if (kinds.length === 0) return [];
  const rows = await db.query
    .selectFrom('jobs')
    .select('id')
    .where('state', '=', 'parked')
    .where('last_error', '=', error)
    .where('kind', 'in', kinds)
    .limit(1000)
    .execute();
  return rows.map(({ id }) => id);
}

const BACKLOG = statement(`select count(case when state = 'parked' then 1 end) as parked,
  count(case when state = 'waiting' and date_due <= ? then 1 end) as due,
  min(case when state = 'waiting' then date_due end) as oldest from jobs`);

export interface Backlog {
  readonly parked: number;
  /** Jobs that could run now. */
  readonly due: number;
  /** How long the oldest of them has waited. */
  readonly delaySeconds: number;
}

export async function backlogOf(db: Pick<Database, 'first'>, now: number): Promise<Backlog> {
  const found = (await db.first<{ parked: number; due: number; oldest: number | null }>(BACKLOG, [now]))!;
  const { parked, due, oldest } = found;
  return { parked: Number(parked), due: Number(due), delaySeconds: Math.max(0, now - Number(oldest ?? now)) };
}
