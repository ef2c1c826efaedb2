import assert from 'node:assert/strict';
import test from 'node:test';
import { sql } from 'kysely';
import { migrations, schemas } from '../src/composition/migrations.ts';
import { backfill, backfills, migrationStatus } from '../src/platform/database/backfill.ts';
import type { Database } from '../src/platform/database/database.ts';
import { type Migration, migrate, pendingMigrations, statementsOf } from '../src/platform/database/migrate.ts';
import { platformSchema } from '../src/platform/schema.ts';
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
  await migrate(db, [first, second, third], () => 0, { report: (name) => reported.push(name) });
  assert.deepEqual(reported, [second.name, third.name]);
});

eachDatabase(
  'a step that finds its table in use lets others pass, and tries again',
  [first],
  async ({ db, again }, t) => {
    if (db.dialect === 'sqlite') return t.skip('on SQLite one process writes at a time');
    const busy = await again();
    const inUse = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const using = busy.write(async ({ query }) => {
      await sql`select * from firsts`.execute(query);
      inUse.resolve();
      await end.promise;
    });
    await inUse.promise;
    let waits = 0;
    const change: Migration = { name: '2026-12-03', up: () => ['alter table firsts add column note text'] };
    const waitForLock = async () => {
      waits += 1;
      await sql`select * from firsts`.execute(db.query);
      end.resolve();
      await using;
    };
    assert.deepEqual(await migrate(db, [first, change], () => 0, { lockTimeoutMs: 50, waitForLock }), [change.name]);
    assert.ok(waits >= 1);
  },
);

const filled: Migration = {
  name: '2026-12-04-filled',
  up: () => ['alter table firsts add column double bigint'],
  indexes: () => ['create unique index firsts_again on firsts (id)'],
  backfill: () => [
    'update firsts set double = id * 2 where id in (select id from firsts where double is null limit 100)',
  ],
};

eachDatabase(
  'indexes are built beside writers, and a backfill goes on where it was interrupted',
  [platformSchema, first],
  async ({ db }) => {
    const known = [platformSchema, first, filled];
    await db.write(async ({ query }) => {
      for (let id = 1; id <= 250; id += 1) await sql`insert into firsts (id) values (${id})`.execute(query);
    });
    await migrate(db, known, () => 0);
    await assert.rejects(() => db.write(({ query }) => sql`insert into firsts (id) values (1)`.execute(query)));
    const interrupted = backfill(db, known, () => {
      throw new Error('interrupted');
    });
    await assert.rejects(interrupted, /interrupted/);
    assert.deepEqual(await backfills(db, known), [{ name: filled.name, rows: 100, done: false }]);
    await backfill(db, known);
    const { backfills: states, pending } = await migrationStatus(db, known);
    assert.deepEqual([states, pending], [[{ name: filled.name, rows: 250, done: true }], []]);
    const { rows } = await sql`select 1 from firsts where double is null or double <> id * 2`.execute(db.query);
    assert.deepEqual(rows, []);
  },
);

/** Processes of the previous release use these while the new ones start, and after a way back. */
const NARROWS = /\b(?:drop (?:table|column|constraint)|rename|alter column \w+ (?:type|set not null))\b/i;
const DEMANDS = /\badd column (?!.*\bdefault\b).*\bnot null\b/i;
/** Steps from before this rule; none is released. */
const RULE_SINCE = '2026-11-18';

