// Runs on one database: these are rules of HTTP.
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { z } from 'zod';
import { gameListing } from '../src/catalogue/games/listing.ts';
import { editGameOperation, getGame } from '../src/catalogue/games/operations.ts';
import { editAuthenticatedUser } from '../src/people/users/operations.ts';
import { anyone, reader, user } from '../src/platform/access/caller.ts';
import { makePrivate } from '../src/platform/config/folders.ts';
import { type Connection, newConnection } from '../src/platform/http/connection.ts';
import { isTooSlow } from '../src/platform/http/minimum-rate.ts';
import { MessageObject } from '../src/platform/http/objects.ts';
import { noContent, ok, operation } from '../src/platform/http/operation.ts';
import { assertRefused, type ErrorAnswer, startApi } from './api.ts';
import { temporaryFolder } from './temporary.ts';
import { anotherService, exchange, requestOf, serveOperations, Wire } from './wire.ts';

const api = await startApi();
const game = await api.aGame({ name: 'Star Smith', summary: 'Forge stars.' });
const owner = await api.as(game.owner);
const key = api.withKey(game);
const FORM = 'application/x-www-form-urlencoded';
const keyed = (path: string) => `/v1${path}${path.includes('?') ? '&' : '?'}api_key=${game.api_key}`;
const edit = (body: string, headers: Record<string, string> = {}) =>
  owner.send('PUT', `/games/${game.id}`, { body, headers });
const json = (value: unknown) =>
  `input_json=${encodeURIComponent(typeof value === 'string' ? value : JSON.stringify(value))}`;
const problemsOf = (answer: { body: unknown }) => (answer.body as ErrorAnswer).error.errors ?? {};

const message = { code: 200, message: 'done' };
const plainOperation = { tag: 'Test', says: 'Exists for a test.', errors: [] };

test('plain HTTP is refused with an error object, whatever proxy headers an untrusted client sends', async () => {
  for (const headers of [{}, { 'x-forwarded-proto': 'https' }, { forwarded: 'proto=https' }] as Record<
    string,
    string
  >[]) {
    const answer = await api.plain('GET', '/v1/ping', headers);
    assertRefused(answer, 400, 13009);
    assert.ok(answer.headers['x-request-id']);
  }
});

test('a trusted proxy decides whether a request counts as HTTPS', async () => {
  const proxied = await startApi({ settings: { MODSTEAD_TRUST_PROXY: '127.0.0.1' } });
  assert.equal((await proxied.plain('GET', '/v1/ping', { 'x-forwarded-proto': 'https' })).status, 200);
  assertRefused(await proxied.plain('GET', '/v1/ping'), 400, 13009);
  assertRefused(await proxied.plain('GET', '/v1/ping', { 'x-forwarded-proto': 'http' }), 400, 13009);
});

test('the headers of an untrusted proxy are ignored', async () => {
  const proxied = await startApi({ settings: { MODSTEAD_TRUST_PROXY: '10.0.0.0/8' } });
  assertRefused(await proxied.plain('GET', '/v1/ping', { 'x-forwarded-proto': 'https' }), 400, 13009);
});

test('sandbox hosts reach only sandbox data, every other host production', async () => {
  const inSandbox = await api.aGame({ name: 'Only In The Sandbox' }, 'sandbox');
  for (const host of [
    'test.localhost',
    `g-${inSandbox.id}.test.localhost`,
    'u-7.test.localhost',
    'api.test.localhost',
  ]) {
    const answer = await api.request('GET', `/v1/games?api_key=${inSandbox.api_key}`, { host });
    const names = (answer.body as { data: { name: string }[] }).data.map(({ name }) => name);
    assert.deepEqual(names, ['Only In The Sandbox'], host);
  }
  for (const host of ['localhost', `g-${game.id}.localhost`, 'u-7.localhost', 'api.localhost']) {
    assert.equal((await api.request('GET', keyed('/games'), { host })).status, 200, host);
    assertRefused(await api.request('GET', `/v1/games?api_key=${inSandbox.api_key}`, { host }), 401, 11002);
  }
});

test('the host of an absolute request target takes precedence', async () => {
  const inSandbox = await api.aGame({}, 'sandbox');
  const line = `GET https://test.localhost/v1/games/${inSandbox.id}?api_key=${inSandbox.api_key}`;
  assert.equal((await exchange(api, requestOf(line, { Host: 'localhost' }))).status, 200);
});

test('other API versions than v1 are not found', async () => {
  for (const path of ['/v2', '/v2/games', '/v0/games', '/v11/games', '/v01/games'])
    assertRefused(await api.request('GET', path), 404, 10003);
});

test('unknown paths are not found, with or without a version', async () => {
  for (const path of [
    '/nothing',
    '/v1',
    '/v1/',
    '/v1/nothing',
    '/games',
    '/v1x/games',
    '/v1/GAMES',
    '/v1//games',
    '/v1/games;x',
  ])
    assertRefused(await api.request('GET', path), 404, 14000);
});

test('invalid ids are not found', async () => {
  for (const id of ['abc', '-1', '0', '1.5', '9007199254740993', '99999999999999999999', '%00', '%ZZ', '1%2f2'])
    assertRefused(await key.send('GET', `/games/${id}`), 404, 14000);
});

