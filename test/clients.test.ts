// Runs on one database: these are rules of HTTP and of the shape of responses.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import sharp from 'sharp';
import { z } from 'zod';
import { editGameOperation } from '../src/catalogue/games/operations.ts';
import {
  addCollectionOperation,
  addCollectionRating,
  getModCollection,
} from '../src/community/collections/operations.ts';
import { collectionComments } from '../src/community/comments/operations.ts';
import { addSimulatedPurchase } from '../src/money/stores/operations.ts';
import { user } from '../src/platform/access/caller.ts';
import { noContent, operation } from '../src/platform/http/operation.ts';
import { START, startApi } from './api.ts';
import { codeIn, mailsOf } from './mails.ts';
import { aPack, aPaidMod, aSellingGame } from './money.ts';
import { aSession } from './uploads.ts';
import { exchange, requestOf, requestsSeen, serveOperations, Wire, type WireAnswer } from './wire.ts';
import { zipOf } from './zips.ts';

/** Each test replays the bytes of a shipped client; the numbers are those of `docs/API-QUIRKS.md`. */
const api = await startApi({ settings: { MODSTEAD_DOMAIN: 'localhost', MODSTEAD_STORES: 'simulated' } });
const game = await api.aGame({ name: 'Star Smith' });
const owner = await api.as(game.owner);
const bearer = `Bearer ${owner.token}`;
const image = await sharp({ create: { width: 1280, height: 720, channels: 3, background: '#336699' } })
  .png()
  .toBuffer();

const FORM = 'application/x-www-form-urlencoded';
const at = (path: string) => `/v1${path}${path.includes('?') ? '&' : '?'}api_key=${game.api_key}`;

async function asOwner(line: string, body: string, headers: Record<string, string> = {}): Promise<WireAnswer> {
  return exchange(api, requestOf(line, { Authorization: bearer, 'Content-Type': FORM, ...headers }, body));
}

const cppBoundary = '2794778419116734682';

