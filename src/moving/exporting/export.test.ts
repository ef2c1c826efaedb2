// Runs alone: it starts programs, which end with its process.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { startApi } from '../../../test/api.ts';
import { assertRefusal, runHere, settingsOf } from '../../../test/commands.ts';
import { failureOf } from '../../commands/failure.ts';
import { personalData, tableTreatments } from '../../composition/resources.ts';
import { linesOf } from '../archive/lines.ts';
import type { Sink } from '../archive/sink.ts';
import { referencesOf } from '../tables/references.ts';
import { schemaOf } from '../tables/schema.ts';
import { treatmentOf } from '../tables/treatments.ts';
import { exportArchive } from './export.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
const folder = mkdtempSync(join(tmpdir(), 'modstead-export-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const { databaseUrl } = api.app().settings;
const served = settingsOf(api);
const run = (...args: string[]) => runHere(args, served);

/** All rows of a kind. */
function rowsIn(archive: string, kind: string): Record<string, unknown>[] {
  const names = readdirSync(join(archive, 'rows')).filter((name) => name.startsWith(`${kind}.`));
  return names.flatMap((name) =>
    readFileSync(join(archive, 'rows', name), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  );
}

test('every table is exported, rebuilt, or left for a reason', async () => {
  const schema = await schemaOf(api.app().db);
  const tables = [...schema.keys()].filter((name) => name !== 'user_cards');
  const treated = tableTreatments.map(([name]) => name).filter((name) => name !== 'user_cards');
  assert.deepEqual(treated, [...new Set(treated)], 'a table is in the manifests of two resources');
  for (const name of tables)
    assert.ok(
      treated.includes(name),
      `${name}: say in the manifest of its resource ("tables") what an archive does with it`,
    );
  for (const name of treated) assert.ok(schema.has(name), `${name} is treated, but does not exist`);
});

/** Columns with names like references that name no row of the archive. */
const NO_REFERENCES =
  /\b(?:name_id|portal_id|session_id|order_id|gateway_uuid|audit_head\.last_id|message_members\.last_read_id|s2s_transactions\.client_id)$/;

test('the table behind every reference of an exported column is known', async () => {
  const schema = await schemaOf(api.app().db);
  const references = referencesOf(schema, personalData);
  for (const { name, columns } of schema.values()) {
    if (!('moved' in treatmentOf(name)!)) continue;
    for (const column of columns) {
      const place = `${name}.${column.name}`;
      if (!/_(?:id|by|into)$/.test(column.name) || NO_REFERENCES.test(place)) continue;
      assert.ok(references.get(name)?.has(column.name), `${place}: add it to "refers" of its treatment`);
    }
  }
});

test('an archive contains rows and files of one snapshot, no secrets, and is verified by digests and a signature', async () => {
  const game = await api.aGame({ name: 'Exported Game' });
  const mod = await api.aMod({ game, name: 'Exported Mod' });
  const file = await api.aFile(mod);
  const archive = join(folder, 'whole');
  const exported = await run('export', archive, '--json');
  assert.equal(exported.code, 0, exported.err);
  const { public_key, files } = JSON.parse(exported.out);
  assert.ok(files >= 1);
  assert.ok(rowsIn(archive, 'mods').some(({ name }) => name === 'Exported Mod'));
  const text = readdirSync(join(archive, 'rows'))
    .map((name) => readFileSync(join(archive, 'rows', name), 'utf8'))
    .join('');
  for (const secret of [game.api_key, api.app().secrets.digest(game.api_key)]) assert.ok(!text.includes(secret));
  assert.ok(text.includes(file.sha256));

  const verified = await run('export', 'verify', archive, `--key=${public_key}`, '--json');
  assert.equal(verified.code, 0, verified.err);
  for (const other of ['other', '-other'])
    assertRefusal(await run('export', 'verify', archive, '--key', other), 1, /signed by/);

  const tar = join(folder, 'whole.tar');
  assert.equal((await run('export', tar)).code, 0);
  const inTar = await run('export', 'verify', tar, '--json');
  assert.equal(inTar.code, 0, inTar.err);
  assert.deepEqual(JSON.parse(inTar.out), JSON.parse(verified.out));
  assertRefusal(await run('export', tar), 1, /already exists/);

  const manifest = readFileSync(join(archive, 'manifest.json'), 'utf8');
  writeFileSync(join(archive, 'manifest.json'), manifest.replace('"version": 1', '"version":  1'));
  assertRefusal(await run('export', 'verify', archive), 1, /signature is wrong/);
  writeFileSync(join(archive, 'manifest.json'), manifest);
  const [part] = readdirSync(join(archive, 'rows')).filter((name) => name.startsWith('mods.'));
  writeFileSync(join(archive, 'rows', part!), '{}\n');
  assertRefusal(await run('export', 'verify', archive), 1, /rows\/mods\S+ is damaged/);
});

test('the archive of a game contains that game alone, and of people what everyone may see', async () => {
  const email = 'someone@example.com';
  const owner = await api.aUser({ email });
  const game = await api.aGame({ owner });
  const mod = await api.aMod({ game, owner });
  const other = await api.aMod();
  const archive = join(folder, 'game');
  assert.equal((await run('export', archive, '--game', String(game.id))).code, 0);
  assert.deepEqual(
    rowsIn(archive, 'games').map(({ id }) => id),
    [game.id],
  );
  assert.deepEqual(
    rowsIn(archive, 'mods').map(({ id }) => id),
    [mod.id],
  );
  assert.deepEqual(
    rowsIn(archive, 'users').map(({ id, email: address }) => [id, address]),
    [[owner.id, null]],
  );
  assert.ok(!rowsIn(archive, 'team_members').some(({ resource_id }) => resource_id === other.id));
  const withPeople = join(folder, 'game-with-people');
  assert.equal((await run('export', withPeople, '--game', String(game.id), '--with-people')).code, 0);
  assert.deepEqual(
    rowsIn(withPeople, 'users').map((row) => row['email']),
    [email],
  );
  assertRefusal(await run('export', join(folder, 'none'), '--game', '999999'), 1, /no game 999999/);
});

test('a line that no row can have, or a name that leaves the archive, is refused', async () => {
  const endless = (async function* () {
    for (;;) yield Buffer.alloc(1024 ** 2, 'a');
  })();
  await assert.rejects(Array.fromAsync(linesOf('rows/mods.jsonl', endless)), /line 1 .* longer than/);
  const path = join(folder, 'evil.tar');
  assert.equal((await run('export', path)).code, 0);
  const bytes = readFileSync(path);
  for (const name of ['../../etc/passwd', '/etc/passwd', 'files/../../x', 'rows/../x.jsonl']) {
    const changed = Buffer.from(bytes);
    changed.fill(0, 0, 100);
    changed.write(name, 0);
    const evil = join(folder, 'changed.tar');
    writeFileSync(evil, changed);
    assertRefusal(await run('export', 'verify', evil), 1, /cannot be used: it contains the name/);
  }
});

/** A sink that keeps nothing, and does something before each part. */
const sinkThat = (before: (name: string) => Promise<void>): Sink => ({
  add: async (name, _, content) => {
    await before(name);
    for await (const _chunk of content);
    return '';
  },
  finish: async () => {},
  abandon: async () => {},
});

const EXPORTING = sql<{ pid: number }>`select pid from pg_stat_activity
  where datname = current_database() and application_name = 'modstead export'`;

test('while files are copied, no transaction of an export keeps the database from cleaning up', async () => {
  const app = api.app();
  await api.aFile(await api.aMod());
  let files = 0;
  const sink = sinkThat(async (name) => {
    if (!name.startsWith('files/')) return;
    files += 1;
    if (app.db.dialect === 'postgres') return assert.deepEqual((await EXPORTING.execute(app.db.query)).rows, []);
    const db = new DatabaseSync(join(api.folder, 'production', 'modstead.sqlite'));
    const { busy } = db.prepare('pragma wal_checkpoint(truncate)').get() as { busy: number };
    db.close();
    assert.equal(busy, 0, 'a reader keeps the log');
  });
  await exportArchive(app, sink, { game: undefined, people: true });
  assert.ok(files > 0);
});

test('an export outlasts the timeouts of the server, and tells if its connection is lost', async (t) => {
  const { db } = api.app();
  if (db.dialect !== 'postgres') return t.skip('SQLite has no sessions');
  const name = new URL(databaseUrl!).pathname.slice(1);
  const timeouts = ['statement_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout'];
  for (const timeout of timeouts) await sql.raw(`alter database ${name} set ${timeout} = '100ms'`).execute(db.query);
  t.after(async () => {
    for (const timeout of timeouts) await sql.raw(`alter database ${name} reset ${timeout}`).execute(db.query);
  });
  let isSlow = true;
  const slow = sinkThat(async () => {
    if (isSlow) await sql`select pg_sleep(0.3)`.execute(db.query);
    isSlow = false;
  });
  const { rows } = await exportArchive(api.app(), slow, { game: undefined, people: true });
  assert.ok(rows > 0);
  const losing = sinkThat(async () => {
    await sql`select pg_terminate_backend(pid, 10000) from (${EXPORTING}) exporting`.execute(db.query);
  });
  await assert.rejects(exportArchive(api.app(), losing, { game: undefined, people: true }), (error) => {
    assert.match(failureOf(error, served).text, /^PostgreSQL closed the connection/);
    return true;
  });
});
