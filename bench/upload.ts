import { createHash, randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { Readable } from 'node:stream';
import { parseArgs } from 'node:util';
import { issueToken } from '../src/access/credentials.ts';
import { closeApp, composeApp, outsideOf } from '../src/compose.ts';
import { readSettings } from '../src/config/settings.ts';
import { addGame } from '../src/resources/games/games.ts';
import { addMod } from '../src/resources/mods/mods.ts';
import { PART_BYTES } from '../src/resources/uploads/ranges.ts';
import { requireTakeable } from '../src/resources/uploads/uploads.ts';
import { addUser } from '../src/resources/users/users.ts';
import { kill, start, withService } from '../test/crash/crash.ts';

const MEBIBYTE = 1024 ** 2;
const GROWTH_MAX_MEBIBYTES = 64;
const SAMPLE_MS = 250;
const agent = new Agent({ keepAlive: false });
const piece = randomBytes(MEBIBYTE);

const { values } = parseArgs({ options: { gib: { type: 'string', default: '1' }, help: { type: 'boolean' } } });
if (values.help)
  console.log(`npm run bench-upload [-- --gib 1]
Uploads a generated file in parts, completes it, and tells the speed and by how much the memory of the service grew.
Fails where that is more than ${GROWTH_MAX_MEBIBYTES} MiB, or the hash is wrong. --gib 20 needs 20 GiB of disk.`);
else await withService(measure);

interface Uploader {
  readonly userId: number;
  readonly modId: number;
  readonly files: string;
  readonly token: string;
}

async function measure(env: Record<string, string>): Promise<void> {
  const total = Math.min(20 * 1024 ** 3, Math.round(Number(values.gib) * 1024 ** 3));
  const uploader = await makeUploader(env);
  const service = await start(env);
  await upload(service.port, uploader, 4 * MEBIBYTE);
  const before = await memory(service.port);
  let peak = before;
  const sampling = setInterval(async () => (peak = Math.max(peak, await memory(service.port))), SAMPLE_MS);
  const { id, uploadSeconds, completeSeconds } = await upload(service.port, uploader, total);
  clearInterval(sampling);
  await kill(service.process);
  const isRight = (await storedHash(env, uploader, id)) === hashOf(total);
  const growth = (peak - before) / MEBIBYTE;
  const speed = (seconds: number) => `${(total / MEBIBYTE / seconds).toFixed(0)} MiB/s`;
  console.log(
    `${(total / 1024 ** 3).toFixed(2)} GiB: parts at ${speed(uploadSeconds)}, completed at ${speed(completeSeconds)}`,
  );
  console.log(`memory ${(before / MEBIBYTE).toFixed(0)} MiB before, at most ${growth.toFixed(0)} MiB more`);
  console.log(`the hash is ${isRight ? 'right' : 'WRONG'}`);
  process.exitCode = isRight && growth <= GROWTH_MAX_MEBIBYTES ? 0 : 1;
}

async function makeUploader(env: Record<string, string>): Promise<Uploader> {
  const settings = readSettings(env);
  const app = await composeApp(settings, 'production', outsideOf(settings));
  const uploader = await app.db.write(async (transaction) => {
    const { id: userId } = await addUser(app, transaction, { username: 'Bench' });
    const game = await addGame(app, transaction, { name: 'Bench', ownerId: userId, accepted: true, summary: '0' });
    const mod = await addMod(app, transaction, { name: 'Bench', summary: '0', gameId: game.id, ownerId: userId });
    const { access_token: token } = await issueToken(app, transaction, { userId });
    return { userId, modId: mod.id, files: `/v1/games/${game.id}/mods/${mod.id}/files/multipart`, token };
  });
  await closeApp(app);
  return uploader;
}

/** The hash that the service has written down. */
async function storedHash(env: Record<string, string>, { userId, modId }: Uploader, id: string): Promise<string> {
  const settings = readSettings(env);
  const app = await composeApp(settings, 'production', outsideOf(settings));
  const { sha256 } = await requireTakeable(app.db, { kind: 'user', userId } as never, modId, id);
  await closeApp(app);
  return sha256;
}

async function upload(port: number, uploader: Uploader, total: number) {
  const send = (method: string, path: string, headers: Record<string, string> = {}, body?: Iterable<Buffer>) =>
    call(port, uploader, method, path, headers, body);
  const id: string = (await send('POST', '', {}, [Buffer.from('filename=a.zip')])).upload_id;
  const startedAt = performance.now();
  for (let begin = 0; begin < total; begin += PART_BYTES) {
    const bytes = Math.min(PART_BYTES, total - begin);
    const headers = {
      'content-range': `bytes ${begin}-${begin + bytes - 1}/${total}`,
      'content-length': String(bytes),
    };
    await send('PUT', `?upload_id=${id}`, headers, piecesOf(bytes));
  }
  const uploadedAt = performance.now();
  await send('POST', `/complete?upload_id=${id}`);
  const uploadSeconds = (uploadedAt - startedAt) / 1000;
  return { id, uploadSeconds, completeSeconds: (performance.now() - uploadedAt) / 1000 };
}

/** A part ends on a whole piece, unless it is the last; so the file is the same pieces from beginning to end. */
function* piecesOf(bytes: number): Generator<Buffer> {
  for (let left = bytes; left > 0; left -= MEBIBYTE) yield piece.subarray(0, Math.min(left, MEBIBYTE));
}

function hashOf(total: number): string {
  const hash = createHash('sha256');
  for (const each of piecesOf(total)) hash.update(each);
  return hash.digest('hex');
}

async function memory(port: number): Promise<number> {
  const text = await exchange(port, 'GET', '/metrics', { 'x-forwarded-proto': 'https' });
  return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)![1]);
}

async function call(
  port: number,
  { files, token }: Uploader,
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: Iterable<Buffer>,
) {
  const own = {
    'x-forwarded-proto': 'https',
    authorization: `Bearer ${token}`,
    'content-type': 'application/x-www-form-urlencoded',
  };
  return JSON.parse(await exchange(port, method, files + path, { ...own, ...headers }, body));
}

function exchange(
  port: number,
  method: string,
  path: string,
  headers: Record<string, string>,
  body: Iterable<Buffer> = [],
): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', agent, method, path, headers }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += chunk));
      response.on('error', reject);
      response.on('end', () => (response.statusCode === 200 ? resolve(text) : reject(new Error(text))));
    });
    sent.on('error', reject);
    Readable.from(body).pipe(sent);
  });
}
