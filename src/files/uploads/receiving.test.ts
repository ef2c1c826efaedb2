import assert from 'node:assert/strict';
import { mkdir, open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Client, startApi } from '../../../test/api.ts';
import { aSession, hashOf, rangeOf, type Session, someBytes } from '../../../test/uploads.ts';
import { anotherService, requestOf, Wire } from '../../../test/wire.ts';
import { getMod } from '../../catalogue/mods/operations.ts';
import { composeWorker } from '../../composition/compose.ts';
import { REMEMBERED_SECONDS } from './expiry.ts';
import {
  addMultipartUploadPart,
  completeMultipartUploadSession,
  createMultipartUploadSession,
  deleteMultipartUploadSession,
  getMultipartUploadSessions,
} from './operations.ts';
import * as store from './store.ts';
import { requireCompleteUpload } from './uploads.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' }, filesOnDisk: true });
const { db, storage } = api.app();

const takeable = ({ mod, id }: Session) =>
  requireCompleteUpload(db, { kind: 'user', userId: mod.owner.id } as never, mod.id, id);
const handleOf = async ({ id }: Session) => (await store.byUploadId(db, id))!.handle!;
const partialOf = async (session: Session) =>
  join(api.folder, 'production', 'files', '.parts', `uploads+${session.id}~${await handleOf(session)}`);
const cancel = ({ client, input }: Session) => client.call(deleteMultipartUploadSession, input);

async function until(found: () => Promise<unknown>): Promise<void> {
  while (!(await found())) await new Promise((resolve) => setImmediate(resolve));
}

/** The claim of the first part. */
const holderOf = async ({ id }: Session) => (await store.partOf(db, id, 1))?.claim ?? undefined;

/** A request that has sent half of its part, and has claimed it. */
async function sendingHalf(session: Session, bytes: Buffer, port = api.port): Promise<Wire> {
  const wire = await Wire.open(api, { port });
  const before = await holderOf(session);
  const headers = {
    Authorization: `Bearer ${session.client.token}`,
    'Content-Range': rangeOf(0, bytes.length, bytes.length),
    'Content-Length': String(bytes.length),
  };
  wire.write(requestOf(`PUT ${session.target}`, headers, bytes.subarray(0, bytes.length / 2)));
  await until(async () => ![before, undefined].includes(await holderOf(session)));
  return wire;
}

const restOf = (bytes: Buffer) => bytes.subarray(bytes.length / 2);

/** Every file handle shares one prototype, so its methods can be made to fail like a disk. */
async function breakDisk(t: TestContext, method: 'write' | 'datasync' | 'sync', code: string) {
  const handle = await open(import.meta.filename, 'r');
  const prototype = Object.getPrototypeOf(handle);
  await handle.close();
  return t.mock.method(prototype, method, async () => {
    throw Object.assign(new Error(`${code}: broken disk`), { code });
  });
}

test('a session cannot be completed while a part is being received', async () => {
  const session = await aSession(api);
  const bytes = someBytes();
  const wire = await sendingHalf(session, bytes);
  assert.deepEqual(await session.partNumbers(), []);
  await session.client.refused(completeMultipartUploadSession, session.input, 400, 29023);
  assert.equal((await wire.write(restOf(bytes)).answer()).status, 200);
  assert.equal((await session.complete()).status, 200);
  assert.equal((await takeable(session)).sha256, hashOf('sha256', bytes));
});

test('of two requests that send a part the newer wins, and the older gets an error before its end', async () => {
  const session = await aSession(api);
  const [lost, bytes] = [someBytes(), someBytes()];
  const wire = await sendingHalf(session, lost);
  assert.equal((await session.put(bytes)).status, 200);
  assert.equal((await wire.answer()).ref, 29015);
  await session.complete();
  assert.equal((await takeable(session)).sha256, hashOf('sha256', bytes));
});

test('the newer request wins also if it reaches another process', async (t) => {
  const other = await anotherService(api);
  t.after(() => other.stop());
  const session = await aSession(api);
  const [lost, bytes] = [someBytes(), someBytes()];
  const older = await sendingHalf(session, lost, other.port);
  assert.equal((await session.put(bytes)).status, 200);
  assert.equal((await older.answer()).ref, 29015);
  await session.complete();
  assert.equal((await takeable(session)).sha256, hashOf('sha256', bytes));
});

test('when 16 requests send different bytes for a part, the file has the acknowledged ones', async () => {
  const session = await aSession(api);
  const sent = Array.from({ length: 16 }, () => someBytes());
  const answers = await Promise.all(sent.map((bytes) => session.put(bytes)));
  const kept = sent.filter((_, i) => answers[i]!.status === 200);
  assert.equal(kept.length, 1);
  assert.equal((await session.complete()).status, 200);
  assert.equal((await takeable(session)).sha256, hashOf('sha256', kept[0]!));
});