test('an unsupported method gets 405 with the allowed methods', async () => {
  for (const method of ['POST', 'DELETE', 'PATCH', 'TRACE', 'PROPFIND']) {
    const answer = await api.request(method, `/v1/games/${game.id}/stats`);
    assertRefused(answer, 405, 14000);
    assert.equal(answer.headers['allow'], 'GET, HEAD, OPTIONS');
  }
});

test('method override headers are ignored', async () => {
  const headers = { 'x-http-method-override': 'PUT', 'x-method-override': 'DELETE', 'content-type': FORM };
  assertRefused(
    await api.request('POST', `/v1/games/${game.id}/stats?_method=PUT`, { headers, body: 'a=b' }),
    405,
    14000,
  );
});

test('HEAD responds like GET, without the body', async () => {
  const got = await exchange(api, requestOf(`GET ${keyed(`/games/${game.id}`)}`, {}));
  const wire = await Wire.open(api);
  const head = await wire
    .write(requestOf(`HEAD ${keyed(`/games/${game.id}`)}`, { Connection: 'close' }))
    .answer('HEAD');
  assert.deepEqual([head.status, head.headers['content-length']], [200, got.headers['content-length']]);
  assert.equal(await wire.rest(), '');
});

test('OPTIONS lists the methods of a path without credentials', async () => {
  const answer = await api.request('OPTIONS', `/v1/games/${game.id}`);
  assert.equal(answer.status, 204);
  for (const method of ['GET', 'PUT', 'HEAD', 'OPTIONS']) assert.ok(answer.headers['allow']?.includes(method));
  assertRefused(await api.request('OPTIONS', '/v1/nothing'), 404, 14000);
});

test('by default pages of any origin may call the API, but not with credentials', async () => {
  for (const origin of ['https://anything.example', 'null']) {
    const { status, headers } = await api.request('GET', '/v1/ping', { headers: { origin } });
    assert.deepEqual([status, headers['access-control-allow-origin']], [200, '*']);
    assert.equal(headers['access-control-allow-credentials'], undefined);
  }
  const asked = { origin: 'https://a.example', 'access-control-request-headers': 'x-modio-platform' };
  const { headers } = await api.request('OPTIONS', '/v1/games', { headers: asked });
  assert.equal(headers['access-control-allow-headers'], 'x-modio-platform');
  assert.match(headers['access-control-allow-methods'] ?? '', /GET/);
});

test('CORS headers are also on errors', async () => {
  const answer = await api.request('GET', '/v1/games', { headers: { origin: 'https://a.example' } });
  assertRefused(answer, 401, 11000);
  assert.equal(answer.headers['access-control-allow-origin'], '*');
});

test('with a list of origins other origins are refused, even similar ones', async () => {
  const listed = await startApi({ settings: { MODSTEAD_CORS_ORIGINS: 'https://hub.example, https://b.example' } });
  const from = (origin: string) => listed.request('GET', '/v1/ping', { headers: { origin } });
  const allowed = await from('https://hub.example');
  assert.deepEqual([allowed.status, allowed.headers['access-control-allow-origin']], [200, 'https://hub.example']);
  assert.match(allowed.headers['vary'] ?? '', /origin/);
  assert.equal(allowed.headers['access-control-allow-credentials'], undefined);
  for (const origin of [
    'https://evil.example',
    'null',
    'https://hub.example.evil.com',
    'https://evilhub.example',
    'http://hub.example',
    'https://hub.example:444',
    'https://sub.hub.example',
    'https://hub.example/',
  ]) {
    const refused = await from(origin);
    assertRefused(refused, 403, 10001);
    assert.equal(refused.headers['access-control-allow-origin'], undefined);
    assertRefused(await listed.request('OPTIONS', '/v1/ping', { headers: { origin } }), 403, 10001);
  }
});

test('the site’s own origin is always allowed', async (t) => {
  const listed = await startApi({ settings: { MODSTEAD_CORS_ORIGINS: 'https://hub.example' } });
  // Processes of a test have ports of their own, and so origins of their own.
  listed.stayInOneProcess(t);
  const origin = `https://localhost:${listed.port}`;
  assert.equal((await listed.request('GET', '/v1/ping', { headers: { origin } })).status, 200);
});

test('responses are JSON, and a client that does not accept JSON gets an error', async () => {
  for (const accept of ['text/html', 'application/xml', 'image/*'])
    assertRefused(await api.request('GET', '/v1/ping', { headers: { accept } }), 406, 13007);
  for (const accept of ['*/*', 'application/json', 'text/html, application/json;q=0.5', 'application/*', ''])
    assert.equal((await api.request('GET', '/v1/ping', { headers: { accept } })).status, 200, accept);
});

