import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import sharp from 'sharp';
import { assertRefused, type Client, type ErrorAnswer, type Game, startApi } from '../../../test/api.ts';
import { meetsRemoval } from '../../../test/removals.ts';
import { composeWorker } from '../../composition/compose.ts';
import { iconImage, imageFolder, REMOVE_UNUSED_IMAGE } from '../../platform/images/images.ts';
import { deleteGameMedia, getGame } from './operations.ts';

// Jobs run only when a test runs them, and complete before it continues.
const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
const worker = composeWorker(api.app());
const { storage } = api.app();

const HOUR = 3_600;
const DAY = 24 * HOUR;

interface Part {
  readonly field: string;
  readonly bytes: Buffer | string;
  /** A part without a filename is text. */
  readonly filename?: string;
}

const picture = (width: number, height: number, background = '#aa3311') =>
  sharp({ create: { width, height, channels: 3, background } });
const png = (width: number, height: number, background?: string) => picture(width, height, background).png().toBuffer();
const file = (field: string, bytes: Buffer | string): Part => ({ field, bytes, filename: `${field}.png` });

function multipart(parts: readonly Part[]): Buffer {
  const chunks = parts.flatMap(({ field, filename, bytes }) => [
    Buffer.from(`--b\r\nContent-Disposition: form-data; name="${field}"`),
    Buffer.from(filename === undefined ? '\r\n\r\n' : `; filename="${filename}"\r\nContent-Type: image/png\r\n\r\n`),
    Buffer.from(bytes as string),
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...chunks, Buffer.from('--b--\r\n')]);
}

const sendBody = (client: Client, game: { id: number }, body: Buffer, boundary = 'b') =>
  api.request('POST', `/v1/games/${game.id}/media`, {
    headers: {
      authorization: `Bearer ${client.token}`,
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(body.length),
    },
    body,
  });

const send = (client: Client, game: { id: number }, ...parts: Part[]) => sendBody(client, game, multipart(parts));

async function aGameWithOwner(): Promise<{ game: Game; owner: Client }> {
  const game = await api.aGame();
  return { game, owner: await api.as(game.owner) };
}

const gameOf = async (game: Game) =>
  (await api.withKey(game).call(getGame, { params: { game_id: game.id } })).body as unknown as Record<
    'icon' | 'logo' | 'header',
    Record<string, string>
  > & { submitted_by: { avatar: Record<string, string> } };

interface Fetched {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

/** Fetches an address from a response as a game would, but from the test's port. */
function fetchFile(url: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Fetched> {
  const { pathname, host } = new URL(url, 'https://localhost');
  const ca = readFileSync(api.service.certificateFile!);
  const options = { method, path: pathname, host: '127.0.0.1', port: api.port, servername: 'localhost', ca };
  return new Promise((resolve, reject) => {
    const request = httpsRequest({ ...options, headers: { host, ...headers }, agent: false }, (response) => {
      response
        .toArray()
        .then((chunks) =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(chunks) }),
        )
        .catch(reject);
    });
    request.on('error', reject).end();
  });
}

/** Disconnects after the first bytes. */
function leaveEarly(url: string): Promise<void> {
  const { pathname: path, host } = new URL(url);
  const ca = readFileSync(api.service.certificateFile!);
  const options = { path, host: '127.0.0.1', port: api.port, servername: 'localhost', ca, agent: false as const };
  return new Promise((resolve) => {
    const request = httpsRequest({ ...options, headers: { host } }, (response) => {
      response.on('error', () => {}).once('data', () => request.destroy());
    });
    request
      .on('error', () => {})
      .on('close', () => resolve())
      .end();
  });
}

const openFiles = () =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).includes('/files/images/');
    } catch {
      return false;
    }
  });

async function keysUnder(prefix: string): Promise<string[]> {
  const keys = [];
  for await (const key of storage.list(prefix)) keys.push(key);
  return keys;
}

const folderOf = (url: string) => /\/files\/(images\/[^/]+)\//.exec(url)?.[1] ?? '';
const errorsOf = (body: unknown) => (body as ErrorAnswer).error.errors;

test('every address of a game without pictures serves a placeholder of the documented size', async () => {
  const { icon, logo, header, submitted_by } = await gameOf(await api.aGame());
  for (const { filename, ...urls } of [icon, logo, header, submitted_by.avatar]) {
    assert.match(filename!, /^[a-z]+\.png$/);
    for (const [name, url] of Object.entries(urls)) {
      const { status, bytes, headers } = await fetchFile(url);
      assert.equal(status, 200, url);
      assert.equal(headers['content-type'], 'image/png');
      const { width, height } = await sharp(bytes).metadata();
      if (name !== 'original') assert.equal(name, `thumb_${width}x${height}`);
    }
  }
});

