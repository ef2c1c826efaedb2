import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { eachDatabase } from '../../../test/databases.ts';
import { statement } from './database.ts';
import { isTimeout } from './failures.ts';
import { openPostgres } from './postgres.ts';

const MAKE = statement('create table numbers (n integer not null)');
const ADD = statement('insert into numbers (n) values (?)');
const COUNT = statement('select count(*) as numbers from numbers');

eachDatabase(
  'a transaction that a broken connection rolled back is repeated on another connection',
  [],
  async ({ db }, t) => {
    if (db.dialect !== 'postgres') return t.skip('SQLite has no connections that break');
    await db.write(async (transaction) => transaction.run(MAKE, []));
    let attempts = 0;
    await db.write(async (transaction) => {
      attempts += 1;
      await transaction.run(ADD, [attempts]);
      if (attempts === 1) await sql`select pg_terminate_backend(pg_backend_pid())`.execute(transaction.query);
    });
    assert.equal(attempts, 2);
    assert.equal(Number((await db.first<{ numbers: number }>(COUNT, []))!.numbers), 1);
  },
);

eachDatabase(
  'a write is made durable on its own connection if the one for flushes breaks during its transaction',
  [],
  async ({ db, url }, t) => {
    if (url === undefined) return t.skip('SQLite has no connections that break');
    // The tests' server does not wait for the log by default.
    await sql.raw(`alter database ${new URL(url).pathname.slice(1)} set synchronous_commit = on`).execute(db.query);
    const durable = await openPostgres(url);
    t.after(() => durable.close());
    await durable.write(async (transaction) => transaction.run(MAKE, []));
    const { rows } = await durable.write(async ({ query, run }) => {
      await run(ADD, [1]);
      await sql`select pg_terminate_backend(pid, 10000) from pg_stat_activity
        where datname = current_database() and application_name = 'modstead flush'`.execute(query);
      return sql<{ position: string }>`select pg_current_wal_insert_lsn()::text as position`.execute(query);
    });
    const flushed = sql<{ done: boolean }>`select pg_current_wal_flush_lsn() >= ${rows[0]!.position}::pg_lsn as done`;
    assert.equal(String((await flushed.execute(durable.query)).rows[0]!.done), 'true');
    await durable.write(async (transaction) => transaction.run(ADD, [2]));
    assert.equal(Number((await db.first<{ numbers: number }>(COUNT, []))!.numbers), 2);
  },
);

const BACKEND = statement('select pg_backend_pid() as pid');

eachDatabase('prepared reads of jobs run on the connections of their other reads', [], async ({ url }, t) => {
  if (url === undefined) return t.skip('SQLite has no limit of connections');
  // Jobs get half of them.
  const db = await openPostgres(url, { connectionsMax: 2 });
  t.after(() => db.close());
  const prepared = await db.withLongTimeouts.first<{ pid: number }>(BACKEND, []);
  const built = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db.withLongTimeouts.query);
  assert.equal(prepared!.pid, built.rows[0]!.pid);
});

eachDatabase('a write that is not awaited fails its transaction with its own error', [], async ({ db }) => {
  await db.write(async (transaction) => transaction.run(MAKE, []));
  const failing = db.write(async (transaction) => {
    await transaction.run(ADD, [1]);
    await transaction.run(ADD, [null]);
    await transaction.run(ADD, [2]);
    await transaction.first(COUNT, []);
  });
  await assert.rejects(failing, /null/i);
  await db.write(async (transaction) => transaction.run(ADD, [3]));
  assert.equal(Number((await db.first<{ numbers: number }>(COUNT, []))!.numbers), 1);
});

eachDatabase(
  'a commit that is sent behind a failed write commits nothing, and its connection goes on',
  [],
  async (opened, t) => {
    const db = opened.url === undefined ? opened.db : await openPostgres(opened.url, { connectionsMax: 1 });
    if (db !== opened.db) t.after(() => db.close());
    await db.write(async (transaction) => transaction.run(MAKE, []));
    const lastFails = db.write(async (transaction) => {
      await transaction.run(ADD, [1]);
      await transaction.run(ADD, [null]);
    });
    await assert.rejects(lastFails, /null/i);
    const givesUp = db.write(async (transaction) => {
      await transaction.run(ADD, [2]);
      await transaction.run(ADD, [null]);
      throw new Error('given up, null');
    });
    await assert.rejects(givesUp, /null/i);
    await db.write(async (transaction) => transaction.run(ADD, [3]));
    assert.equal(Number((await db.first<{ numbers: number }>(COUNT, []))!.numbers), 1);
  },
);

eachDatabase(
  'a read on a connection that broke while idle is repeated on another connection',
  [],
  async ({ db }, t) => {
    if (db.dialect !== 'postgres') return t.skip('SQLite has no connections that break');
    await db.first(statement('select 1 as one'), []);
    await db.write(({ query }) =>
      sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and application_name = 'modstead'`.execute(query),
    );
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => db.first<{ one: number }>(statement('select 1 as one'), [])),
    );
    assert.deepEqual(
      answers.map((answer) => answer!.one),
      [1, 1, 1, 1, 1],
    );
  },
);

eachDatabase(
  'the database cancels a read that exceeds the timeout of requests, and gives jobs more time',
  [],
  async ({ url }, t) => {
    if (url === undefined) return t.skip('SQLite has a budget of its own');
    const db = await openPostgres(url, { readTimeoutMs: 50 });
    t.after(() => db.close());
    await assert.rejects(sql`select pg_sleep(60)`.execute(db.query), isTimeout);
    await assert.rejects(async () => db.first(statement('select pg_sleep(60)'), []), isTimeout);
    await sql`select pg_sleep(0.2)`.execute(db.withLongTimeouts.query);
  },
);

eachDatabase('transactions that take long do not delay a short one', [], async ({ db }, t) => {
  if (db.dialect !== 'postgres') return t.skip('SQLite has one writer');
  await db.write(async (transaction) => transaction.run(MAKE, []));
  const { promise: isShortDone, resolve } = Promise.withResolvers<void>();
  const long = Array.from({ length: 6 }, () => db.write(() => isShortDone));
  await db.write(async (transaction) => transaction.run(ADD, [1]));
  resolve();
  await Promise.all(long);
  assert.equal(Number((await db.first<{ numbers: number }>(COUNT, []))!.numbers), 1);
});

eachDatabase('a hot read is planned by an index while its table is still empty', [], async ({ db }, t) => {
  if (db.dialect !== 'postgres') return t.skip('SQLite plans by the indexes alone');
  await db.write(async (transaction) => {
    await transaction.run(MAKE, []);
    await transaction.run(statement('create index numbers_by_n on numbers (n)'), []);
  });
  await db.executeAlone('analyze numbers');
  const plan = await db.all<{ 'QUERY PLAN': string }>(statement('explain select * from numbers where n = ?'), [1]);
  assert.match(plan.map((row) => row['QUERY PLAN']).join('\n'), /numbers_by_n/);
});