test('a body needs a Content-Type, and it must be a form', async () => {
  const put = (headers: Record<string, string>) =>
    exchange(
      api,
      requestOf(`PUT /v1/games/${game.id}`, { Authorization: `Bearer ${owner.token}`, ...headers }, '{"a":1}'),
    );
  const missing = await put({});
  assert.deepEqual([missing.status, missing.ref], [415, 13005]);
  for (const type of ['application/json', 'text/plain', 'nonsense', 'application/x-www-form-urlencodedx']) {
    const wrong = await put({ 'Content-Type': type });
    assert.deepEqual([wrong.status, wrong.ref], [415, 13006], type);
  }
  const unbounded = await put({ 'Content-Type': 'multipart/form-data' });
  assert.deepEqual([unbounded.status, unbounded.ref], [415, 13006]);
});

test('the charset of a form changes nothing: text is UTF-8', async () => {
  const answer = await edit('summary=%C3%BCber', { 'content-type': `${FORM}; charset=iso-8859-1` });
  assert.equal((answer.body as { summary: string }).summary, 'über');
});

test('a write with an empty body gets 13008', async () => {
  assertRefused(await edit(''), 400, 13008);
  assertRefused(await owner.send('PUT', `/games/${game.id}`), 400, 13008);
});

test('a value in input_json takes precedence over the same form field', async () => {
  const answer = await edit(`summary=form&presentation_option=0&${json({ summary: 'json' })}`);
  const { summary, presentation_option } = answer.body as { summary: string; presentation_option: number };
  assert.deepEqual([summary, presentation_option], ['json', 0]);
});

test('permissions are checked on the merged value, not on the overridden one', async () => {
  assertRefused(await edit(`status=1&${json({ status: 0 })}`), 403, 14003);
  assert.equal((await edit(`status=0&${json({ status: 1 })}`)).status, 200);
});

test('input_json that is no JSON object gets 13004', async () => {
  for (const text of ['{', '[]', '"text"', '7', 'null', '{"a":1}x', "{'a':1}", '', '{"a":NaN}'])
    assertRefused(await edit(json(text)), 400, 13004);
  assertRefused(await edit('input_json[]=1&input_json[]=2'), 400, 13004);
});

test('input_json may begin with a byte order mark', async () => {
  assert.equal((await edit(json('\uFEFF{"summary":"marked"}'))).status, 200);
});

test('deeply nested input_json is refused, and the service keeps running', async () => {
  assertRefused(await edit(json(`{"theme":${'['.repeat(10_000)}${']'.repeat(10_000)}}`)), 400, 13004);
  assertRefused(await edit(json('{"a":'.repeat(10_000))), 400, 13004);
  assert.equal((await api.request('GET', '/v1/ping')).status, 200);
});

test('lists and objects instead of single values are refused with the field name', async () => {
  const answer = await edit(json({ summary: ['a'], presentation_option: { a: 1 }, theme: 'red', platforms: 7 }));
  assertRefused(answer, 422, 13009);
  assert.deepEqual(Object.keys(problemsOf(answer)).sort(), ['platforms.0', 'presentation_option', 'summary', 'theme']);
});

test('numbers beyond the integer range are refused with the field name', async () => {
  for (const value of ['1e400', '9007199254740993', '1.5', '"1e3"', '-1']) {
    const answer = await edit(json(`{"limit_collection_mods":${value}}`));
    assertRefused(answer, 422, 13009);
    assert.deepEqual(Object.keys(problemsOf(answer)), ['limit_collection_mods'], value);
  }
  assert.equal((await edit(json('{"limit_collection_mods":-0}'))).status, 200);
});

test('the last value of a duplicate key in input_json counts', async () => {
  const answer = await edit(json('{"summary":"first","summary":"last"}'));
  assert.equal((answer.body as { summary: string }).summary, 'last');
});

test('nested form names and nested input_json mean the same', async () => {
  const themeOf = async (body: string) => ((await edit(body)).body as { theme: Record<string, string> }).theme;
  const byForm = await themeOf('theme[primary]=%23112233&theme[dark]=%23000000');
  assert.deepEqual([byForm['primary'], byForm['dark']], ['#112233', '#000000']);
  assert.equal((await themeOf(json({ theme: { primary: '#445566' } })))['primary'], '#445566');
});

test('a form that is too large is refused, and the connection is closed', async () => {
  const body = `summary=${'a'.repeat(5 * 1024 * 1024)}`;
  const headers = { Authorization: `Bearer ${owner.token}`, 'Content-Type': FORM };
  const wire = await Wire.open(api);
  const answer = await wire.write(requestOf(`PUT /v1/games/${game.id}`, headers, body)).answer();
  assert.deepEqual([answer.status, answer.ref, Object.keys(answer.body.error.errors)], [422, 13009, ['body']]);
  assert.equal(await wire.rest(), '');
});

test('a refusal reaches a client that first sends all of its body', async () => {
  const body = Buffer.alloc(32 * 1024 * 1024, 0x61);
  const headers = { Authorization: 'Bearer nobody', 'Content-Type': FORM };
  const wire = await Wire.open(api);
  wire.socket.pause();
  const problem = await new Promise((resolve) => {
    wire.socket.write(requestOf(`PUT /v1/games/${game.id}`, headers, body), resolve);
  });
  assert.equal(problem ?? undefined, undefined);
  wire.socket.resume();
  const answer = await wire.answer();
  assert.deepEqual([answer.status, answer.ref], [401, 11005]);
  await wire.close();
});

