import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { type Answer, assertRefused, type Client, type Mod, START, startApi } from '../../../test/api.ts';
import { aModfile, changeModfile, type StoredModfile } from '../../../test/modfiles.ts';
import { anotherService, Wire } from '../../../test/wire.ts';
import { downloadLink } from '../../catalogue/live-files/links.ts';
import { requireModForChange } from '../../catalogue/mods/access.ts';
import { applyModChanges } from '../../catalogue/mods/mods.ts';
import { getModStats } from '../../catalogue/stats/operations.ts';
import { transferScheduler } from '../../platform/http/transfer-scheduler.ts';
import { flushDownloads, queueDownload, removeOldMarks } from './counting.ts';
import { downloadModfile, downloadModfileHashed } from './operations.ts';

const settings = { MODSTEAD_TRUST_PROXY: '127.0.0.1', MODSTEAD_JOBS: 'off' };
const api = await startApi({ settings, filesOnDisk: true });

const pathOf = (file: StoredModfile) => ({ game_id: file.game_id, mod_id: file.mod_id, file_id: file.id });
const targetOf = (file: StoredModfile) => `/games/${file.game_id}/mods/${file.mod_id}/files/${file.id}/download`;
const get = (client: Client, file: StoredModfile, headers: Record<string, string> = {}) =>
  client.call(downloadModfile, { params: pathOf(file), headers });
const segmentOf = (file: StoredModfile) =>
  downloadLink(api.app(), file, { alone: false }).binary_url.split('/').at(-1)!;
const hashed = (client: Client, file: StoredModfile, segment = segmentOf(file)) =>
  client.call(downloadModfileHashed, { params: { ...pathOf(file), verification_hash: segment } });

async function aFile(content?: string | Buffer, options?: number, more: { columns?: object; mod?: object } = {}) {
  const game = await api.aGame(options === undefined ? {} : { settings: { api_access_options: options } });
  const mod = await api.aMod({ game, ...more.mod });
  const file = await aModfile(api, mod, content, more.columns);
  return { game, mod, file, client: api.withKey(game) };
}

test('a file is sent whole, with its name, length and hash, and never as a page', async () => {
  const { file, client } = await aFile('the bytes');
  const answer = await get(client, file, { accept: 'application/octet-stream' });
  assert.equal(answer.status, 200);
  assert.equal(answer.text, 'the bytes');
  const { headers } = answer;
  assert.equal(headers['content-length'], '9');
  assert.equal(headers.etag, `"${createHash('sha256').update('the bytes').digest('hex')}"`);
  assert.equal(headers['last-modified'], new Date(START * 1000).toUTCString());
  assert.equal(headers['accept-ranges'], 'bytes');
  assert.equal(headers['content-type'], 'application/zip');
  assert.equal(downloadModfile.declaration.returns.mediaType, headers['content-type']);
  assert.equal(headers['content-disposition'], 'attachment; filename="mod.zip"');
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.equal(headers['cache-control'], 'private, no-cache');
});

test('a request for a page has priority over transfers; a download, an upload or a health check has not', async () => {
  const { mod, file, client } = await aFile('the bytes');
  const owner = await api.as(mod.owner);
  const isAskedBy = async (request: () => Promise<unknown>) => {
    transferScheduler.noteRequest(Number.NEGATIVE_INFINITY);
    await request();
    return transferScheduler.hasRecentRequests();
  };
  const page = () => client.send('GET', `/games/${file.game_id}/mods`);
  assert.equal(await isAskedBy(page), true);
  assert.equal(await isAskedBy(page), true, 'also where the answer was kept');
  assert.equal(await isAskedBy(() => get(client, file)), false);
  assert.equal(await isAskedBy(() => owner.send('POST', `/games/${file.game_id}/mods/${mod.id}/files`)), false);
  assert.equal(await isAskedBy(() => api.request('GET', '/healthz')), false);
});

