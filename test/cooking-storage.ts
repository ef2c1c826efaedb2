import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { describe, test } from 'node:test';
import { composeWorker } from '../src/composition/compose.ts';
import { storedObjects } from '../src/composition/resources.ts';
import {
  cookingSasToken,
  cookingValidateBuild,
  finalizeCloudCooking,
  getCookBuild,
  uploadCookBuild,
} from '../src/files/builds/operations.ts';
import { cancelCookOperation } from '../src/files/cooks/operations.ts';
import { downloadModfile } from '../src/files/downloads/operations.ts';
import { getModfile } from '../src/files/modfiles/operations.ts';
import {
  addCookUploadPart,
  completeCookUpload,
  downloadCookBuild,
  finishCook,
  getCookUploadParts,
  openCookUpload,
} from '../src/files/runners/operations.ts';
import { takeInventory } from '../src/platform/storage/inventory.ts';
import { type Api, startApi } from './api.ts';
import { aCookingGame, aRunner, aSource, cooksOf, gamePath, metadataOf, modPath, mustClaim } from './cooking.ts';
import { hashOf, rangeOf } from './uploads.ts';
import { requestOf, Wire } from './wire.ts';
import { STORED, zipOf } from './zips.ts';

const DAY = 86_400;
const PARTS = 3;
/** The parts that are sent concurrently. */
const SENT = [1, 2, 3, 3, 1];

interface Served {
  readonly status: number;
  readonly bytes: Buffer;
  readonly headers: IncomingHttpHeaders;
}

export interface Place {
  readonly api: Api;
  /** Shorter than the specified length, which uploads.test.ts uses. */
  readonly partBytes: number;
  /** Parts of unfinished uploads in the storage. */
  leftovers(): Promise<number>;
}

/** The least that S3 accepts as a part that is not the last one. */
export const S3_PART_BYTES_MIN = 5 * 1024 ** 2;

export const startOn = (url: string) => startApi({ settings: { MODSTEAD_JOBS: 'off', MODSTEAD_STORAGE_URL: url } });