test('a manager uploads logo, icon and header, and every address of the game serves a picture of the documented size', async () => {
  const { game } = await aGameWithOwner();
  const manager = await api.aUser();
  await api.joins(manager, game, 4);
  const before = await gameOf(game);
  const answer = await send(
    await api.as(manager),
    game,
    file('logo', await picture(900, 700).jpeg().toBuffer()),
    file('icon', await picture(80, 80).webp().toBuffer()),
    file('header', await picture(400, 100).gif().toBuffer()),
  );
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(answer.body, { code: 200, message: 'The images of the game were saved.' });
  const { logo, icon, header } = await gameOf(game);
  assert.notEqual(before.logo['original'], logo['original']);
  const originals = { logo: '900x700', icon: '80x80', header: '400x100' };
  for (const [kind, { filename, ...urls }] of Object.entries({ logo, icon, header })) {
    for (const [name, url] of Object.entries(urls)) {
      const { status, bytes } = await fetchFile(url!);
      assert.equal(status, 200, url);
      const { format, width, height } = await sharp(bytes).metadata();
      assert.equal(format, 'png');
      const expected = name === 'original' ? originals[kind as 'logo'] : name.replace('thumb_', '');
      assert.equal(`${width}x${height}`, expected, url);
    }
  }
  assert.deepEqual(await keysUnder('incoming/'), [], 'no upload is left');
});

test('the response is in the requested language', async () => {
  const { game, owner } = await aGameWithOwner();
  const body = multipart([file('icon', await png(64, 64))]);
  const answer = await api.request('POST', `/v1/games/${game.id}/media`, {
    headers: {
      authorization: `Bearer ${owner.token}`,
      'content-type': 'multipart/form-data; boundary=b',
      'accept-language': 'de',
    },
    body,
  });
  assert.equal(answer.status, 200);
  assert.notEqual((answer.body as { message: string }).message, 'The images of the game were saved.');
});

test('the body of the C++ SDK is accepted as it is: quoted boundary, leading line, no part types, no closing boundary', async () => {
  const { game, owner } = await aGameWithOwner();
  const boundary = '2794778419116734682';
  const body = Buffer.concat([
    Buffer.from(`\r\n--${boundary}\r\nContent-Disposition: form-data; name="logo"; filename="logo.png"\r\n\r\n`),
    await png(640, 360, '#102030'),
    Buffer.from(`\r\n--${boundary}\r\n`),
  ]);
  const answer = await sendBody(owner, game, body, `"${boundary}"`);
  assert.equal(answer.status, 200, answer.text);
  const { logo } = await gameOf(game);
  const { bytes } = await fetchFile(logo['thumb_320x180']!);
  assert.deepEqual((await sharp(bytes).stats()).dominant, (await sharp(await png(1, 1, '#102030')).stats()).dominant);
});

test('only managers and administrators of the game add pictures', async () => {
  const { game } = await aGameWithOwner();
  const moderator = await api.aUser();
  await api.joins(moderator, game, 1);
  const icon = file('icon', await png(64, 64));
  for (const person of [await api.aUser(), moderator, (await api.aGame()).owner])
    assertRefused(await send(await api.as(person), game, icon), 403, 14009);
  const admin = await api.as(await api.aUser({ admin: true }));
  assert.equal((await send(admin, game, icon)).status, 200);
  const reader = await api.as(game.owner, { scopes: ['read'] });
  assertRefused(await send(reader, game, icon), 403, 11003);
});

test('uploading to a game that does not exist or is hidden from the caller gets not found', async () => {
  const { owner } = await aGameWithOwner();
  const hidden = await api.aGame({ accepted: false });
  const icon = file('icon', await png(64, 64));
  assertRefused(await send(owner, { id: 999_999 }, icon), 404, 14001);
  assertRefused(await send(owner, hidden, icon), 404, 14001);
});