test('when 16 requests send the same part, only those that a newer one replaced are refused', async () => {
  const session = await aSession(api);
  const bytes = someBytes();
  const answers = await Promise.all(Array.from({ length: 16 }, () => session.put(bytes)));
  for (const { status, text } of answers) assert.ok(status === 200 || text.includes('29015'), text);
  assert.ok(answers.some(({ status }) => status === 200));
  assert.deepEqual(await session.partNumbers(), [1]);
});

test('a client that disconnects leaves no part, and does not block the next attempt', async () => {
  const session = await aSession(api);
  const bytes = someBytes();
  const wire = await sendingHalf(session, bytes);
  await wire.close();
  await until(async () => !(await holderOf(session)));
  assert.deepEqual(await session.partNumbers(), []);
  assert.equal((await session.put(bytes)).status, 200);
});

test('a part can be sent again after its process ended', async () => {
  const session = await aSession(api);
  const dead = { upload_id: session.id, part_number: 1, claim: 'dead', claim_until: api.clock.now() };
  const part = { start: 0, bytes: 100, sha256: null, tag: '', date_added: 0 };
  await db.write(({ query }) => store.claimPart(query, { ...dead, ...part }));
  assert.equal((await session.put(someBytes())).status, 200);
});

test('cancelling a session aborts the requests that send parts, and leaves no bytes', async () => {
  const session = await aSession(api);
  const wire = await sendingHalf(session, someBytes());
  const partial = await partialOf(session);
  assert.equal((await cancel(session)).status, 204);
  assert.equal((await wire.answer()).ref, 29004);
  await assert.rejects(open(partial, 'r'), { code: 'ENOENT' });
});

test('of 16 requests that complete a session one does', async () => {
  const session = await aSession(api);
  await session.put(someBytes());
  const answers = await Promise.all(Array.from({ length: 16 }, () => session.complete()));
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  for (const { status, text } of answers) assert.ok(status === 200 || /2900[23]/.test(text), text);
});

test('of concurrent completion and cancellation one wins, and the bytes exist only after completion', async () => {
  for (let i = 0; i < 4; i += 1) {
    const session = await aSession(api);
    await session.put(someBytes());
    const [completed, cancelled] = await Promise.all([session.complete(), cancel(session)]);
    assert.notEqual(completed.status === 200, cancelled.status === 204, `${completed.text} ${cancelled.text}`);
    assert.equal((await storage.stat(`uploads/${session.id}`)) !== undefined, completed.status === 200);
  }
});

/** Pauses completion before or after its work. */
function pause(t: TestContext, moment: 'before' | 'after') {
  const { promise, resolve } = Promise.withResolvers<void>();
  const mocked = api.apps().map(({ storage: { assemblies } }) => {
    const finish = assemblies.finish.bind(assemblies);
    return t.mock.method(assemblies, 'finish', async (...[assembly, parts, begun]: Parameters<typeof finish>) => {
      if (moment === 'before') await promise;
      return finish(assembly, parts, async () => {
        await begun?.();
        await promise;
      });
    });
  });
  const restore = () => {
    for (const { mock } of mocked) mock.restore();
  };
  return { resolve, restore };
}

for (const [moment, status] of [
  ['before', 1],
  ['after', 2],
] as const)
  test(`while a session ${status === 1 ? 'waits to be processed' : 'is processed'}, it is closed`, async (t) => {
    const session = await aSession(api);
    await session.put(someBytes());
    const paused = pause(t, moment);
    const completing = session.complete();
    const params = session.input.params;
    const shown = async () => (await session.client.call(getMultipartUploadSessions, { params })).body.data[0]!.status;
    await until(async () => (await shown()) === status);
    await session.client.refused(addMultipartUploadPart, session.part(someBytes()), 400, 29003);
    await session.client.refused(completeMultipartUploadSession, session.input, 400, 29003);
    await session.client.refused(deleteMultipartUploadSession, session.input, 400, 29020);
    paused.resolve();
    assert.deepEqual((await completing).body, { upload_id: session.id, status: 3 });
    paused.restore();
  });

test('the next request repeats processing that ended with its process', async () => {
  const session = await aSession(api);
  const bytes = someBytes();
  await session.put(bytes);
  const row = (await store.byUploadId(db, session.id))!;
  await db.write(({ query }) =>
    store.change(query, row.id, { status: 2, claim: 'dead', claim_until: api.clock.now() }),
  );
  assert.equal((await session.complete()).status, 200);
  assert.equal((await takeable(session)).sha256, hashOf('sha256', bytes));
});

test('a process that ended after moving the file and before recording it does no harm', async () => {
  const session = await aSession(api);
  const bytes = someBytes();
  await session.put(bytes);
  const parts = [{ number: 1, start: 0, bytes: 100, sha256: hashOf('sha256', bytes), tag: '' }];
  await storage.assemblies.finish({ key: `uploads/${session.id}`, handle: await handleOf(session) }, parts);
  assert.equal((await session.complete()).status, 200);
  assert.equal((await takeable(session)).md5, hashOf('md5', bytes));
});