test('fields that a caller may not set are ignored', async () => {
  const before = (await owner.call(getGame, { params: { game_id: game.id } })).body;
  const wished = {
    id: 77,
    date_added: 1,
    date_live: 1,
    submitted_by: 1,
    stats: { mods_count_total: 9 },
    service_features: 9,
  };
  const names = ['id', 'date_added', 'date_live', 'submitted_by', 'monetization_options', 'revenue_options'];
  await edit(`summary=kept&${names.map((name) => `${name}=77`).join('&')}`);
  await edit(json({ ...wished, summary: 'kept' }));
  await edit(
    `__proto__[admin]=1&constructor[prototype][admin]=1&${json('{"__proto__":{"admin":1},"summary":"kept"}')}`,
  );
  const after = (await owner.call(getGame, { params: { game_id: game.id } })).body;
  const same = ({ summary: _, date_updated: __, ...rest }: typeof before) => rest;
  assert.deepEqual(same(after), same(before));
  assert.equal(({} as Record<string, unknown>)['admin'], undefined);
});

test('one error names every invalid field of query, filters and body', async (t) => {
  const strictSearch = operation({
    ...plainOperation,
    id: 'test-search',
    method: 'POST',
    path: '/search',
    access: user('write'),
    query: z.object({ deep: z.boolean() }),
    list: gameListing,
    body: z.object({ name: z.string().max(3), level: z.int() }),
    returns: ok(MessageObject),
    handle: () => message,
  });
  const port = await serveOperations(api, [strictSearch]);
  t.after(() => port.drain(0));
  const headers = { Authorization: `Bearer ${owner.token}`, 'Content-Type': FORM };
  const request = requestOf(
    'POST /v1/search?deep=maybe&id-min=x&_limit=0&_offset=-1',
    headers,
    'name=long+name&level=high',
  );
  const answer = await exchange(api, request, { port: port.port });
  assert.deepEqual([answer.status, answer.ref], [422, 13009]);
  assert.deepEqual(Object.keys(answer.body.error.errors).sort(), [
    '_limit',
    '_offset',
    'deep',
    'id-min',
    'level',
    'name',
  ]);
});

test('the error of a list names every invalid filter', async () => {
  const many = Array.from({ length: 1001 }, (_, i) => i + 1).join(',');
  const answer = await key.send('GET', '/games', { query: { 'id-in': many, status: 'x', _limit: 'all', _offset: -5 } });
  assertRefused(answer, 422, 13009);
  assert.deepEqual(Object.keys(problemsOf(answer)).sort(), ['_limit', '_offset', 'id-in', 'status']);
});

test('a page has at most a hundred rows, and may begin at any offset', async () => {
  const answer = await key.send('GET', '/games', { query: { _limit: 1_000_000_000, _offset: 9_007_199_254_740_991 } });
  const { result_limit, data } = answer.body as { result_limit: number; data: unknown[] };
  assert.deepEqual([answer.status, result_limit, data], [200, 100, []]);
});

test('messages are in the language of Accept-Language, or in English', async () => {
  const textIn = async (language?: string) => {
    const headers: Record<string, string> = language === undefined ? {} : { 'accept-language': language };
    return ((await api.request('GET', '/v1/nothing', { headers })).body as ErrorAnswer).error.message;
  };
  const [english, german, spanish, french] = [
    await textIn(),
    await textIn('de'),
    await textIn('es'),
    await textIn('fr'),
  ];
  assert.equal(new Set([english, german, spanish, french]).size, 4);
  assert.equal(await textIn('es-MX'), spanish);
  assert.equal(await textIn('de-AT,en;q=0.3'), german);
  assert.equal(await textIn('en;q=0.2, fr;q=0.9, de;q=0.5'), french);
  for (const language of ['xx', 'tlh, *;q=0.1', ';;;', 'ar']) assert.equal(await textIn(language), english, language);
});

test('without a usable Accept-Language the language of the profile counts', async () => {
  const person = await api.as(await api.aUser({ language: 'de' }));
  const textFor = async (headers: Record<string, string>) =>
    ((await person.send('GET', '/games/999999', { headers })).body as ErrorAnswer).error.message;
  const german = await textFor({});
  assert.equal(await textFor({ 'accept-language': 'de' }), german);
  assert.equal(await textFor({ 'accept-language': 'xx' }), german);
  assert.notEqual(await textFor({ 'accept-language': 'en' }), german);
});

test('messages about fields are localised, too', async () => {
  const textIn = async (language: string) =>
    problemsOf(await edit('presentation_option=x', { 'accept-language': language }))['presentation_option'];
  assert.notEqual(await textIn('de'), await textIn('en'));
  assert.match((await textIn('de')) ?? '', /presentation_option/);
});

