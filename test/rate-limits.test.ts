import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConnectionOptions } from 'node:tls';
import { editGameOperation, getGame, getGames } from '../src/catalogue/games/operations.ts';
import { readSettings } from '../src/platform/config/settings.ts';
import { limitedAddress } from '../src/platform/http/address.ts';
import { requestEmailSecurityCode } from '../src/signin/mailed-codes/operations.ts';
import { type Answer, type Api, assertRefused, startApi } from './api.ts';
import { PROCESSES } from './fleet/siblings.ts';
import { anotherService, exchange, requestOf } from './wire.ts';

const MINUTE_AND_SLOT = 65;
const WIDE = 'address=100000,address_writes=100000';

const limited = (limits: string, settings: Record<string, string> = {}) =>
  startApi({ settings: { MODSTEAD_RATE_LIMITS: limits, ...settings } });

/** Sends requests until every process in turn has refused one, because each may have leased tokens left. */
async function allowed(
  ask: () => Promise<Answer<unknown>>,
  most: number,
): Promise<{ count: number; refused: number; last: Answer<unknown> }> {
  let [count, refused, inSuccession] = [0, 0, 0];
  for (;;) {
    const last = await ask();
    if (last.status === 429) {
      refused += 1;
      inSuccession += 1;
      if (inSuccession === PROCESSES) return { count, refused, last };
      continue;
    }
    if (count === most) return { count, refused, last };
    assert.equal(last.headers['retry-after'], undefined);
    inSuccession = 0;
    count += 1;
  }
}

function assertLimited(answer: Answer<unknown>, ref: 11008 | 11009): void {
  assertRefused(answer, 429, ref);
  assert.match(answer.headers['retry-after'] ?? '', /^[1-9]\d?$/);
}

const ping =
  (api: Api, headers: Record<string, string> = {}) =>
  () =>
    api.request('GET', '/v1/ping', { headers });

test('a user’s key reads sixty times a minute, and again when the window has moved on', async () => {
  const api = await limited(WIDE);
  const key = api.withKey(await api.aUser());
  const { count, last } = await allowed(() => key.call(getGames), 100);
  assert.equal(count, 60);
  assertLimited(last, 11008);
  api.clock.advance(Number(last.headers['retry-after']) - 1);
  assert.equal((await key.call(getGames)).status, 429);
  api.clock.advance(MINUTE_AND_SLOT);
  assert.equal((await key.call(getGames)).status, 200);
});

test('a request is allowed after the time in Retry-After', async () => {
  const api = await limited('address=5');
  const { last } = await allowed(ping(api), 10);
  api.clock.advance(Number(last.headers['retry-after']));
  assert.equal((await ping(api)()).status, 200);
});

test('a game’s key has no limit', async () => {
  const api = await limited(`${WIDE},user_key=3,token=3`);
  const key = api.withKey(await api.aGame());
  assert.equal((await allowed(() => key.call(getGames), 150)).count, 150);
});

test('a user has 120 calls a minute, over all tokens', async () => {
  const api = await limited(WIDE);
  const person = await api.aUser();
  const clients = [await api.as(person), await api.as(person)];
  let turn = 0;
  const { count, last } = await allowed(() => clients[++turn % 2]!.call(getGames), 200);
  assert.equal(count, 120);
  assertLimited(last, 11008);
  assert.equal((await (await api.as(await api.aUser())).call(getGames)).status, 200);
});

test('a user has sixty writes a minute, and failed ones count', async () => {
  const api = await limited(WIDE);
  const game = await api.aGame();
  const owner = await api.as(game.owner);
  const params = { game_id: game.id };
  let turn = 0;
  const write = () => owner.call(editGameOperation, { params, body: { presentation_option: ++turn % 2 ? 1 : 9 } });
  const { count, last } = await allowed(write, 100);
  assert.equal(count, 60);
  assertLimited(last, 11008);
  assert.equal((await owner.call(getGame, { params })).status, 200);
});

test('the default limits are the published ones', () => {
  const { rateLimits } = readSettings({});
  const published = { user_key: 60, token: 120, token_writes: 60, address: 1000, address_writes: 60, operations: {} };
  assert.deepEqual(rateLimits, published);
});

test('the limit of an address counts failed requests', async () => {
  const api = await limited('address=20');
  const paths = ['/v1/ping', '/v1/nothing', '/v1/games', '/v1/me', `/v1/games?api_key=${'a'.repeat(32)}`];
  let turn = 0;
  const { count, last } = await allowed(() => api.request('GET', paths[++turn % paths.length]!), 50);
  assert.equal(count, 20);
  assertLimited(last, 11008);
});

test('the limit of an address for writes is lower than for reads', async () => {
  const api = await limited('address=50,address_writes=4');
  const { count, last } = await allowed(() => api.request('POST', '/v1/oauth/logout'), 10);
  assert.equal(count, 4);
  assertLimited(last, 11008);
  assert.equal((await ping(api)()).status, 200);
});

test('preflights count for the address', async () => {
  const api = await limited('address=5');
  assert.equal((await allowed(() => api.request('OPTIONS', '/v1/games'), 10)).count, 5);
});

test('health checks have no limit', async () => {
  const api = await limited('address=2');
  assert.equal((await allowed(() => api.request('GET', '/healthz'), 10)).count, 10);
});

