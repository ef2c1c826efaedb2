import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi } from '../../../test/api.ts';
import {
  aCookingGame,
  aRunner,
  aSource,
  claimed,
  cooksOf,
  finish,
  gamePath,
  metadataOf,
  modPath,
  mustClaim,
  resultOf,
} from '../../../test/cooking.ts';
import { hashOf, rangeOf } from '../../../test/uploads.ts';
import { editGameOperation } from '../../catalogue/games/operations.ts';
import { getMod } from '../../catalogue/mods/operations.ts';
import { composeWorker } from '../../composition/compose.ts';
import { addGameWebhook, getGameWebhookDeliveries } from '../../studio/webhooks/operations.ts';
import { cancelCookOperation, getCooks, getModfileCook, startCook } from '../cooks/operations.ts';
import { getModfile, getModfiles } from '../modfiles/operations.ts';
import {
  addCookUploadPart,
  claimCook,
  completeCookUpload,
  deleteCookRunner,
  downloadCookSource,
  failCook,
  finishCook,
  getCookRunners,
  getCookUploadParts,
  openCookUpload,
  reportCook,
} from './operations.ts';

const LEASE = 120;
const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
const worker = composeWorker(api.app());

test('a runner gets a source and returns a live file for its platform, which belongs to the uploader of the source', async () => {
  const game = await aCookingGame(api);
  const mod = await api.aMod({ game });
  const windows = await api.aFile(mod);
  const { client, id } = await aRunner(api, game);
  const source = await aSource(api, mod, { version: '1.2', metadata_blob: 'map' });
  const claim = await mustClaim(client);
  assert.deepEqual(
    [
      claim.mod_id,
      claim.cook.platform,
      claim.cook.status,
      claim.lease_seconds,
      claim.source.metadata_blob,
      claim.build,
    ],
    [mod.id, 'ps5', 1, LEASE, 'map', null],
  );
  const params = { claim_id: claim.claim_id };
  const got = await client.call(downloadCookSource, { params });
  assert.equal(hashOf('sha256', got.bytes), source.filehash.sha256);
  const logs = ['Cooking…', 'Textures\u0000 done\u001b[0m'];
  await client.call(reportCook, { params, body: { progress: 40, logs, metadata: ['engine:5.4'] } });
  const author = await api.as(mod.owner);
  const named = { params: { ...modPath(mod), cook_uuid: claim.cook.cook_uuid } };
  const midway = (await author.call(getModfileCook, named)).body;
  assert.deepEqual(midway.logs, ['Cooking…', 'Textures done[0m']);
  assert.deepEqual(midway.metadata, ['attempt:1', 'progress:40', `runner:${id}`, 'engine:5.4']);

  const done = await finish(api, client, claim.claim_id);
  assert.deepEqual([done.status, done.body.status], [200, 2], done.text);
  const file_id = Number(metadataOf(done.body, 'result'));
  const file = (await author.call(getModfile, { params: { ...modPath(mod), file_id } })).body;
  assert.deepEqual([file.version, file.platforms], ['1.2', [{ platform: 'ps5', status: 1 }]]);
  const shown = (await author.call(getMod, { params: modPath(mod) })).body;
  assert.deepEqual(shown.platforms.find(({ platform }) => platform === 'ps5')?.modfile_live, file_id);
  assert.equal((shown.modfile as { id: number }).id, windows.id);
  const again = await finish(api, client, claim.claim_id);
  assert.deepEqual(again.body, done.body);
  assert.equal((await author.call(getModfiles, { params: modPath(mod) })).body.result_total, 2);
});

test('of many concurrent runners each cook goes to one, and the others get none', async () => {
  const game = await aCookingGame(api);
  const mods = await Promise.all(Array.from({ length: 5 }, () => api.aMod({ game })));
  const runners = await Promise.all(Array.from({ length: 20 }, () => aRunner(api, game)));
  for (const mod of mods) await aSource(api, mod);
  const claims = await Promise.all([...runners, ...runners].map(({ client }) => claimed(client)));
  const given = claims.flatMap((claim) => (claim ? [claim.cook.cook_uuid] : []));
  assert.deepEqual([given.length, new Set(given).size], [5, 5]);
});

test('a runner gets only cooks of its own game and platforms, the oldest first', async () => {
  const [game, other] = [await aCookingGame(api), await aCookingGame(api)];
  const mod = await api.aMod({ game });
  const both = await aRunner(api, game, ['ps5', 'switch']);
  const elsewhere = await aRunner(api, other, ['ps5', 'switch']);
  const narrow = await aRunner(api, game, ['switch']);
  await aSource(api, mod);
  assert.equal(await claimed(elsewhere.client), null);
  assert.equal((await mustClaim(narrow.client)).cook.platform, 'switch');
  assert.equal(await claimed(narrow.client), null);
  const claim = await mustClaim(both.client);
  assert.equal(claim.cook.platform, 'ps5');
  const params = { claim_id: claim.claim_id };
  await narrow.client.refused(reportCook, { params }, 404, 14000);
  await narrow.client.refused(downloadCookSource, { params }, 404, 14000);
});

