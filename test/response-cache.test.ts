import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { editGameOperation, getGame, getGames } from '../src/catalogue/games/operations.ts';
import { MODERATOR } from '../src/catalogue/teams/teams.ts';
import { getAuthenticatedUser } from '../src/people/users/operations.ts';
import { reader, visibilityClass } from '../src/platform/access/caller.ts';
import { accessChanged } from '../src/platform/access/credentials.ts';
import { readSettings } from '../src/platform/config/settings.ts';
import { MessageObject } from '../src/platform/http/objects.ts';
import { ok, operation } from '../src/platform/http/operation.ts';
import { logout } from '../src/signin/accounts/operations.ts';
import { assertRefused, type Client, startApi } from './api.ts';
import { anotherService, exchange, requestOf, serveOperations, untilReceived } from './wire.ts';

const api = await startApi();

/** A cacheable operation whose response shows everything that it may depend on. */
let asked = 0;
const mirror = operation({
  id: 'test-mirror',
  tag: 'Test',
  method: 'GET',
  path: '/mirror',
  says: 'Shows what a handler sees of a request.',
  access: reader(),
  query: z.object({ show_hidden_tags: z.boolean().default(false) }),
  returns: ok(MessageObject),
  errors: [],
  handle: (_app, { caller, language, platform, portal, hostGameId, query, cache }) => {
    asked += 1;
    cache('mirror');
    const seen = {
      kind: caller.kind,
      class: visibilityClass(caller),
      language,
      platform,
      portal,
      hostGameId,
      ...query,
    };
    return { code: 200, message: JSON.stringify(seen) };
  },
});
/** A response that is valid for a minute. */
const lasting = operation({
  id: 'test-lasting',
  tag: 'Test',
  method: 'GET',
  path: '/lasting',
  says: 'Shows the second in which it was asked.',
  access: reader(),
  returns: ok(MessageObject),
  errors: [],
  handle: (app, { cache, cacheUntil }) => {
    cache('lasting');
    cacheUntil(app.clock.now() + 120);
    cacheUntil(app.clock.now() + 60);
    return { code: 200, message: String(app.clock.now()) };
  },
});
const { port, drain } = await serveOperations(api, [mirror, lasting]);
test.after(() => drain(0));

const game = await api.aGame();
const otherGame = await api.aGame();
const member = await api.as(game.owner);
const german = await api.as(await api.aUser({ language: 'de' }));
const stranger = await api.as(await api.aUser());
const admin = await api.as(await api.aUser({ admin: true }));
const personWithKey = await api.aUser();

interface Variant {
  readonly query?: string;
  readonly headers?: Record<string, string>;
  readonly seen: Record<string, unknown>;
}

const byKey = `api_key=${game.api_key}`;
const bearer = (client: Client) => ({ Authorization: `Bearer ${client.token}` });

const variants: Variant[] = [
  { query: byKey, seen: { kind: 'key', class: `g${game.id}`, language: 'en', show_hidden_tags: false } },
  { query: `api_key=${otherGame.api_key}`, seen: { class: `g${otherGame.id}` } },
  { query: `api_key=${personWithKey.api_key}`, seen: { kind: 'key', class: 'p' } },
  { headers: bearer(stranger), seen: { kind: 'user', class: 'p', language: 'en' } },
  { headers: bearer(german), seen: { kind: 'user', class: 'p', language: 'de' } },
  { headers: { ...bearer(german), 'Accept-Language': 'xx' }, seen: { language: 'de' } },
  { headers: { ...bearer(stranger), 'Accept-Language': 'xx' }, seen: { language: 'en' } },
  { headers: { ...bearer(german), 'Accept-Language': 'fr' }, seen: { language: 'fr' } },
  { headers: bearer(member), seen: { class: `u${game.owner.id}` } },
  { headers: bearer(admin), seen: { kind: 'user' } },
  { query: byKey, headers: { 'Accept-Language': 'de' }, seen: { language: 'de' } },
  { query: byKey, headers: { 'Accept-Language': 'fr;q=0.9, de;q=0.1' }, seen: { language: 'fr' } },
  { query: byKey, headers: { 'X-Modio-Platform': 'Linux' }, seen: { platform: 'linux' } },
  { query: byKey, headers: { 'X-Service-Platform': 'ps5' }, seen: { platform: 'ps5' } },
  { query: byKey, headers: { 'X-Modio-Platform': 'amiga' }, seen: { platform: 'windows' } },
  { query: byKey, headers: { 'X-Modio-Portal': 'steam' }, seen: { portal: 'steam' } },
  { query: byKey, headers: { 'X-Modio-Portal': 'EGS' }, seen: { portal: 'epicgames' } },
  { query: `${byKey}&show_hidden_tags=1`, seen: { show_hidden_tags: true } },
  { query: `show_hidden_tags=true&${byKey}`, seen: { show_hidden_tags: true } },
  { query: byKey, headers: { Host: 'g-77.localhost' }, seen: { hostGameId: 77 } },
];

