import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { composeWorker } from '../src/composition/compose.ts';
import { storedObjects } from '../src/composition/resources.ts';
import { storageKeyOf } from '../src/files/modfiles/bytes.ts';
import { getModfile } from '../src/files/modfiles/operations.ts';
import { getMultipartUploadSessions } from '../src/files/uploads/operations.ts';
import { takeInventory } from '../src/platform/storage/inventory.ts';
import { type Api, type Mod, startApi } from './api.ts';
import { type Ended, runHere, settingsOf } from './commands.ts';
import { startS3 } from './s3.ts';
import { aSession, someBytes } from './uploads.ts';

const HOUR = 3_600;
const s3 = await startS3();
after(() => s3.stop());
const services = {
  'local disk': await startApi({ settings: { MODSTEAD_JOBS: 'off' }, filesOnDisk: true }),
  S3: await startApi({ settings: { MODSTEAD_JOBS: 'off', MODSTEAD_STORAGE_URL: s3.url } }),
};

async function look(api: Api, { repair = false, verify = false } = {}) {
  const { found } = await takeInventory(api.app(), storedObjects, { repair, verify });
  return found.map(({ trouble, key, repaired }) => [trouble, key, repaired] as const);
}

const shown = async (api: Api, mod: Mod, file: { id: number }) => {
  const client = await api.as(await api.aUser());
  return (await client.call(getModfile, { params: { ...paramsOf(mod), file_id: file.id } })).status === 200;
};

const paramsOf = (mod: Mod) => ({ game_id: mod.game_id, mod_id: mod.id });

for (const [name, api] of Object.entries(services))
  describe(name, () => {
    const { storage } = api.app();

    test('the check finds nothing if rows and files agree', async () => {
      await api.aFile(await api.aMod());
      const session = await aSession(api);
      await session.put(someBytes());
      await storage.put('incoming/now', Buffer.from('under way'));
      assert.deepEqual(await look(api, { verify: true }), []);
      await session.complete();
      assert.deepEqual(await look(api, { verify: true }), []);
    });

    test('the check reports a modfile without content, and --repair withdraws it', async () => {
      const mod = await api.aMod();
      const file = await api.aFile(mod);
      const key = storageKeyOf(file.sha256);
      await storage.remove(key);
      assert.deepEqual(await look(api), [['missing', key, false]]);
      assert.equal(await shown(api, mod, file), true);
      assert.deepEqual(await look(api, { repair: true }), [['missing', key, true]]);
      assert.equal(await shown(api, mod, file), false);
      assert.deepEqual(await look(api), []);
    });

    test('content of another length is damaged; --verify also finds other content of the same length', async () => {
      const [short, changed] = [await api.aFile(await api.aMod()), await api.aFile(await api.aMod())];
      const [shortKey, changedKey] = [storageKeyOf(short.sha256), storageKeyOf(changed.sha256)];
      await storage.put(shortKey, Buffer.from('short'));
      await storage.put(changedKey, Buffer.alloc((await storage.stat(changedKey))!.bytes, 'x'));
      assert.deepEqual(await look(api), [['damaged', shortKey, false]]);
      const found = await look(api, { verify: true, repair: true });
      assert.deepEqual(
        found.toSorted(),
        [['damaged', shortKey, true] as const, ['damaged', changedKey, true] as const].sort(),
      );
      assert.deepEqual(await look(api, { verify: true }), []);
    });

    test('a job removes content that no row names, unless a row names it by then', async () => {
      const worker = composeWorker(api.app());
      const left = storageKeyOf('ab'.repeat(32));
      await storage.put(left, Buffer.from('left'));
      assert.deepEqual(await look(api), [['left over', left, false]]);
      assert.deepEqual(await look(api, { repair: true }), [['left over', left, true]]);
      assert.ok(await storage.stat(left));
      const live = await api.aFile(await api.aMod());
      api.clock.advance(HOUR);
      await worker.runDue();
      assert.equal(await storage.stat(left), undefined);
      assert.ok(await storage.stat(storageKeyOf(live.sha256)));
    });

    test('a job removes images that no row names', async () => {
      const worker = composeWorker(api.app());
      const key = `images/${'0'.repeat(32)}-logo/original.png`;
      await storage.put(key, Buffer.from('left'));
      assert.deepEqual(await look(api, { repair: true }), [['left over', key, true]]);
      api.clock.advance(HOUR);
      await worker.runDue();
      assert.equal(await storage.stat(key), undefined);
    });

    test('a complete upload without content is cancelled, and content without an upload is removed', async () => {
      const session = await aSession(api);
      await session.put(someBytes());
      await session.complete();
      await storage.remove(`uploads/${session.id}`);
      await storage.put('uploads/none', Buffer.from('left'));
      const found = (await look(api, { repair: true })).toSorted();
      assert.deepEqual(found, [
        ['left over', 'uploads/none', true],
        ['missing', `uploads/${session.id}`, true],
      ]);
      const { body } = await session.client.call(getMultipartUploadSessions, { params: paramsOf(session.mod) });
      assert.deepEqual(
        body.data.map(({ status }) => status),
        [4],
      );
      assert.deepEqual(await look(api), []);
    });

    test('unknown objects are reported and not touched', async () => {
      await storage.put('elsewhere/1', Buffer.from('x'));
      assert.deepEqual(await look(api, { repair: true }), [['unknown', 'elsewhere/1', false]]);
      await storage.remove('elsewhere/1');
    });

    test('the command prints its findings, and its exit code shows whether any remain', async () => {
      const file = await api.aFile(await api.aMod());
      const key = storageKeyOf(file.sha256);
      await storage.remove(key);
      const first = await run(api, ['--json']);
      assert.equal(first.code, 1, first.err);
      assert.deepEqual(JSON.parse(first.out).found, [
        { trouble: 'missing', key, owner: `file ${file.id} of mod ${await modOf(api, file)}`, repaired: false },
      ]);
      const second = await run(api, ['--repair']);
      assert.equal(second.code, 0, second.err);
      assert.match(second.out, new RegExp(`✓ missing +${key}`));
      assert.match((await run(api, ['--verify'])).out, /^All is well\./);
    });
  });

async function modOf(api: Api, { id }: { id: number }): Promise<number> {
  const query = api.app().db.query.selectFrom('modfiles').select('mod_id').where('id', '=', id);
  return (await query.executeTakeFirstOrThrow()).mod_id;
}

const run = (api: Api, args: readonly string[]): Promise<Ended> =>
  runHere(['storage', 'check', ...args], settingsOf(api));
