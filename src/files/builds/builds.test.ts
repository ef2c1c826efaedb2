import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, test } from 'node:test';
import { type CallInput, type Game, startApi } from '../../../test/api.ts';
import { aCookingGame, aRunner, aSource, cooksOf, gamePath, metadataOf, mustClaim } from '../../../test/cooking.ts';
import { startS3 } from '../../../test/s3.ts';
import { hashOf, rangeOf } from '../../../test/uploads.ts';
import { STORED, zipOf } from '../../../test/zips.ts';
import { getGame } from '../../catalogue/games/operations.ts';
import { composeWorker } from '../../composition/compose.ts';
import { storedObjects } from '../../composition/resources.ts';
import { takeInventory } from '../../platform/storage/inventory.ts';
import { PART_BYTES } from '../../platform/storage/storage.ts';
import { deleteCookRunner, downloadCookBuild } from '../runners/operations.ts';
import {
  cookingSasToken,
  cookingValidateBuild,
  cookingWebhook,
  finalizeCloudCooking,
  getCookBuild,
  uploadCookBuild,
} from './operations.ts';

const DAY = 86_400;
const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
const worker = composeWorker(api.app());
const s3 = await startS3();
after(() => s3.stop());
const bucket = await startApi({ settings: { MODSTEAD_JOBS: 'off', MODSTEAD_STORAGE_URL: s3.url } });

async function provision(game: Game) {
  const { status, body, text } = await (await api.as(game.owner)).call(cookingSasToken, { params: gamePath(game) });
  assert.equal(status, 200, text);
  return { ...body, params: { build_id: body.build_id, build_signature: body.url.split('/').at(-1)! } };
}

const statusOf = async (game: Game) =>
  (await api.withKey(game).call(getGame, { params: gamePath(game) })).body.cloud_cooking_status;

const put = (params: CallInput['params'], raw: Buffer, headers: Record<string, string> = {}) =>
  api.nobody().call(uploadCookBuild, { params: params!, raw, headers });

async function validated(game: Game) {
  await worker.runDue();
  return (await (await api.as(game.owner)).call(cookingValidateBuild, { params: gamePath(game) })).body;
}

const build = () => zipOf({ 'cook.exe': api.unique('A program') });

test('a build is provisioned, uploaded, inspected and finalized, and then handed to the runners', async () => {
  const game = await aCookingGame(api);
  const owner = await api.as(game.owner);
  await owner.refused(cookingValidateBuild, { params: gamePath(game) }, 404, 14000);
  await owner.refused(finalizeCloudCooking, { params: gamePath(game) }, 422, 13009);
  const { params, date_expires } = await provision(game);
  assert.deepEqual([await statusOf(game), date_expires], [1, api.clock.now() + 7 * DAY]);
  const bytes = build();
  const sent = await put(params, bytes);
  assert.deepEqual([sent.status, sent.body.state, await statusOf(game)], [200, 'whole', 2], sent.text);
  await owner.refused(finalizeCloudCooking, { params: gamePath(game) }, 422, 13009);
  const { is_valid, filehash, filesize } = await validated(game);
  assert.deepEqual([is_valid, filehash.sha256, filesize], [true, hashOf('sha256', bytes), bytes.length]);
  assert.equal((await owner.call(finalizeCloudCooking, { params: gamePath(game) })).status, 204);
  assert.equal(await statusOf(game), 3);
  const { client, id } = await aRunner(api, game);
  assert.equal(await statusOf(game), 4);
  const mod = await api.aMod({ game });
  await aSource(api, mod);
  // In the cloud every locked platform is cooked, whatever platforms the runners have.
  assert.equal((await cooksOf(api, mod)).length, 2);
  const claim = await mustClaim(client);
  assert.equal(claim.build?.filehash.sha256, filehash.sha256);
  const got = await client.call(downloadCookBuild, { params: { claim_id: claim.claim_id } });
  assert.deepEqual(got.bytes, bytes);
  await owner.call(deleteCookRunner, { params: { ...gamePath(game), runner_id: id } });
  assert.equal(await statusOf(game), 5);
});

