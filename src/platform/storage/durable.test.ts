import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { ensureDirectory, writeDurably, writeTemporary } from './durable.ts';

async function aFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'modstead-durable-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test('concurrent calls create a folder and its parents', async (t) => {
  const folder = await aFolder(t);
  const paths = ['a/b/c', 'a/b/d', 'a/b', 'a/b/c'].map((path) => join(folder, path));
  await Promise.all(paths.map((path) => ensureDirectory(path)));
  for (const path of paths) assert.ok((await stat(path)).isDirectory());
});

test('a small file is replaced as a whole', async (t) => {
  const folder = await aFolder(t);
  await writeDurably(join(folder, 'file'), 'first and long');
  await writeDurably(join(folder, 'file'), 'second');
  assert.equal(await readFile(join(folder, 'file'), 'utf8'), 'second');
  assert.deepEqual(await readdir(folder), ['file']);
});

test('a failure to fill or to move leaves no file behind', async (t) => {
  const folder = await aFolder(t);
  const failing = async () => {
    throw new Error('no more');
  };
  await assert.rejects(writeTemporary(folder, failing), /no more/);
  await mkdir(join(folder, 'taken', 'by', 'a'), { recursive: true });
  await assert.rejects(writeDurably(join(folder, 'taken'), 'x'));
  assert.deepEqual(await readdir(folder), ['taken']);
});

test('only the owner may read a file with that mode', { skip: process.platform === 'win32' }, async (t) => {
  const folder = await aFolder(t);
  await writeDurably(join(folder, 'secret'), 'x', 0o600);
  assert.equal((await stat(join(folder, 'secret'))).mode & 0o777, 0o600);
});
