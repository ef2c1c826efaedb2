// Runs alone: it starts programs, which end with its process.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, type TestContext, test } from 'node:test';
import pg from 'pg';
import { closeApp, composeApp } from '../src/composition/compose.ts';
import { storedObjects } from '../src/composition/resources.ts';
import { readSettings } from '../src/platform/config/settings.ts';
import { createLog } from '../src/platform/runtime/log.ts';
import { systemRandom } from '../src/platform/runtime/random.ts';
import { takeInventory } from '../src/platform/storage/inventory.ts';
import { startApi } from './api.ts';
import { runHere, runProgram } from './commands.ts';
import { temporaryDatabases } from './temporary.ts';
import { zipOf } from './zips.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' }, filesOnDisk: true });
const folder = mkdtempSync(join(tmpdir(), 'modstead-backup-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const { databaseUrl, sandboxDatabaseUrl } = api.app().settings;
const served = {
  MODSTEAD_DATA: api.folder,
  ...(databaseUrl && { MODSTEAD_DATABASE_URL: databaseUrl, MODSTEAD_SANDBOX_DATABASE_URL: sandboxDatabaseUrl! }),
};

type Place = { MODSTEAD_DATA: string; MODSTEAD_DATABASE_URL?: string; MODSTEAD_SANDBOX_DATABASE_URL?: string };

/** A data folder and databases that do not exist yet. */
async function anEmptyPlace(t: TestContext, name: string): Promise<Place> {
  const place = join(folder, name);
  const { settings, drop } = await temporaryDatabases(place, { empty: true });
  t.after(drop);
  return { MODSTEAD_DATA: place, ...settings };
}

const run = (args: readonly string[], settings: NodeJS.ProcessEnv) =>
  runHere(args, { MODSTEAD_LOG: 'off', ...settings });

const filesIn = (place: string) =>
  readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => relative(place, join(each.parentPath, each.name)))
    .filter((name) => !/sqlite|incoming|\.tmp|mail/.test(name))
    .sort();

/** Every row of every table of production, as text. */
const rowsOf = ({ MODSTEAD_DATA: data, MODSTEAD_DATABASE_URL: url }: Place) =>
  url ? rowsOnPostgres(url) : rowsOnSqlite(join(data, 'production/modstead.sqlite'));

function rowsOnSqlite(file: string): Record<string, string[]> {
  const db = new DatabaseSync(file, { readOnly: true });
  const tables = db.prepare("select name from sqlite_master where type = 'table' order by name").all();
  const rows = tables.map(({ name }) => [
    name,
    db
      .prepare(`select * from "${name}"`)
      .all()
      .map((row) => JSON.stringify(row))
      .sort(),
  ]);
  db.close();
  return Object.fromEntries(rows);
}

async function rowsOnPostgres(url: string): Promise<Record<string, string[]>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const tables = await client.query(
    "select relname as name from pg_class where relkind = 'r' and relpersistence = 'p' and relnamespace = 'public'::regnamespace order by relname",
  );
  const rows: Record<string, string[]> = {};
  for (const { name } of tables.rows) {
    const found = await client.query(`select row_to_json(t)::text as line from "${name}" t`);
    rows[name] = found.rows.map(({ line }) => line).sort();
  }
  await client.end();
  return rows;
}

const file = join(folder, 'modstead.tar');
const backup = (path = file, ...more: string[]) => run(['backup', path, ...more], served);