test('a waiting runner gets a cook as soon as there is one', async () => {
  const game = await aCookingGame(api);
  const mod = await api.aMod({ game });
  const { client } = await aRunner(api, game);
  const waiting = client.call(claimCook, { body: { wait: 20 } });
  await aSource(api, mod);
  assert.equal((await waiting).body.claim?.mod_id, mod.id);
});

test('a cook whose runner stops reporting goes to another runner, and the first one has lost it', async () => {
  const game = await aCookingGame(api);
  const mod = await api.aMod({ game });
  const [gone, next] = [await aRunner(api, game), await aRunner(api, game)];
  await aSource(api, mod);
  const lost = await mustClaim(gone.client);
  api.clock.advance(LEASE - 1);
  assert.equal(await claimed(next.client), null);
  await gone.client.call(reportCook, { params: { claim_id: lost.claim_id } });
  api.clock.advance(LEASE - 1);
  assert.equal(await claimed(next.client), null);
  api.clock.advance(1);
  const claim = await mustClaim(next.client);
  assert.deepEqual([claim.cook.cook_uuid, metadataOf(claim.cook, 'attempt')], [lost.cook.cook_uuid, '2']);
  const params = { claim_id: lost.claim_id };
  await gone.client.refused(reportCook, { params }, 404, 14000);
  await gone.client.refused(failCook, { params }, 404, 14000);
  await gone.client.refused(finishCook, { params, files: resultOf(api) }, 404, 14000);
  assert.equal((await finish(api, next.client, claim.claim_id)).body.status, 2);
});

test('a cook fails after three runners stopped reporting, and the team can start it again', async () => {
  const game = await aCookingGame(api);
  const mod = await api.aMod({ game });
  const { client } = await aRunner(api, game);
  await aSource(api, mod);
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    assert.equal(metadataOf((await mustClaim(client)).cook, 'attempt'), String(attempt));
    api.clock.advance(LEASE);
    await worker.runDue();
  }
  const [failed] = await cooksOf(api, mod);
  assert.deepEqual([failed!.status, metadataOf(failed!, 'error')], [3, 'lease_expired']);
  assert.equal(await claimed(client), null);
  const started = await (await api.as(mod.owner)).call(startCook, {
    params: modPath(mod),
    body: { platforms: ['ps5'] },
  });
  assert.deepEqual([started.status, started.body.result_total], [200, 1], started.text);
  assert.notEqual(started.body.data[0]!.cook_uuid, failed!.cook_uuid);
  assert.ok(await claimed(client));
});

test('a runner reports a failed cook, for good or for another attempt', async () => {
  const game = await aCookingGame(api);
  const mod = await api.aMod({ game });
  const { client } = await aRunner(api, game);
  await aSource(api, mod);
  const first = await mustClaim(client);
  const again = { params: { claim_id: first.claim_id }, body: { again: true, logs: ['The disk is full'] } };
  assert.equal((await client.call(failCook, again)).body.status, 0);
  const second = await mustClaim(client);
  const input = { params: { claim_id: second.claim_id }, body: { logs: ['ship.fbx has no mesh'] } };
  assert.equal((await client.call(failCook, input)).body.status, 3);
  assert.equal((await client.call(failCook, input)).body.status, 3);
  const [cook] = await cooksOf(api, mod);
  assert.deepEqual([cook!.logs, metadataOf(cook!, 'error')], [['The disk is full', 'ship.fbx has no mesh'], 'failed']);
});

test('the author cancels a cook, and its runner gets 404', async () => {
  const game = await aCookingGame(api);
  const mod = await api.aMod({ game });
  const { client } = await aRunner(api, game);
  await aSource(api, mod);
  const claim = await mustClaim(client);
  const named = { params: { ...modPath(mod), cook_uuid: claim.cook.cook_uuid } };
  const author = await api.as(mod.owner);
  const moderator = await api.aUser();
  await api.joinsMod(moderator, mod, 1);
  await (await api.as(moderator)).refused(cancelCookOperation, named, 403, 15006);
  assert.equal((await author.call(cancelCookOperation, named)).body.status, 4);
  await client.refused(reportCook, { params: { claim_id: claim.claim_id } }, 404, 14000);
  await client.refused(finishCook, { params: { claim_id: claim.claim_id }, files: resultOf(api) }, 404, 14000);
  assert.equal((await author.call(cancelCookOperation, named)).body.status, 4);
});

