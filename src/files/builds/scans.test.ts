import assert from 'node:assert/strict';
import { after, afterEach, test } from 'node:test';
import { type Api, type Game, startApi } from '../../../test/api.ts';
import { type ClamdBehaviour, startClamdStub } from '../../../test/clamd.ts';
import {
  aCookingGame,
  aRunner,
  aSource,
  claimed,
  cooksOf,
  gamePath,
  metadataOf,
  modPath,
  mustClaim,
} from '../../../test/cooking.ts';
import { mailsTo } from '../../../test/mails.ts';
import { NOT_INSTALLED, startRealClamd } from '../../../test/real-clamd.ts';
import { EICAR, nested, zipOf } from '../../../test/zips.ts';
import { getGame } from '../../catalogue/games/operations.ts';
import { composeWorker } from '../../composition/compose.ts';
import { getGameReports } from '../../moderation/reports/operations.ts';
import { getModfile } from '../modfiles/operations.ts';
import { downloadCookBuild, finishCook } from '../runners/operations.ts';
import { cookingSasToken, cookingValidateBuild, finalizeCloudCooking, uploadCookBuild } from './operations.ts';
import { buildScanProgress, scanEveryBuild } from './scans.ts';

const HOUR = 3_600;
const ACTION_REQUIRED = 5;

/** How the scanner behaves. Tests change it, and `afterEach` resets it. */
const manner: ClamdBehaviour = {};
const clamd = await startClamdStub({ after }, manner);
afterEach(() => {
  delete manner.answer;
  delete manner.hangsUp;
});

const settings = { MODSTEAD_JOBS: 'off', MODSTEAD_CLAMD: clamd.address, MODSTEAD_SCAN_MB: '1' };
const api = await startApi({ settings });
const worker = composeWorker(api.app());
const clean = () => zipOf({ 'cook.txt': api.unique('A script') });
const infected = () => zipOf({ 'bin/cook.bin': EICAR, 'a.txt': api.unique('a') });
const LATER_CLEAN = 'stream: OK\0';

/** Uploads a build; the test runs the jobs that process it. */
async function upload(game: Game, raw: Buffer, on: Api = api): Promise<void> {
  const owner = await on.as(game.owner);
  const { build_id, url } = (await owner.call(cookingSasToken, { params: gamePath(game) })).body;
  const params = { build_id, build_signature: url.split('/').at(-1)! };
  const sent = await on.nobody().call(uploadCookBuild, { params, raw });
  assert.equal(sent.status, 200, sent.text);
}

async function shown(game: Game, on: Api = api) {
  const { body } = await (await on.as(game.owner)).call(cookingValidateBuild, { params: gamePath(game) });
  return { ...body, scan: [body.virus_status, body.virus_positive, body.date_scanned] };
}

async function finalize(game: Game, on: Api = api): Promise<void> {
  const { status, text } = await (await on.as(game.owner)).call(finalizeCloudCooking, { params: gamePath(game) });
  assert.equal(status, 204, text);
}

const statusOf = async (game: Game) =>
  (await api.withKey(game).call(getGame, { params: gamePath(game) })).body.cloud_cooking_status;

async function reportsOn(game: Game) {
  const { body, text } = await (await api.as(game.owner)).call(getGameReports, { params: gamePath(game) });
  assert.ok(body.data, text);
  return body.data.map(({ resource, resource_id, summary }) => ({ resource, resource_id, summary }));
}

async function withdrawnIn(game: Game) {
  const events = await api
    .app()
    .db.query.selectFrom('studio_events')
    .select('data')
    .where('game_id', '=', game.id)
    .where('kind', '=', 'COOK_BUILD_WITHDRAWN')
    .execute();
  return events.map(({ data }) => JSON.parse(data));
}