test('Content-Language writes a translation, which Accept-Language reads, and English stays', async () => {
  const own = await api.aGame({ name: 'Hammer', summary: 'Hits things.' });
  const leader = await api.as(own.owner);
  const params = { game_id: own.id };
  const translate = (language: string, body: Record<string, string>) =>
    leader.call(editGameOperation, { params, body, headers: { 'content-language': language } });
  const read = async (language: string) => {
    const { body } = await api.withKey(own).call(getGame, { params, headers: { 'accept-language': language } });
    return [body.name, body.summary];
  };
  assert.deepEqual(await read('de'), ['Hammer', 'Hits things.']);
  await translate('de', { name: 'Der Hammer' });
  assert.deepEqual(await read('de'), ['Der Hammer', 'Hits things.']);
  assert.deepEqual(await read('fr'), ['Hammer', 'Hits things.']);
  assert.deepEqual(await read('en'), ['Hammer', 'Hits things.']);
  await translate('xx', { summary: 'Taken as English.' });
  assert.deepEqual(await read('de'), ['Der Hammer', 'Taken as English.']);
});

test('every response has a unique id', async () => {
  const paths = ['/v1/ping', '/v1/ping', keyed('/games'), keyed('/games'), '/v1/nothing', '/v2/x', '/v1/games'];
  const ids = [];
  for (const path of paths) ids.push((await api.request('GET', path)).headers['x-request-id']);
  assert.equal(new Set(ids).size, paths.length);
  assert.ok(ids.every(Boolean));
});

