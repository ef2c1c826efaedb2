import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { sql } from 'kysely';
import { eachDatabase } from '../../../test/databases.ts';
import { type ListenProxy, startListenProxy } from '../../../test/listen-proxy.ts';
import { type Database, statement } from './database.ts';
import { isUnavailable } from './failures.ts';
import { openPostgres } from './postgres.ts';

const MAKE = statement('create table numbers (n integer not null)');
const ADD = statement('insert into numbers (n) values (?)');
const COUNT = statement('select count(*) as numbers from numbers');
const ROUNDS = 8;

/** A database behind a proxy, with all its connections open and idle. */
async function behindProxy(
  url: string,
  t: TestContext,
  { heartbeatMs = 25, quietMs = 250 } = {},
): Promise<{ db: Database; proxy: ListenProxy }> {
  const proxy = await startListenProxy(url);
  t.after(() => proxy.close());
  const notifications = { heartbeatMs, heartbeatTimeoutMs: 500 };
  const db = await openPostgres(proxy.url, { connectionsMax: 3, quietMs, notifications });
  t.after(() => db.close());
  await db.write(async (transaction) => transaction.run(MAKE, []));
  await Promise.all(each(() => [add(db), ...reading(db)]));
  return { db, proxy };
}

const each = <T>(make: () => T[]): T[] => Array.from({ length: ROUNDS }, make).flat();
const add = (db: Database) => db.write(async (transaction) => transaction.run(ADD, [1]));
const reading = (db: Database): Promise<unknown>[] => [
  Promise.resolve(db.first(COUNT, [])),
  sql`select count(*) from numbers`.execute(db.query),
  sql`select count(*) from numbers`.execute(db.withLongTimeouts.query),
];

for (const which of ['all', 'not listening'] as const)
  eachDatabase(
    `connections that fall silent (${which}) are replaced: reads succeed, and a write is done or refused`,
    [],
    async ({ url }, t) => {
      if (url === undefined) return t.skip('SQLite has no connections');
      const { db, proxy } = await behindProxy(url, t);
      proxy.vanish(which);
      const writes = Promise.allSettled(each(() => [add(db)]));
      await Promise.all(each(() => reading(db)));
      let done = ROUNDS;
      for (const outcome of await writes)
        if (outcome.status === 'fulfilled') done += 1;
        else assert.ok(isUnavailable(outcome.reason), String(outcome.reason));
      await add(db);
      const { numbers } = (await db.first<{ numbers: number }>(COUNT, []))!;
      assert.ok(numbers >= done + 1, `${numbers} rows, and ${done + 1} acknowledged`);
    },
  );

eachDatabase('a silent server loses connections that were used just before it, too', [], async ({ url }, t) => {
  if (url === undefined) return t.skip('SQLite has no connections');
  // They are heard after the last heartbeat that was answered, and nothing else finds out about them.
  const options = { heartbeatMs: 2_000, quietMs: Number.POSITIVE_INFINITY };
  const { db, proxy } = await behindProxy(url, t, options);
  proxy.vanish('all');
  await Promise.all(each(() => reading(db)));
  await add(db);
});

eachDatabase('a statement that takes long is not taken for a silent connection', [], async ({ url }, t) => {
  if (url === undefined) return t.skip('SQLite has no connections');
  const { db } = await behindProxy(url, t);
  const { rows } = await sql<{ done: number }>`select 1 as done from pg_sleep(1.5)`.execute(db.query);
  assert.deepEqual(rows, [{ done: 1 }]);
});

/** Another database of the test has such a connection, too. */
const FLUSHING = sql<{ connections: number }>`select count(*)::int as connections from pg_stat_activity
  where datname = current_database() and application_name = 'modstead flush'`;

eachDatabase(
  'a long transaction is acknowledged although the server was silent to all other connections meanwhile',
  [],
  async ({ url }, t) => {
    if (url === undefined) return t.skip('SQLite has no connections');
    const { db, proxy } = await behindProxy(url, t);
    const before = (await FLUSHING.execute(db.query)).rows[0]!.connections;
    let attempts = 0;
    await db.write(async ({ query, run }) => {
      attempts += 1;
      await run(ADD, [1]);
      // Only a heartbeat that was answered after the connection was last used tells that the connection is silent.
      for (let round = 0; ; round += 1) {
        if (round % 150 < 50) proxy.unblock();
        else proxy.block();
        await sql`select pg_stat_clear_snapshot(), pg_sleep(0.02)`.execute(query);
        if ((await FLUSHING.execute(query)).rows[0]!.connections < before) break;
      }
      proxy.unblock();
    });
    assert.equal(attempts, 1);
    assert.equal(Number((await db.first<{ numbers: number }>(COUNT, []))!.numbers), ROUNDS + 1);
  },
);

eachDatabase(
  'a transaction whose connection broke before it wrote its last rows is repeated',
  [],
  async ({ url }, t) => {
    if (url === undefined) return t.skip('SQLite has no connections');
    const { db } = await behindProxy(url, t);
    let attempts = 0;
    await db.write(async ({ query, run }) => {
      attempts += 1;
      if (attempts === 1) await sql`select pg_terminate_backend(pg_backend_pid())`.execute(query).catch(() => {});
      await run(ADD, [1]);
    });
    assert.equal(attempts, 2);
  },
);