test('the error names every field that is not a picture of a known type', async () => {
  const { game, owner } = await aGameWithOwner();
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="640" height="360"><script>alert(1)</script></svg>';
  const answer = await send(
    owner,
    game,
    file('logo', svg),
    file('icon', await picture(64, 64).tiff().toBuffer()),
    file('header', '<html>'),
  );
  assertRefused(answer, 422, 13009);
  assert.deepEqual(Object.keys(errorsOf(answer.body)!), ['logo', 'icon', 'header']);
  assert.match(errorsOf(answer.body)!['logo']!, /supported type/);
  assertRefused(await send(owner, game, file('icon', '')), 422, 13009);
});

test('pictures that are too small are refused with an error that names the minimum size', async () => {
  const { game, owner } = await aGameWithOwner();
  const answer = await send(
    owner,
    game,
    file('logo', await png(639, 360)),
    file('icon', await png(64, 63)),
    file('header', await png(399, 100)),
  );
  assertRefused(answer, 422, 13009);
  assert.deepEqual(errorsOf(answer.body), {
    logo: 'The logo must be at least 640 by 360 pixels.',
    icon: 'The icon must be at least 64 by 64 pixels.',
    header: 'The header must be at least 400 by 100 pixels.',
  });
});

test('files over the size limit of their field are refused', async () => {
  const { game, owner } = await aGameWithOwner();
  const limits = { logo: ['8 MB', 8 * 1024 * 1024], icon: ['1 MB', 1024 * 1024], header: ['256 KB', 256 * 1024] };
  for (const [field, [text, bytes]] of Object.entries(limits) as [string, [string, number]][]) {
    const answer = await send(owner, game, file(field, Buffer.alloc(bytes + 1)));
    assertRefused(answer, 422, 13009);
    assert.deepEqual(errorsOf(answer.body), { [field]: `The ${field} may not be larger than ${text}.` });
  }
  const padded = Buffer.alloc(256 * 1024);
  (await png(400, 100)).copy(padded);
  assert.equal(
    (await send(owner, game, file('header', padded))).status,
    200,
    'a file of exactly the limit is accepted',
  );
});

test('pictures with more pixels than the decoder limit are refused', async () => {
  const { game, owner } = await aGameWithOwner();
  const answer = await send(owner, game, file('logo', await png(8_000, 5_001)));
  assertRefused(answer, 422, 13009);
  assert.deepEqual(errorsOf(answer.body), { logo: 'The logo may not be larger than 40 MP.' });
});

test('a truncated picture is refused as corrupt, and leaves the game unchanged', async () => {
  const { game, owner } = await aGameWithOwner();
  const jpeg = await picture(640, 360).jpeg().toBuffer();
  const before = await gameOf(game);
  const broken = file('logo', jpeg.subarray(0, Math.floor(jpeg.length / 2)));
  assertRefused(await send(owner, game, broken), 400, 13001);
  assertRefused(await send(owner, game, file('icon', await png(70, 70)), broken), 400, 13001);
  const mixed = await send(owner, game, file('icon', 'text'), broken);
  assertRefused(mixed, 422, 13009);
  assert.deepEqual(Object.keys(errorsOf(mixed.body)!), ['logo', 'icon']);
  assert.deepEqual(await gameOf(game), before);
  assert.deepEqual(await keysUnder('incoming/'), []);
});

test('text in place of a file, a repeated file, a truncated body and a body without pictures have errors of their own', async () => {
  const { game, owner } = await aGameWithOwner();
  const icon = file('icon', await png(64, 64));
  assertRefused(await send(owner, game, { field: 'icon', bytes: 'text' }), 400, 13000);
  assertRefused(await send(owner, game, icon, icon), 400, 13003);
  const whole = multipart([icon]);
  assertRefused(await sendBody(owner, game, whole.subarray(0, whole.length - 20)), 422, 13002);
  assertRefused(await send(owner, game, { field: 'other', bytes: 'text' }), 400, 13008);
  assertRefused(await sendBody(owner, game, Buffer.alloc(0)), 400, 13008);
  assert.deepEqual(await keysUnder('incoming/'), []);
});