test('the filename of an upload cannot break the header', async () => {
  const filename = `x"\r\nset-cookie: a=b\u202E${'n'.repeat(10_000)}.zip`;
  const { file, client } = await aFile('x', undefined, { columns: { filename } });
  const { headers } = await get(client, file);
  assert.equal(headers['set-cookie'], undefined);
  assert.ok(headers['content-disposition']!.length < 200);
});

test('HEAD returns the same headers without the bytes, also for a range', async () => {
  const { file, client } = await aFile('the bytes');
  const answer = await client.send('HEAD', targetOf(file), { headers: { range: 'bytes=2-3' } });
  assert.deepEqual([answer.status, answer.headers['content-length'], answer.text], [200, '9', '']);
});

test('a client resumes a download as long as the file is unchanged', async () => {
  const { file, client } = await aFile('0123456789');
  const tail = await get(client, file, { range: 'bytes=4-', 'if-range': `"${file.sha256}"` });
  assert.deepEqual([tail.status, tail.text, tail.headers['content-range']], [206, '456789', 'bytes 4-9/10']);
  assert.equal(tail.headers['content-length'], '6');
  const byDate = await get(client, file, { range: 'bytes=4-', 'if-range': tail.headers['last-modified']! });
  assert.equal(byDate.status, 206);
  for (const other of ['"other"', `W/"${file.sha256}"`, new Date(0).toUTCString()]) {
    const whole = await get(client, file, { range: 'bytes=4-', 'if-range': other });
    assert.deepEqual([whole.status, whole.text], [200, '0123456789'], other);
  }
  const first = await get(client, file, { range: 'bytes=0-' });
  assert.deepEqual([first.status, first.headers['content-range']], [206, 'bytes 0-9/10'], 'as shipped clients ask');
});

test('conditional requests do not send what the client has or does not want', async () => {
  const { file, client } = await aFile('the bytes');
  const etag = `"${file.sha256}"`;
  const date = new Date(START * 1000).toUTCString();
  const before = new Date(START * 1000 - 1000).toUTCString();
  const cases: [Record<string, string>, number][] = [
    [{ 'if-none-match': etag }, 304],
    [{ 'if-none-match': `"x", W/${etag}` }, 304],
    [{ 'if-none-match': '*' }, 304],
    [{ 'if-none-match': '"x"', 'if-modified-since': date }, 200],
    [{ 'if-modified-since': date }, 304],
    [{ 'if-modified-since': before }, 200],
    [{ 'if-match': etag }, 200],
    [{ 'if-match': '"x"' }, 412],
    [{ 'if-unmodified-since': before }, 412],
    [{ 'if-unmodified-since': date }, 200],
    [{ 'if-modified-since': 'yesterday' }, 200],
  ];
  for (const [headers, status] of cases)
    assert.equal((await get(client, file, headers)).status, status, JSON.stringify(headers));
});

test('several ranges are sent as one response of known length', async () => {
  const content = Buffer.alloc(5_000, '0123456789');
  const { file, client } = await aFile(content);
  const answer = await get(client, file, { range: 'bytes=4000-4003, 0-1,99999-' });
  assert.equal(answer.status, 206);
  const [, boundary] = /^multipart\/byteranges; boundary=(\w+)$/.exec(answer.headers['content-type']!)!;
  const part = (range: string, text: string) =>
    `\r\n--${boundary}\r\ncontent-type: application/zip\r\ncontent-range: bytes ${range}/5000\r\n\r\n${text}`;
  assert.equal(answer.text, `${part('4000-4003', '0123')}${part('0-1', '01')}\r\n--${boundary}--\r\n`);
  assert.equal(answer.headers['content-length'], String(answer.bytes.length));
});