test('on a full disk a part is refused with 507, reads continue, and uploads work again when there is space', async (t) => {
  const session = await aSession(api);
  for (const code of ['ENOSPC', 'EDQUOT']) {
    const broken = await breakDisk(t, 'write', code);
    await session.client.refused(addMultipartUploadPart, session.part(someBytes()), 507, 29018);
    assert.deepEqual(await session.partNumbers(), []);
    assert.equal((await session.client.call(getMod, { params: session.input.params })).status, 200);
    broken.mock.restore();
  }
  assert.equal((await session.put(someBytes())).status, 200);
  assert.equal((await session.complete()).status, 200);
});

test('a part that could not be written durably is not acknowledged', async (t) => {
  const session = await aSession(api);
  for (const method of ['write', 'datasync'] as const) {
    const broken = await breakDisk(t, method, 'EIO');
    await session.client.refused(addMultipartUploadPart, session.part(someBytes()), 500, 29018);
    broken.mock.restore();
  }
  assert.deepEqual(await session.partNumbers(), []);
  assert.equal((await session.put(someBytes())).status, 200);
});

test('a session that the storage cannot begin is removed', async (t) => {
  const mod = await api.aMod();
  const client: Client = await api.as(mod.owner);
  const params = { game_id: mod.game_id, mod_id: mod.id };
  for (const [code, status] of [
    ['EIO', 500],
    ['ENOSPC', 507],
  ] as const) {
    const broken = await breakDisk(t, 'sync', code);
    const input = { params, body: { filename: 'a.zip', nonce: 'n' } };
    await client.refused(createMultipartUploadSession, input, status, 29016);
    broken.mock.restore();
  }
  assert.equal((await client.call(getMultipartUploadSessions, { params })).body.result_total, 0);
  assert.equal((await (await aSession(api, { mod, client, nonce: 'n' })).put(someBytes())).status, 200);
});

test('the first part reserves room for the whole file, and the database’s reserve is left free', async (t) => {
  const full = await startApi({ settings: { MODSTEAD_FREE_MB: '1000000000' } });
  const mod = await full.aMod();
  const input = { params: { game_id: mod.game_id, mod_id: mod.id }, body: { filename: 'a.zip' } };
  await (await full.as(mod.owner)).refused(createMultipartUploadSession, input, 507, 29016);

  const outstanding = await db.write((transaction) => store.outstandingBytes(transaction));
  for (const each of api.apps()) t.mock.method(each.storage, 'room', async () => outstanding + 60_000_000);
  const [first, second] = [await aSession(api), await aSession(api)];
  const whole = someBytes(52_428_800 + 100);
  assert.equal((await first.put(whole, 2)).status, 200);
  await second.client.refused(addMultipartUploadPart, second.part(whole, 2), 507, 29018);
  await cancel(first);
  assert.equal((await second.put(whole, 2)).status, 200);
});

test('parts whose bytes are no longer the acknowledged ones are detected, and can be sent again', async () => {
  const session = await aSession(api);
  const bytes = someBytes();
  await session.put(bytes);
  const partial = await partialOf(session);
  await writeFile(partial, someBytes());
  await session.client.refused(completeMultipartUploadSession, session.input, 400, 29019);
  assert.deepEqual(await session.partNumbers(), []);
  await session.put(bytes);
  await rm(partial);
  await session.client.refused(completeMultipartUploadSession, session.input, 400, 29019);
  await session.put(bytes);
  assert.equal((await session.complete()).status, 200);
  assert.equal((await takeable(session)).sha256, hashOf('sha256', bytes));
});

test('a file that cannot be read gets an error, and the session waits until it can be', async () => {
  const session = await aSession(api);
  const bytes = someBytes();
  await session.put(bytes);
  const partial = await partialOf(session);
  await rm(partial);
  await mkdir(partial);
  await session.client.refused(completeMultipartUploadSession, session.input, 500, 29027);
  assert.deepEqual(await session.partNumbers(), [1]);
  await rm(partial, { recursive: true });
  await writeFile(partial, bytes);
  assert.equal((await session.complete()).status, 200);
});

test('bytes that could not be removed at once are removed later', async (t) => {
  const session = await aSession(api);
  await session.put(someBytes());
  const failing = api.apps().map(({ storage: { assemblies } }) =>
    t.mock.method(assemblies, 'discard', async () => {
      throw new Error('the storage is away');
    }),
  );
  assert.equal((await cancel(session)).status, 204);
  for (const { mock } of failing) mock.restore();
  const partial = await partialOf(session);
  await (await open(partial, 'r')).close();
  api.clock.advance(REMEMBERED_SECONDS + 1);
  await composeWorker(api.app()).runDue();
  await assert.rejects(open(partial, 'r'), { code: 'ENOENT' });
});
