import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { type Database, statement } from './database.ts';
import { isUnavailable } from './failures.ts';
import { openSqlite } from './sqlite.ts';

const folder = mkdtempSync(join(tmpdir(), 'modstead-sqlite-'));
const file = join(folder, 'a.sqlite');
const db = openSqlite(file);
after(async () => {
  await db.close();
  rmSync(folder, { recursive: true, force: true });
});

const MAKE = statement('create table numbers (n integer not null, filler text not null)');
const ADD = statement('insert into numbers (n, filler) values (?, ?)');
const LAST = statement('select max(n) as n from numbers');
await db.write(async (transaction) => transaction.run(MAKE, []));
await db.write(async (transaction) => transaction.run(ADD, [0, '']));

const add = (to: Database, n: number, filler = '') =>
  to.write(async (transaction) => transaction.run(ADD, [n, filler]));
const last = async (from: Database = db) => (await from.first<{ n: number }>(LAST, []))!.n;

test('a read sees the latest write, even in an event-loop tick that has read before', async () => {
  for (let n = 1; n <= 100; n += 1) {
    const before = last();
    await Promise.all([add(db, n), last()]);
    assert.equal(await last(), n);
    assert.equal(await before, n - 1);
  }
});

test('a read sees the writes of another process in the next tick', async () => {
  const other = openSqlite(file);
  for (let n = 1_001; n <= 1_020; n += 1) {
    await last();
    await add(other, n);
    await new Promise((turn) => setImmediate(turn));
    assert.equal(await last(), n);
  }
  await other.close();
});

test('a read sees the write of another process as soon as it was announced, in a tick that has read before', async () => {
  const other = new DatabaseSync(file);
  const read = () => (db.first(LAST, []) as { n: number }).n;
  assert.equal(read(), 1_020);
  other.exec(`insert into numbers (n, filler) values (1030, '')`);
  assert.equal(read(), 1_020);
  db.changes.changed('numbers');
  assert.equal(read(), 1_030);
  other.close();
});

test('the WAL restarts although readers read in every tick', async () => {
  const MEGABYTE = 1_048_576;
  const filler = 'x'.repeat(MEGABYTE);
  let isWriting = true;
  const reading = (async () => {
    for (; isWriting; await new Promise((turn) => setImmediate(turn))) await last();
  })();
  for (let n = 2_001; n <= 2_080; n += 1) await add(db, n, filler);
  isWriting = false;
  await reading;
  const log = statSync(`${file}-wal`).size;
  assert.ok(log < 40 * MEGABYTE, `${log} bytes after 80 MiB were written`);
});

test('writes fail as disk-full when a commit has no space, and succeed when there is space again', async () => {
  const pages = (count: number) =>
    db.write(async (transaction) => transaction.run(statement(`pragma max_page_count = ${count}`), []));
  const before = await last();
  await pages(1);
  const outcomes = await Promise.allSettled([add(db, before + 1), add(db, before + 2, 'x'.repeat(1_048_576))]);
  for (const outcome of outcomes) {
    assert.equal(outcome.status, 'rejected');
    assert.equal((outcome.reason as { errcode: number }).errcode, 13);
  }
  assert.equal(await last(), before);
  await pages(1_000_000);
  await Promise.all([add(db, before + 1), add(db, before + 2)]);
  assert.equal(await last(), before + 2);
});

test('the log of the database has a ceiling while another process reads, and is shortened after it', async () => {
  const walBytesMax = 4 * 1024 ** 2;
  const small = openSqlite(join(folder, 'b.sqlite'), { walBytesMax });
  const wal = () => statSync(join(folder, 'b.sqlite-wal')).size;
  await small.write(async (transaction) => transaction.run(MAKE, []));
  const reader = new DatabaseSync(join(folder, 'b.sqlite'));
  reader.exec('begin; select * from numbers');
  const filler = 'x'.repeat(100_000);
  const writing = async () => {
    for (let n = 0; n < 500; n += 1) await add(small, n, filler);
  };
  await assert.rejects(writing(), isUnavailable);
  assert.ok(wal() < 2 * walBytesMax, `${wal()} bytes`);
  reader.exec('commit');
  await add(small, 1);
  assert.ok(wal() < walBytesMax, `${wal()} bytes`);
  reader.close();
  await small.close();
});

test('a scrub finds a damaged page, and says nothing about a sound file', async () => {
  const path = join(folder, 'c.sqlite');
  const first = openSqlite(path);
  await first.write(async (transaction) => transaction.run(MAKE, []));
  for (let n = 0; n < 50; n += 1) await add(first, n, 'x'.repeat(3_000));
  assert.deepEqual(await first.scrub(), []);
  await first.close();
  const bytes = readFileSync(path);
  bytes.fill(0xff, 3 * 4_096, 3 * 4_096 + 64);
  writeFileSync(path, bytes);
  const damaged = openSqlite(path);
  assert.notDeepEqual(await damaged.scrub(), []);
  await damaged.close();
});

test('closing the database ends its scrub', async () => {
  const closed = openSqlite(join(folder, 'd.sqlite'));
  await closed.write(async (transaction) => transaction.run(MAKE, []));
  const scrub = assert.rejects(closed.scrub(), { name: 'AbortError' });
  await closed.close();
  await scrub;
});