test('a flood of ranges never gets more bytes than the file has', async () => {
  const { file, client } = await aFile(Buffer.alloc(5_000, 'x'));
  const overlapping = await get(client, file, { range: `bytes=${Array(60).fill('0-').join(',')}` });
  assert.deepEqual([overlapping.status, overlapping.headers['content-length']], [206, '5000']);
  const flood = await get(client, file, { range: `bytes=${Array(3000).fill('0-').join(',')}` });
  assert.deepEqual([flood.status, flood.headers['content-range'], flood.text], [416, 'bytes */5000', '']);
  const behind = await get(client, file, { range: 'bytes=5000-' });
  assert.deepEqual([behind.status, behind.headers['content-range']], [416, 'bytes */5000']);
});

test('a large file arrives byte for byte, for many concurrent clients', async () => {
  const content = Buffer.alloc(3_000_001);
  for (let i = 0; i < content.length; i += 1) content[i] = (i * 31 + (i >> 8)) & 0xff;
  const { file, client } = await aFile(content);
  const answers = await Promise.all(Array.from({ length: 6 }, () => get(client, file)));
  for (const { bytes } of answers) assert.ok(bytes.equals(content));
  const part = await get(client, file, { range: 'bytes=65000-1999999' });
  assert.ok(part.bytes.equals(content.subarray(65_000, 2_000_000)));
});

test('a client that disconnects causes no error, and other downloads continue', async () => {
  const { file, client, game } = await aFile(Buffer.alloc(20_000_000, 'x'));
  const wire = await Wire.open(api);
  wire.socket.once('data', () => wire.socket.destroy());
  wire.write(`GET /v1${targetOf(file)}?api_key=${game.api_key} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  await assert.rejects(wire.answer());
  assert.equal((await get(client, file)).bytes.length, 20_000_000);
});

test('a client that has the last byte can send its next request on the connection at once', async () => {
  const { file, game } = await aFile(Buffer.alloc(70_000, 'x'));
  const wire = await Wire.open(api);
  for (let i = 0; i < 30; i += 1) {
    wire.write(`GET /v1${targetOf(file)}?api_key=${game.api_key} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    assert.equal((await wire.answer()).text.length, 70_000);
  }
  await wire.close();
});

// Access

test('a file of another mod, a deleted, withdrawn or malicious file, and a source are not found', async () => {
  const { file, client, mod } = await aFile();
  const other = await aFile();
  assertRefused(await get(client, { ...file, mod_id: other.mod.id }), 404, 15022);
  assertRefused(await get(client, { ...other.file, mod_id: mod.id, game_id: mod.game_id }), 404, 15010);
  assertRefused(await get(client, { ...file, id: 999_999 }), 404, 15010);
  assertRefused(await get(client, { ...file, game_id: 999_999 }), 404, 14001);
  for (const columns of [{ status: 3 }, { withdrawn: 1 }, { virus_positive: 1 }, { kind: 'source' as const }]) {
    const gone = await aFile('x', undefined, { columns });
    assertRefused(await get(gone.client, gone.file), 404, 15010);
  }
});

test('a file that was taken down is refused to every signed link', async () => {
  const { file } = await aFile('x', 1);
  const nobody = api.nobody();
  const segment = segmentOf(file);
  assert.equal((await hashed(nobody, file, segment)).text, 'x');
  await changeModfile(api, file, { withdrawn: 1 });
  assertRefused(await hashed(nobody, file, segment), 404, 15010);
});

test('only the team downloads a hidden mod, also by a link', async () => {
  const { file, mod, client } = await aFile('x', 0, { mod: { visible: 0 } });
  assertRefused(await get(client, file), 404, 15022);
  assertRefused(await hashed(api.nobody(), file), 404, 15022);
  assert.equal((await hashed(await api.as(mod.owner), file)).text, 'x');
});