test('a build is uploaded in parts, in any order and with a break, and is complete with the last', async () => {
  const game = await aCookingGame(api);
  const { params } = await provision(game);
  const whole = zipOf([{ name: 'a.bin', content: Buffer.alloc(PART_BYTES + 1_000, 7), method: STORED }]);
  const range = (start: number, part: Buffer) => ({ 'content-range': rangeOf(start, part.length, whole.length) });
  const [first, last] = [whole.subarray(0, PART_BYTES), whole.subarray(PART_BYTES)];
  const sent = await put(params, last, range(PART_BYTES, last));
  assert.deepEqual([sent.status, sent.body.state], [200, 'open'], sent.text);
  assert.deepEqual((await api.nobody().call(getCookBuild, { params })).body.parts, [
    { part_number: 2, start: PART_BYTES, part_size: last.length },
  ]);
  assert.equal((await put(params, last, range(PART_BYTES, last))).status, 200);
  const other = Buffer.from(last).fill(1);
  const refOf = async (...sent: Parameters<typeof put>) =>
    ((await put(...sent)).body as unknown as { error: { error_ref: number } }).error.error_ref;
  assert.equal(await refOf(params, other, range(PART_BYTES, other)), 29015);
  const longer = { 'content-range': rangeOf(0, PART_BYTES, whole.length + 1) };
  assert.equal(await refOf(params, first, longer), 29022);
  assert.equal(await refOf(params, last.subarray(1), range(PART_BYTES, last)), 29025);
  assert.equal((await put(params, first, range(0, first))).body.state, 'whole');
  const { is_valid, filehash } = await validated(game);
  assert.deepEqual([is_valid, filehash.sha256], [true, hashOf('sha256', whole)]);
  assert.equal(await refOf(params, first, range(0, first)), 29002);
});

test('a build is assembled in a bucket as well, and served from there', async () => {
  const game = await aCookingGame(bucket);
  const owner = await bucket.as(game.owner);
  const { build_id, url } = (await owner.call(cookingSasToken, { params: gamePath(game) })).body;
  const params = { build_id, build_signature: url.split('/').at(-1)! };
  const raw = build();
  const headers = { 'content-range': rangeOf(0, raw.length, raw.length) };
  const sent = await bucket.nobody().call(uploadCookBuild, { params, raw, headers });
  assert.equal(sent.body.state, 'whole', sent.text);
  await composeWorker(bucket.app()).runDue();
  assert.equal((await owner.call(finalizeCloudCooking, { params: gamePath(game) })).status, 204);
  const { client } = await aRunner(bucket, game);
  await aSource(bucket, await bucket.aMod({ game }));
  const { claim_id } = await mustClaim(client);
  const through = await client.call(downloadCookBuild, { params: { claim_id } });
  assert.deepEqual([through.status, through.bytes], [200, raw]);
  // The Fetch standard removes the credentials after a redirect, which a bucket would refuse.
  const fetching = { params: { claim_id }, headers: { 'sec-fetch-mode': 'cors' } };
  assert.equal((await client.call(downloadCookBuild, fetching)).status, 302);
  assert.deepEqual((await takeInventory(bucket.app(), storedObjects, { repair: false, verify: true })).found, []);
});

test('an invalid archive is reported in the language of the caller, and is not finalized', async () => {
  const game = await aCookingGame(api);
  const { params } = await provision(game);
  await put(params, Buffer.from('no archive'));
  assert.match((await validated(game)).problem, /zip archive/);
  const owner = await api.as(game.owner);
  const inGerman = { params: gamePath(game), headers: { 'accept-language': 'de' } };
  const { problem, state } = (await owner.call(cookingValidateBuild, inGerman)).body;
  assert.deepEqual([state, /Zip/i.test(problem), /must be/.test(problem)], ['invalid', true, false]);
  assert.equal(await statusOf(game), 5);
  await owner.refused(finalizeCloudCooking, { params: gamePath(game) }, 422, 13009);
});

