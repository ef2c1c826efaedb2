// Runs on one database: the client talks to the API alone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import sharp from 'sharp';
import { ApiError, ConnectionError, type ErrorOf, isApiError, items, pages } from '../../client/src/index.ts';
import { startApi } from '../api.ts';
import { clientOf, fetchOf } from './fetching.ts';

const api = await startApi();
const picture = await sharp({ create: { width: 512, height: 288, channels: 3, background: '#123456' } })
  .png()
  .toBuffer();
const logo = () => new File([new Uint8Array(picture)], 'logo.png');

/** Waits that end at once, and how long they would have taken. */
function recordedWaits() {
  const waits: number[] = [];
  return { waits, wait: async (milliseconds: number) => void waits.push(milliseconds) };
}

test('a list is read with filters, page by page and entry by entry', async () => {
  const game = await api.aGame();
  const mods = [await api.aMod({ game }), await api.aMod({ game }), await api.aMod({ game })];
  const client = clientOf(api, { key: game.api_key });
  const input = { game_id: game.id, 'id-in': mods.map(({ id }) => id), _limit: 2, _sort: '-id' } as const;
  const sizes: number[] = [];
  for await (const page of pages(client, 'GET /games/{game_id}/mods', input)) sizes.push(page.result_count);
  assert.deepEqual(sizes, [2, 1]);
  const names: string[] = [];
  for await (const mod of items(client, 'GET /games/{game_id}/mods', input)) names.push(mod.name);
  assert.deepEqual(names, mods.map(({ name }) => name).toReversed());
});

test('files, lists and nested fields are sent as the service reads them', async () => {
  const owner = await api.aUser();
  const game = await api.aGame({ owner });
  const client = clientOf(api, { token: (await api.as(owner)).token });
  await client.call('POST /games/{game_id}/tags', {
    game_id: game.id,
    name: 'Theme',
    type: 'checkboxes',
    tags: ['Sea & Sand', 'Night'],
    name_localization: { de: 'Thema' },
  });
  await client.call('PUT /games/{game_id}', {
    game_id: game.id,
    theme: { primary: '#112233' },
    platforms: [{ platform: 'windows', moderated: false }],
  });
  const mod = await client.call('POST /games/{game_id}/mods', {
    game_id: game.id,
    name: 'Harbour – 港',
    summary: 'Ships',
    logo: logo(),
    tags: ['Sea & Sand', 'Night'],
    metadata_kvp: ['depth:12'],
  });
  assert.deepEqual(mod.tags.map(({ name }) => name).sort(), ['Night', 'Sea & Sand']);
  assert.deepEqual(mod.metadata_kvp, [{ metakey: 'depth', metavalue: '12' }]);
  await client.call('POST /games/{game_id}/mods/{mod_id}/media', {
    game_id: game.id,
    mod_id: mod.id,
    images: [logo()],
  });
  const path = { game_id: game.id, mod_id: mod.id };
  const cleared = await client.call('POST /games/{game_id}/mods/{mod_id}', { ...path, tags: [], name: 'Harbour' });
  assert.deepEqual([cleared.tags, cleared.name, cleared.media.images.length], [[], 'Harbour', 1]);
  assert.equal(
    await client.call('DELETE /games/{game_id}/mods/{mod_id}/metadatakvp', { ...path, metadata: ['depth'] }),
    undefined,
  );
});

test('an error has its reference, its fields, and the type that the operation declares', async () => {
  const game = await api.aGame();
  const client = clientOf(api, { key: game.api_key });
  const missing = await client.attempt('GET /games/{game_id}/mods/{mod_id}', { game_id: game.id, mod_id: 999_999 });
  assert.ok(!missing.ok);
  const error: ErrorOf<'GET /games/{game_id}/mods/{mod_id}'> = missing.error;
  // @ts-expect-error The operation never responds with this reference.
  if (error.errorRef === 15004) assert.fail();
  assert.deepEqual([error.status, error.errorRef, error.message.length > 0], [404, 15022, true]);
  const owner = clientOf(api, { token: (await api.as(game.owner)).token });
  await assert.rejects(owner.call('PUT /games/{game_id}', { game_id: game.id, name: '' }), (refusal) => {
    assert.ok(isApiError(refusal, 13009));
    return refusal.status === 422 && 'name' in refusal.fields;
  });
  const notOurs = clientOf(api, { fetch: async () => new Response('<h1>Bad Gateway', { status: 418 }) });
  await assert.rejects(
    notOurs.call('GET /ping'),
    (refusal) => refusal instanceof ConnectionError && refusal.status === 418,
  );
});