test('an open cook is not started a second time', async () => {
  const game = await aCookingGame(api);
  const mod = await api.aMod({ game });
  await aRunner(api, game, ['ps5']);
  const source = await aSource(api, mod);
  const author = await api.as(mod.owner);
  const [automatic] = await cooksOf(api, mod);
  const started = (await author.call(startCook, { params: modPath(mod), body: { modfile: source.id } })).body.data;
  assert.deepEqual(
    started.map(({ platform, cook_uuid }) => [platform, cook_uuid === automatic!.cook_uuid]),
    [
      ['ps5', true],
      ['switch', false],
    ],
  );
  await author.refused(startCook, { params: modPath(mod), body: { platforms: ['windows'] } }, 422, 13009);
  await author.refused(startCook, { params: modPath(mod), body: { modfile: 999_999 } }, 404, 15010);
  const empty = await api.aMod({ game });
  await (await api.as(empty.owner)).refused(startCook, { params: modPath(empty) }, 404, 15010);
});

test('the result of an older source does not replace that of a newer one', async () => {
  const game = await aCookingGame(api);
  const mod = await api.aMod({ game });
  const { client } = await aRunner(api, game);
  await aSource(api, mod, { version: '1' });
  await aSource(api, mod, { version: '2' });
  const [older, newer] = [await mustClaim(client), await mustClaim(client)];
  const live = metadataOf((await finish(api, client, newer.claim_id)).body, 'result');
  await finish(api, client, older.claim_id);
  const { platforms } = (await (await api.as(mod.owner)).call(getMod, { params: modPath(mod) })).body;
  assert.deepEqual(platforms, [{ platform: 'ps5', modfile_live: Number(live) }]);
});

test('on a moderated platform a cooked file awaits approval like other files', async () => {
  const game = await aCookingGame(api, { 'platforms[1][moderated]': true });
  const mod = await api.aMod({ game });
  const { client } = await aRunner(api, game);
  await aSource(api, mod);
  const { body } = await finish(api, client, (await mustClaim(client)).claim_id);
  const params = { ...modPath(mod), file_id: Number(metadataOf(body, 'result')) };
  const file = (await (await api.as(mod.owner)).call(getModfile, { params })).body;
  assert.deepEqual(file.platforms, [{ platform: 'ps5', status: 0 }]);
  await (await api.as(await api.aUser())).refused(getModfile, { params }, 404, 15010);
});

test('a result that is no archive, or for a platform that the game no longer has, is refused and can be sent again', async () => {
  const game = await aCookingGame(api);
  const mod = await api.aMod({ game });
  const { client } = await aRunner(api, game);
  await aSource(api, mod);
  const { claim_id } = await mustClaim(client);
  const files = { filedata: { filename: 'a.zip', bytes: Buffer.from('no archive') } };
  await client.refused(finishCook, { params: { claim_id }, files }, 422, 13001);
  await client.refused(finishCook, { params: { claim_id }, body: { version: '1' } }, 422, 13009);
  const owner = await api.as(game.owner);
  const fewer = { 'platforms[0][platform]': 'windows' };
  await owner.call(editGameOperation, { params: gamePath(game), body: fewer });
  await client.refused(finishCook, { params: { claim_id }, files: resultOf(api) }, 422, 13009);
  await owner.call(editGameOperation, { params: gamePath(game), body: { ...fewer, 'platforms[1][platform]': 'ps5' } });
  assert.equal((await finish(api, client, claim_id)).body.status, 2);
});

test('a large result is uploaded in parts, in a session of the runner and not of the author', async () => {
  const game = await aCookingGame(api);
  const mod = await api.aMod({ game });
  const { client } = await aRunner(api, game);
  await aSource(api, mod);
  const { claim_id } = await mustClaim(client);
  const params = { claim_id };
  const { upload_id } = (await client.call(openCookUpload, { params })).body;
  assert.equal((await client.call(openCookUpload, { params })).body.upload_id, upload_id);
  const { bytes } = resultOf(api).filedata;
  const part = { raw: bytes, headers: { 'content-range': rangeOf(0, bytes.length, bytes.length) } };
  const author = await api.as(mod.owner);
  const sessions = await author.send('GET', `/games/${game.id}/mods/${mod.id}/files/multipart/sessions`);
  assert.equal((sessions.body as { result_total: number }).result_total, 0);
  const query = { upload_id };
  const sent = await client.call(addCookUploadPart, { params, query, ...part });
  assert.equal(sent.status, 200, sent.text);
  assert.equal((await client.call(getCookUploadParts, { params, query })).body.parts.length, 1);
  assert.equal((await client.call(completeCookUpload, { params, query })).body.status, 3);
  const done = await client.call(finishCook, { params, body: { upload_id } });
  assert.deepEqual([done.status, done.body.status], [200, 2], done.text);
});