test('the team of a deleted mod gets the error for deleted mods', async () => {
  const { file, mod } = await aFile('x');
  const app = api.app();
  const owner = await api.as(mod.owner);
  await app.db.write(async (transaction) => {
    const caller = { kind: 'user', userId: mod.owner.id, admin: true, inTeams: true } as never;
    const row = await requireModForChange(transaction, caller, mod.game_id, mod.id);
    await applyModChanges(app, transaction, row, { status: 3 }, mod.owner.id);
  });
  assertRefused(await get(owner, file), 403, 15023);
});

test('a file that is denied for a platform is not found there, except by the teams', async () => {
  const { file, mod, game, client } = await aFile('x');
  await api.app().db.write(async ({ query }) => {
    const row = { game_id: game.id, label: '', moderated: 0, locked: 0 };
    const platforms = ['windows', 'linux', 'switch'].map((platform) => ({ ...row, platform }));
    await query.insertInto('game_platforms').values(platforms).execute();
    await query
      .insertInto('modfile_platforms')
      .values([
        { modfile_id: file.id, platform: 'windows', status: 1 },
        { modfile_id: file.id, platform: 'switch', status: 2 },
      ])
      .execute();
  });
  assert.equal((await get(client, file)).status, 200);
  assert.equal((await get(client, file, { 'x-modio-platform': 'windows' })).status, 200);
  for (const platform of ['switch', 'linux', 'ps5'])
    assertRefused(await get(client, file, { 'x-modio-platform': platform }), 404, 15010);
  assert.equal((await get(await api.as(mod.owner), file, { 'x-modio-platform': 'switch' })).status, 200);
});

test('without direct downloads a file needs a link that was signed for it', async () => {
  const { file, client } = await aFile('x', 1);
  assertRefused(await get(client, file), 403, 15024);
  assert.equal((await hashed(api.nobody(), file)).text, 'x');
  assert.equal((await hashed(client, file)).text, 'x', 'credentials may come along');
});

test('a link that was tampered with, extended, swapped or has expired is refused', async () => {
  const { file, mod } = await aFile('x', 1);
  const other = await aModfile(api, mod, 'y');
  const nobody = api.nobody();
  const segment = segmentOf(file);
  const [expires, signature] = [segment.slice(0, segment.indexOf('-')), segment.slice(segment.indexOf('-') + 1)];
  const swapped = signature.startsWith('A') ? `B${signature.slice(1)}` : `A${signature.slice(1)}`;
  for (const bad of [
    'x',
    `${expires}-${swapped}`,
    `${Number(expires) + 3600}-${signature}`,
    `${segment}x`,
    `-${signature}`,
  ])
    assertRefused(await hashed(nobody, file, bad), 403, 15024);
  assertRefused(await hashed(nobody, other, segment), 403, 15024);
  api.clock.advance(Number(expires) - api.clock.now());
  assertRefused(await hashed(nobody, file, segment), 403, 15024);
});

test('a game without third parties allows downloads with its own key, its own tokens, and by its team', async () => {
  const { file, game, client } = await aFile('x', 2);
  const stranger = await api.aUser();
  assert.equal((await get(client, file)).status, 200);
  assertRefused(await get(api.withKey(stranger), file), 403, 14007);
  assertRefused(await get(await api.as(stranger), file), 403, 14007);
  assert.equal((await get(await api.as(stranger, { gameId: game.id }), file)).status, 200);
  assert.equal((await get(await api.as(game.owner), file)).status, 200);
  assert.equal((await hashed(api.nobody(), file)).status, 200, 'one of those callers received the signed link');
});

test('where downloads need a signed-in user, neither a key nor a link is enough', async () => {
  const { file, client } = await aFile('x', 1 | 2 | 4);
  assertRefused(await get(client, file), 401, 11059);
  assertRefused(await hashed(api.nobody(), file), 401, 11059);
  const person = await api.as(await api.aUser());
  assert.equal((await get(person, file)).status, 200);
  assert.equal((await hashed(person, file)).status, 200);
});