test('the sandbox and languages are switches of the client', async () => {
  const game = await api.aGame({}, 'sandbox');
  const client = clientOf(api, { key: game.api_key });
  await assert.rejects(client.call('GET /games/{game_id}', { game_id: game.id }), (error) => isApiError(error, 11002));
  const sandbox = client.with({ sandbox: true, language: 'de' });
  assert.equal((await sandbox.call('GET /games/{game_id}', { game_id: game.id })).name, game.name);
  const refused = await sandbox.attempt('GET /games/{game_id}/mods/{mod_id}', { game_id: game.id, mod_id: 9 });
  const english = await sandbox
    .with({ language: 'en' })
    .attempt('GET /games/{game_id}/mods/{mod_id}', { game_id: game.id, mod_id: 9 });
  assert.ok(!refused.ok && !english.ok);
  assert.notEqual(refused.error.message, english.error.message);
});

test('a rate limit is awaited as long as the service asks, and no longer than allowed', async () => {
  const fetchFirst = (limited: number) => {
    const send = fetchOf(api);
    return async (...request: Parameters<typeof fetch>) => {
      if (limited-- <= 0) return send(...request);
      const error = { error: { code: 429, error_ref: 11008, message: 'Too many requests' } };
      return Response.json(error, { status: 429, headers: { 'Retry-After': '20' } });
    };
  };
  const { waits, wait } = recordedWaits();
  const game = await api.aGame();
  await clientOf(api, { key: game.api_key, fetch: fetchFirst(2), retry: { wait } }).call('GET /ping');
  assert.equal(waits.length, 2);
  assert.ok(waits.every((milliseconds) => milliseconds >= 20_000 && milliseconds <= 25_000));
  const impatient = clientOf(api, { fetch: fetchFirst(1), retry: { wait, longestWaitSeconds: 5 } });
  await assert.rejects(
    impatient.call('POST /oauth/logout'),
    (error) => error instanceof ApiError && error.retryAfterSeconds === 20,
  );
});

test('a lost response is repeated only where that creates nothing twice', async () => {
  const owner = await api.aUser();
  const game = await api.aGame({ owner });
  const { wait } = recordedWaits();
  let sent = 0;
  const send = fetchOf(api);
  const losing: typeof fetch = async (...request) => {
    sent += 1;
    const response = await send(...request);
    if (sent > 1) return response;
    await response.body?.cancel();
    throw new TypeError('The connection was lost.');
  };
  const client = clientOf(api, { token: (await api.as(owner)).token, fetch: losing, retry: { wait } });
  const mod = await client.call('POST /games/{game_id}/mods', {
    game_id: game.id,
    name: 'Once',
    summary: 'Sent twice',
    logo: logo(),
  });
  assert.deepEqual([mod.name, sent], ['Once', 3]);
  const { result_total } = await client.call('GET /me/mods', { game_id: game.id });
  assert.equal(result_total, 1);
  sent = 0;
  const path = { game_id: game.id, mod_id: mod.id };
  await assert.rejects(
    client.call('POST /games/{game_id}/mods/{mod_id}/ratings', { ...path, rating: 1 }),
    ConnectionError,
  );
  assert.equal(sent, 1);
});

test('an aborted call ends with the reason of its signal', async () => {
  const reason = new Error('The page was left.');
  const signal = AbortSignal.abort(reason);
  await assert.rejects(clientOf(api).call('GET /ping', {}, { signal }), reason);
  const controller = new AbortController();
  const failing = clientOf(api, {
    fetch: async () => {
      queueMicrotask(() => controller.abort(reason));
      throw new TypeError('no network');
    },
  });
  await assert.rejects(failing.call('GET /ping', {}, { signal: controller.signal }), reason);
});