/** An upload as the C++ SDK writes it: a leading line break, no type for the file, and no closing boundary. */
function cppUpload(): Buffer {
  const head = `\r\n--${cppBoundary}\r\nContent-Disposition: form-data; name="logo"; filename="logo.png"\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), image, Buffer.from(`\r\n--${cppBoundary}\r\n`)]);
}

const cppUploadHeaders = {
  Authorization: bearer,
  'Content-Type': `multipart/form-data; boundary="${cppBoundary}"`,
  Accept: 'application/json',
};

const latestCode = (): string => codeIn(mailsOf(api).at(-1)!.text)!;

test('1: the service accepts an upload of the C++ SDK without a closing boundary completely', async () => {
  const answer = await exchange(api, requestOf(`POST /v1/games/${game.id}/media`, cppUploadHeaders, cppUpload()));
  assert.equal(answer.status, 200, answer.text);
  const shown = await exchange(api, requestOf(`GET ${at(`/games/${game.id}`)}`, {}));
  assert.doesNotMatch(shown.body.logo.original, /placeholder/);
});

for (const [kind, surplus] of [
  ['noise', Buffer.alloc(64 * 1024, 0xa5)],
  [
    'a whole request',
    requestOf(`PUT /v1/games/${game.id}`, { Authorization: bearer, 'Content-Type': FORM }, 'summary=smuggled'),
  ],
] as const)
  test(`2: surplus bytes after an upload that are ${kind} neither prevent the response nor count as a request`, async () => {
    const seen = requestsSeen(api);
    const wire = await Wire.open(api);
    wire.write(requestOf(`POST /v1/games/${game.id}/media`, cppUploadHeaders, cppUpload()), surplus);
    const answer = await wire.answer();
    assert.equal(answer.status, 200, answer.text);
    wire.write(surplus);
    assert.equal(await wire.rest(), '');
    assert.equal(requestsSeen(api), seen + 1);
    const shown = await exchange(api, requestOf(`GET ${at(`/games/${game.id}`)}`, {}));
    assert.notEqual(shown.body.summary, 'smuggled');
  });

const mod = await api.aMod({ game, owner: game.owner, name: 'Comet' });
const archive = zipOf({ 'comet.txt': 'x'.repeat(200_000), 'noise.bin': Buffer.from(image) });

/** A modfile as the C++ SDK adds it: fields first, then the archive, and no closing boundary. */
function cppModfile(version: string): Buffer {
  const part = (disposition: string) => `--${cppBoundary}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n`;
  const head = `\r\n${part('name="version"')}${version}\r\n${part('name="filedata"; filename="comet.zip"')}`;
  return Buffer.concat([Buffer.from(head), archive, Buffer.from(`\r\n--${cppBoundary}\r\n`)]);
}

test('1: the service accepts a modfile of the C++ SDK without a closing boundary completely', async () => {
  const line = `POST /v1/games/${game.id}/mods/${mod.id}/files`;
  const answer = await exchange(api, requestOf(line, cppUploadHeaders, cppModfile('1.0')));
  assert.equal(answer.status, 201, answer.text);
  const { filesize, filehash, version, filename } = answer.body;
  const md5 = createHash('md5').update(archive).digest('hex');
  assert.deepEqual([filesize, filehash.md5, version, filename], [archive.length, md5, '1.0', 'comet.zip']);
});

test('2: surplus bytes after a modfile neither prevent the response nor count as a request', async () => {
  const line = `/v1/games/${game.id}/mods/${mod.id}/files`;
  const form = { Authorization: bearer, 'Content-Type': FORM };
  const smuggled = requestOf(`PUT /v1/games/${game.id}/mods/${mod.id}`, form, 'summary=smuggled');
  for (const [turn, surplus] of [Buffer.alloc(512 * 1024, 0xa5), smuggled].entries()) {
    const seen = requestsSeen(api);
    const wire = await Wire.open(api);
    wire.write(requestOf(`POST ${line}`, cppUploadHeaders, cppModfile(`2.${turn}`)), surplus);
    const answer = await wire.answer();
    assert.equal(answer.status, 201, answer.text);
    wire.write(surplus);
    assert.equal(await wire.rest(), '');
    assert.equal(requestsSeen(api), seen + 1);
    const shown = await exchange(api, requestOf(`GET ${at(`/games/${game.id}/mods/${mod.id}`)}`, {}));
    assert.notEqual(shown.body.summary, 'smuggled');
    assert.equal(shown.body.modfile.id, answer.body.id);
  }
});

test('2: surplus bytes that arrive after the response to an upload do not count as a request', async () => {
  const seen = requestsSeen(api);
  const wire = await Wire.open(api);
  wire.write(requestOf(`POST /v1/games/${game.id}/media`, cppUploadHeaders, cppUpload()));
  assert.equal((await wire.answer()).status, 200);
  wire.write(requestOf('GET /v1/ping', {}));
  assert.equal(await wire.rest(), '');
  assert.equal(requestsSeen(api), seen + 1);
});

test('2: surplus bytes in the same TCP segment as a form do not count as a request', async () => {
  const seen = requestsSeen(api);
  const wire = await Wire.open(api);
  const put = requestOf(
    `PUT /v1/games/${game.id}`,
    { Authorization: bearer, 'Content-Type': FORM, 'Content-Length': '12' },
    'summary=once',
  );
  wire.write(put, put);
  assert.equal((await wire.answer()).status, 200);
  assert.equal(await wire.rest(), '');
  assert.equal(requestsSeen(api), seen + 1);
});

test('2: a form without a file leaves the connection open, even if the operation accepts a file', async () => {
  const wire = await Wire.open(api);
  const form = { Authorization: bearer, 'Content-Type': FORM };
  for (const summary of ['once', 'twice']) {
    wire.write(requestOf(`PUT /v1/games/${game.id}/mods/${mod.id}`, form, `summary=${summary}`));
    const answer = await wire.answer();
    assert.deepEqual([answer.status, answer.body.summary], [200, summary]);
  }
});

test('3: every response has a Content-Length and is neither chunked nor compressed', async () => {
  const requests = [
    requestOf(`GET ${at('/games')}`, {}),
    requestOf(`GET ${at(`/games/${game.id}`)}`, { 'Accept-Encoding': 'gzip, br' }),
    requestOf('GET /v1/ping', {}),
    requestOf('GET /v1/games', {}),
    requestOf('GET /v1/nothing', {}),
    requestOf('GET /v2/games', {}),
    requestOf('PATCH /v1/games', {}),
    requestOf(`PUT /v1/games/${game.id}`, { Authorization: bearer, 'Content-Type': FORM }, 'presentation_option=9'),
  ];
  for (const request of requests) {
    const { headers, text } = await exchange(api, request);
    assert.equal(Number(headers['content-length']), Buffer.byteLength(text));
    assert.deepEqual([headers['transfer-encoding'], headers['content-encoding']], [undefined, undefined]);
  }
});

for (const version of ['TLSv1.2', 'TLSv1.3'] as const)
  test(`4: the service accepts a client with ${version}`, async () => {
    const wire = await Wire.open(api, { tls: { minVersion: version, maxVersion: version } });
    assert.equal(wire.tls.getProtocol(), version);
    if (version === 'TLSv1.2') assert.match(wire.tls.getCipher().name, /^ECDHE-.*GCM/);
    assert.equal((await wire.write(requestOf('GET /v1/ping', {})).answer()).status, 200);
    await wire.close();
  });

test('4: the service refuses TLS 1.1', async () => {
  const tls = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
  await assert.rejects(Wire.open(api, { tls }));
});

/** `int`, `bool` and `text`, with `?` if null is allowed; a list has one element, a map only `*`. */
type Shape = string | readonly [Shape] | { readonly [field: string]: Shape };

const imageShape = (...sizes: string[]): Shape =>
  Object.fromEntries(['filename', 'original', ...sizes.map((size) => `thumb_${size}`)].map((name) => [name, 'text?']));
const shapeOf = (type: string, names: string): Record<string, Shape> =>
  Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .map((name) => [name, type]),
  );

const userShape: Shape = {
  ...shapeOf('int', 'id date_online date_joined'),
  ...shapeOf('text', 'name_id username timezone language profile_url'),
  display_name_portal: 'text?',
  avatar: imageShape('50x50', '100x100'),
};

const gameShape: Shape = {
  ...shapeOf(
    'int',
    `id status date_added date_updated date_live presentation_option submission_option dependency_option
     curation_option profanity_option community_options monetization_options revenue_options limit_collection_mods
     cloud_cooking_status max_stock api_access_options maturity_options service_features`,
  ),
  ...shapeOf('text', 'ugc_name token_name name name_id summary profile_url'),
  ...shapeOf('text?', 'instructions instructions_url'),
  submitted_by: userShape,
  icon: imageShape('64x64', '128x128', '256x256'),
  logo: imageShape('320x180', '640x360', '1280x720'),
  header: imageShape(),
  monetization_teams: [{ team_id: 'int' }],
  other_urls: [{ label: 'text', url: 'text' }],
  tag_options: [
    {
      ...shapeOf('text', 'name name_localized type'),
      ...shapeOf('bool', 'hidden locked'),
      tags: ['text'],
      platforms: ['text'],
      tags_localized: { '*': 'text' },
      tag_count_map: { '*': 'int' },
    },
  ],
  stats: shapeOf(
    'int',
    `game_id mods_count_total mods_downloads_today mods_downloads_total mods_downloads_daily_average
     mods_subscribers_total date_expires`,
  ),
  theme: shapeOf('text', 'primary dark light success warning danger'),
  platforms: [{ ...shapeOf('text', 'platform label'), ...shapeOf('bool', 'moderated locked') }],
};

function misfits(value: unknown, shape: Shape, path = ''): string[] {
  if (typeof shape === 'string') {
    if (value === null) return shape.endsWith('?') ? [] : [`${path} is null`];
    const type = shape.replace('?', '');
    const fits = type === 'int' ? Number.isInteger(value) : typeof value === (type === 'bool' ? 'boolean' : 'string');
    return fits ? [] : [`${path} is no ${type}: ${JSON.stringify(value)}`];
  }
  if (Array.isArray(shape)) {
    if (!Array.isArray(value)) return [`${path} is no list`];
    return value.flatMap((item, i) => misfits(item, shape[0], `${path}[${i}]`));
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${path} is no object`];
  const fields = value as Record<string, unknown>;
  const members = shape as Record<string, Shape>;
  if (members['*'])
    return Object.entries(fields).flatMap(([name, held]) => misfits(held, members['*']!, `${path}.${name}`));
  const names = new Set([...Object.keys(fields), ...Object.keys(members)]);
  return [...names].flatMap((name) =>
    members[name] && name in fields
      ? misfits(fields[name], members[name], `${path}.${name}`)
      : [`${path}.${name} differs`],
  );
}