test('a backup taken during writes restores one consistent state, row for row and byte for byte, and new rows get unused ids', async (t) => {
  const mod = await api.aMod({ summary: 'breaks\u2028of "lines"\r\n\\and \u{1f680}' });
  const large = await api.aFile(mod, { archive: zipOf({ 'large.bin': Buffer.alloc(3_000_000, 'abc') }) });
  const filesBefore = filesIn(join(api.folder, 'production/files'));
  const before = await rowsOf(served);
  const writing = new AbortController();
  const writer = (async () => {
    while (!writing.signal.aborted) await api.aFile(mod, { active: false });
  })();
  // In another process, as operators do: this one only writes.
  const saved = await runProgram(['backup', file, '--json'], { MODSTEAD_LOG: 'off', ...served });
  writing.abort();
  await writer;
  assert.equal(saved.code, 0, saved.err);
  assert.ok(JSON.parse(saved.out).files >= filesBefore.length);
  assert.equal(statSync(file).mode & 0o777, 0o600);

  const place = await anEmptyPlace(t, 'restored');
  const data = place.MODSTEAD_DATA;
  const restored = await run(['restore', file, '--json'], place);
  assert.equal(restored.code, 0, restored.err);
  for (const name of ['secret', ...filesBefore.map((each) => `production/files/${each}`)])
    assert.deepEqual(readFileSync(join(data, name)), readFileSync(join(api.folder, name)), name);
  const after = await rowsOf(place);
  assert.deepEqual(Object.keys(after), Object.keys(before));
  for (const table of ['users', 'games', 'mods', 'mod_live_files'])
    assert.deepEqual(after[table], before[table], table);
  assert.ok(after['modfiles']!.length >= before['modfiles']!.length);

  const settings = readSettings({ ...place, MODSTEAD_LOG: 'off' });
  const outside = { clock: api.clock, random: systemRandom, log: createLog('off', () => {}) };
  const app = await composeApp(settings, 'production', outside);
  const { found } = await takeInventory(app, storedObjects, { repair: false, verify: true });
  await closeApp(app);
  assert.deepEqual(
    found.filter(({ trouble }) => trouble !== 'left over'),
    [],
  );
  assert.ok(large.id);

  const added = ['user', 'add', '--email', 'next@example.com', '--username', 'next', '--json'];
  const { id } = JSON.parse((await run(added, place)).out);
  const ids = (await rowsOf(place))['users']!.map((line) => JSON.parse(line).id);
  assert.equal(ids.filter((each) => each === id).length, 1);
  assert.equal(Math.max(...ids), id);
});

if (databaseUrl)
  test('a backup is restored only into an empty PostgreSQL database', async () => {
    if (!existsSync(file)) await backup();
    const target = join(folder, 'target');
    const full = await run(['restore', file], { ...served, MODSTEAD_DATA: target });
    assert.deepEqual([full.code, /is not empty/.test(full.err), existsSync(target)], [1, true, false]);
    const other = await run(['restore', file], { MODSTEAD_DATA: target });
    assert.deepEqual([other.code, /is of a PostgreSQL database/.test(other.err)], [2, true]);
  });

test('backup does not overwrite a file, and restore does not write into an existing data folder', async () => {
  if (!existsSync(file)) await backup();
  const again = await backup();
  assert.deepEqual([again.code, /already exists/.test(again.err)], [1, true]);
  const { code, err } = await run(['restore', file], served);
  assert.deepEqual([code, /is not empty/.test(err)], [1, true]);
  assert.equal((await run(['backup'], { MODSTEAD_DATA: api.folder })).code, 2);
  assert.equal((await run(['restore', join(folder, 'none')], { ...served, MODSTEAD_DATA: join(folder, 'x') })).code, 1);
});

test('restore refuses a truncated or modified backup and leaves nothing behind', async (t) => {
  if (!existsSync(file)) await backup();
  const bytes = readFileSync(file);
  const changed = Buffer.from(bytes);
  changed.writeUInt8(changed.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1);
  const cases = { cut: bytes.subarray(0, bytes.length - 2_000), changed, other: Buffer.from('no backup') };
  for (const [name, content] of Object.entries(cases)) {
    writeFileSync(join(folder, name), content);
    const place = await anEmptyPlace(t, `data-${name}`);
    const { code, err } = await run(['restore', join(folder, name)], place);
    assert.equal(code, 1, name);
    assert.match(err, /is not a complete backup/, name);
    assert.equal(existsSync(place.MODSTEAD_DATA), false, name);
    if (place.MODSTEAD_DATABASE_URL) assert.deepEqual(await rowsOf(place), {}, name);
  }
  assert.deepEqual(
    readdirSync(folder).filter((name) => /restoring|partial/.test(name)),
    [],
  );
});