test('an upload URL is valid for seven days, for its build, and until the next one is provisioned', async () => {
  const game = await aCookingGame(api);
  const first = await provision(game);
  const second = await provision(game);
  assert.equal((await put(first.params, build())).status, 404);
  const swapped = { build_id: second.build_id, build_signature: first.params.build_signature };
  assert.equal((await put(swapped, build())).status, 404);
  api.clock.advance(7 * DAY);
  assert.equal((await put(second.params, build())).status, 404);
});

test('the storage check covers builds: a missing one is invalid, and one without a row is left over', async () => {
  const game = await aCookingGame(api);
  const { storage } = api.app();
  const look = async (repair = false) =>
    (await takeInventory(api.app(), storedObjects, { repair, verify: true })).found;
  const { params } = await provision(game);
  await put(params, build());
  await validated(game);
  assert.deepEqual(await look(), []);
  const mine = (await Array.fromAsync(storage.list('cookbuilds/'))).find((key) => key.includes(params.build_id))!;
  await storage.remove(mine);
  await storage.put('cookbuilds/00000000-0000-4000-8000-000000000000', Buffer.from('nobody’s'));
  assert.deepEqual((await look(true)).map(({ trouble }) => trouble).sort(), ['left over', 'missing']);
  assert.equal((await validated(game)).state, 'invalid');
  assert.deepEqual(await look(), []);
});

test('a replaced build is removed with its bytes', async () => {
  const game = await aCookingGame(api);
  const owner = await api.as(game.owner);
  const keys = async () => (await Array.fromAsync(api.app().storage.list('cookbuilds/'))).length;
  const before = await keys();
  for (let turn = 0; turn < 2; turn += 1) {
    await put((await provision(game)).params, build());
    await validated(game);
    await owner.call(finalizeCloudCooking, { params: gamePath(game) });
  }
  assert.equal(await keys(), before + 2);
  api.clock.advance(3_600);
  await worker.runDue();
  assert.equal(await keys(), before + 1);
});

test('an external service reports its cooks in signed messages', async () => {
  const game = await aCookingGame(api);
  const { webhook_secret } = await provision(game);
  const mod = await api.aMod({ game });
  const { client } = await aRunner(api, game);
  await aSource(api, mod);
  const { cook } = await mustClaim(client);
  const sign = (body: string, secret = webhook_secret, time = api.clock.now()) =>
    `t=${time},v1=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`;
  const tell = (body: string, signature: string) =>
    api.nobody().call(cookingWebhook, {
      params: gamePath(game),
      raw: Buffer.from(body),
      headers: { 'x-cooking-signature': signature, 'content-type': 'application/json' },
    });
  const progress = JSON.stringify({ cook: { cook_uuid: cook.cook_uuid, progress: 70, logs: ['Shaders'] } });
  const taken = await tell(progress, sign(progress));
  assert.deepEqual([taken.status, taken.body.cook && metadataOf(taken.body.cook, 'progress')], [200, '70'], taken.text);
  for (const wrong of [sign(progress, 'cksec_made-up'), sign(`${progress} `), sign(progress, webhook_secret, 1), ''])
    assert.equal((await tell(progress, wrong)).status, 401);
  const failed = JSON.stringify({ cook: { cook_uuid: cook.cook_uuid, status: 'failed' } });
  assert.equal((await tell(failed, sign(failed))).body.cook?.status, 3);
  assert.deepEqual((await cooksOf(api, mod))[0]!.logs, ['Shaders']);
  for (const [text, status] of [
    ['{"cook":{"cook_uuid":"x"}}', 422],
    ['{"cook":', 400],
    ['{"cloud_cooking_status":4}', 422],
    ['{"cloud_cooking_status":5}', 200],
  ] as const)
    assert.equal((await tell(text, sign(text))).status, status, text);
  assert.equal(await statusOf(game), 5);
  const other = await aCookingGame(api);
  const elsewhere = {
    params: gamePath(other),
    raw: Buffer.from(failed),
    headers: { 'x-cooking-signature': sign(failed) },
  };
  await api.nobody().refused(cookingWebhook, elsewhere, 401, 11005);
});