const fullGame = () =>
  api.aGame({
    tagGroups: [
      { name: 'Theme', type: 'checkboxes', tags: ['Sci-fi', 'Fantasy'] },
      { name: 'Version', type: 'dropdown', tags: [], hidden: true },
    ],
  });

test('5: every field of games and users has its type, with or without a value', async () => {
  const full = await fullGame();
  const leader = await api.as(full.owner);
  await leader.send('PUT', `/games/${full.id}`, {
    body: 'other_urls[0][label]=Wiki&other_urls[0][url]=https://wiki.example.com&platforms[0][platform]=linux&platforms[0][moderated]=1',
  });
  for (const { id } of [full, game]) {
    const shown = await exchange(api, requestOf(`GET ${at(`/games/${id}?show_hidden_tags=true`)}`, {}));
    assert.deepEqual(misfits(shown.body, gameShape), []);
  }
  const person = await exchange(api, requestOf(`GET ${at(`/users/${game.owner.id}`)}`, {}));
  assert.deepEqual(misfits(person.body, userShape), []);
});

test('5: the maps of tag groups are objects even if empty, and error messages are plain text', async () => {
  const full = await fullGame();
  const groups = await exchange(api, requestOf(`GET ${at(`/games/${full.id}/tags?show_hidden_tags=1`)}`, {}));
  assert.equal(groups.body.data.length, 2);
  for (const group of groups.body.data)
    for (const map of [group.tag_count_map, group.name_localization]) assert.ok(map && !Array.isArray(map));
  const refused = await asOwner(`PUT /v1/games/${game.id}`, 'theme[primary]=red&status=7');
  assert.deepEqual(
    Object.values(refused.body.error.errors).map((text) => typeof text),
    ['string', 'string'],
  );
});

const DOTTED_HTTPS = /^https:\/\/(?:[a-z0-9-]+\.)+[a-z]{2,6}\//;

function addressesIn(value: unknown, name = ''): [string, unknown][] {
  if (value === null || typeof value !== 'object') return /url$|^original$|^thumb_/.test(name) ? [[name, value]] : [];
  return Object.entries(value).flatMap(([key, held]) => addressesIn(held, key));
}

test('6 and 25: URLs are absolute, on a dotted host without a port, or null, never empty', async () => {
  const dotted = await startApi({ settings: { MODSTEAD_DOMAIN: 'mods.example.com' } });
  for (const environment of ['production', 'sandbox'] as const) {
    const theirs = await dotted.aGame({}, environment);
    const host = environment === 'sandbox' ? 'test.mods.example.com' : 'mods.example.com';
    const found = await dotted.request('GET', `/v1/games/${theirs.id}?api_key=${theirs.api_key}`, { host });
    assert.equal(found.status, 200, found.text);
    const addresses = addressesIn(found.body).filter(([, address]) => address !== null);
    assert.ok(addresses.length > 10);
    for (const [name, address] of addresses) assert.match(String(address), DOTTED_HTTPS, name);
  }
});

test('8: the empty bearer token of Unity is ignored, and the key is used', async () => {
  for (const value of ['Bearer ', 'Bearer', 'bearer   '])
    assert.equal((await exchange(api, requestOf(`GET ${at('/games')}`, { Authorization: value }))).status, 200);
  assert.equal((await exchange(api, requestOf('GET /v1/games', { Authorization: 'Bearer ' }))).ref, 11000);
});

test('9: a key with a token, the key alone and the token alone are all accepted', async () => {
  const both = await exchange(api, requestOf(`GET ${at('/me')}`, { Authorization: bearer }));
  assert.deepEqual([both.status, both.body.id], [200, game.owner.id]);
  assert.equal((await exchange(api, requestOf(`GET ${at('/games')}`, {}))).status, 200);
  assert.equal((await exchange(api, requestOf('GET /v1/games', { Authorization: bearer }))).status, 200);
});

