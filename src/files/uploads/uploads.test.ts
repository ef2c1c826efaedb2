import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { type Api, type Client, type ErrorAnswer, type Mod, startApi } from '../../../test/api.ts';
import { aSession, hashOf, rangeOf, someBytes } from '../../../test/uploads.ts';
import { zipOf } from '../../../test/zips.ts';
import { editModByPut, getMod } from '../../catalogue/mods/operations.ts';
import { restrictUserInGame } from '../../catalogue/restrictions/operations.ts';
import { MANAGER, MODERATOR } from '../../catalogue/teams/teams.ts';
import { composeWorker } from '../../composition/compose.ts';
import { PART_BYTES } from '../../platform/storage/storage.ts';
import { addModfileOperation } from '../modfiles/operations.ts';
import { REMEMBERED_SECONDS, UPLOAD_SECONDS } from './expiry.ts';
import {
  addMultipartUploadPart,
  completeMultipartUploadSession,
  createMultipartUploadSession,
  deleteMultipartUploadSession,
  getMultipartUploadParts,
  getMultipartUploadSessions,
} from './operations.ts';
import { consumeUpload, requireCompleteUpload, SESSIONS_PER_MOD, SESSIONS_PER_USER } from './uploads.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' }, filesOnDisk: true });

const paramsOf = (mod: Mod) => ({ game_id: mod.game_id, mod_id: mod.id });
const create = (client: Client, mod: Mod, body: Record<string, string> = {}) =>
  client.call(createMultipartUploadSession, { params: paramsOf(mod), body: { filename: 'airship.zip', ...body } });
const idOf = (answer: { body: { upload_id: string } }) => answer.body.upload_id;

/** The caller, as other resources pass it to this rule. */
const callerOf = (mod: Mod) => ({ kind: 'user', userId: mod.owner.id }) as never;
const take = (of: Api, mod: Mod, id: string) =>
  of.app().db.write((transaction) => consumeUpload(of.app(), transaction, callerOf(mod), mod.id, id));

function partialFiles(): string[] {
  const folder = join(api.folder, 'production', 'files', '.parts');
  return existsSync(folder) ? readdirSync(folder) : [];
}
const bytesAreThere = (id: string) => partialFiles().some((name) => name.includes(id));

test('a file is uploaded in parts, in any order, and can be used once', async () => {
  const session = await aSession(api);
  const whole = someBytes(PART_BYTES + 1_000);
  const last = await session.put(whole, 2);
  assert.deepEqual(last.body, { upload_id: session.id, part_number: 2, part_size: 1_000, date_added: api.clock.now() });
  const first = await session.put(whole, 1, { digest: `sha-256=${hashOf('sha256', whole.subarray(0, PART_BYTES))}` });
  assert.equal(first.status, 200, first.text);
  assert.deepEqual(await session.partNumbers(), [1, 2]);
  assert.deepEqual((await session.complete()).body, { upload_id: session.id, status: 3 });

  const app = api.app();
  const expected = {
    key: `uploads/${session.id}`,
    bytes: whole.length,
    md5: hashOf('md5', whole),
    sha256: hashOf('sha256', whole),
    filename: 'airship.zip',
  };
  assert.deepEqual(await requireCompleteUpload(app.db, callerOf(session.mod), session.mod.id, session.id), expected);
  assert.deepEqual(await take(api, session.mod, session.id), expected);
  const stored = await app.storage.open(expected.key);
  assert.ok(whole.equals(await buffer(stored!.stream)));
  assert.equal(bytesAreThere(session.id), false);
  await assert.rejects(take(api, session.mod, session.id), { ref: 29017 });
});

test('the filename is that of an archive, and a nonce has at most 64 characters', async () => {
  const mod = await api.aMod();
  const owner = await api.as(mod.owner);
  const params = paramsOf(mod);
  for (const filename of [
    'airship.rar',
    '.zip',
    'zip',
    '../airship.zip',
    'a\\b.zip',
    'a\nb.zip',
    `${'a'.repeat(252)}.zip`,
  ])
    await owner.refused(createMultipartUploadSession, { params, body: { filename } }, 422, 13009);
  await owner.refused(
    createMultipartUploadSession,
    { params, body: { filename: 'a.zip', nonce: 'n'.repeat(65) } },
    422,
    13009,
  );
  assert.equal((await create(owner, mod, { filename: 'Airship ✈.ZIP', nonce: 'n'.repeat(64) })).status, 200);
});

