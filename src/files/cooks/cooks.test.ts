import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Mod, startApi } from '../../../test/api.ts';
import { startClamdStub } from '../../../test/clamd.ts';
import {
  aCookingGame,
  aRunner,
  aSource,
  claimed,
  cooksOf,
  finish,
  metadataOf,
  modPath,
  mustClaim,
} from '../../../test/cooking.ts';
import { EICAR, zipOf } from '../../../test/zips.ts';
import { deleteModOperation, getMod } from '../../catalogue/mods/operations.ts';
import { composeWorker } from '../../composition/compose.ts';
import { storedObjects } from '../../composition/resources.ts';
import { takeInventory } from '../../platform/storage/inventory.ts';
import { storageKeyOf } from '../modfiles/bytes.ts';
import { getModfile } from '../modfiles/operations.ts';
import { downloadCookSource, finishCook, reportCook } from '../runners/operations.ts';
import { addSourceModfile } from '../sources/operations.ts';

const HOUR = 3_600;
const clamd = await startClamdStub({ after }, {});
const api = await startApi({ settings: { MODSTEAD_JOBS: 'off', MODSTEAD_CLAMD: clamd.address } });
const worker = composeWorker(api.app());
await worker.runDue();

const liveOn = async (mod: Mod, platform: string) =>
  (await (await api.as(mod.owner)).call(getMod, { params: modPath(mod) })).body.platforms.find(
    (each) => each.platform === platform,
  )?.modfile_live;

test('runners get a source once it has passed its scan, and its result is live once that has passed too', async () => {
  const game = await aCookingGame(api);
  const mod = await api.aMod({ game });
  const { client } = await aRunner(api, game);
  await aSource(api, mod);
  assert.equal(await claimed(client), null);
  await worker.runDue();
  const { claim_id } = await mustClaim(client);
  const done = await finish(api, client, claim_id);
  assert.equal(done.body.status, 2, done.text);
  assert.equal(await liveOn(mod, 'ps5'), undefined);
  await worker.runDue();
  assert.equal(String(await liveOn(mod, 'ps5')), metadataOf(done.body, 'result'));
});

test('a result with a threat never goes live', async () => {
  const game = await aCookingGame(api);
  const mod = await api.aMod({ game });
  const { client } = await aRunner(api, game);
  await aSource(api, mod);
  await worker.runDue();
  const { claim_id } = await mustClaim(client);
  const files = { filedata: { filename: 'a.zip', bytes: zipOf({ 'evil.bin': EICAR, 'a.txt': api.unique('a') }) } };
  const { body } = await client.call(finishCook, { params: { claim_id }, files });
  await worker.runDue();
  const params = { ...modPath(mod), file_id: Number(metadataOf(body, 'result')) };
  assert.equal((await (await api.as(mod.owner)).call(getModfile, { params })).body.virus_positive, 1);
  assert.equal(await liveOn(mod, 'ps5'), undefined);
});

test('runners never get a source with a threat', async () => {
  const game = await aCookingGame(api);
  const mod = await api.aMod({ game });
  const { client } = await aRunner(api, game);
  const files = { filedata: { filename: 'a.zip', bytes: zipOf({ 'evil.bin': EICAR, 'a.txt': api.unique('a') }) } };
  const added = await (await api.as(mod.owner)).call(addSourceModfile, { params: modPath(mod), files });
  assert.equal(added.status, 201, added.text);
  await worker.runDue();
  assert.equal(await claimed(client), null);
  api.clock.advance(60);
  await worker.runDue();
  const [cook] = await cooksOf(api, mod);
  assert.deepEqual([cook!.status, metadataOf(cook!, 'error')], [3, 'source_unavailable']);
});

test('runners no longer get a source that is taken down while it is cooked', async () => {
  const game = await aCookingGame(api);
  const mod = await api.aMod({ game });
  const { client } = await aRunner(api, game);
  const source = await aSource(api, mod);
  await worker.runDue();
  const { claim_id } = await mustClaim(client);
  const app = api.app();
  await app.storage.remove(storageKeyOf(source.filehash.sha256));
  await takeInventory(app, storedObjects, { repair: true, verify: false });
  await client.refused(downloadCookSource, { params: { claim_id } }, 404, 15010);
  api.clock.advance(60);
  await worker.runDue();
  await client.refused(reportCook, { params: { claim_id } }, 404, 14000);
});

test('deleting a mod for ever deletes its sources and cooks, with their logs and bytes', async () => {
  const game = await aCookingGame(api);
  const mod = await api.aMod({ game });
  const { client } = await aRunner(api, game);
  const source = await aSource(api, mod);
  await worker.runDue();
  const { claim_id } = await mustClaim(client);
  await client.call(reportCook, { params: { claim_id }, body: { logs: ['Hello'] } });
  const author = await api.as(mod.owner);
  const app = api.app();
  const rows = async () => {
    const cooks = await app.db.query.selectFrom('cooks').select('id').where('mod_id', '=', mod.id).execute();
    const ids = cooks.map(({ id }) => id);
    const logs = await app.db.query.selectFrom('cook_logs').select('cook_id').execute();
    const files = await app.db.query.selectFrom('modfiles').select('id').where('mod_id', '=', mod.id).execute();
    return [cooks.length, logs.filter(({ cook_id }) => ids.includes(cook_id)).length, files.length];
  };
  assert.deepEqual(await rows(), [1, 1, 1]);
  await author.call(deleteModOperation, { params: modPath(mod) });
  await client.refused(reportCook, { params: { claim_id } }, 404, 14000);
  assert.equal(
    (await author.call(deleteModOperation, { params: modPath(mod), body: { permanent: true } })).status,
    204,
  );
  assert.deepEqual(await rows(), [0, 0, 0]);
  const orphans = await app.db.query
    .selectFrom('cook_logs')
    .leftJoin('cooks', 'cooks.id', 'cook_logs.cook_id')
    .select('cook_logs.id')
    .where('cooks.id', 'is', null)
    .execute();
  assert.deepEqual(orphans, []);
  api.clock.advance(HOUR);
  await worker.runDue();
  assert.equal(await app.storage.stat(storageKeyOf(source.filehash.sha256)), undefined);
});