test('10: a sign-in with all parameters in the query and an empty body works', async () => {
  const asked = requestOf(`POST ${at('/oauth/emailrequest?email=query%40example.com')}`, { 'Content-Length': '0' });
  assert.equal((await exchange(api, asked)).status, 200);
  const exchanged = await exchange(
    api,
    requestOf(`POST ${at(`/oauth/emailexchange?security_code=${latestCode()}`)}`, { 'Content-Type': FORM }),
  );
  assert.equal(exchanged.status, 200, exchanged.text);
  assert.ok(exchanged.body.date_expires > START);
  const me = requestOf('GET /v1/me', { Authorization: `Bearer ${exchanged.body.access_token}` });
  assert.equal((await exchange(api, me)).status, 200);
});

test('11: DELETE accepts a form body together with query parameters', async (t) => {
  const bodies: unknown[] = [];
  const remove = operation({
    id: 'test-delete',
    tag: 'Test',
    method: 'DELETE',
    path: '/things',
    says: 'Removes things.',
    access: user('write'),
    body: z.object({ tags: z.array(z.string()), reason: z.string().optional() }),
    returns: noContent,
    errors: [],
    handle: (_app, { body }) => void bodies.push(body),
  });
  const port = await serveOperations(api, [remove]);
  t.after(() => port.drain(0));
  const request = requestOf(
    'DELETE /v1/things?reason=old',
    { Authorization: bearer, 'Content-Type': FORM },
    'tags[]=one&tags[]=two',
  );
  assert.equal((await exchange(api, request, { port: port.port })).status, 204);
  assert.deepEqual(bodies, [{ tags: ['one', 'two'], reason: 'old' }]);
});

test('12: arrays are accepted as name[0] and name[], escaped or not, and an empty one clears the field', async () => {
  const link = (index: string, label: string) =>
    `other_urls[${index}][label]=${label}&other_urls[${index}][url]=https://example.com/${label}`;
  const put = (body: string) => asOwner(`PUT /v1/games/${game.id}`, body);
  const labels = (answer: WireAnswer) => answer.body.other_urls.map((each: { label: string }) => each.label);
  assert.deepEqual(labels(await put(`${link('0', 'a')}&${link('1', 'b')}`)), ['a', 'b']);
  assert.deepEqual(labels(await put(encodeURI(link('7', 'c')))), ['c']);
  assert.deepEqual(labels(await put('other_urls[]=')), []);
});

test('13: booleans are accepted as true, 1 and Python’s True, and their opposites', async () => {
  for (const [yes, no] of [
    ['true', 'false'],
    ['1', '0'],
    ['True', 'False'],
  ]) {
    const body = `platforms[0][platform]=linux&platforms[0][moderated]=${yes}&platforms[0][locked]=${no}`;
    const { platforms } = (await asOwner(`PUT /v1/games/${game.id}`, body)).body;
    assert.deepEqual(platforms, [{ platform: 'linux', label: 'Linux', moderated: true, locked: false }]);
  }
});

test('14: an unencoded form with spaces, a stray & and a malformed % is read as the client meant it', async () => {
  const answer = await asOwner(
    `PUT /v1/games/${game.id}`,
    'presentation_option=1&summary=does not work & crashes 100%&curation_option=2',
  );
  assert.equal(answer.status, 200, answer.text);
  const { summary, presentation_option, curation_option } = answer.body;
  assert.deepEqual([summary, presentation_option, curation_option], ['does not work & crashes 100%', 1, 2]);
});

const partHeaders = { Authorization: bearer, 'Content-Range': 'bytes 0-99/100', Accept: 'application/json' };

for (const [client, headers] of [
  ['C++ SDK', { 'Content-Type': FORM }],
  ['Unity plugin', { 'Content-Type': 'multipart/form-data' }],
  ['Rust client', { 'Content-Type': FORM, 'Transfer-Encoding': 'chunked' }],
  ['client without a Content-Type', {}],
] as [string, Record<string, string>][])
  test(`15: the service stores the bytes of a part unchanged, as sent by the ${client}`, async () => {
    const session = await aSession(api, { mod: await api.aMod({ owner: game.owner, game }), client: owner });
    const bytes = Buffer.from('filename=a&input_json={"x":\r\n--b\r\n%zz%00'.padEnd(100, '&'));
    const body = headers['Transfer-Encoding']
      ? Buffer.concat([
          Buffer.from('28\r\n'),
          bytes.subarray(0, 40),
          Buffer.from('\r\n3c\r\n'),
          bytes.subarray(40),
          Buffer.from('\r\n0\r\n\r\n'),
        ])
      : bytes;
    const answer = await exchange(api, requestOf(`PUT ${session.target}`, { ...partHeaders, ...headers }, body));
    assert.deepEqual([answer.status, answer.body.part_number, answer.body.part_size], [200, 1, 100], answer.text);
    assert.equal((await session.complete()).status, 200);
    const stored = await api.app().storage.open(`uploads/${session.id}`);
    assert.ok(bytes.equals(await buffer(stored!.stream)));
  });