test('a nonce returns the same session, also to 16 concurrent requests, and another user gets another session', async () => {
  const mod = await api.aMod();
  const owner = await api.as(mod.owner);
  const answers = await Promise.all(Array.from({ length: 16 }, () => create(owner, mod, { nonce: 'same' })));
  assert.equal(new Set(answers.map(idOf)).size, 1);
  const friend = await api.aUser();
  await api.joinsMod(friend, mod, 4);
  const others = [
    await create(await api.as(friend), mod, { nonce: 'same' }),
    await create(owner, mod, { nonce: 'else' }),
  ];
  assert.equal(new Set([answers[0]!, ...others].map(idOf)).size, 3);
});

test('the nonce of a complete session is refused, and that of a cancelled or used one opens a new session', async () => {
  const mod = await api.aMod();
  const session = await aSession(api, { mod, nonce: 'n' });
  await session.put(someBytes());
  await session.complete();
  const again = { params: paramsOf(mod), body: { filename: 'airship.zip', nonce: 'n' } };
  await session.client.refused(createMultipartUploadSession, again, 400, 29002);
  await take(api, mod, session.id);
  const second = await aSession(api, { mod, nonce: 'n' });
  assert.notEqual(second.id, session.id);
  await second.client.call(deleteMultipartUploadSession, second.input);
  assert.notEqual((await aSession(api, { mod, nonce: 'n' })).id, second.id);
});

test('the number of open sessions of a mod is limited, also for concurrent requests', async () => {
  const mod = await api.aMod();
  const owner = await api.as(mod.owner);
  const answers = await Promise.all(Array.from({ length: 16 }, () => create(owner, mod)));
  const opened = answers.filter(({ status }) => status === 200);
  assert.equal(opened.length, SESSIONS_PER_MOD);
  const input = { params: paramsOf(mod), body: { filename: 'a.zip' } };
  await owner.refused(createMultipartUploadSession, input, 400, 29001);
  await owner.call(deleteMultipartUploadSession, { params: paramsOf(mod), query: { upload_id: idOf(opened[0]!) } });
  assert.equal((await create(owner, mod)).status, 200);
});

test('the number of open sessions of a user is limited over all mods, and a complete one counts until it is used', async () => {
  const owner = await api.aUser();
  const mods = await Promise.all(Array.from({ length: 4 }, () => api.aMod({ owner })));
  const client = await api.as(owner);
  const session = await aSession(api, { mod: mods[0]!, client });
  await session.put(someBytes());
  await session.complete();
  const tries = Array.from({ length: SESSIONS_PER_USER + 8 }, (_, i) => create(client, mods[i % mods.length]!));
  const opened = (await Promise.all(tries)).filter(({ status }) => status === 200);
  assert.equal(opened.length, SESSIONS_PER_USER - 1);
  const input = { params: paramsOf(mods[3]!), body: { filename: 'a.zip' } };
  await client.refused(createMultipartUploadSession, input, 400, 29001);
  await take(api, mods[0]!, session.id);
  assert.equal((await create(client, mods[3]!)).status, 200);
});

test('a user that may edit a mod uploads to it; others are refused, and do not see a hidden mod', async () => {
  const game = await api.aGame();
  const mod = await api.aMod({ game });
  const session = await aSession(api, { mod });
  const moderator = await api.aUser();
  await api.joinsMod(moderator, mod, 1);
  const manager = await api.aUser();
  await api.joins(manager, game, 4);
  assert.equal((await create(await api.as(manager), mod)).status, 200);
  const input = { params: paramsOf(mod), body: { filename: 'a.zip' } };
  for (const stranger of [await api.as(await api.aUser()), await api.as(moderator)]) {
    await stranger.refused(createMultipartUploadSession, input, 403, 15006);
    await stranger.refused(addMultipartUploadPart, session.part(someBytes()), 403, 15006);
    await stranger.refused(completeMultipartUploadSession, session.input, 403, 15006);
  }
  await session.client.call(editModByPut, { params: paramsOf(mod), body: { visible: 0 } });
  const stranger = await api.as(await api.aUser());
  await stranger.refused(createMultipartUploadSession, input, 404, 15022);
  await stranger.refused(getMultipartUploadSessions, { params: paramsOf(mod) }, 404, 15022);
  await stranger.refused(deleteMultipartUploadSession, session.input, 404, 15022);
  assert.equal((await session.put(someBytes())).status, 200);
});

