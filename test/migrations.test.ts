import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { migrations } from '../src/composition/migrations.ts';
import type { Database } from '../src/platform/database/database.ts';
import { type Migration, migrate, pendingMigrations } from '../src/platform/database/migrate.ts';
import { eachDatabase } from './databases.ts';
import { readFixture } from './fixtures/fixtures.ts';

const unreleased: Migration = {
  name: '2026-11-15-games',
  up: ({ id, text }) => [`create table games (id ${id}, name ${text} not null)`],
};

eachDatabase('a database from before 0.2.0 is refused and not changed', [unreleased], async ({ db }) => {
  await db.write(({ query }) => sql`insert into games (name) values ('Rover')`.execute(query));
  await assert.rejects(pendingMigrations(db, migrations), /made by a version before 0\.2\.0/);
  await assert.rejects(
    migrate(db, migrations, () => 0),
    /use an empty database/,
  );
  assert.deepEqual((await sql`select * from games`.execute(db.query)).rows, [{ id: 1, name: 'Rover' }]);
  const applied = await db.query.selectFrom('migrations').select('name').execute();
  assert.deepEqual(applied, [{ name: unreleased.name }]);
});

eachDatabase('a database that is up to date runs no migration', migrations, async ({ db }) => {
  assert.deepEqual(await pendingMigrations(db, migrations), []);
  assert.deepEqual(await migrate(db, migrations, () => 0), []);
});

const first: Migration = { name: '2026-12-02-first', up: ({ id }) => [`create table firsts (id ${id})`] };
const second: Migration = { name: '2026-12-01-second', up: ({ id }) => [`create table seconds (id ${id})`] };

eachDatabase('migrations run in the order of the list, and each is reported', [first], async ({ db }) => {
  const reported: string[] = [];
  const third: Migration = { name: '2026-12-03', up: () => ['drop table seconds'] };
  await migrate(
    db,
    [first, second, third],
    () => 0,
    (name) => reported.push(name),
  );
  assert.deepEqual(reported, [second.name, third.name]);
});

type Row = Readonly<Record<string, string | number | null>>;

const insert = (db: Database, table: string, row: Row) =>
  db.write(({ query }) =>
    sql`insert into ${sql.table(table)} (${sql.join(Object.keys(row).map((name) => sql.ref(name)))})
      values (${sql.join(Object.values(row).map((value) => sql`${value}`))}) on conflict do nothing`.execute(query),
  );

async function isThere({ query }: Database, table: string, row: Row): Promise<boolean> {
  const same = Object.entries(row).map(([name, value]) => sql`${sql.ref(name)} is not distinct from ${value}`);
  const found = sql`select 1 from ${sql.table(table)} where ${sql.join(same, sql` and `)}`;
  return (await found.execute(query)).rows.length > 0;
}

/** Versions with a file in `test/fixtures`, written by `npm run fixture` at their release. */
const RELEASED = ['0.2.0'];

for (const version of RELEASED)
  eachDatabase(`rows written by version ${version} survive the upgrade`, [], async ({ db }) => {
    const fixture = readFixture(version);
    const then = migrations.filter(({ name }) => fixture.migrations.includes(name));
    assert.deepEqual(
      then.map(({ name }) => name),
      fixture.migrations,
      'a released migration was removed or moved',
    );
    await migrate(db, then, () => 0);
    for (const { table, row } of fixture.rows) await insert(db, table, row);
    await migrate(db, migrations, () => 0);
    assert.deepEqual(await pendingMigrations(db, migrations), []);
    for (const { table, row } of fixture.rows)
      assert.ok(await isThere(db, table, row), `a row of ${table} is gone or changed: ${JSON.stringify(row)}`);
  });