test('where mods have to be owned, only the team downloads a mod with a price', async () => {
  const paid = await aFile('x', 1 | 2 | 8, { mod: { price: 5 } });
  const free = await aFile('y', 1 | 2 | 8);
  const person = await api.as(await api.aUser());
  assertRefused(await get(paid.client, paid.file), 401, 11059);
  assertRefused(await get(person, paid.file), 422, 900037);
  assertRefused(await hashed(person, paid.file), 422, 900037);
  assert.equal((await get(await api.as(paid.mod.owner), paid.file)).status, 200);
  assert.equal((await get(person, free.file)).status, 200);
});

// Damage

test('a file that is missing, shorter or changed on disk is never sent', async () => {
  for (const damaged of ['the byte', 'the bytez']) {
    const { file, client } = await aFile('the bytes');
    await writeFile(api.app().storage.path!(file.storage_key), damaged);
    assertRefused(await get(client, file), 503, 10000);
    await api.app().storage.remove(file.storage_key);
    assertRefused(await get(client, file), 503, 10000);
  }
  api.app().log.flush();
  assert.ok(api.logLines.some((line) => line.includes('is not there')));
});

test('a large file that changed on disk is aborted before its end, and refused afterwards', async () => {
  const content = Buffer.alloc(3_000_000, 'x');
  const { file, client, game } = await aFile(content);
  await writeFile(api.app().storage.path!(file.storage_key), Buffer.alloc(3_000_000, 'y'));
  const wire = await Wire.open(api);
  wire.write(`GET /v1${targetOf(file)}?api_key=${game.api_key} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  const received = (await wire.rest()).length;
  assert.ok(received < 3_000_000, `${received} bytes`);
  await assert.rejects(get(client, file, { range: 'bytes=2999999-' }));
});

// Counting

async function downloads(client: Client, mod: Mod): Promise<number> {
  await Promise.all(api.apps().map((app) => flushDownloads(app)));
  // Until counts are folded in, other processes may show an earlier response.
  if (api.others.length > 0) await api.counted();
  const answer = await client.call(getModStats, { params: { game_id: mod.game_id, mod_id: mod.id } });
  return answer.body.downloads_total;
}

const from = (address: string) => ({ 'x-forwarded-for': address });

test('each address counts once a day per mod and platform', async () => {
  const { file, mod, client } = await aFile('x');
  const other = await aModfile(api, mod, 'another file of the mod');
  for (const one of [file, file, other]) await get(client, one, from('203.0.113.1'));
  assert.equal(await downloads(client, mod), 1);
  await get(client, file, { ...from('203.0.113.1'), 'x-modio-platform': 'windows' });
  await get(client, file, from('203.0.113.2'));
  await get(client, file, from('2001:db8::1'));
  await get(client, file, from('2001:db8::2'));
  assert.equal(await downloads(client, mod), 4, 'hosts of one IPv6 network are one');
  api.clock.advance(86_399);
  await get(client, file, from('203.0.113.1'));
  assert.equal(await downloads(client, mod), 4, 'also when the date changes meanwhile');
  api.clock.advance(2);
  await get(client, file, from('203.0.113.1'));
  assert.equal(await downloads(client, mod), 5);
});

test('HEAD, resumed and failed downloads do not count', async () => {
  const { file, mod, client } = await aFile('0123456789');
  await client.send('HEAD', targetOf(file), { headers: from('203.0.113.9') });
  for (const range of ['bytes=4-', 'bytes=99-']) await get(client, file, { ...from('203.0.113.9'), range });
  await get(client, file, { ...from('203.0.113.9'), 'if-none-match': `"${file.sha256}"` });
  assert.equal(await downloads(client, mod), 0);
  await get(client, file, { ...from('203.0.113.9'), range: 'bytes=0-' });
  assert.equal(await downloads(client, mod), 1);
});

const begun = (mod: Mod, address: string) => ({ mod_id: mod.id, game_id: mod.game_id, platform: '', address });

test('many concurrent downloads are counted in few writes', async () => {
  const { file, mod, client } = await aFile('x');
  await Promise.all(Array.from({ length: 32 }, (_, i) => get(client, file, from(`198.51.100.${i % 16}`))));
  const { writes } = api.app().db.counters;
  for (let i = 0; i < 100; i += 1) queueDownload(api.app(), begun(mod, `192.0.2.${i}`));
  await Promise.all(api.apps().map((app) => flushDownloads(app)));
  assert.ok(api.app().db.counters.writes - writes <= 2);
  assert.equal(await downloads(client, mod), 116);
});

test('two processes count an address once, and a process that stops loses no count', async (t) => {
  const { mod, client } = await aFile('x');
  const second = await anotherService(api);
  t.after(() => second.stop());
  const apps = [api.app(), second.apps.production];
  for (const app of apps) for (let i = 0; i < 16; i += 1) queueDownload(app, begun(mod, `198.51.100.${i}`));
  await Promise.all(apps.map(flushDownloads));
  queueDownload(second.apps.production, begun(mod, '192.0.2.7'));
  await second.stop();
  assert.equal(await downloads(client, mod), 17);
});

test('marks of counted downloads are removed after a day', async () => {
  const { mod } = await aFile('x');
  queueDownload(api.app(), begun(mod, '192.0.2.7'));
  await Promise.all(api.apps().map((app) => flushDownloads(app)));
  api.clock.advance(86_401);
  await removeOldMarks(api.app());
  const marks = await api.app().db.query.selectFrom('counted_downloads').select('mod_id').execute();
  assert.deepEqual(marks, []);
});

// Redirects and proxies

test('a download redirects to a storage that serves files itself, and the redirect counts as the download', async () => {
  const { file, mod, client } = await aFile('x');
  const storages = api.apps().map(({ storage }) => storage as { link?: unknown });
  const link = async (key: string, { disposition }: { disposition: string }) =>
    `https://storage.example/${key}?as=${encodeURIComponent(disposition)}`;
  for (const storage of storages) storage.link = link;
  try {
    const tail = await get(client, file, { ...from('192.0.2.1'), range: 'bytes=5-' });
    assert.equal(tail.status, 302);
    assert.equal(await downloads(client, mod), 0);
    const answer = await get(client, file, from('192.0.2.1'));
    assert.match(answer.headers.location!, new RegExp(`^https://storage.example/${file.storage_key}\\?as=attachment`));
    assert.equal(await downloads(client, mod), 1);
  } finally {
    for (const storage of storages) delete storage.link;
  }
});

test('a trusted proxy gets the path of the file to send, and no other client does', async () => {
  const { file, game } = await aFile('the bytes');
  const path = `/v1${targetOf(file)}?api_key=${game.api_key}`;
  const ask = async (
    offload: object,
    trustProxy = api.app().settings.trustProxy,
  ): Promise<Answer['headers'] & { text: string }> => {
    const service = await anotherService(api, { offload, trustProxy, port: 0 } as never);
    const wire = await Wire.open(api, { port: service.port });
    const answer = await wire.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`).answer();
    await wire.close();
    await service.stop();
    return { ...answer.headers, text: answer.text };
  };
  const accel = await ask({ header: 'x-accel-redirect', prefix: '/modstead-files' });
  assert.equal(accel['x-accel-redirect'], `/modstead-files/production/${file.storage_key}`);
  assert.deepEqual([accel.text, accel['content-disposition']], ['', 'attachment; filename="mod.zip"']);
  const sendfile = await ask({ header: 'x-sendfile' });
  assert.equal(sendfile['x-sendfile'], api.app().storage.path!(file.storage_key));
  const direct = await ask({ header: 'x-sendfile' }, []);
  assert.deepEqual([direct.text, direct['x-sendfile']], ['the bytes', undefined]);
});