test('only the uploader finds a session, and only on its own mod', async () => {
  const mod = await api.aMod();
  const session = await aSession(api, { mod });
  await session.put(someBytes());
  const friend = await api.aUser();
  await api.joinsMod(friend, mod, 8);
  const sibling = await api.aMod({ owner: mod.owner, game: { id: mod.game_id } });
  const onSibling = { params: paramsOf(sibling), query: { upload_id: session.id } };
  const tries: [Client, typeof session.input][] = [
    [await api.as(friend), session.input],
    [session.client, onSibling],
    ...['nonsense', '', `${session.id}0`, crypto.randomUUID(), "' or 1=1 --"]
      .filter(Boolean)
      .map((id): [Client, typeof session.input] => [session.client, { ...session.input, query: { upload_id: id } }]),
  ];
  for (const [client, input] of tries) {
    await client.refused(getMultipartUploadParts, input, 400, 29017);
    await client.refused(addMultipartUploadPart, { ...session.part(someBytes()), ...input }, 400, 29017);
    await client.refused(completeMultipartUploadSession, input, 400, 29017);
    await client.refused(deleteMultipartUploadSession, input, 400, 29017);
  }
  const game = await api.aGame();
  await api.withKey(game).refused(getMultipartUploadParts, session.input, 400, 29017);
  await assert.rejects(take(api, { ...mod, owner: friend }, session.id), { ref: 29017 });
});

test('users list their own sessions, by state, also with their own key, and a game’s key has none', async () => {
  const mod = await api.aMod();
  const [first, second] = [await aSession(api, { mod }), await aSession(api, { mod })];
  await second.client.call(deleteMultipartUploadSession, second.input);
  const params = paramsOf(mod);
  const all = await first.client.call(getMultipartUploadSessions, { params });
  assert.deepEqual(all.body.data, [
    { upload_id: first.id, status: 0 },
    { upload_id: second.id, status: 4 },
  ]);
  const cancelled = await api.withKey(mod.owner).call(getMultipartUploadSessions, { params, query: { status: 4 } });
  assert.deepEqual(
    cancelled.body.data.map(({ upload_id }) => upload_id),
    [second.id],
  );
  const friend = await api.aUser();
  await api.joinsMod(friend, mod, 8);
  for (const client of [await api.as(friend), api.withKey(await api.aGame())])
    assert.equal((await client.call(getMultipartUploadSessions, { params })).body.result_total, 0);
});

const FULL = PART_BYTES;
for (const [range, ref] of [
  [undefined, 29008],
  ['', 29008],
  ['items 0-99/100', 29009],
  ['bytes */100', 29010],
  ['bytes 0-99/*', 29010],
  ['bytes 0-/100', 29010],
  ['bytes -99/100', 29010],
  ['bytes a-99/100', 29011],
  ['bytes 0-9.9/100', 29011],
  ['bytes 0x0-99/100', 29011],
  ['bytes=0-99/100', 29012],
  ['bytes 0-99', 29012],
  ['bytes 0--99/100', 29012],
  ['bytes 0-99/100, bytes 0-99/100', 29012],
  ['bytes 0-99/1000', 29013],
  [`bytes 0-${FULL}/${FULL + 1}`, 29013],
  ['bytes 99-0/100', 29014],
  ['bytes 1-99/100', 29014],
  [`bytes 100-${FULL + 99}/${FULL + 100}`, 29014],
  ['bytes 0-99999999999999999999/999999999999999999999', 29014],
  ['bytes 0-100/100', 29026],
  ['bytes 0-0/0', 29026],
] as const)
  test(`the range "${range}" is refused with ${ref}`, async () => {
    const session = await aSession(api);
    const headers: Record<string, string> = range === undefined ? {} : { 'content-range': range };
    await session.client.refused(addMultipartUploadPart, { ...session.input, raw: someBytes(), headers }, 400, ref);
    assert.deepEqual(await session.partNumbers(), []);
  });

test('a file of more than 20 GB is refused', async () => {
  const session = await aSession(api);
  const headers = { 'content-range': rangeOf(0, FULL, 20 * 1024 ** 3 + 1) };
  await session.client.refused(addMultipartUploadPart, { ...session.input, raw: someBytes(), headers }, 422, 13009);
});

test('a digest must be single, known and correct; a part that fails can be sent again', async () => {
  const bytes = someBytes();
  const sha256 = hashOf('sha256', bytes);
  const session = await aSession(api);
  for (const [digest, ref] of [
    [`sha-256=${sha256},crc32c=00000000`, 29005],
    ['md5=d41d8cd98f00b204e9800998ecf8427e', 29006],
    [`sha-256=${hashOf('sha256', someBytes())}`, 29007],
    ['sha-256=short', 29007],
    ['crc32c=00000000', 29007],
  ] as const) {
    await session.client.refused(addMultipartUploadPart, session.part(bytes, 1, { digest }), 400, ref);
    assert.deepEqual(await session.partNumbers(), []);
  }
  for (const digest of [`sha-256=${sha256}`, `SHA-256=${Buffer.from(sha256, 'hex').toString('base64')}`])
    assert.equal((await session.put(bytes, 1, { digest })).status, 200);
  assert.equal((await session.complete()).status, 200);
});