test('no log line contains a key, token or code, wherever it was sent', async () => {
  const canary = (n: number) => `canary${n}`.padEnd(32, 'x');
  const token = await api.as(game.owner);
  await api.request('GET', `/v1/games?api_key=${canary(1)}`);
  await api.request('GET', `/v1/games?API_KEY=${canary(1)}&access_token=${canary(2)}&token=${canary(2)}`);
  await api.request('GET', '/v1/games', { headers: { authorization: `Bearer ${canary(3)}`, 'x-api-key': canary(3) } });
  await api.request('POST', `${keyed('/oauth/emailexchange')}&security_code=${canary(4).slice(0, 9)}`);
  await api.request('POST', keyed('/oauth/emailexchange'), {
    headers: { 'content-type': FORM },
    body: `security_code=${canary(5).slice(0, 9)}&api_key=${canary(5)}`,
  });
  await token.send('GET', '/me');
  await api.withKey(game).send('GET', '/games');
  api.app().log.flush();
  const log = api.logLines.join('\n');
  assert.match(log, /"url":"\/v1\/games\?api_key=\*\*\*/);
  assert.doesNotMatch(log, /canary/);
  for (const secret of [token.token!, game.api_key]) assert.ok(!log.includes(secret));
});

const ping = 'GET /v1/ping HTTP/1.1\r\nHost: localhost\r\n';
const smuggled = 'GET /v1/smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n';

function isLogged(path: string): boolean {
  api.app().log.flush();
  return api.logLines.some((line) => line.includes(path));
}

const post = `POST /v1/oauth/logout HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer x\r\n`;

for (const [name, bytes] of [
  ['a header over 16 KB', `${ping}X-Long: ${'a'.repeat(17 * 1024)}\r\n\r\n`],
  ['two different lengths', `${post}Content-Length: 3\r\nContent-Length: 5\r\n\r\nabc${smuggled}`],
  ['the same length twice', `${post}Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc${smuggled}`],
  ['a list of lengths', `${post}Content-Length: 3, 3\r\n\r\nabc${smuggled}`],
  ['a length with a sign', `${post}Content-Length: +3\r\n\r\nabc${smuggled}`],
  ['a length and chunks', `${post}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`],
  ['chunks and a length', `${post}Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n${smuggled}`],
  [
    'an encoding that does not end in chunked',
    `${post}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${smuggled}`,
  ],
  ['an unknown encoding', `${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${smuggled}`],
  ['a space before the colon', `${post}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${smuggled}`],
  ['a folded header', `${ping}X-Folded: a\r\n b\r\n\r\n`],
  ['a header line that ends in a bare LF', `${ping}X-Bare: a\nX-More: b\r\n\r\n`],
  ['lines that end in bare LF alone', `GET /v1/ping HTTP/1.1\nHost: localhost\n\n`],
  ['a bare CR in a header', `${ping}X-Bare: a\rb\r\n\r\n`],
  ['a NUL in a header', `${ping}X-Nul: a\0b\r\n\r\n`],
  ['two hosts', `${ping}Host: test.localhost\r\n\r\n`],
  ['no host', 'GET /v1/ping HTTP/1.1\r\n\r\n'],
  ['no method', 'nonsense\r\n\r\n'],
] as const)
  test(`a request with ${name} gets 400, and the connection is closed without a second request`, async () => {
    const wire = await Wire.open(api);
    const answer = await wire.write(bytes).answer();
    assert.deepEqual([answer.status, answer.body.error.code, answer.ref], [400, 400, 13009]);
    assert.equal(answer.headers['connection'], 'close');
    assert.equal(await wire.rest(), '');
    assert.ok(!isLogged('/v1/smuggled'));
  });

for (const [name, bytes] of [
  ['garbage for the size of a chunk', `${post}Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n${smuggled}`],
  [
    'a chunk extension with a line break',
    `${post}Transfer-Encoding: chunked\r\n\r\n3;a\nb\r\nabc\r\n0\r\n\r\n${smuggled}`,
  ],
  ['a chunk that is longer than its size', `${post}Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n${smuggled}`],
  ['a negative size of a chunk', `${post}Transfer-Encoding: chunked\r\n\r\n-1\r\nabc\r\n0\r\n\r\n${smuggled}`],
] as const)
  test(`a body with ${name} gets one response, and the connection is closed`, async () => {
    const wire = await Wire.open(api);
    const answer = await wire.write(bytes).answer();
    assert.ok([400, 401].includes(answer.status), answer.text);
    assert.equal(answer.body.error.code, answer.status);
    assert.equal(await wire.rest(), '');
    assert.ok(!isLogged('/v1/smuggled'));
  });

test('a body with invalid chunks gets 400 if the operation reads it', async () => {
  const head = requestOf(`PUT /v1/games/${game.id}`, {
    Authorization: `Bearer ${owner.token}`,
    'Content-Type': FORM,
    'Transfer-Encoding': 'chunked',
  });
  const wire = await Wire.open(api);
  const answer = await wire.write(head, 'zz\r\nsummary=a\r\n0\r\n\r\n').answer();
  assert.deepEqual([answer.status, answer.ref], [400, 13009]);
  assert.equal(await wire.rest(), '');
});

test('a second request on a connection is independent of the first', async () => {
  const wire = await Wire.open(api);
  for (let i = 0; i < 3; i += 1) assert.equal((await wire.write(`${ping}\r\n`).answer()).status, 200);
  await wire.close();
});

test('a client is told how long its connection is kept, unless it is about to close', async () => {
  const wire = await Wire.open(api);
  const kept = (await wire.write(`${ping}\r\n`).answer()).headers;
  assert.deepEqual([kept['connection'], kept['keep-alive']], ['keep-alive', 'timeout=65']);
  const last = (await wire.write(`${ping}Connection: close\r\n\r\n`).answer()).headers;
  assert.deepEqual([last['connection'], last['keep-alive']], ['close', undefined]);
});

test('input that is not HTTP is refused over TLS and over plain TCP', async () => {
  for (const tls of ['off', {}] as const) {
    const wire = await Wire.open(api, { tls });
    const answer = await wire.write('\0\0\0\0garbage\r\n\r\n').answer();
    assert.deepEqual([answer.status, answer.ref], [400, 13009]);
    await wire.rest();
  }
});

function aCurrent(request: { complete: boolean }, response: { writableFinished: boolean }): Connection {
  return { ...newConnection(aSocket(0)), response: { ...response, req: request } as ServerResponse };
}

const aSocket = (bytesRead: number, bytesWritten = 0, writableLength = 0) =>
  ({ bytesRead, bytesWritten, writableLength }) as Socket;

/** Checks a connection at this time, when its socket is in this state. */
const isTooSlowAt = (socket: Socket, connection: Connection, now: number): boolean =>
  isTooSlow(Object.assign(connection, { socket }), now);

test('a trickling body is too slow after thirty seconds, one at 8 KB per second is not', () => {
  const slow = aCurrent({ complete: false }, { writableFinished: false });
  assert.equal(isTooSlowAt(aSocket(0), slow, 0), false);
  assert.equal(isTooSlowAt(aSocket(1_000), slow, 29_999), false);
  assert.equal(isTooSlowAt(aSocket(1_000), slow, 30_000), true);
  const steady = aCurrent({ complete: false }, { writableFinished: false });
  for (let second = 0; second <= 300; second += 5)
    assert.equal(isTooSlowAt(aSocket(second * 8 * 1024), steady, second * 1000), false);
});

test('a body that trickles on after the response is too slow as well', () => {
  const current = aCurrent({ complete: false }, { writableFinished: true });
  isTooSlowAt(aSocket(0), current, 0);
  assert.equal(isTooSlowAt(aSocket(100), current, 30_000), true);
});

test('a response that the client does not read is too slow after a minute, one that it reads is not', () => {
  const stalled = aCurrent({ complete: true }, { writableFinished: false });
  isTooSlowAt(aSocket(0, 500, 9), stalled, 0);
  assert.equal(isTooSlowAt(aSocket(0, 500, 9), stalled, 59_999), false);
  assert.equal(isTooSlowAt(aSocket(0, 500, 9), stalled, 60_000), true);
  const taken = aCurrent({ complete: true }, { writableFinished: false });
  isTooSlowAt(aSocket(0, 500, 9), taken, 0);
  assert.equal(isTooSlowAt(aSocket(0, 501, 9), taken, 60_000), false);
});

test('a slow handler and an idle connection are never too slow', () => {
  const thinking = aCurrent({ complete: true }, { writableFinished: false });
  isTooSlowAt(aSocket(0), thinking, 0);
  assert.equal(isTooSlowAt(aSocket(0), thinking, 3_600_000), false);
  assert.equal(isTooSlowAt(aSocket(0), aCurrent({ complete: true }, { writableFinished: true }), 3_600_000), false);
});

test('an address cannot exceed its connections, and may open new ones after closing some', async () => {
  const small = await startApi({ settings: { MODSTEAD_CONNECTIONS_PER_ADDRESS: '3' } });
  const held = [await Wire.open(small), await Wire.open(small), await Wire.open(small)];
  await assert.rejects(Wire.open(small));
  await held[0]!.close();
  const next = await untilOpen(() => Wire.open(small));
  assert.equal((await next.write(`${ping}\r\n`).answer()).status, 200);
  for (const wire of [next, ...held]) await wire.close();
});

/** The server notices a closed connection slightly later than the client. */
async function untilOpen(open: () => Promise<Wire>): Promise<Wire> {
  for (let attempt = 1; ; attempt += 1)
    try {
      return await open();
    } catch (error) {
      if (attempt === 100) throw error;
    }
}

test('shutdown gives new connections a moment for their first request', async () => {
  const port = await serveOperations(api, []);
  const silent = await Promise.all([Wire.open(api, port), Wire.open(api, { ...port, tls: 'off' })]);
  const begun = await Promise.all([Wire.open(api, port), Wire.open(api, { ...port, tls: 'off' })]);
  for (const wire of begun) wire.write('GET /v1/nothing HTTP/1.1\r\n');
  // A response on another connection shows that the server has read the incomplete request lines.
  await exchange(api, `${ping}\r\n`, port);
  const drained = port.drain(60_000);
  for (const wire of silent) assert.equal(await wire.rest(), '');
  const statuses: number[] = [];
  for (const wire of begun) statuses.push((await wire.write('Host: localhost\r\n\r\n').answer()).status);
  assert.deepEqual(statuses, [404, 400], 'plain HTTP is refused');
  await drained;
});

test('shutdown finishes running requests, closes idle connections and accepts no new ones', async () => {
  const started = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const wait = operation({
    ...plainOperation,
    id: 'test-wait',
    method: 'GET',
    path: '/wait',
    access: anyone(),
    returns: ok(MessageObject),
    handle: async () => {
      started.resolve();
      await release.promise;
      return message;
    },
  });
  const port = await serveOperations(api, [wait]);
  const { port: number } = port;
  const resting = await Wire.open(api, { port: number });
  assert.equal((await resting.write(requestOf('GET /v1/nothing', {})).answer()).status, 404);
  const running = await Wire.open(api, { port: number });
  running.write(requestOf('GET /v1/wait', {}));
  await started.promise;
  const drained = port.drain(60_000);
  assert.equal(await resting.rest(), '');
  await assert.rejects(Wire.open(api, { port: number }));
  release.resolve();
  const answer = await running.answer();
  assert.deepEqual([answer.status, answer.headers['connection']], [200, 'close']);
  await drained;
});

test('the service reports that it is not ready as soon as the shutdown begins', async () => {
  const service = await anotherService(api, { drainSeconds: 20 });
  const { port } = service;
  assert.equal((await exchange(api, requestOf('GET /readyz', {}), { port })).status, 200);
  const begun = await Wire.open(api, { port });
  await begun.write(`${ping}\r\n`).answer();
  begun.write('GET /readyz HTTP/1.1\r\n');
  // A response on another connection shows that the server has read the incomplete request line.
  await exchange(api, `${ping}\r\n`, { port });
  const stopped = service.stop();
  begun.write('Host: localhost\r\n\r\n');
  const answer = await begun.answer();
  assert.deepEqual([answer.status, answer.text], [503, 'draining\n']);
  await stopped;
});

test('an unexpected error gets 500 without internal details', async (t) => {
  const broken = operation({
    ...plainOperation,
    id: 'test-broken',
    method: 'GET',
    path: '/broken',
    access: reader(),
    returns: noContent,
    handle: () => {
      throw new TypeError('select * from secrets where password = 1');
    },
  });
  const port = await serveOperations(api, [broken]);
  t.after(() => port.drain(0));
  const answer = await exchange(api, requestOf(`GET ${keyed('/broken')}`, {}), { port: port.port });
  assert.deepEqual([answer.status, answer.ref], [500, 10002]);
  assert.doesNotMatch(answer.text + JSON.stringify(answer.headers), /secrets|TypeError|\.ts|at /);
  assert.ok(api.logLines.some((line) => line.includes('select * from secrets')));
});

test('a client that disconnects during its body does not cause a service error', async () => {
  const wire = await Wire.open(api);
  const headers = { Authorization: `Bearer ${owner.token}`, 'Content-Type': FORM, 'Content-Length': '1000' };
  wire.write(requestOf(`PUT /v1/games/${game.id}`, headers), 'summary=half');
  const other = await Wire.open(api);
  await other.write(`${ping}\r\n`).answer();
  await wire.close();
  while (!api.logLines.some((line) => line.includes('"status":499'))) {
    await other.write(`${ping}\r\n`).answer();
    api.app().log.flush();
  }
  await other.close();
  assert.ok(!api.logLines.some((line) => line.includes('"level":"error"') && line.includes('aborted')));
});

test('invalid UTF-8 is refused with the field name, wherever it was sent', async () => {
  const named = async (method: string, path: string, body?: Buffer, type = 'application/x-www-form-urlencoded') => {
    const headers = { authorization: `Bearer ${owner.token}`, ...(body && { 'content-type': type }) };
    const answer = await api.request(method, path, { headers, body });
    assertRefused(answer, 422, 13009);
    return Object.keys((answer.body as ErrorAnswer).error.errors!);
  };
  const target = `/v1/games/${game.id}`;
  const bytes = (text: string) => Buffer.from(text, 'latin1');
  assert.deepEqual(await named('GET', '/v1/games?name=%ff'), ['name']);
  assert.deepEqual(await named('GET', '/v1/games?name=%c3%28&_q=%e2%82'), ['name', '_q']);
  assert.deepEqual(await named('PUT', target, bytes('summary=%ff')), ['summary']);
  assert.deepEqual(await named('PUT', target, bytes('name=Fine&summary=\xff\xfe')), ['summary']);
  assert.deepEqual(await named('PUT', target, bytes('summary=%ed%a0%80')), ['summary']);
  assert.deepEqual(await named('PUT', target, bytes('input_json={"summary":"\xff"}')), ['summary']);
  assert.deepEqual(await named('PUT', target, bytes(String.raw`input_json={"summary":"\ud800"}`)), ['summary']);
  const part = '--b\r\nContent-Disposition: form-data; name="summary"\r\n\r\n\xff\xfe\r\n--b--\r\n';
  assert.deepEqual(await named('PUT', target, bytes(part), 'multipart/form-data; boundary=b'), ['summary']);
  const good = await api.request('PUT', target, {
    headers: { authorization: `Bearer ${owner.token}`, 'content-type': 'application/x-www-form-urlencoded' },
    body: 'summary=%f0%9f%9a%80 %ef%bf%bd ok',
  });
  assert.deepEqual([good.status, (good.body as { summary: string }).summary], [200, '🚀 \ufffd ok']);
});

test('a user’s key reads in the language of the profile, unless the request asks for another', async () => {
  const person = await api.aUser();
  const client = await api.as(person);
  await client.call(editAuthenticatedUser, { body: { language: 'de' } });
  const said = async (headers: Record<string, string>) => {
    const answer = await api.request('GET', `/v1/games/999999?api_key=${person.api_key}`, { headers });
    return (answer.body as ErrorAnswer).error.message;
  };
  const [missing, invalid, english] = [
    await said({}),
    await said({ 'accept-language': '??' }),
    await said({ 'accept-language': 'en' }),
  ];
  assert.equal(missing, invalid);
  assert.notEqual(missing, english);
  assert.match(missing, /Spiel/);
});

test('no operation accepts invisible characters in names', async () => {
  const named = async (fields: Record<string, string>) => {
    const answer = await api.request('PUT', `/v1/games/${game.id}`, {
      headers: { authorization: `Bearer ${owner.token}`, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(fields).toString(),
    });
    return [answer.status, ...(answer.status === 200 ? [] : Object.keys(problemsOf(answer)))];
  };
  for (const bad of ['a\u0007b', 'a\nb', 'a\u202eb', 'a\u200bb', 'a\u2066b', 'a\ufeffb', 'a\u2028b'])
    assert.deepEqual(
      await named({ name: `Star ${bad}`, ugc_name: bad }),
      [422, 'name', 'ugc_name'],
      JSON.stringify(bad),
    );
  assert.deepEqual(await named({ name: 'Family 👨‍👩‍👧 Smith' }), [200]);
});

test('names of the service and its staff are reserved', async () => {
  const client = await api.as(await api.aUser());
  const refused = async (body: Record<string, string>) =>
    Object.keys(problemsOf(await client.refused(editAuthenticatedUser, { body }, 422, 13009)));
  for (const name_id of ['modstead', 'admin', 'api', 'www', 'staff', 'official'])
    assert.deepEqual(await refused({ name_id }), ['name_id'], name_id);
  for (const username of ['Modstead', 'Mоdstеad', 'Аdmin', 'Official Support'])
    assert.deepEqual(await refused({ username }), ['username'], username);
  assert.equal((await client.call(editAuthenticatedUser, { body: { username: 'Grace Hopper' } })).status, 200);
});

test('only the service’s user can read the data folder, its databases and mails', () => {
  const open = readdirSync(api.folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => (statSync(path).mode & 0o077) !== 0 && !path.endsWith('local-ca.pem'));
  assert.deepEqual(open, []);
  assert.equal(statSync(api.folder).mode & 0o777, 0o700);
});

test('the next start restricts permissions that an earlier version left open', () => {
  const data = temporaryFolder('open');
  mkdirSync(join(data, 'production'), { mode: 0o755 });
  writeFileSync(join(data, 'production', 'modstead.sqlite'), '', { mode: 0o644 });
  for (const path of [data, join(data, 'production')]) chmodSync(path, 0o755);
  chmodSync(join(data, 'production', 'modstead.sqlite'), 0o644);
  makePrivate({ data, offload: undefined });
  const modes = [data, join(data, 'production'), join(data, 'production', 'modstead.sqlite')];
  assert.deepEqual(
    modes.map((path) => statSync(path).mode & 0o777),
    [0o700, 0o700, 0o600],
  );
});
