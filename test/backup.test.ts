import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { closeApp, composeApp } from '../src/compose.ts';
import { readSettings } from '../src/config/settings.ts';
import { createLog } from '../src/log.ts';
import { systemRandom } from '../src/random.ts';
import { holdings } from '../src/resources/index.ts';
import { takeInventory } from '../src/storage/holdings.ts';
import { startApi } from './api.ts';
import { zipOf } from './zips.ts';

const ON_POSTGRES = process.env['MODSTEAD_TEST_DATABASE'] === 'postgres';
const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
const folder = mkdtempSync(join(tmpdir(), 'modstead-backup-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const cleanPath = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(MODSTEAD|NODE)_/.test(name)));
const { databaseUrl, sandboxDatabaseUrl } = api.app().settings;

function run(args: readonly string[], settings: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, ['bin/modstead.mjs', ...args], {
    env: { ...cleanPath, MODSTEAD_LOG: 'off', ...settings },
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (text) => (out += text));
  child.stderr.on('data', (text) => (err += text));
  return new Promise<{ code: number | null; out: string; err: string }>((resolve) =>
    child.on('close', (code) => resolve({ code, out, err })),
  );
}

const filesIn = (place: string) =>
  readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => relative(place, join(each.parentPath, each.name)))
    .filter((name) => !/sqlite|incoming|\.tmp|mail/.test(name))
    .sort();

/** Every row of every table, as text. */
function rowsOf(file: string): Record<string, string[]> {
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

if (ON_POSTGRES)
  test('a PostgreSQL database is left to pg_dump, and said so', async () => {
    const settings = {
      MODSTEAD_DATA: api.folder,
      MODSTEAD_DATABASE_URL: databaseUrl!,
      MODSTEAD_SANDBOX_DATABASE_URL: sandboxDatabaseUrl!,
    };
    for (const name of ['backup', 'restore']) {
      const { code, err } = await run([name, join(folder, 'postgres.tar')], settings);
      assert.equal(code, 1);
      assert.match(err, /^The database is PostgreSQL.*\n$/);
    }
  });
else {
  const file = join(folder, 'modstead.tar');
  const backup = (path = file, ...more: string[]) => run(['backup', path, ...more], { MODSTEAD_DATA: api.folder });

  test('what was saved while others wrote is restored as it was at one moment, row for row and byte for byte', async () => {
    const mod = await api.aMod();
    const kept = await api.aFile(mod, { archive: zipOf({ 'large.bin': Buffer.alloc(3_000_000, 'abc') }) });
    const filesBefore = filesIn(join(api.folder, 'production/files'));
    const before = rowsOf(join(api.folder, 'production/modstead.sqlite'));
    const writing = new AbortController();
    const writer = (async () => {
      while (!writing.signal.aborted) await api.aFile(mod, { active: false });
    })();
    const saved = await backup(file, '--json');
    writing.abort();
    await writer;
    assert.equal(saved.code, 0, saved.err);
    assert.ok(JSON.parse(saved.out).files >= filesBefore.length);
    assert.equal(statSync(file).mode & 0o777, 0o600);

    const data = join(folder, 'restored');
    const restored = await run(['restore', file, '--json'], { MODSTEAD_DATA: data });
    assert.equal(restored.code, 0, restored.err);
    for (const name of ['secret', ...filesBefore.map((each) => `production/files/${each}`)])
      assert.deepEqual(readFileSync(join(data, name)), readFileSync(join(api.folder, name)), name);
    const after = rowsOf(join(data, 'production/modstead.sqlite'));
    assert.deepEqual(Object.keys(after), Object.keys(before));
    for (const table of ['users', 'games', 'mods', 'mod_live_files'])
      assert.deepEqual(after[table], before[table], table);
    assert.ok(after['modfiles']!.length >= before['modfiles']!.length);

    const settings = readSettings({ MODSTEAD_DATA: data, MODSTEAD_LOG: 'off' });
    const outside = { clock: api.clock, random: systemRandom, log: createLog('off', () => {}) };
    const app = await composeApp(settings, 'production', outside);
    const { found } = await takeInventory(app, holdings, { repair: false, verify: true });
    await closeApp(app);
    assert.deepEqual(
      found.filter(({ trouble }) => trouble !== 'left over'),
      [],
    );
    assert.ok(kept.id);
  });

  test('a backup is not written over, and no data folder is restored into', async () => {
    if (!existsSync(file)) await backup();
    const again = await backup();
    assert.deepEqual([again.code, /is there already/.test(again.err)], [1, true]);
    const { code, err } = await run(['restore', file], { MODSTEAD_DATA: api.folder });
    assert.deepEqual([code, /is not empty/.test(err)], [1, true]);
    assert.equal((await run(['backup'], { MODSTEAD_DATA: api.folder })).code, 2);
    assert.equal((await run(['restore', join(folder, 'none')], { MODSTEAD_DATA: join(folder, 'x') })).code, 1);
  });

  test('of a backup that is cut or changed nothing is restored', async () => {
    if (!existsSync(file)) await backup();
    const bytes = readFileSync(file);
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1);
    const cases = { cut: bytes.subarray(0, bytes.length - 2_000), changed, other: Buffer.from('no backup') };
    for (const [name, content] of Object.entries(cases)) {
      writeFileSync(join(folder, name), content);
      const data = join(folder, `data-${name}`);
      const { code, err } = await run(['restore', join(folder, name)], { MODSTEAD_DATA: data });
      assert.equal(code, 1, name);
      assert.match(err, /is not a whole backup/, name);
      assert.equal(existsSync(data), false, name);
    }
    assert.deepEqual(
      readdirSync(folder).filter((name) => /restoring|partial/.test(name)),
      [],
    );
  });
}