test('2: the read buffer that the C++ SDK sends after the last part belongs neither to the part nor to a request', async () => {
  const session = await aSession(api, { mod: await api.aMod({ owner: game.owner, game }), client: owner });
  const seen = requestsSeen(api);
  const bytes = Buffer.alloc(100, 7);
  const wire = await Wire.open(api);
  const put = requestOf(`PUT ${session.target}`, { ...partHeaders, 'Content-Type': FORM }, bytes);
  const answer = await wire.write(put, Buffer.alloc(512 * 1024, 0xa5)).answer();
  assert.deepEqual([answer.status, answer.body?.part_size], [200, 100], answer.text);
  assert.equal(await wire.rest(), '');
  assert.equal(requestsSeen(api), seen + 1);
  assert.equal((await session.complete()).status, 200);
  assert.deepEqual(await api.app().storage.stat(`uploads/${session.id}`), { bytes: 100 });
});

test('23: a client that completes an upload twice gets 29002, by which it recognises its upload', async () => {
  const session = await aSession(api, { mod: await api.aMod({ owner: game.owner, game }), client: owner });
  await session.put(Buffer.alloc(100, 7));
  await session.complete();
  const complete = session.target.replace('/multipart?', '/multipart/complete?');
  const headers = { Authorization: bearer, 'Content-Type': FORM, 'Content-Length': '0' };
  assert.equal((await exchange(api, requestOf(`POST ${complete}`, headers))).ref, 29002);
});

test('16: a Content-Type on a request without a body is ignored', async () => {
  assert.equal((await exchange(api, requestOf(`GET ${at('/games')}`, { 'Content-Type': FORM }))).status, 200);
  for (const headers of [
    { 'Content-Type': 'application/json', 'Content-Length': '0' },
    { 'Content-Type': FORM },
    { 'Content-Type': 'application/json' },
  ] as Record<string, string>[]) {
    const visitor = await api.as(game.owner);
    const request = requestOf('POST /v1/oauth/logout', { ...headers, Authorization: `Bearer ${visitor.token}` });
    assert.equal((await exchange(api, request)).status, 200);
  }
});

test('17: only a 429 has Retry-After, in whole seconds', async () => {
  const limited = await startApi({ settings: { MODSTEAD_RATE_LIMITS: 'address=6' } });
  const paths = [
    '/v1/ping',
    '/v1/games',
    '/v2/games',
    '/v1/nothing',
    '/healthz',
    '/v1/me',
    '/v1/ping',
    '/v1/ping',
    '/v1/ping',
  ];
  const answers = [];
  for (const path of paths) answers.push(await exchange(limited, requestOf(`GET ${path}`, {})));
  for (const { status, headers } of answers) {
    if (status === 429) assert.match(headers['retry-after'] ?? '', /^[1-9]\d*$/);
    else assert.equal(headers['retry-after'], undefined);
    assert.deepEqual(
      Object.keys(headers).filter((name) => name.startsWith('x-ratelimit')),
      [],
    );
  }
  assert.equal(answers.at(-1)?.status, 429);
});

test('18: platform and portal headers are case-insensitive under both prefixes, and unknown values are ignored', async () => {
  for (const headers of [
    { 'x-modio-platform': 'Linux', 'X-Modio-Portal': 'EGS' },
    { 'X-Service-Platform': 'XboxOne', 'X-Service-Portal': 'PSN' },
    { 'X-Modio-Platform': 'iOS', 'X-Modio-Portal': 'Apply' },
    { 'X-Modio-Platform': 'Amiga' },
  ] as Record<string, string>[])
    assert.equal((await exchange(api, requestOf(`GET ${at('/games')}`, headers))).status, 200);
});

test('19: a trailing slash in a path is ignored', async () => {
  assert.equal((await exchange(api, requestOf('GET /v1/me/', { Authorization: bearer }))).status, 200);
  assert.equal((await exchange(api, requestOf(`GET ${at('/games/?_limit=1')}`, {}))).body.result_limit, 1);
  assert.equal((await exchange(api, requestOf('GET /v1/me/games/?_limit=1', { Authorization: bearer }))).status, 200);
});

test('20: filters and sorts by unknown columns are ignored, and every operator works', async () => {
  const all = (await exchange(api, requestOf(`GET ${at('/games')}`, {}))).body.result_total;
  const unknown = await exchange(api, requestOf(`GET ${at('/games?tico-lk=*x*&_sort=-tico&metadata_blob-lk=a')}`, {}));
  assert.deepEqual([unknown.status, unknown.body.result_total], [200, all]);
  const operators = 'name-lk=*s*&id-in=1,2&id-not-in=9&id-not=99&id-min=1&id-max=50&id-gt=0&id-st=51&name-not-lk=zz*';
  const used = await exchange(
    api,
    requestOf(`GET ${at(`/games?${operators}&status-bitwise-and=1&_q=star&_sort=-date_updated`)}`, {}),
  );
  assert.equal(used.status, 200);
});

test('21: a client that pages by the offsets of the responses gets every game once, and then an empty page', async () => {
  for (let i = 0; i < 5; i += 1) await api.aGame({ name: `Turning Page ${i}` });
  const names: string[] = [];
  const totals = new Set<number>();
  for (let offset = 0; ; ) {
    const path = at(`/games?name-lk=turning%20page*&_limit=2&_offset=${offset}`);
    const { body } = await exchange(api, requestOf(`GET ${path}`, {}));
    assert.equal(body.result_count, body.data.length);
    totals.add(body.result_total);
    if (body.data.length === 0) break;
    names.push(...body.data.map((each: { name: string }) => each.name));
    assert.deepEqual([body.result_offset, body.result_limit], [offset, 2]);
    offset = body.result_offset + body.result_limit;
  }
  assert.deepEqual(
    names,
    [0, 1, 2, 3, 4].map((i) => `Turning Page ${i}`),
  );
  assert.deepEqual([...totals], [5]);
});