test('a build is neither finalized nor reported as clean before its scan', async () => {
  const game = await aCookingGame(api);
  manner.hangsUp = true;
  await upload(game, clean());
  await worker.runDue();
  const waiting = await shown(game);
  assert.deepEqual([waiting.state, ...waiting.scan], ['valid', 5, 0, 0]);
  assert.deepEqual(
    waiting.findings.map(({ kind }) => kind),
    [3],
  );
  const owner = await api.as(game.owner);
  const { body } = await owner.refused(finalizeCloudCooking, { params: gamePath(game) }, 422, 13009);
  assert.match(body.error.errors!['build']!, /scanned/);
  delete manner.hangsUp;
  api.clock.advance(HOUR);
  await worker.runDue();
  const passed = await shown(game);
  assert.deepEqual([passed.scan, passed.findings], [[1, 0, api.clock.now()], []]);
  await finalize(game);
});

test('a threat in a new build is mailed to its team, reported and published as an event, and runners never get it', async () => {
  const email = 'studio@example.org';
  const game = await aCookingGame(api, {}, await api.aUser({ email, language: 'de' }));
  await upload(game, nested('evil.bin', EICAR, 2));
  await worker.runDue();
  const found = await shown(game);
  assert.deepEqual([found.state, found.is_valid, ...found.scan], ['invalid', false, 1, 1, api.clock.now()]);
  assert.match(found.problem, /evil\.bin.*Eicar-Signature/);
  assert.deepEqual(found.findings[0]?.kind, 1);
  assert.equal(await statusOf(game), ACTION_REQUIRED);
  await (await api.as(game.owner)).refused(finalizeCloudCooking, { params: gamePath(game) }, 422, 13009);
  const [report, ...others] = await reportsOn(game);
  assert.deepEqual([report?.resource, report?.resource_id, others], ['games', game.id, []]);
  assert.match(report!.summary, /Eicar-Signature/);
  const [event] = await withdrawnIn(game);
  assert.deepEqual([event.build_id, event.is_live, event.threat], [found.build_id, false, 'Eicar-Signature']);
  assert.equal(mailsTo(api, email).length, 1);
  assert.match(mailsTo(api, email)[0]!.subject, /Bedrohung/);
});

test('a threat that is found later withdraws the live build, cooks wait for another, and a false positive restores it', async () => {
  const game = await aCookingGame(api);
  manner.answer = LATER_CLEAN;
  await upload(game, infected());
  await worker.runDue();
  await finalize(game);
  const { client } = await aRunner(api, game, ['ps5', 'switch']);
  await aSource(api, await api.aMod({ game }));
  await worker.runDue();
  const first = await mustClaim(client);
  const params = { claim_id: first.claim_id };
  assert.equal((await client.call(downloadCookBuild, { params })).status, 200);

  delete manner.answer;
  const count = await scanEveryBuild(api.app());
  const { files, left } = await buildScanProgress(api.app());
  assert.ok(count > 0 && files === count && left >= 1, JSON.stringify({ count, files, left }));
  assert.equal(
    (await client.call(downloadCookBuild, { params })).status,
    200,
    'a build that has passed stays available meanwhile',
  );
  await worker.runDue();
  assert.equal((await buildScanProgress(api.app())).left, 0);
  const found = await shown(game);
  assert.deepEqual([found.state, found.is_live, await statusOf(game)], ['invalid', false, ACTION_REQUIRED]);
  assert.equal((await client.call(downloadCookBuild, { params })).status, 404);
  assert.equal(await claimed(client), null, 'no cook is handed out without its build');
  assert.deepEqual(
    (await withdrawnIn(game)).map(({ is_live }) => is_live),
    [true],
  );
  assert.equal((await reportsOn(game)).length, 1);

  manner.answer = LATER_CLEAN;
  await scanEveryBuild(api.app());
  await worker.runDue();
  const back = await shown(game);
  assert.deepEqual([back.state, back.is_live, back.problem, await statusOf(game)], ['valid', true, '', 4]);
  assert.equal((await mustClaim(client)).build?.filehash.sha256, back.filehash.sha256);
  assert.equal((await withdrawnIn(game)).length, 1);
});