const ask = ({ query, headers = {} }: Omit<Variant, 'seen'>, method = 'GET') =>
  exchange(api, requestOf(`${method} /v1/mirror${query ? `?${query}` : ''}`, headers), { port });

test('every caller gets a response for its own visibility class, whatever is cached for others', async () => {
  for (let round = 0; round < 3; round += 1)
    for (const variant of round === 1 ? variants.toReversed() : variants) {
      const { status, body, text } = await ask(variant);
      assert.equal(status, 200, text);
      const seen = JSON.parse(body.message);
      for (const [name, value] of Object.entries(variant.seen))
        assert.equal(seen[name], value, JSON.stringify(variant));
    }
  const before = asked;
  for (const variant of variants) await ask(variant);
  assert.equal(asked, before, 'all responses came from the cache');
});

test('callers of one visibility class share cached responses', async () => {
  const [one, two] = [await api.as(await api.aUser()), await api.as(await api.aUser())];
  for (const client of [one, two]) await ask({ query: 'warm=1', headers: bearer(client) });
  const query = 'shared=1';
  await ask({ query, headers: bearer(one) });
  const before = asked;
  await ask({ query, headers: bearer(two) });
  assert.equal(asked, before);
});

test('a caller whose credentials have to be read first gets the cached response', async () => {
  const query = 'unread=1';
  await ask({ query, headers: bearer(stranger) });
  const before = asked;
  const answer = await ask({ query, headers: bearer(await api.as(await api.aUser())) });
  assert.deepEqual([answer.status, asked], [200, before]);
  const { etag } = answer.headers;
  const unknown = bearer(await api.as(await api.aUser()));
  const confirmed = await ask({ query, headers: { ...unknown, 'If-None-Match': String(etag) } });
  assert.deepEqual([confirmed.status, confirmed.headers['etag'], asked], [304, etag, before]);
  const [outsider, insider] = [await api.aUser(), await api.as(game.owner)];
  await ask({ query, headers: bearer(insider) });
  const seen = JSON.parse((await ask({ query, headers: bearer(await api.as(outsider)) })).body.message);
  assert.equal(seen.class, 'p', 'nobody gets what a member of a team sees');
});

test('an address that has to be counted first gets the cached response, as often as it may ask', async (t) => {
  const { rateLimits } = readSettings({ MODSTEAD_RATE_LIMITS: 'address=6' });
  const { trustProxy } = readSettings({ MODSTEAD_TRUST_PROXY: '127.0.0.1' });
  const limited = await serveOperations(api, [mirror], { rateLimits, trustProxy });
  t.after(() => limited.drain(0));
  const from = (address: string) =>
    exchange(api, requestOf(`GET /v1/mirror?counted=1&${byKey}`, { 'X-Forwarded-For': address }), {
      port: limited.port,
    });
  assert.equal((await from('198.51.100.1')).status, 200);
  const before = asked;
  for (const address of ['198.51.100.2', '198.51.100.3', '198.51.100.4'])
    assert.deepEqual([(await from(address)).status, asked], [200, before]);
  const statuses = [];
  for (let i = 0; i < 8; i += 1) statuses.push((await from('198.51.100.5')).status);
  assert.deepEqual(statuses, [200, 200, 200, 200, 200, 200, 429, 429]);
  assert.equal(asked, before);
});