/** Tests of multipart builds and results that must pass on every storage. */
export function largeRules(name: string, { api, partBytes, leftovers }: Place): void {
  const worker = composeWorker(api.app());
  for (const app of api.apps()) Object.assign(app.storage.assemblies, { partBytes });
  /** Every part has different content, so that a swapped part is noticed. */
  const whole = zipOf([{ name: 'cook.pak', content: randomBytes((PARTS - 1) * partBytes + 1_000), method: STORED }]);
  const sha256 = hashOf('sha256', whole);

  /** The request body and range of the part with this number. */
  function part(number: number, content?: Buffer) {
    const start = (number - 1) * partBytes;
    const own = whole.subarray(start, start + partBytes);
    return { raw: content ?? own, headers: { 'content-range': rangeOf(start, own.length, whole.length) } };
  }

  const other = (number: number) => Buffer.from(part(number).raw).fill(1);

  async function aBuild(game: Awaited<ReturnType<typeof aCookingGame>>) {
    const { build_id, url } = (await (await api.as(game.owner)).call(cookingSasToken, { params: gamePath(game) })).body;
    const params = { build_id, build_signature: url.split('/').at(-1)! };
    const put = (number: number, content?: Buffer) =>
      api.nobody().call(uploadCookBuild, { params, ...part(number, content) });
    const numbers = async () =>
      (await api.nobody().call(getCookBuild, { params })).body.parts.map(({ part_number }) => part_number);
    return { params, path: new URL(url).pathname, put, numbers };
  }

  async function aClaim(given?: Awaited<ReturnType<typeof aCookingGame>>) {
    const game = given ?? (await aCookingGame(api));
    const mod = await api.aMod({ game });
    const runner = await aRunner(api, game);
    await aSource(api, mod);
    const claim = await mustClaim(runner.client);
    return { game, mod, ...runner, claim, params: { claim_id: claim.claim_id } };
  }

  async function aResult() {
    const claimed = await aClaim();
    const { client, params } = claimed;
    const { upload_id } = (await client.call(openCookUpload, { params })).body;
    const query = { upload_id };
    const put = (number: number, content?: Buffer) =>
      client.call(addCookUploadPart, { params, query, ...part(number, content) });
    const numbers = async () =>
      (await client.call(getCookUploadParts, { params, query })).body.parts.map(({ part_number }) => part_number);
    return { ...claimed, query, put, numbers, path: `/v1/cook-runner/claims/${params.claim_id}/multipart` };
  }

  /** A client that disconnects after half of the part; resolves when the service has noticed. */
  async function breakOff(path: string, number: number, headers: Record<string, string>): Promise<void> {
    const { raw, headers: range } = part(number);
    const head = { 'content-length': String(raw.length), ...range, ...headers };
    const wire = await Wire.open(api);
    wire.write(requestOf(`PUT ${path}`, head));
    await new Promise<void>((resolve) => wire.socket.write(raw.subarray(0, raw.length / 2), () => resolve()));
    await wire.close();
  }

  const bytesBehind = async ({ status, bytes, headers }: Served) =>
    status === 302 ? Buffer.from(await (await fetch(headers.location!)).arrayBuffer()) : bytes;

  async function isSound(): Promise<void> {
    assert.deepEqual((await takeInventory(api.app(), storedObjects, { repair: false, verify: true })).found, []);
    assert.equal(await leftovers(), 0);
  }

  describe(name, () => {
    test('a studio uploads a build in parts, in any order, resumed and repeated, and runners download it complete', async () => {
      const game = await aCookingGame(api);
      const { path, put, numbers, params } = await aBuild(game);
      assert.equal((await put(3)).status, 200);
      await breakOff(path, 1, {});
      assert.deepEqual(await numbers(), [3]);
      assert.equal((await put(1)).status, 200);
      assert.equal((await put(1)).status, 200, 'a part is acknowledged again after a lost response');
      assert.equal((await put(1, other(1))).status, 400);
      assert.deepEqual(await numbers(), [1, 3]);
      const last = await put(2);
      assert.deepEqual([last.status, last.body.state], [200, 'whole'], last.text);
      await worker.runDue();
      const owner = await api.as(game.owner);
      const { is_valid, filehash, filesize } = (await owner.call(cookingValidateBuild, { params: gamePath(game) }))
        .body;
      assert.deepEqual([is_valid, filesize, filehash.sha256], [true, whole.length, sha256]);
      assert.equal((await owner.call(finalizeCloudCooking, { params: gamePath(game) })).status, 204);
      const { client, params: claim } = await aClaim(game);
      const got = await bytesBehind(await client.call(downloadCookBuild, { params: claim }));
      assert.equal(hashOf('sha256', got), sha256);
      assert.equal((await api.nobody().call(getCookBuild, { params })).body.state, 'valid');
      await isSound();
    });

    test('concurrent parts of a build, some of them sent twice, become one build', async () => {
      const game = await aCookingGame(api);
      const { put, params } = await aBuild(game);
      const answers = await Promise.all(SENT.map((number) => put(number)));
      // A late sender gets the error that the part, or the whole upload, is complete.
      for (const { status, text } of answers) assert.ok(status === 200 || /29002|29015/.test(text), text);
      for (const number of [1, 2, 3])
        assert.ok(
          answers.some(({ status }, index) => status === 200 && SENT[index] === number),
          `part ${number} was never acknowledged`,
        );
      assert.equal((await api.nobody().call(getCookBuild, { params })).body.state, 'whole');
      await worker.runDue();
      const { body } = await (await api.as(game.owner)).call(cookingValidateBuild, { params: gamePath(game) });
      assert.deepEqual([body.is_valid, body.filehash.sha256], [true, sha256], body.problem);
      await isSound();
    });

    test('a build that a new upload address replaces leaves no parts', async () => {
      const game = await aCookingGame(api);
      const before = await Array.fromAsync(api.app().storage.list(''));
      const { put } = await aBuild(game);
      await put(2);
      await put(1);
      assert.ok((await leftovers()) > 0);
      await aBuild(game);
      assert.equal((await put(3)).status, 404);
      api.clock.advance(DAY);
      await worker.runDue();
      assert.deepEqual(await Array.fromAsync(api.app().storage.list('')), before);
      await isSound();
    });

    test('a runner uploads a result in parts, in any order, resumed and repeated, and it becomes a file of the mod', async () => {
      const { client, secret, mod, params, query, path, put, numbers } = await aResult();
      assert.equal((await put(3)).status, 200);
      const authorization = `Basic ${Buffer.from(`runner:${secret}`).toString('base64')}`;
      await breakOff(`${path}?upload_id=${query.upload_id}`, 2, { authorization });
      assert.deepEqual(await numbers(), [3]);
      const twice = await Promise.all([put(2), put(1), put(2)]);
      assert.ok(twice.filter(({ status }) => status === 200).length >= 2, twice.map(({ text }) => text).join());
      assert.equal((await put(3)).status, 200, 'a part is acknowledged again after a lost response');
      assert.equal((await put(3, other(3))).status, 400);
      assert.deepEqual(await numbers(), [1, 2, 3]);
      const completed = await client.call(completeCookUpload, { params, query });
      assert.equal(completed.body.status, 3, completed.text);
      const done = await client.call(finishCook, { params, body: query });
      assert.deepEqual([done.status, done.body.status], [200, 2], done.text);
      const file_id = Number(metadataOf((await cooksOf(api, mod))[0]!, 'result'));
      const owner = await api.as(mod.owner);
      const file = (await owner.call(getModfile, { params: { ...modPath(mod), file_id } })).body;
      assert.deepEqual([file.filesize, file.filehash.md5], [whole.length, hashOf('md5', whole)]);
      const got = await bytesBehind(await owner.call(downloadModfile, { params: { ...modPath(mod), file_id } }));
      assert.equal(hashOf('sha256', got), sha256);
      await isSound();
    });

    test('the result of a cancelled cook leaves no parts', async () => {
      const { mod, claim, put } = await aResult();
      const before = await Array.fromAsync(api.app().storage.list(''));
      await put(2);
      await put(1);
      const cancelled = { params: { ...modPath(mod), cook_uuid: claim.cook.cook_uuid } };
      assert.equal((await (await api.as(mod.owner)).call(cancelCookOperation, cancelled)).status, 200);
      assert.equal((await put(3)).status, 404);
      api.clock.advance(3 * DAY);
      await worker.runDue();
      assert.deepEqual(await Array.fromAsync(api.app().storage.list('')), before);
      await isSound();
    });
  });
}
