import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { sql } from 'kysely';
import { deleteModOperation } from '../src/catalogue/mods/operations.ts';
import { composeWorker } from '../src/composition/compose.ts';
import { migrations } from '../src/composition/migrations.ts';
import { statementsOf } from '../src/platform/database/migrate.ts';
import { startApi } from './api.ts';
import { columnsOf, FIXED, type InsertedRow, insertRow, keysOf, plainRow } from './tables.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' }, writesRows: true });
const { db } = api.app();
const columns = await columnsOf(db);
const keys = await keysOf(db);

/** Columns with names like references that are names, ids of other services, or ids of the row itself. */
const NO_REFERENCES = ['name_id', 'portal_id', 'session_id', 'order_id', 'audit_head.last_id', 'uploads.upload_id'];
const REFERENCE = /_(?:id|by|into)$/;

const references = columns.filter(
  ({ table, name }) =>
    REFERENCE.test(name) && !NO_REFERENCES.includes(name) && !NO_REFERENCES.includes(`${table}.${name}`),
);

/** The schema's reason for a column without a foreign key, by `table.column`. */
function reasons(): Map<string, string> {
  const found = new Map<string, string>();
  for (const statement of migrations.flatMap((each) => statementsOf(each, db.dialect))) {
    const [, table, altered] = /^\s*(?:create table|alter table) (\w+) (?:add column (\w+))?/.exec(statement) ?? [];
    let above = '';
    for (const line of statement.split('\n').slice(altered ? 0 : 1)) {
      const [, code = '', comment = ''] = /^([^-]*?)\s*(?:-- (.*))?$/.exec(line.trim()) ?? [];
      above = `${above} ${comment}`.trim();
      if (code === '') continue;
      const [reason] = /no key.*/.exec(above) ?? [];
      if (table && reason) found.set(`${table}.${altered ?? code.split(' ')[0]}`, reason);
      above = '';
    }
  }
  return found;
}

const unkeyed = reasons();

test('every reference has a foreign key, or the schema gives a reason', () => {
  assert.ok(references.length > 200, `${references.length} references`);
  const keyed = new Set(keys.map(({ table, column }) => `${table}.${column}`));
  for (const { table, name } of references) {
    const place = `${table}.${name}`;
    assert.ok(
      keyed.has(place) || unkeyed.has(place),
      `${place} refers to other rows: add "references <table> (id)" with a rule for deletion where the table is made, \
or the reason there ("-- no key: …", and "-- no key, stays: …" where the row outlives what it refers to)`,
    );
    assert.ok(!(keyed.has(place) && unkeyed.has(place)), `${place} has a key, and a reason to have none`);
  }
  const known = new Set(columns.map(({ table, name }) => `${table}.${name}`));
  for (const place of unkeyed.keys()) assert.ok(known.has(place), `${place} has a reason, but does not exist`);
});

/** An import replaces the agreements of an empty service, which nobody has accepted. */
const DELETED_WHILE_EMPTY = ['agreement_versions'];

/** Tables from which code deletes rows. */
function deletedFrom(): Set<string> {
  const sources = globSync('src/**/*.ts').map((file) => readFileSync(file, 'utf8'));
  const deletes = sources.flatMap((text) => [...text.matchAll(/deleteFrom\('(\w+)'|\bdelete from (\w+)/g)]);
  return new Set(deletes.map(([, built, raw]) => (built ?? raw)!));
}

test('a foreign key to rows that can be deleted has an index, because each deletion searches by it', async () => {
  const first =
    db.dialect === 'sqlite'
      ? sql<{ place: string }>`select t.name || '.' || c.name as place from sqlite_master t
          join pragma_index_list(t.name) i join pragma_index_info(i.name) c
          where t.type = 'table' and i.partial = 0 and c.seqno = 0
          union select t.name || '.' || c.name from sqlite_master t join pragma_table_info(t.name) c
          where t.type = 'table' and c.pk = 1`
      : sql<{ place: string }>`select i.indrelid::regclass::text || '.' || a.attname as place from pg_index i
          join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0] where i.indpred is null`;
  const indexed = new Set((await first.execute(db.query)).rows.map(({ place }) => place));
  const deleted = deletedFrom();
  assert.ok(deleted.has('mods') && !deleted.has('users') && !deleted.has('games'));
  for (const { table, column, parent } of keys)
    if (deleted.has(parent) && !DELETED_WHILE_EMPTY.includes(parent))
      assert.ok(indexed.has(`${table}.${column}`), `${table}.${column}: add an index that begins with it`);
});

/** An inserted row would break the hash chain of the audit log. */
const NOT_PLANTED = ['audit_log'];

test('rows that name a mod without a foreign key are deleted with the mod, unless the schema says that they stay', async () => {
  const game = await api.aGame();
  const mod = await api.aMod({ game });
  const polymorphic = new Set(columns.filter(({ name }) => name === 'resource').map(({ table }) => table));
  const ofMods = references.filter(
    ({ table, name }) =>
      unkeyed.has(`${table}.${name}`) &&
      !NOT_PLANTED.includes(table) &&
      (name === 'mod_id' || (name === 'resource_id' && polymorphic.has(table))),
  );
  assert.ok(ofMods.length > 15, `${ofMods.length} columns`);
  for (const { table, name } of ofMods) {
    const row = await plainRow(db, columns, table, (column, n) => JSON.stringify(`planted ${column} ${n}`));
    const about: InsertedRow = name === 'resource_id' ? { resource: 'mods' } : {};
    await insertRow(db, table, { ...row, ...FIXED[table], ...about, [name]: mod.id });
  }
  const owner = await api.as(mod.owner);
  const params = { game_id: game.id, mod_id: mod.id };
  assert.equal((await owner.call(deleteModOperation, { params })).status, 204);
  assert.equal((await owner.call(deleteModOperation, { params, body: { permanent: true } })).status, 204);
  await composeWorker(api.app()).runDue();
  for (const { table, name } of ofMods) {
    const place = `${table}.${name}`;
    const ofMod = name === 'resource_id' ? sql`and resource = 'mods'` : sql``;
    const left = sql`select 1 from ${sql.table(table)} where ${sql.ref(name)} = ${mod.id} ${ofMod}`;
    const isLeft = (await left.execute(db.query)).rows.length > 0;
    if (!unkeyed.get(place)!.startsWith('no key, stays'))
      assert.ok(
        !isLeft,
        `rows of ${place} are left when their mod is removed: remove them in the resource's contribution to mods \
(src/catalogue/mods/extensions.ts), or let the schema say why they stay ("-- no key, stays: …")`,
      );
  }
});