test('a CRC-32C is compared with the bytes', async () => {
  const session = await aSession(api);
  const bytes = Buffer.from('123456789');
  for (const digest of ['crc32c=e3069283', 'crc32c=4waSgw=='])
    assert.equal((await session.put(bytes, 1, { digest })).status, 200);
});

test('a body must be as long as its range, with and without a declared length', async () => {
  const session = await aSession(api);
  for (const count of [0, 99, 101]) {
    const headers = { 'content-range': rangeOf(0, 100, 100) };
    for (const coding of [{}, { 'transfer-encoding': 'chunked' }] as Record<string, string>[]) {
      const input = { ...session.input, raw: someBytes(count), headers: { ...headers, ...coding } };
      await session.client.refused(addMultipartUploadPart, input, 400, 29025);
    }
  }
  assert.equal((await session.put(someBytes(), 1, { 'transfer-encoding': 'chunked' })).status, 200);
});

test('a repeated part is acknowledged again, and its bytes never change', async () => {
  const session = await aSession(api);
  const bytes = someBytes();
  const first = await session.put(bytes);
  api.clock.advance(60);
  assert.deepEqual((await session.put(bytes)).body, first.body);
  await session.client.refused(addMultipartUploadPart, session.part(someBytes()), 400, 29015);
  await session.complete();
  assert.equal((await take(api, session.mod, session.id)).sha256, hashOf('sha256', bytes));
});

test('all parts must declare the same file length', async () => {
  const session = await aSession(api);
  await session.put(someBytes(100));
  await session.client.refused(addMultipartUploadPart, session.part(someBytes(101)), 400, 29022);
});

test('a session can be completed when all parts are there and are at least as long as an empty archive', async () => {
  const session = await aSession(api);
  await session.client.refused(completeMultipartUploadSession, session.input, 400, 29023);
  const whole = someBytes(FULL + 50);
  await session.put(whole, 2);
  await session.client.refused(completeMultipartUploadSession, session.input, 400, 29021);
  const tiny = await aSession(api);
  await tiny.put(someBytes(21));
  await tiny.client.refused(completeMultipartUploadSession, tiny.input, 400, 29028);
  const smallest = await aSession(api);
  await smallest.put(someBytes(22));
  assert.equal((await smallest.complete()).status, 200);
});

test('a complete or cancelled session accepts no parts, and is not completed or cancelled again', async () => {
  const complete = await aSession(api);
  await complete.put(someBytes());
  await complete.complete();
  await complete.client.refused(addMultipartUploadPart, complete.part(someBytes()), 400, 29002);
  await complete.client.refused(completeMultipartUploadSession, complete.input, 400, 29002);
  await complete.client.refused(deleteMultipartUploadSession, complete.input, 400, 29020);
  const cancelled = await aSession(api);
  await cancelled.put(someBytes());
  assert.equal(bytesAreThere(cancelled.id), true);
  assert.equal((await cancelled.client.call(deleteMultipartUploadSession, cancelled.input)).status, 204);
  assert.equal(bytesAreThere(cancelled.id), false);
  await cancelled.client.refused(addMultipartUploadPart, cancelled.part(someBytes()), 400, 29004);
  await cancelled.client.refused(completeMultipartUploadSession, cancelled.input, 400, 29004);
  await cancelled.client.refused(deleteMultipartUploadSession, cancelled.input, 400, 29004);
});

const use = (client: Client, mod: Mod, id: string) => ({
  call: () => client.call(addModfileOperation, { params: paramsOf(mod), body: { upload_id: id } }),
  refused: (status: number, ref: number) =>
    client.refused(addModfileOperation, { params: paramsOf(mod), body: { upload_id: id } }, status, ref),
});