test('another build replaces a withdrawn one, and cooks continue with it', async () => {
  const game = await aCookingGame(api);
  const { client } = await aRunner(api, game);
  manner.answer = LATER_CLEAN;
  await upload(game, infected());
  await worker.runDue();
  await finalize(game);
  await aSource(api, await api.aMod({ game }));
  delete manner.answer;
  await scanEveryBuild(api.app());
  await worker.runDue();
  assert.equal(await claimed(client), null);
  const bytes = clean();
  await upload(game, bytes);
  await worker.runDue();
  await finalize(game);
  const { claim_id } = await mustClaim(client);
  assert.deepEqual((await client.call(downloadCookBuild, { params: { claim_id } })).bytes, bytes);
});

test('a setting lets runners get an unscanned build, but never one with a threat', async () => {
  const lenient = await startApi({ settings: { ...settings, MODSTEAD_DOWNLOAD_UNSCANNED: 'on' } });
  const jobs = composeWorker(lenient.app());
  const game = await aCookingGame(lenient);
  manner.hangsUp = true;
  await upload(game, clean(), lenient);
  await jobs.runDue();
  assert.equal((await shown(game, lenient)).virus_status, 5);
  await finalize(game, lenient);
  delete manner.hangsUp;
  await upload(game, infected(), lenient);
  await jobs.runDue();
  await (await lenient.as(game.owner)).refused(finalizeCloudCooking, { params: gamePath(game) }, 422, 13009);
});

test('a build from before a scanner was configured is scanned within the hour, and cooks wait for it', async () => {
  const game = await aCookingGame(api);
  await upload(game, clean());
  await worker.runDue();
  await finalize(game);
  const { client } = await aRunner(api, game);
  await aSource(api, await api.aMod({ game }));
  await worker.runDue();
  await api
    .app()
    .db.write(({ query }) =>
      query
        .updateTable('cook_builds')
        .set({ virus_status: 0, date_scanned: 0 })
        .where('game_id', '=', game.id)
        .execute(),
    );
  assert.equal(await claimed(client), null);
  api.clock.advance(HOUR);
  await worker.runDue();
  assert.ok((await mustClaim(client)).build);
});

test('a runner’s result is scanned before it is live, and taken down with a threat, like any other file', async () => {
  const game = await aCookingGame(api);
  const { client } = await aRunner(api, game);
  const mod = await api.aMod({ game });
  await aSource(api, mod);
  await worker.runDue();
  const { claim_id } = await mustClaim(client);
  const files = { filedata: { filename: 'cooked.zip', bytes: infected() } };
  const done = await client.call(finishCook, { params: { claim_id }, files });
  assert.equal(done.status, 200, done.text);
  const file_id = Number(metadataOf((await cooksOf(api, mod))[0]!, 'result'));
  const owner = await api.as(mod.owner);
  const look = async () => (await owner.call(getModfile, { params: { ...modPath(mod), file_id } })).body;
  assert.deepEqual([(await look()).virus_status, (await look()).virus_positive], [0, 0]);
  await worker.runDue();
  const { virus_status, virus_positive, platforms } = await look();
  assert.deepEqual([virus_status, virus_positive], [1, 1]);
  assert.deepEqual(
    platforms.map(({ platform }) => platform),
    ['ps5'],
  );
});

const daemon = await startRealClamd();
after(() => daemon?.stop());

test('the real clamd keeps a build with the test file from runners', {
  skip: daemon ? false : NOT_INSTALLED,
}, async () => {
  const real = await startApi({ settings: { ...settings, MODSTEAD_CLAMD: daemon!.address } });
  const jobs = composeWorker(real.app());
  const game = await aCookingGame(real);
  await upload(game, clean(), real);
  await jobs.runDue();
  assert.deepEqual((await shown(game, real)).scan.slice(0, 2), [1, 0]);
  await finalize(game, real);
  await upload(game, infected(), real);
  await jobs.runDue();
  const found = await shown(game, real);
  assert.deepEqual([found.state, found.virus_status, found.virus_positive], ['invalid', 1, 1]);
  assert.match(found.problem, /bin\/cook\.bin.*Test\.Eicar/);
});
