import { Agent, request } from 'node:http';
import { Readable } from 'node:stream';
import { parseArgs } from 'node:util';
import { addGame } from '../src/catalogue/games/games.ts';
import { addMod } from '../src/catalogue/mods/mods.ts';
import { closeApp, composeApp, outsideOf } from '../src/composition/compose.ts';
import { addUser } from '../src/people/users/users.ts';
import { issueToken } from '../src/platform/access/credentials.ts';
import { readSettings } from '../src/platform/config/settings.ts';
import { PART_BYTES } from '../src/platform/storage/storage.ts';
import { kill, start, withService } from '../test/crash/crash.ts';
import { startS3 } from '../test/s3.ts';
import { type Archive, archiveOf } from './archive.ts';

const MEBIBYTE = 1024 ** 2;
const GROWTH_MAX_MEBIBYTES = 64;
const SAMPLE_MS = 250;
const agent = new Agent({ keepAlive: false });

const { values } = parseArgs({
  options: { gib: { type: 'string', default: '1' }, bucket: { type: 'boolean' }, help: { type: 'boolean' } },
});
if (values.help)
  console.log(`npm run bench-upload [-- --gib 1 --bucket]
Uploads a generated archive in parts, completes the upload and adds the file. Prints the speed of each step and how much
the memory of the service grew during it.
Fails if it grew by more than ${GROWTH_MAX_MEBIBYTES} MiB, or if the hash is wrong. --gib 20 needs 20 GiB of disk. --bucket uploads
to the in-memory S3 server of the tests.`);
else if (values.bucket) await withBucket(measure);
else await withService(measure);

async function withBucket(work: (env: Record<string, string>) => Promise<void>): Promise<void> {
  const server = await startS3();
  await withService((env) => work({ ...env, MODSTEAD_STORAGE_URL: server.url }));
  await server.stop();
}

interface Uploader {
  readonly files: string;
  readonly token: string;
}

async function measure(env: Record<string, string>): Promise<void> {
  const archive = archiveOf(Math.min(20 * 1024 ** 3, Math.round(Number(values.gib) * 1024 ** 3)));
  const uploader = await makeUploader(env);
  const service = await start(env);
  await upload(service.port, uploader, archiveOf(4 * MEBIBYTE));
  const before = await memory(service.port);
  console.log(`${(archive.bytes / 1024 ** 3).toFixed(2)} GiB; memory ${(before / MEBIBYTE).toFixed(0)} MiB before`);
  const phases: Phase[] = [];
  const sampling = setInterval(async () => {
    const phase = phases.at(-1);
    if (phase) phase.peak = Math.max(phase.peak, await memory(service.port));
  }, SAMPLE_MS);
  const said = ({ name, seconds, peak }: Phase) => {
    const speed = (archive.bytes / MEBIBYTE / seconds).toFixed(0);
    console.log(`${name}: ${speed} MiB/s, at most ${((peak - before) / MEBIBYTE).toFixed(0)} MiB more`);
  };
  const file = await upload(service.port, uploader, archive, phases, said);
  clearInterval(sampling);
  await kill(service.process);
  const growth = (Math.max(...phases.map(({ peak }) => peak)) - before) / MEBIBYTE;
  const isRight = (await storedHash(env, file.id)) === archive.sha256();
  console.log(`the hash is ${isRight ? 'right' : 'WRONG'}; ${file.filesize_uncompressed} bytes unpacked`);
  process.exitCode = isRight && growth <= GROWTH_MAX_MEBIBYTES ? 0 : 1;
}

/** A step of the upload, and the peak memory of the service during it. */
interface Phase {
  readonly name: string;
  seconds: number;
  peak: number;
}

async function makeUploader(env: Record<string, string>): Promise<Uploader> {
  const settings = readSettings(env);
  const app = await composeApp(settings, 'production', outsideOf(settings));
  const uploader = await app.db.write(async (transaction) => {
    const { id: userId } = await addUser(app, transaction, { username: 'Bench' });
    const game = await addGame(app, transaction, { name: 'Bench', ownerId: userId, accepted: true, summary: '0' });
    const mod = await addMod(app, transaction, { name: 'Bench', summary: '0', gameId: game.id, ownerId: userId });
    const { access_token: token } = await issueToken(app, transaction, { userId });
    return { files: `/v1/games/${game.id}/mods/${mod.id}/files`, token };
  });
  await closeApp(app);
  return uploader;
}

/** The hash that the service stored. */
async function storedHash(env: Record<string, string>, fileId: number): Promise<string> {
  const settings = readSettings(env);
  const app = await composeApp(settings, 'production', outsideOf(settings));
  const found = await app.db.query.selectFrom('modfiles').select('sha256').where('id', '=', fileId).executeTakeFirst();
  await closeApp(app);
  return found!.sha256;
}

/** Sends the parts, completes the session and adds the file, which inspects the archive. */
async function upload(
  port: number,
  uploader: Uploader,
  archive: Archive,
  phases: Phase[] = [],
  said: (phase: Phase) => void = () => {},
) {
  const send = (method: string, path: string, headers: Record<string, string> = {}, body?: Iterable<Buffer>) =>
    call(port, uploader, method, path, headers, body);
  const timed = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const phase = { name, seconds: 0, peak: 0 };
    phases.push(phase);
    const began = performance.now();
    const result = await work();
    phase.seconds = (performance.now() - began) / 1000;
    phase.peak = Math.max(phase.peak, await memory(port));
    said(phase);
    return result;
  };
  const id: string = (await send('POST', '/multipart', {}, [Buffer.from('filename=a.zip')])).upload_id;
  await timed('parts', async () => {
    for (let begin = 0; begin < archive.bytes; begin += PART_BYTES) {
      const end = Math.min(begin + PART_BYTES, archive.bytes);
      const headers = {
        'content-range': `bytes ${begin}-${end - 1}/${archive.bytes}`,
        'content-length': String(end - begin),
      };
      await send('PUT', `/multipart?upload_id=${id}`, headers, archive.stretch(begin, end));
    }
  });
  await timed('completion', () => send('POST', `/multipart/complete?upload_id=${id}`));
  const fields = Buffer.from(`--b\r\ncontent-disposition: form-data; name="upload_id"\r\n\r\n${id}\r\n--b--\r\n`);
  const form = { 'content-type': 'multipart/form-data; boundary=b', 'content-length': String(fields.length) };
  return timed('inspection', () => send('POST', '', form, [fields])) as Promise<{
    id: number;
    filesize_uncompressed: number;
  }>;
}

async function memory(port: number): Promise<number> {
  const text = await exchange(port, 'GET', '/metrics', { 'x-forwarded-proto': 'https' });
  return Number(/^process_resident_memory_bytes\S* (\S+)/m.exec(text)![1]);
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
      response.on('end', () => (response.statusCode! < 300 ? resolve(text) : reject(new Error(text))));
    });
    sent.on('error', reject);
    Readable.from(body).pipe(sent);
  });
}