test('only the uploader of a complete session makes a file of it, once, also with concurrent requests', async () => {
  const session = await aSession(api);
  const { client, mod, id } = session;
  const archive = zipOf({ 'readme.txt': 'In parts' });
  await use(client, mod, id).refused(400, 29024);
  await session.put(archive);
  await use(client, mod, id).refused(400, 29024);
  await session.complete();
  const colleague = await api.aUser();
  await api.joinsMod(colleague, mod, MANAGER);
  await use(await api.as(colleague), mod, id).refused(400, 29017);
  await use(await api.as(await api.aUser()), mod, id).refused(403, 15006);
  await use(client, await api.aMod({ owner: mod.owner }), id).refused(400, 29017);
  // Each names another version, because identical requests would be answered as one.
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, i) =>
      client.call(addModfileOperation, {
        params: paramsOf(mod),
        body: { upload_id: id.toUpperCase(), version: `1.${i}` },
      }),
    ),
  );
  const refs = answers.map(({ body }) => (body as unknown as Partial<ErrorAnswer>).error?.error_ref ?? 0);
  assert.deepEqual(refs.sort(), [0, ...Array.from({ length: 7 }, () => 29017)]);
  const { body } = answers.find(({ status }) => status === 201)!;
  assert.deepEqual(
    [body.filename, body.filesize, body.filehash.md5],
    ['airship.zip', archive.length, hashOf('md5', archive)],
  );
  assert.equal((await client.call(getMod, { params: paramsOf(mod) })).body.modfile?.['id'], body.id);
  const app = api.app();
  assert.equal(await app.storage.stat(`uploads/${id}`), undefined);
  const cancelled = await aSession(api);
  await cancelled.client.call(deleteMultipartUploadSession, cancelled.input);
  await use(cancelled.client, cancelled.mod, cancelled.id).refused(400, 29004);
});

test('an upload that was refused as a file can be used again', async () => {
  const session = await aSession(api);
  await session.put(zipOf({ 'readme.txt': 'Anything' }));
  await session.complete();
  const { client, mod } = session;
  const body = { upload_id: session.id, filehash: hashOf('md5', someBytes()) };
  await client.refused(addModfileOperation, { params: paramsOf(mod), body }, 422, 13001);
  assert.equal((await use(client, mod, session.id).call()).status, 201);
});

test('users whom the game restricts from adding mods upload nothing', async () => {
  const session = await aSession(api);
  const { client, mod } = session;
  const game = { id: mod.game_id };
  const moderator = await api.aUser();
  await api.joins(moderator, game, MODERATOR);
  const params = { game_id: mod.game_id, user_id: mod.owner.id };
  const answer = await (await api.as(moderator)).call(restrictUserInGame, { params, body: { options: 1 } });
  assert.equal(answer.status, 200, answer.text);
  const at = { params: paramsOf(mod) };
  await client.refused(createMultipartUploadSession, { ...at, body: { filename: 'a.zip' } }, 403, 15012);
  await client.refused(getMultipartUploadSessions, at, 403, 15012);
  await client.refused(addMultipartUploadPart, session.part(someBytes()), 403, 15012);
  await client.refused(completeMultipartUploadSession, session.input, 403, 15012);
  await client.refused(deleteMultipartUploadSession, session.input, 403, 15012);
  await use(client, mod, session.id).refused(403, 15012);
});

test('an abandoned session is cancelled with its bytes, and removed a day later', async () => {
  const worker = composeWorker(api.app());
  const mod = await api.aMod();
  const [idle, busy, whole, used] = [
    await aSession(api, { mod, nonce: 'idle' }),
    await aSession(api, { mod }),
    await aSession(api, { mod }),
    await aSession(api, { mod }),
  ];
  for (const session of [idle, whole, used]) await session.put(someBytes());
  for (const session of [whole, used]) await session.complete();
  const { key } = await take(api, mod, used.id);
  api.clock.advance(UPLOAD_SECONDS - 10);
  await busy.put(someBytes());
  api.clock.advance(11);
  await worker.runDue();
  const states = async () =>
    (await idle.client.call(getMultipartUploadSessions, { params: paramsOf(mod) })).body.data.map(
      ({ status }) => status,
    );
  assert.deepEqual(await states(), [4, 0, 4]);
  assert.equal(await api.app().storage.stat(key), undefined, 'its user had a day to move it');
  assert.equal(await api.app().storage.stat(`uploads/${whole.id}`), undefined);
  assert.deepEqual([bytesAreThere(idle.id), bytesAreThere(busy.id)], [false, true]);
  await idle.client.refused(addMultipartUploadPart, idle.part(someBytes()), 400, 29004);
  assert.notEqual((await aSession(api, { mod, nonce: 'idle' })).id, idle.id);
  api.clock.advance(REMEMBERED_SECONDS + 1);
  await worker.runDue();
  await idle.client.refused(getMultipartUploadParts, idle.input, 400, 29017);
});