test('a picture is served with headers that forbid any other use, and is cached for ever', async () => {
  const { game, owner } = await aGameWithOwner();
  await send(owner, game, file('icon', Buffer.concat([await png(64, 64), Buffer.from('<script>alert(1)</script>')])));
  const { icon } = await gameOf(game);
  const { headers, bytes } = await fetchFile(icon['thumb_64x64']!);
  assert.ok(!bytes.includes('script'));
  assert.equal(headers['content-type'], 'image/png');
  assert.equal(headers['content-length'], String(bytes.length));
  assert.equal(headers['transfer-encoding'], undefined);
  assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable');
  assert.equal(headers['content-disposition'], 'inline; filename="icon_thumb_64x64.png"');
  assert.equal(headers['content-security-policy'], "default-src 'none'; sandbox");
  assert.equal(headers['cross-origin-resource-policy'], 'cross-origin');
  assert.equal(headers['x-content-type-options'], 'nosniff');
  const head = await fetchFile(icon['thumb_64x64']!, {}, 'HEAD');
  assert.equal(head.status, 200);
  assert.equal(head.bytes.length, 0);
  for (const name of ['content-length', 'content-type', 'etag', 'cache-control'])
    assert.equal(head.headers[name], headers[name]);
  const known = await fetchFile(icon['thumb_64x64']!, { 'if-none-match': `"other", W/${headers.etag}` });
  assert.deepEqual([known.status, known.bytes.length], [304, 0]);
});

test('a client can load a picture by range requests', async () => {
  const { game, owner } = await aGameWithOwner();
  await send(owner, game, file('icon', await png(100, 100)));
  const url = (await gameOf(game)).icon['original']!;
  const { bytes: whole, headers } = await fetchFile(url);
  const size = whole.length;
  const parts: [string, number, number][] = [
    ['bytes=0-', 0, size - 1],
    ['bytes=10-19', 10, 19],
    ['bytes=10-999999', 10, size - 1],
    ['bytes=0-1,3-4', 0, 4],
    ['bytes=-7', size - 7, size - 1],
    ['bytes=-999999', 0, size - 1],
    [`bytes=${size - 1}-`, size - 1, size - 1],
  ];
  for (const [range, start, end] of parts) {
    const part = await fetchFile(url, { range });
    assert.equal(part.status, 206, range);
    assert.equal(part.headers['content-range'], `bytes ${start}-${end}/${size}`);
    assert.equal(part.headers['content-length'], String(end - start + 1));
    assert.deepEqual(part.bytes, whole.subarray(start, end + 1));
  }
  for (const range of [`bytes=${size}-`, 'bytes=-0']) {
    const none = await fetchFile(url, { range });
    assert.deepEqual([none.status, none.headers['content-range']], [416, `bytes */${size}`]);
    assert.equal(none.headers['content-length'], '0');
  }
  for (const range of ['bytes=5-4', 'bytes=-', 'items=0-1'])
    assert.deepEqual((await fetchFile(url, { range })).bytes, whole, range);
  assert.equal((await fetchFile(url, { range: 'bytes=0-1', 'if-range': '"older"' })).status, 200);
  assert.equal((await fetchFile(url, { range: 'bytes=0-1', 'if-range': headers.etag! })).status, 206);
});

test('a client that disconnects during a picture leaves no file open', {
  skip: process.platform !== 'linux',
}, async () => {
  const { game, owner } = await aGameWithOwner();
  const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
  const large = sharp({ create: { width: 1500, height: 1500, channels: 3, background: 'red', noise } });
  await send(owner, game, file('logo', await large.jpeg().toBuffer()));
  const url = (await gameOf(game)).logo['original']!;
  assert.ok(Number((await fetchFile(url, {}, 'HEAD')).headers['content-length']) > 4_000_000);
  for (let times = 0; times < 5; times += 1) await leaveEarly(url);
  while (openFiles().length > 0) await delay(20);
  assert.ok(!api.logLines.some((line) => line.includes('request failed')));
});

test('storage serves nothing but pictures', async () => {
  await storage.put('incoming/secret.png', Buffer.from('x'));
  await storage.put('images/secret.png', Buffer.from('x'));
  const paths = ['incoming/secret.png', 'images/secret.png', 'images/../incoming/secret.png', 'images/%2e%2e/secret'];
  for (const path of [...paths, '', 'images/', 'placeholder/icon/none.png', `images/${'0'.repeat(32)}-icon/none.png`]) {
    const answer = await api.request('GET', `/files/${path}`);
    assert.equal(answer.status, 404, path);
    assert.equal((answer.body as ErrorAnswer).error.code, 404);
  }
  await storage.remove('incoming/secret.png');
});

