import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { manualClock } from '../runtime/clock.ts';
import { mailToFiles } from './files.ts';
import { MailError } from './mail.ts';

async function aFolder(t: TestContext): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), 'modstead-mail-'));
  t.after(() => rm(parent, { recursive: true, force: true }));
  return join(parent, 'mail');
}

async function messagesIn(folder: string) {
  const names = (await readdir(folder)).sort();
  return Promise.all(names.map(async (name) => JSON.parse(await readFile(join(folder, name), 'utf8'))));
}

test('a message becomes one JSON file with recipient, subject, text and date', async (t) => {
  const folder = await aFolder(t);
  const mail = mailToFiles(folder, manualClock(1_700_000_000).now);
  await mail.send({ to: 'ada@example.org', subject: 'Your code', text: 'It is AB2CD.\nBye.' });
  assert.deepEqual(await messagesIn(folder), [
    { to: 'ada@example.org', subject: 'Your code', text: 'It is AB2CD.\nBye.', date: 1_700_000_000 },
  ]);
});

test('a message that is sent twice with the same id is one file', async (t) => {
  const folder = await aFolder(t);
  const mail = mailToFiles(folder, manualClock(1_700_000_000).now);
  for (const text of ['1', '2']) await mail.send({ id: 'letter-7', to: 'ada@example.org', subject: 'Hi', text });
  assert.deepEqual(
    (await messagesIn(folder)).map(({ id, text }) => [id, text]),
    [['letter-7', '2']],
  );
  await assert.rejects(mail.send({ id: '../x', to: 'ada@example.org', subject: 'Hi', text: '3' }), MailError);
});

test('file names sort by time, even within one second, and do not collide between two processes', async (t) => {
  const folder = await aFolder(t);
  const clock = manualClock(999_999_999);
  const mail = mailToFiles(folder, clock.now);
  const send = (text: string) => mail.send({ to: 'ada@example.org', subject: 'Hi', text });
  for (const text of ['1', '2', '3']) await send(text);
  clock.advance(1);
  await send('4');
  assert.deepEqual(
    (await messagesIn(folder)).map((message) => message.text),
    ['1', '2', '3', '4'],
  );
  const other = mailToFiles(folder, manualClock(999_999_999).now);
  await other.send({ to: 'ada@example.org', subject: 'Hi', text: 'from another process' });
  assert.equal((await messagesIn(folder)).length, 5);
});

test('many messages sent at once are many files and nothing else', async (t) => {
  const folder = await aFolder(t);
  const mail = mailToFiles(folder, () => 1);
  const texts = Array.from({ length: 40 }, (_, index) => String(index));
  await Promise.all(texts.map((text) => mail.send({ to: 'ada@example.org', subject: 'Hi', text })));
  assert.deepEqual(
    (await messagesIn(folder)).map((message) => message.text),
    texts,
  );
});

test('only the owner may read the messages', { skip: process.platform === 'win32' }, async (t) => {
  const folder = await aFolder(t);
  await mailToFiles(folder, () => 1).send({ to: 'ada@example.org', subject: 'Hi', text: '' });
  const [name] = await readdir(folder);
  assert.equal((await stat(folder)).mode & 0o777, 0o700);
  assert.equal((await stat(join(folder, name!))).mode & 0o777, 0o600);
});

test('a refused message leaves no file', async (t) => {
  const folder = await aFolder(t);
  const mail = mailToFiles(folder, () => 1);
  await mail.check();
  await assert.rejects(mail.send({ to: 'a@b.c\r\nBcc: d@e.f', subject: 'Hi', text: '' }), MailError);
  assert.deepEqual(await readdir(folder), []);
});

test('check throws when the folder cannot be written and leaves nothing when it can', async (t) => {
  const folder = await aFolder(t);
  await mailToFiles(folder, () => 1).check();
  assert.deepEqual(await readdir(folder), []);
  await writeFile(join(folder, 'file'), '');
  await assert.rejects(mailToFiles(join(folder, 'file', 'below'), () => 1).check());
});