test('23: the error references that clients branch on are in an error object with the status as code', async () => {
  const cases: [Buffer, number, number][] = [
    [requestOf('GET /v1/me', { Authorization: 'Bearer gone' }), 401, 11005],
    [requestOf(`GET ${at('/games/999999')}`, {}), 404, 14001],
    [requestOf(`GET ${at('/users/999999')}`, {}), 404, 17000],
    [requestOf(`GET ${at('/nothing')}`, {}), 404, 14000],
    [requestOf(`PUT /v1/games/${game.id}`, { Authorization: bearer, 'Content-Type': FORM }, 'status=9'), 422, 13009],
  ];
  for (const [request, status, ref] of cases) {
    const { body, ...answer } = await exchange(api, request);
    assert.deepEqual([answer.status, body.error.code, body.error.error_ref], [status, status, ref]);
    assert.equal(typeof body.error.message, 'string');
  }
});

test('27: the path decides what is served, whatever the host name', async () => {
  for (const host of [
    `g-${game.id}.localhost`,
    `g-${game.owner.id}.localhost`,
    `u-${game.owner.id}.localhost`,
    'api.localhost',
    'g-1.modapi.io',
    '127.0.0.1',
  ]) {
    const answer = await exchange(api, requestOf(`GET ${at(`/games/${game.id}`)}`, { Host: `${host}:443` }));
    assert.deepEqual([answer.status, answer.body.id], [200, game.id], host);
  }
});

test('24: a comment that is no reply has reply_id 0', async () => {
  const mod = await api.aMod({ game });
  const body = 'content=Hello';
  const headers = { Authorization: bearer, 'Content-Type': FORM };
  const answer = await exchange(api, requestOf(`POST /v1/games/${game.id}/mods/${mod.id}/comments`, headers, body));
  assert.deepEqual([answer.status, answer.body.reply_id, answer.body.thread_position], [201, 0, '01']);
});

test('33, 39: a collection has the fields that the C++ SDK shows, and visibility as a number', async () => {
  const fan = await api.as(await api.aUser());
  const params = { game_id: game.id };
  const body = { name: 'Sky', description: '<p>Up &amp; away</p>', mod_ids: [mod.id] };
  const { id } = (await owner.call(addCollectionOperation, { params, body })).body;
  const inCollection = { ...params, collection_id: id };
  await fan.call(addCollectionRating, { params: inCollection, body: { rating: 1 } });
  await owner.call(addCollectionRating, { params: inCollection, body: { rating: -1 } });
  await fan.call(collectionComments.add, { params: inCollection, body: { content: 'Nice' } });
  const { body: shown } = await fan.call(getModCollection, { params: inCollection });
  assert.deepEqual([shown.visible, shown.game_name, shown.description_plaintext], [1, 'Star Smith', 'Up & away']);
  const { mods_total, comments_total, ratings_total, ratings_positive, ratings_negative } = shown.stats;
  assert.deepEqual([mods_total, comments_total, ratings_total, ratings_positive, ratings_negative], [1, 1, 2, 1, 1]);
});

test('39: bit 8192 of a game’s community_options enables collections, 16384 comments on them', async () => {
  const other = await api.aGame({ name: 'Bits' });
  const client = await api.as(other.owner);
  const params = { game_id: other.id };
  const set = (community_options: number) => client.call(editGameOperation, { params, body: { community_options } });
  await set(4_096 | 16_384);
  await client.refused(addCollectionOperation, { params, body: { name: 'None' } }, 403, 29600);
  await set(8_192);
  const { id } = (await client.call(addCollectionOperation, { params, body: { name: 'Some' } })).body;
  const comment = { params: { ...params, collection_id: id }, body: { content: 'Nice' } };
  await client.refused(collectionComments.add, comment, 403, 14038);
  await set(8_192 | 16_384);
  await client.call(collectionComments.add, comment);
});

test('35: the service accepts raw spaces in a query, as the C++ SDK sends them', async () => {
  await api.aMod({ game, owner: game.owner, name: 'Frozen Moon Palace' });
  const target = `/v1/games/${game.id}/mods?api_key=${game.api_key}`;
  for (const query of ['_q=Frozen Moon', 'name-lk=*zen Moon P*', '_q=Frozen Moon &_limit=5']) {
    const answer = await exchange(api, requestOf(`GET ${target}&${query}`, {}));
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(
      answer.body.data.map(({ name }: { name: string }) => name),
      ['Frozen Moon Palace'],
      query,
    );
  }
});

test('35: an ambiguous request line is refused, and what follows it does not count as a request', async () => {
  const ping = 'GET /v1/ping HTTP/1.1\r\nHost: localhost\r\n\r\n';
  for (const line of [
    'GET /v1/ping?a=b HTTP/1.1 HTTP/1.1',
    'GET /v1/ping?a=b HTTP/1.0 c HTTP/1.1',
    'GET /v1/pi ng?a=b HTTP/1.1',
    'GET /v1/ping a?b HTTP/1.1',
    'GET /v1/ping?a=b\tc HTTP/1.1',
    'GET  /v1/ping?a=b c HTTP/1.1',
    'GET https://localhost/v1/ping?a=b c HTTP/1.1',
    'GET /v1/ping?a=b c HTTP/2.0',
  ]) {
    const seen = requestsSeen(api);
    const wire = await Wire.open(api);
    wire.write(`${line}\r\nHost: localhost\r\n\r\n${ping}`);
    const answer = await wire.answer();
    assert.deepEqual([answer.status, answer.ref], [400, 13009], line);
    assert.equal(await wire.rest(), '', line);
    assert.equal(requestsSeen(api), seen, line);
  }
});