test('equal pictures share their files, which stay until the last game has another', async () => {
  const [one, other] = [await aGameWithOwner(), await aGameWithOwner()];
  const shared = file('icon', await png(72, 72, '#00ff00'));
  for (const { game, owner } of [one, other]) await send(owner, game, shared);
  const folder = folderOf((await gameOf(one.game)).icon['original']!);
  assert.equal(folderOf((await gameOf(other.game)).icon['original']!), folder);
  await send(one.owner, one.game, file('icon', await png(73, 73)));
  api.clock.advance(2 * HOUR);
  await worker.runDue();
  assert.equal((await keysUnder(`${folder}/`)).length, 4, 'the other game still shows it');
  await send(other.owner, other.game, file('icon', await png(74, 74)));
  await worker.runDue();
  assert.equal((await keysUnder(`${folder}/`)).length, 4, 'a client that has just read its address can still load it');
  api.clock.advance(2 * HOUR);
  await worker.runDue();
  assert.deepEqual(await keysUnder(`${folder}/`), []);
  await send(one.owner, one.game, shared);
  assert.equal((await fetchFile((await gameOf(one.game)).icon['original']!)).status, 200, 'and it can come back');
});

test('a picture that is being removed is claimed when it is gone', async () => {
  const { game, owner } = await aGameWithOwner();
  const bytes = await png(75, 75);
  const folder = imageFolder(createHash('sha256').update(bytes).digest('hex'), iconImage);
  const { db } = api.app();
  const removal = {
    kind: REMOVE_UNUSED_IMAGE,
    key: folder,
    payload: JSON.stringify({ folder }),
    state: 'running' as const,
  };
  const times = { date_due: api.clock.now() + 60, attempt: 1, lease: 'x', date_added: api.clock.now() };
  await db.write(
    async ({ query }) =>
      void (await query
        .insertInto('jobs')
        .values({ ...removal, ...times })
        .execute()),
  );
  const met = meetsRemoval(api.apps());
  const sending = send(owner, game, file('icon', bytes));
  await met;
  await db.write(async ({ query }) => void (await query.deleteFrom('jobs').where('lease', '=', 'x').execute()));
  assert.equal((await sending).status, 200);
});

test('pictures that were rendered for a failed request are removed', async () => {
  const { game, owner } = await aGameWithOwner();
  const before = await keysUnder('images/');
  assertRefused(await send(owner, game, file('logo', await png(800, 600)), file('icon', 'text')), 422, 13009);
  assert.ok((await keysUnder('images/')).length > before.length);
  api.clock.advance(2 * HOUR);
  await worker.runDue();
  assert.ok((await keysUnder('images/')).length <= before.length);
});

test('two concurrent uploads both succeed, and the game shows one of each picture', async () => {
  const { game, owner } = await aGameWithOwner();
  const icons = await Promise.all(['#000001', '#000002', '#000003', '#000004'].map((colour) => png(64, 64, colour)));
  const answers = await Promise.all(icons.map((icon) => send(owner, game, file('icon', icon))));
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 200],
  );
  api.clock.advance(2 * HOUR);
  await worker.runDue();
  assert.equal((await fetchFile((await gameOf(game)).icon['thumb_64x64']!)).status, 200);
});

test('uploads that a crash left behind are removed after a day', async () => {
  await worker.runDue();
  await storage.put('incoming/left-behind', Buffer.from('x'));
  api.clock.advance(2 * HOUR);
  await worker.runDue();
  api.clock.advance(DAY - HOUR);
  await worker.runDue();
  assert.deepEqual(await keysUnder('incoming/'), ['incoming/left-behind']);
  api.clock.advance(2 * HOUR);
  await worker.runDue();
  assert.deepEqual(await keysUnder('incoming/'), []);
});

test('a removed picture is replaced by a placeholder, and only managers remove one', async () => {
  const { game, owner } = await aGameWithOwner();
  await send(owner, game, file('logo', await png(640, 360)), file('icon', await png(64, 64)));
  const params = { game_id: game.id };
  const shown = async () => (await owner.call(getGame, { params })).body;
  const before = await shown();
  const stranger = await api.as(await api.aUser());
  await stranger.refused(deleteGameMedia, { params, body: { images: ['logo'] } }, 403, 14010);
  const wrong = await owner.refused(deleteGameMedia, { params, body: { images: ['poster'] } }, 422, 13009);
  assert.deepEqual(Object.keys(wrong.body.error.errors!), ['images.0']);
  assert.equal((await owner.call(deleteGameMedia, { params, body: { images: ['logo', 'header'] } })).status, 204);
  const after = await shown();
  assert.match(String(after.logo.original), /placeholder/);
  assert.notEqual(after.logo.original, before.logo.original);
  assert.equal(after.icon.original, before.icon.original);
});