test('a migration adds, and takes away only what no process of the last release uses', () => {
  for (const migration of migrations.filter((each) => !schemas.includes(each))) {
    if (migration.contractsAfter || migration.name < RULE_SINCE) continue;
    const steps = statementsOf(migration, 'postgres');
    const made = steps.flatMap((step) => /^create table (\w+)/.exec(step)?.[1] ?? []);
    for (const step of steps) {
      assert.doesNotMatch(step, NARROWS, `${migration.name} needs contractsAfter`);
      assert.doesNotMatch(step, DEMANDS, `${migration.name}: inserts of the last release would fail`);
      const indexed = /^create (?:unique )?index \w+ on (\w+)/.exec(step)?.[1];
      assert.ok(!indexed || made.includes(indexed), `${migration.name}: list the index of ${indexed} in \`indexes\``);
    }
  }
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

eachDatabase(
  'the upgrade counts the mods and files that are there, and finds the files that wait',
  [],
  async ({ db }) => {
    const fixture = readFixture('0.2.0');
    const released = migrations.filter(({ name }) => fixture.migrations.includes(name));
    await migrate(db, released, () => 0);
    const statusOf: Readonly<Record<string, (id: number) => Row>> = {
      modfiles: (id) => ({ status: id % 2 === 0 ? 3 : 1, withdrawn: Number(id % 3 === 0) }),
      mods: (id) => ({ status: id % 4 === 3 ? 3 : 1 }),
    };
    const changed = fixture.rows.map(({ table, row }) => ({
      table,
      row: { ...row, ...statusOf[table]?.(Number(row['id'])) } as Row,
    }));
    const platforms = changed
      .filter(({ table }) => table === 'modfiles')
      .map(({ row }) => ({
        table: 'modfile_platforms',
        row: { modfile_id: row['id']!, platform: 'windows', status: 0 },
      }));
    const rows: readonly { readonly table: string; readonly row: Row }[] = [...changed, ...platforms];
    for (const { table, row } of rows) await insert(db, table, row);
    await migrate(db, migrations, () => 0);
    const inGame = (name: string, game: number): readonly Row[] =>
      rows.flatMap(({ table, row }) => (table === name && row['game_id'] === game && row['status'] !== 3 ? [row] : []));
    const usage = await db.query.selectFrom('game_usage').selectAll().execute();
    assert.ok(usage.some(({ mods, bytes }) => Number(mods) > 0 && Number(bytes) > 0));
    for (const { game_id, mods, bytes } of usage) {
      const files = inGame('modfiles', game_id);
      const expected = [inGame('mods', game_id).length, files.reduce((sum, { filesize }) => sum + Number(filesize), 0)];
      assert.deepEqual([Number(mods), Number(bytes)], expected);
    }
    const ofTable = (name: string) => rows.flatMap(({ table, row }) => (table === name ? [row] : []));
    const isDeleted = (modId: unknown) => ofTable('mods').some(({ id, status }) => id === modId && status === 3);
    const shown = ofTable('modfiles').filter(
      ({ status, withdrawn, mod_id }) => status === 1 && withdrawn === 0 && !isDeleted(mod_id),
    );
    const pending = platforms.flatMap(({ row }) => (shown.some(({ id }) => id === row.modfile_id) ? [row] : []));
    assert.ok(pending.length > 0);
    const waiting = await db.query.selectFrom('waiting_files').select(['modfile_id', 'platform']).execute();
    const named = (each: Row) => `${each['modfile_id']}/${each['platform']}`;
    assert.deepEqual(waiting.map(named).sort(), pending.map(named).sort());
  },
);

eachDatabase('after the upgrade a mod that is live on a platform only shows that file to all', [], async ({ db }) => {
  const fixture = readFixture('0.2.0');
  const released = migrations.filter(({ name }) => fixture.migrations.includes(name));
  await migrate(db, released, () => 0);
  for (const { table, row } of fixture.rows) await insert(db, table, row);
  const rowOf = (name: string) => fixture.rows.find(({ table }) => table === name)!.row;
  const { modfile_id, body } = rowOf('modfile_documents');
  const mod_id = Number(rowOf('mod_cards')['mod_id']);
  await db.write(async ({ query }) => {
    await query.deleteFrom('mod_live_files').where('mod_id', '=', mod_id).execute();
    await query.updateTable('mod_cards').set({ file_id: null, file_body: null }).where('mod_id', '=', mod_id).execute();
  });
  await insert(db, 'mod_live_files', { mod_id, platform: 'linux', modfile_id: modfile_id! });
  await migrate(db, migrations, () => 0);
  const shown = db.query.selectFrom('mod_live_files').select('modfile_id').where('mod_id', '=', mod_id);
  assert.deepEqual(await shown.where('platform', '=', '').execute(), [{ modfile_id }]);
  const card = db.query.selectFrom('mod_cards').select(['file_id', 'file_body']).where('mod_id', '=', mod_id);
  assert.deepEqual(await card.executeTakeFirstOrThrow(), { file_id: modfile_id, file_body: body });
});