test('the last 2,000 lines of a log are stored, and lists show the last 20', async () => {
  const game = await aCookingGame(api);
  const mod = await api.aMod({ game });
  const { client } = await aRunner(api, game);
  await aSource(api, mod);
  const { claim_id, cook } = await mustClaim(client);
  const lines = (from: number) => Array.from({ length: 500 }, (_, index) => `line ${from + index}`);
  for (const from of [0, 500, 1_000, 1_500, 2_000])
    await client.call(reportCook, { params: { claim_id }, body: { logs: lines(from) } });
  const params = { ...modPath(mod), cook_uuid: cook.cook_uuid };
  const { logs } = (await (await api.as(mod.owner)).call(getModfileCook, { params })).body;
  assert.deepEqual([logs.length, logs[0], logs.at(-1)], [2_000, 'line 500', 'line 2499']);
  const [listed] = await cooksOf(api, mod);
  assert.deepEqual([listed!.logs.length, listed!.logs.at(-1)], [20, 'line 2499']);
  await client.refused(reportCook, { params: { claim_id }, body: { logs: [...lines(0), 'more'] } }, 422, 13009);
  await client.call(failCook, { params: { claim_id } });
  api.clock.advance(30 * 86_400);
  await worker.runDue();
  assert.deepEqual((await cooksOf(api, mod))[0]!.logs, []);
});

test('a runner’s secret is shown once, never stored, and invalid as soon as the runner is removed', async () => {
  const game = await aCookingGame(api);
  const mod = await api.aMod({ game });
  const [runner, other] = [await aRunner(api, game), await aRunner(api, game)];
  const rows = await api.app().db.query.selectFrom('cook_runners').selectAll().where('id', '=', runner.id).execute();
  assert.ok(!JSON.stringify(rows).includes(runner.secret.slice(6)));
  const owner = await api.as(game.owner);
  const listed = await owner.call(getCookRunners, { params: gamePath(game) });
  assert.ok(!listed.text.includes('secret') && listed.body.result_total === 2);
  await aSource(api, mod);
  const claim = await mustClaim(runner.client);
  assert.equal(
    (await owner.call(deleteCookRunner, { params: { ...gamePath(game), runner_id: runner.id } })).status,
    204,
  );
  await runner.client.refused(claimCook, {}, 401, 11005);
  await runner.client.refused(reportCook, { params: { claim_id: claim.claim_id } }, 401, 11005);
  assert.equal((await mustClaim(other.client)).cook.cook_uuid, claim.cook.cook_uuid);
});

test('the game’s team sees the cooks of hidden mods, and others do not', async () => {
  const game = await aCookingGame(api);
  const mod = await api.aMod({ game, visible: 0 });
  await aRunner(api, game);
  await aSource(api, mod);
  const [cook] = await cooksOf(api, mod);
  const stranger = await api.as(await api.aUser());
  await stranger.refused(getCooks, { params: gamePath(game) }, 403, 29500);
  await stranger.refused(getModfileCook, { params: { ...modPath(mod), cook_uuid: cook!.cook_uuid } }, 404, 15022);
  const open = await api.aMod({ game });
  const elsewhere = { params: { ...modPath(open), cook_uuid: cook!.cook_uuid } };
  await (await api.as(open.owner)).refused(getModfileCook, elsewhere, 404, 14000);
  const moderator = await api.aUser();
  await api.joins(moderator, game, 1);
  const seen = (await (await api.as(moderator)).call(getCooks, { params: gamePath(game), query: { status: 0 } })).body;
  assert.deepEqual(
    seen.data.map(({ cook_uuid }) => cook_uuid),
    [cook!.cook_uuid],
  );
});

test('the studio gets events for cooks that wait, succeed and fail', async () => {
  const game = await aCookingGame(api);
  const mod = await api.aMod({ game });
  const { client } = await aRunner(api, game);
  const owner = await api.as(game.owner);
  const events = ['COOK_QUEUED', 'COOK_SUCCEEDED', 'COOK_FAILED'];
  const endpoint = { name: 'Studio', url: 'https://example.org/hook', events };
  const { id } = (await owner.call(addGameWebhook, { params: gamePath(game), body: endpoint })).body;
  for (const _ of events) await aSource(api, mod);
  await finish(api, client, (await mustClaim(client)).claim_id);
  await client.call(failCook, { params: { claim_id: (await mustClaim(client)).claim_id } });
  const query = { _sort: 'id' };
  const { data } = (
    await owner.call(getGameWebhookDeliveries, { params: { ...gamePath(game), webhook_id: id }, query })
  ).body;
  assert.deepEqual(
    data.map(({ event_type }) => event_type),
    ['COOK_QUEUED', 'COOK_QUEUED', 'COOK_QUEUED', 'COOK_SUCCEEDED', 'COOK_FAILED'],
  );
});