test('35: the service closes the connection after a repaired request line, so that the next one can be repaired too', async () => {
  const seen = requestsSeen(api);
  const wire = await Wire.open(api);
  wire.write('GET /v1/ping?a=b c HTTP/1.1\r\nHost: localhost\r\n\r\nGET /v1/ping HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const answer = await wire.answer();
  assert.deepEqual([answer.status, answer.headers['connection']], [200, 'close']);
  assert.equal(await wire.rest(), '');
  assert.equal(requestsSeen(api), seen + 1);
});

test('34: no error has the reference 0', async () => {
  const refused = ['BREW /v1/ping', 'PATCH /v1/ping', 'GET /v2/games', 'GET /nothing', 'POST /v1/oauth/token'];
  for (const line of refused) {
    const { status, body, text } = await exchange(api, requestOf(line, { Connection: 'close' }));
    assert.ok(status >= 400, line);
    assert.ok((body.error_ref ?? body.error.error_ref) > 0, `${line}: ${text}`);
  }
  const plain = await exchange(api, requestOf('GET /v1/ping', {}), { tls: 'off' });
  assert.deepEqual([plain.status, plain.ref], [400, 13009]);
});

test('30: the C++ SDK buys with tokens and with an entitlement, reads wallet and purchases, and may repeat each', async () => {
  const selling = await aSellingGame(api);
  const pack = await aPack(api, selling, { tokens: 40, skus: ['steam=coins'] });
  const offers = [];
  for (let made = 0; made < 2; made += 1) offers.push((await aPaidMod(api, selling, { tokenpack_id: pack.id })).mod);
  const [one, two] = offers as [(typeof offers)[0], (typeof offers)[0]];
  const player = await api.as(await api.aUser(), { gameId: selling.id });
  const buySimulated = { params: { game_id: selling.id, portal: 'steam' }, body: { sku: 'coins' } };
  const sends = async (line: string, headers: Record<string, string> = {}) => {
    const asked = `${line}${line.includes('?') ? '&' : '?'}api_key=${selling.api_key}`;
    const sent = { Host: `g-${selling.id}.localhost`, Authorization: `Bearer ${player.token}`, 'Content-Type': FORM };
    const ofSdk = { Accept: 'application/json', 'x-modio-platform': 'Windows', 'x-modio-portal': 'Steam' };
    return exchange(api, requestOf(asked, { ...sent, ...ofSdk, ...headers }, ''));
  };
  const checkout = (mod: { id: number }, query: string) =>
    sends(`POST /v1/games/${selling.id}/mods/${mod.id}/checkout?${query}`, {
      'X-Modio-Idempotent-Key': String(mod.id),
    });
  const withTokens = `idempotent_key=${one.id}&display_amount=40`;
  assert.deepEqual((await checkout(one, withTokens)).ref, 900_049);
  await player.call(addSimulatedPurchase, buySimulated);
  assert.equal((await sends('POST /v1/me/iap/steam/sync')).status, 200);
  assert.equal((await checkout(one, `idempotent_key=${one.id}&display_amount=39`)).ref, 900_035);
  const paid = await checkout(one, withTokens);
  assert.equal(paid.status, 200, paid.text);
  assert.equal((await checkout(one, withTokens)).text, paid.text);
  await player.call(addSimulatedPurchase, buySimulated);
  const entitled = await checkout(two, `type=1&idempotent_key=${two.id}`);
  assert.equal(entitled.status, 200, entitled.text);
  assert.equal((await checkout(two, `type=1&idempotent_key=${two.id}`)).text, entitled.text);
  for (const [{ body }, { id }] of [
    [paid, one],
    [entitled, two],
  ] as const) {
    const numbers = [
      'transaction_id',
      'gross_amount',
      'net_amount',
      'platform_fee',
      'gateway_fee',
      'balance',
      'deficit',
    ];
    for (const name of numbers) assert.equal(typeof body[name], 'number', name);
    for (const name of ['gateway_uuid', 'payment_method_id']) assert.equal(typeof body[name], 'string', name);
    assert.deepEqual([body.transaction_type, body.wallet_type, body.mod.id], ['PAID', 'standard_mio', id]);
  }
  const wallet = (await sends(`GET /v1/me/wallets?game_id=${selling.id}`)).body;
  assert.deepEqual([wallet.type, wallet.currency, wallet.balance], ['standard_mio', 'mio', 0]);
  const purchased = (await sends(`GET /v1/me/purchased?game_id=${selling.id}&_limit=100&_offset=0`)).body;
  assert.deepEqual([purchased.result_total, purchased.data.length], [2, 2]);
});

test('37: the list of purchases is empty while nothing is sold', async () => {
  const line = `GET /v1/me/purchased?game_id=${game.id}&_limit=100&_offset=0`;
  const answer = await exchange(api, requestOf(line, { Authorization: bearer }));
  const nothing = { data: [], result_count: 0, result_offset: 0, result_limit: 100, result_total: 0 };
  assert.deepEqual([answer.status, answer.body], [200, nothing]);
  const wrong = await exchange(api, requestOf('GET /v1/me/purchased?game_id=x', { Authorization: bearer }));
  assert.deepEqual([wrong.status, wrong.ref, Object.keys(wrong.body.error.errors)], [422, 13009, ['game_id']]);
});

test('38: the widgets that SDKs open are pages at every address that SDKs use', async () => {
  for (const name of ['age-gate', 'airwallex', 'tilia']) {
    const page = await exchange(api, requestOf(`GET /widgets/${name}`, { 'Accept-Language': 'de' }));
    assert.equal(page.status, 200, page.text);
    assert.match(page.headers['content-type']!, /^text\/html/);
    assert.match(page.text, /zum Spiel zurückkehren/);
    for (const [host, path] of [
      [`g-${game.id}.localhost`, `/v1/widgets/${name}`],
      [`g-${game.id}.localhost`, `/widgets/${name}`],
      ['api.localhost', `/v1/widgets/${name}/`],
    ] as const) {
      const led = await exchange(api, requestOf(`GET ${path}`, { Host: host }));
      assert.deepEqual([led.status, led.headers['location']], [302, `https://localhost/widgets/${name}`], path);
    }
  }
  assert.equal((await exchange(api, requestOf('GET /widgets/other', {}))).status, 404);
});

test('38: stores are synced with what each SDK sends, and the response has the types that the C++ SDK expects', async () => {
  const selling = await aSellingGame(api);
  const stores = ['apple', 'epicgames', 'google', 'oculus', 'psn', 'steam', 'xboxlive'] as const;
  await aPack(api, selling, { skus: stores.map((portal) => `${portal}=coins`) });
  const player = await api.as(await api.aUser(), { gameId: selling.id });
  const sends = async (line: string, body = '', headers: Record<string, string> = {}) => {
    const sent = { Host: `g-${selling.id}.localhost`, Authorization: `Bearer ${player.token}`, 'Content-Type': FORM };
    const asked = `${line}?api_key=${selling.api_key}`;
    const bytes = requestOf(asked, { ...sent, 'x-modio-platform': 'Windows', ...headers }, body);
    const answer = await exchange(api, bytes);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  const requests = [
    ['steam', 'steam', ''],
    ['xboxlive', 'xboxlive', 'xbox_token=XBL3.0 x=1;a.b.c'],
    ['psn', 'ps', 'auth_code=v3.AbC&env=256&service_label=1'],
    ['psn', 'psn', 'auth_code=v3.AbC&env=256'],
    ['google', 'google', 'receipt={"productId":"coins","purchaseToken":"t"}'],
    ['apple', 'apple', 'receipt=MIIT'],
    ['oculus', 'meta', 'device=quest&user_id=32732194120'],
    ['epicgames', 'epicgames', 'epicgames_token=a.b.c&epicgames_sandbox_id=live'],
  ] as const;
  let tokens = 0;
  for (const [portal, name, body] of requests) {
    const bought = { params: { game_id: selling.id, portal }, body: { sku: 'coins' } };
    assert.equal((await player.call(addSimulatedPurchase, bought)).status, 200);
    const header: Record<string, string> =
      portal === 'oculus' ? { 'x-modio-platform': 'Oculus' } : { 'X-Modio-Portal': portal };
    const owned = await sends('POST /v1/me/entitlements', body, header);
    assert.deepEqual(owned.data, [{ sku_id: 'coins', entitlement_type: 0 }], name);
    const synced = await sends(`POST /v1/me/iap/${name}/sync`, body);
    tokens += 100;
    const [{ transaction_id, ...rest }] = synced.data;
    assert.equal(typeof transaction_id, 'string');
    const details = { tokens_allocated: 100 };
    const consumed = { sku_id: 'coins', entitlement_consumed: true, entitlement_type: 0, details };
    assert.deepEqual(rest, { transaction_state: 2, ...consumed }, name);
    assert.deepEqual(synced.wallet, { balance: tokens });
  }
});

test('41: the response to a team invitation is the member, with a code and a message', async () => {
  const line = `POST /v1/games/${game.id}/mods/${mod.id}/team`;
  const answer = await asOwner(line, 'email=friend%40example.com&level=4&position=Tester');
  assert.equal(answer.status, 201, answer.text);
  assert.deepEqual([answer.body.code, typeof answer.body.message, answer.body.level], [201, 'string', 4]);
});

test('25: URLs are valid URIs, even for names in other scripts', async () => {
  const other = await api.aGame({ name: 'Дом модов' });
  const made = await api.aMod({ game: other, owner: other.owner, name: 'Ключ 鍵' });
  const key = `api_key=${other.api_key}`;
  const found: string[] = [];
  for (const path of [
    `/games/${other.id}`,
    `/games/${other.id}/mods`,
    `/games/${other.id}/mods/${made.id}`,
    '/games',
  ]) {
    const { text } = await exchange(api, requestOf(`GET /v1${path}?${key}`, {}));
    for (const [, address] of text.matchAll(/"profile_url":"([^"]*)"/g)) found.push(address!);
  }
  assert.ok(found.length >= 8, String(found));
  for (const address of found) assert.equal(new URL(address).href, address);
  assert.ok(
    found.includes(`https://localhost/g/${encodeURIComponent(other.name_id)}/m/${encodeURIComponent(made.name_id)}`),
  );
});

test('27: a host name with the trailing dot of a fully qualified name is the same host', async () => {
  const ping = async (host: string) => {
    const answer = await exchange(api, requestOf(`GET /v1/games?api_key=${game.api_key}`, { Host: host }));
    return answer.status;
  };
  for (const host of ['localhost', 'localhost.', 'g-1.localhost.', 'localhost.:443', 'api.localhost.'])
    assert.equal(await ping(host), 200, host);
  // A production key is not valid in the sandbox.
  for (const host of ['test.localhost', 'test.localhost.', 'TEST.localhost.:8443', 'g-1.test.localhost.'])
    assert.equal(await ping(host), 401, host);
});
