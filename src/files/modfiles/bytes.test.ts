import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Mod, startApi } from '../../../test/api.ts';
import { meetsRemoval } from '../../../test/removals.ts';
import { zipOf } from '../../../test/zips.ts';
import { composeWorker } from '../../composition/compose.ts';
import { announceArrival, concludeArrival, storageKeyOf } from './bytes.ts';
import { addModfileOperation, deleteModfileOperation, getModfile } from './operations.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
const app = api.app();
const worker = composeWorker(app);
const HOUR = 3_600;

const fileOf = (mod: Mod, { id }: { id: number }) => ({ game_id: mod.game_id, mod_id: mod.id, file_id: id });
const isThere = async ({ sha256 }: { sha256: string }) => (await app.storage.stat(storageKeyOf(sha256))) !== undefined;
const archive = () => zipOf({ 'a.txt': api.unique('content') });

async function remove(mod: Mod, file: { id: number }): Promise<void> {
  const answer = await (await api.as(mod.owner)).call(deleteModfileOperation, { params: fileOf(mod, file) });
  assert.equal(answer.status, 204, answer.text);
}

async function later(): Promise<void> {
  api.clock.advance(HOUR);
  await worker.runDue();
}

test('bytes are removed an hour after the last file that shares them is deleted, and not before', async () => {
  const mod = await api.aMod();
  const bytes = archive();
  const [one, two] = [
    await api.aFile(mod, { archive: bytes, active: false }),
    await api.aFile(mod, { archive: bytes, active: false }),
  ];
  const live = await api.aFile(mod);
  await remove(mod, one);
  await later();
  assert.ok(await isThere(two));
  await remove(mod, two);
  await worker.runDue();
  assert.ok(await isThere(two));
  await later();
  assert.ok(!(await isThere(two)));
  assert.ok(await isThere(live));
});

test('an identical upload before the removal keeps the bytes stored', async () => {
  const mod = await api.aMod();
  const bytes = archive();
  const first = await api.aFile(mod, { archive: bytes, active: false });
  await remove(mod, first);
  api.clock.advance(HOUR - 1);
  const again = await api.aFile(mod, { archive: bytes });
  api.clock.advance(1);
  await worker.runDue();
  await later();
  assert.ok(await isThere(again));
});

test('a removal that is due while identical bytes arrive leaves them', async () => {
  const mod = await api.aMod();
  const bytes = archive();
  const first = await api.aFile(mod, { archive: bytes, active: false });
  await remove(mod, first);
  api.clock.advance(HOUR);
  const { storage } = app;
  const { move } = storage;
  storage.move = async (from, to) => {
    await worker.runDue();
    await move.call(storage, from, to);
    await worker.runDue();
  };
  try {
    const again = await api.aFile(mod, { archive: bytes });
    await later();
    assert.ok(await isThere(again));
    assert.equal((await (await api.as(mod.owner)).call(getModfile, { params: fileOf(mod, again) })).status, 200);
  } finally {
    storage.move = move;
  }
});

test('an upload of identical bytes waits until they are removed, and brings them back', async () => {
  const mod = await api.aMod();
  const bytes = archive();
  const first = await api.aFile(mod, { archive: bytes, active: false });
  await remove(mod, first);
  api.clock.advance(HOUR);
  const { storage } = app;
  const taken = storage.remove;
  const client = await api.as(mod.owner);
  const upload = () =>
    client.call(addModfileOperation, {
      params: { game_id: mod.game_id, mod_id: mod.id },
      files: { filedata: { filename: 'a.zip', bytes } },
    });
  let uploading: ReturnType<typeof upload> | undefined;
  storage.remove = async (key) => {
    if (key === storageKeyOf(first.sha256)) {
      storage.remove = taken;
      const met = meetsRemoval(api.apps());
      uploading = upload();
      await met;
    }
    await taken.call(storage, key);
  };
  await worker.runDue();
  assert.equal((await uploading)?.status, 201);
  assert.ok(await isThere(first));
  await later();
  assert.ok(await isThere(first));
});

test('bytes of an abandoned upload are removed, and the client that resumes it afterwards gets an error', async () => {
  const bytes = archive();
  const key = `incoming/${app.random.uuid()}`;
  const stored = await app.storage.put(key, bytes);
  const target = storageKeyOf(stored.sha256);
  const token = await app.db.write((transaction) => announceArrival(app, transaction, target));
  await app.storage.move(key, target);
  await worker.runDue();
  assert.ok(await isThere(stored));
  await later();
  assert.ok(!(await isThere(stored)));
  await assert.rejects(
    app.db.write((transaction) => concludeArrival(transaction, token)),
    { error: 'UNEXPECTED_SERVICE_OUTAGE' },
  );
});

test('16 clients that upload and delete identical bytes during removals never lose a file', async () => {
  const mod = await api.aMod();
  const client = await api.as(mod.owner);
  const bytes = archive();
  const params = { game_id: mod.game_id, mod_id: mod.id };
  const left: number[] = [];
  await Promise.all(
    Array.from({ length: 16 }, async (_, writer) => {
      for (let turn = 0; turn < 3; turn += 1) {
        const answer = await client.call(addModfileOperation, {
          params,
          body: { active: false, version: `${writer}.${turn}` },
          files: { filedata: { filename: 'a.zip', bytes } },
        });
        assert.ok([201, 503].includes(answer.status), answer.text);
        if (answer.status === 503) continue;
        if (writer === 0 && turn === 2) left.push(answer.body.id);
        else await remove(mod, answer.body);
        api.clock.advance(HOUR);
        await worker.runDue();
      }
    }),
  );
  await later();
  for (const id of left) {
    const { body } = await client.call(getModfile, { params: { ...params, file_id: id } });
    assert.ok(await isThere(body.filehash));
  }
});