test('the Host header of a request does not reach responses to others', async () => {
  await ask({ query: byKey });
  const before = asked;
  const poisoned = await ask({ query: byKey, headers: { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example' } });
  assert.equal(asked, before);
  assert.ok(!poisoned.text.includes('evil'));
  const shown = requestOf(`GET /v1/games/${game.id}?api_key=${game.api_key}&poison=1`, { Host: 'evil.example' });
  assert.ok(!(await exchange(api, shown)).text.includes('evil'));
});

test('HEAD and GET do not share cached responses', async () => {
  const query = `${byKey}&head=1`;
  const head = await ask({ query }, 'HEAD');
  const got = await ask({ query });
  assert.deepEqual([head.text, head.headers['content-length']], ['', String(Buffer.byteLength(got.text))]);
  assert.ok(got.body.message);
  assert.equal((await ask({ query }, 'HEAD')).text, '');
});

test('a client that does not accept JSON is refused even if the response is cached', async () => {
  await ask({ query: byKey });
  assert.equal((await ask({ query: byKey, headers: { Accept: 'text/html' } })).ref, 13007);
});

test('a page of another origin gets CORS headers even if the response is cached', async () => {
  await ask({ query: byKey });
  const { headers } = await ask({ query: byKey, headers: { Origin: 'https://a.example' } });
  assert.equal(headers['access-control-allow-origin'], '*');
  assert.equal((await ask({ query: byKey })).headers['access-control-allow-origin'], undefined);
});

test('every response from the cache has a unique id', async () => {
  const ids = [];
  for (let i = 0; i < 3; i += 1) ids.push((await ask({ query: byKey })).headers['x-request-id']);
  assert.equal(new Set(ids).size, 3);
});

test('a query with a second key, in any spelling, is not served from the cache', async () => {
  const [first, second] = [await api.aUser(), await api.aUser()];
  for (const { api_key } of [first, second]) await ask({ query: `api_key=${api_key}` });
  for (const spelling of ['api_key', 'api%5Fkey', '%61pi_key']) {
    const before = asked;
    for (let i = 0; i < 2; i += 1)
      assert.equal((await ask({ query: `api_key=${first.api_key}&${spelling}=${second.api_key}` })).status, 200);
    assert.equal(asked, before + 2, spelling);
  }
});

test('a read with a body is not served from the cache, and its connection is closed', async () => {
  await ask({ query: byKey });
  const answer = await ask({ query: byKey, headers: { 'Content-Length': '1000' } });
  assert.deepEqual([answer.status, answer.headers['connection']], [200, 'close']);
});

test('a revoked token gets no cached response', async () => {
  const visitor = await api.as(await api.aUser());
  for (let i = 0; i < 2; i += 1) assert.equal((await visitor.call(getGames)).status, 200);
  await visitor.call(logout);
  await visitor.refused(getGames, {}, 401, 11005);
});

test('an unknown token gets no cached response', async () => {
  await ask({ headers: bearer(stranger) });
  assert.equal((await ask({ headers: { Authorization: 'Bearer unknown' } })).ref, 11005);
  assert.equal((await ask({ headers: { Authorization: `Bearer ${game.api_key}` } })).ref, 11005);
  assert.equal((await ask({})).ref, 11000);
});

test('only callers with access see an unaccepted game, in any order of requests', async () => {
  const hidden = await api.aGame({ name: 'Not Yet', accepted: false });
  const helper = await api.aUser();
  await api.joins(helper, hidden, MODERATOR);
  const may = [await api.as(hidden.owner), await api.as(helper), api.withKey(hidden), admin];
  const mayNot = [stranger, member, api.withKey(game), api.withKey(personWithKey)];
  const query = { 'name-lk': 'not yet*' };
  for (const clients of [[...may, ...mayNot], [...mayNot, ...may], [...may, ...mayNot].toReversed()])
    for (const client of clients) {
      const { body } = await client.call(getGames, { query });
      assert.equal(body.result_total, may.includes(client) ? 1 : 0);
      const shown = await client.send('GET', `/games/${hidden.id}`);
      if (may.includes(client)) assert.equal(shown.status, 200);
      else assertRefused(shown, 404, 14001);
    }
});

test('a user who leaves a team no longer sees its hidden content, even as a member of another team', async () => {
  const [hidden, kept] = [await api.aGame({ name: 'Left Behind', accepted: false }), await api.aGame()];
  const helper = await api.aUser();
  for (const each of [hidden, kept]) await api.joins(helper, each, MODERATOR);
  const client = await api.as(helper);
  const query = { 'name-lk': 'left behind*' };
  for (let i = 0; i < 2; i += 1) assert.equal((await client.call(getGames, { query })).body.result_total, 1);
  await api.app().db.write(async (transaction) => {
    await transaction.query
      .deleteFrom('team_members')
      .where('user_id', '=', helper.id)
      .where('resource_id', '=', hidden.id)
      .execute();
    accessChanged(transaction);
  });
  // After this request the caller is cached again, so the next one could be served from the cache.
  await client.call(getAuthenticatedUser);
  assert.equal((await client.call(getGames, { query })).body.result_total, 0);
  assertRefused(await client.send('GET', `/games/${hidden.id}`), 404, 14001);
});

test('a read after a write is fresh, in single objects and lists, in every language', async () => {
  const own = await api.aGame({ name: 'Fresh Paint' });
  const leader = await api.as(own.owner);
  const params = { game_id: own.id };
  for (let round = 0; round < 10; round += 1) {
    const summary = `Coat ${round}`;
    for (const client of [stranger, api.withKey(own)])
      for (const headers of [{ 'accept-language': 'de' }, { 'accept-language': 'en' }]) {
        await client.call(getGame, { params, headers });
        await client.call(getGames, { query: { 'name-lk': 'fresh paint*' }, headers });
      }
    await leader.call(editGameOperation, { params, body: { summary } });
    for (const client of [stranger, api.withKey(own)])
      for (const headers of [{ 'accept-language': 'de' }, { 'accept-language': 'en' }]) {
        assert.equal((await client.call(getGame, { params, headers })).body.summary, summary);
        const listed = await client.call(getGames, { query: { 'name-lk': 'fresh paint*' }, headers });
        assert.equal(listed.body.data[0]?.summary, summary);
      }
  }
});

test('another process serves fresh responses as soon as it receives a change', async (t) => {
  const other = await anotherService(api);
  t.after(() => other.stop());
  const own = await api.aGame();
  const leader = await api.as(own.owner);
  const read = async () => {
    const request = requestOf(`GET /v1/games/${own.id}?api_key=${own.api_key}`, {});
    return (await exchange(api, request, { port: other.port })).body.summary;
  };
  for (let round = 0; round < 3; round += 1) {
    await read();
    await read();
    const summary = `Written elsewhere ${round}`;
    await leader.call(editGameOperation, { params: { game_id: own.id }, body: { summary } });
    await untilReceived(other.apps.production.db, async () => (await read()) === summary);
  }
});

test('a response is cached no longer than its content is valid', async () => {
  const request = requestOf(`GET /v1/lasting?api_key=${game.api_key}`, {});
  const ask = async () => (await exchange(api, request, { port })).body.message;
  const first = await ask();
  api.clock.advance(59);
  assert.equal(await ask(), first);
  assert.equal(await ask(), first);
  api.clock.advance(1);
  assert.equal(await ask(), String(Number(first) + 60));
});

test('a 404 is not cached', async () => {
  const key = api.withKey(game);
  const next = (await api.aGame()).id + 1;
  assertRefused(await key.send('GET', `/games/${next}`), 404, 14001);
  const made = await api.aGame();
  assert.equal(made.id, next);
  assert.equal((await key.send('GET', `/games/${next}`)).status, 200);
});

test('a cached response is sent compressed only to clients that accept gzip', async () => {
  const game = await api.aGame();
  const client = api.withKey(game);
  const ask = (encoding?: string) =>
    client.call(getGame, { params: { game_id: game.id }, headers: encoding ? { 'accept-encoding': encoding } : {} });
  const plain = await ask();
  let packed = await ask('gzip, deflate');
  // Compression runs in the background, so that no request waits for it.
  while (packed.headers['content-encoding'] === undefined) packed = await ask('gzip, deflate');
  assert.equal(packed.headers['content-encoding'], 'gzip');
  assert.match(packed.headers.vary!, /accept-encoding/);
  assert.ok(Number(packed.headers['content-length']) < Number(plain.headers['content-length']));
  assert.equal(packed.text, plain.text);
  for (const encoding of [undefined, 'identity', 'gzip;q=0', 'deflate, br'])
    assert.equal((await ask(encoding)).headers['content-encoding'], undefined);
  const body = { summary: 'Changed since' };
  await (await api.as(game.owner)).call(editGameOperation, { params: { game_id: game.id }, body });
  assert.match((await ask('gzip')).text, /Changed since/);
});