test('an operation with its own limit refuses with another reference', async () => {
  const api = await limited(`${WIDE},get-games=5`);
  const game = await api.aGame();
  const owner = await api.as(game.owner);
  const { count, last } = await allowed(() => owner.call(getGames), 10);
  assert.equal(count, 5);
  assertLimited(last, 11009);
  assert.equal((await owner.call(getGame, { params: { game_id: game.id } })).status, 200);
});

test('one address can request ten codes a minute', async () => {
  const api = await limited(WIDE);
  const key = api.withKey(await api.aGame());
  // Each to another mailbox, because a mailbox has its own limit.
  const ask = () =>
    key.call(requestEmailSecurityCode, { body: { email: `${api.unique('a').replace(' ', '')}@example.com` } });
  const { count, last } = await allowed(ask, 20);
  assert.equal(count, 10);
  assertLimited(last, 11009);
});

test('cached responses count like others', async () => {
  const api = await limited(`${WIDE},get-game=30`);
  const game = await api.aGame();
  const person = api.withKey(await api.aUser());
  const params = { game_id: game.id };
  const byOperation = await allowed(() => person.call(getGame, { params }), 50);
  assert.equal(byOperation.count, 30);
  assertLimited(byOperation.last, 11009);
  // Those that the operation refused count for the key.
  const left = 60 - byOperation.count - byOperation.refused;
  assert.equal((await allowed(() => person.call(getGames), 50)).count, left);
  const small = await limited('address=7');
  assert.equal((await allowed(ping(small), 20)).count, 7);
});

test('the X-Forwarded-For of an untrusted client is ignored', async () => {
  const api = await limited('address=6');
  let turn = 0;
  const spoofed = () => {
    const ip = `198.51.100.${++turn}`;
    return ping(api, { 'x-forwarded-for': ip, forwarded: `for=${ip}`, 'cf-connecting-ip': ip, 'x-real-ip': ip })();
  };
  assert.equal((await allowed(spoofed, 20)).count, 6);
});

test('the X-Forwarded-For of a trusted proxy is read from the right, up to the first untrusted address', async () => {
  const api = await limited('address=3', { MODSTEAD_TRUST_PROXY: '127.0.0.1,10.0.0.0/8' });
  let turn = 0;
  const through = (real: string) => () => ping(api, { 'x-forwarded-for': `203.0.113.${++turn}, ${real}, 10.0.0.9` })();
  assert.equal((await allowed(through('198.51.100.1'), 10)).count, 3);
  assert.equal((await allowed(through('198.51.100.2'), 10)).count, 3);
  assert.equal((await allowed(through('no address'), 10)).count, 3);
  const spellings = ['198.51.100.3', '::ffff:198.51.100.3', '::ffff:c633:6403', '::FFFF:198.51.100.3'];
  const inTurn = () => through(spellings[turn % spellings.length]!)();
  assert.equal((await allowed(inTurn, 10)).count, 3);
});

test('addresses of one IPv6 network count as one, and IPv4 within IPv6 as IPv4', () => {
  const one = limitedAddress('2001:db8:1:2:3:4:5:6');
  assert.equal(limitedAddress('2001:db8:1:2::1'), one);
  assert.equal(limitedAddress('2001:0DB8:0001:0002:ffff::'), one);
  assert.notEqual(limitedAddress('2001:db8:1:3::1'), one);
  assert.equal(limitedAddress('::ffff:192.0.2.1'), '192.0.2.1');
  assert.equal(limitedAddress('192.0.2.1'), '192.0.2.1');
});

test('a concurrent burst does not exceed the limit', async () => {
  const api = await limited('address=25');
  const answers = await Promise.all(Array.from({ length: 60 }, () => ping(api)()));
  assert.equal(answers.filter(({ status }) => status === 200).length, 25);
});

test('two processes share the limits', async (t) => {
  const api = await limited('address=40');
  const other = await anotherService(api);
  t.after(() => other.stop());
  const request = requestOf('GET /v1/nothing', {});
  const statuses: number[] = [];
  for (let i = 0; i < 60; i += 1)
    statuses.push((await exchange(api, request, { port: i % 2 ? other.port : api.port })).status);
  const count = statuses.filter((status) => status === 404).length;
  assert.ok(count <= 40 && count >= 30, `${count} were allowed`);
  assert.equal(statuses.at(-1), 429);
  assert.equal(statuses.at(-2), 429);
});

test('production and sandbox have separate limits', async () => {
  const api = await limited('address=3');
  await allowed(ping(api), 5);
  assert.equal((await api.request('GET', '/v1/ping', { host: 'test.localhost' })).status, 200);
});

test('a repeated request counts for its own address, whatever X-Forwarded-For an untrusted client sends', async () => {
  const api = await limited('address=200');
  const bytes = requestOf('GET /v1/ping', { Host: 'localhost', 'X-Forwarded-For': '9.9.9.9', Connection: 'close' });
  const from = (localAddress: string) => exchange(api, bytes, { tls: { localAddress } as ConnectionOptions });
  for (let count = 0; count < 20; count += 1) assert.equal((await from('127.0.0.1')).status, 200);
  for (let count = 0; count < 200; count += 1) assert.equal((await from('127.0.0.2')).status, 200);
  assert.equal((await from('127.0.0.2')).status, 429);
  assert.equal((await from('127.0.0.1')).status, 200);
});
