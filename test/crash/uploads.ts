import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { addGame } from '../../src/catalogue/games/games.ts';
import { addMod } from '../../src/catalogue/mods/mods.ts';
import { closeApp, composeApp, outsideOf } from '../../src/composition/compose.ts';
import { addUser } from '../../src/people/users/users.ts';
import { issueToken } from '../../src/platform/access/credentials.ts';
import { readSettings } from '../../src/platform/config/settings.ts';
import { PART_BYTES } from '../../src/platform/storage/storage.ts';
import { startAhead } from './ahead.ts';
import { type Machine, type Running, type Surroundings, withService } from './crash.ts';

const UPLOADERS = 3;
const WHOLE = randomBytes(PART_BYTES + 300_000);
const SHA256 = createHash('sha256').update(WHOLE).digest('hex');

/** Uploads the same file repeatedly, each time with a new nonce, and records what was acknowledged. */
interface Uploader {
  readonly files: string;
  readonly token: string;
  round: number;
  uploadId: string | undefined;
  readonly acknowledged: Set<number>;
}

export interface UploadCrashResult {
  readonly loops: number;
  /** Acknowledged parts and completed files. */
  readonly parts: number;
  readonly completed: number;
  readonly lost: string[];
}

/**
 * Kills the service with -9 during multipart uploads, restarts it, and lets the clients resume. Acknowledged parts must
 * exist, and every visible file must be complete.
 */
export function uploadCrashLoop(
  loops: number,
  said: (line: string) => void = () => {},
  surrounded: Surroundings = withService,
): Promise<UploadCrashResult> {
  return surrounded(async (env, folder, machine) => {
    const uploaders = await makeUploaders(env);
    const lost: string[] = [];
    const figures = { parts: 0, completed: 0 };
    for (let loop = 1; loop <= loops; loop += 1) {
      const service = await machine.start();
      await uploadUntilCut({ machine, service, uploaders, figures, lost });
      await machine.on();
      lost.push(...brokenFiles(folder));
      said(`loop ${loop} of ${loops}: ${figures.parts} parts, ${figures.completed} files, ${lost.length} lost`);
    }
    const service = await startAhead(env);
    await Promise.all(uploaders.map((uploader) => step(service.port, uploader, figures, lost, () => false)));
    await service.stop();
    lost.push(...brokenFiles(folder));
    return { loops, ...figures, lost };
  });
}

async function makeUploaders(env: Record<string, string>): Promise<Uploader[]> {
  const settings = readSettings(env);
  const app = await composeApp(settings, 'production', outsideOf(settings));
  const uploaders = await app.db.write(async (transaction) => {
    const made: Uploader[] = [];
    for (let i = 0; i < UPLOADERS; i += 1) {
      const { id: ownerId } = await addUser(app, transaction, { username: `Crash ${i}` });
      const game = await addGame(app, transaction, { name: `Crash ${i}`, ownerId, accepted: true, summary: '0' });
      const mod = await addMod(app, transaction, { name: 'Crash', summary: '0', gameId: game.id, ownerId });
      const { access_token } = await issueToken(app, transaction, { userId: ownerId });
      const files = `/v1/games/${game.id}/mods/${mod.id}/files/multipart`;
      made.push({ files, token: access_token, round: 0, uploadId: undefined, acknowledged: new Set() });
    }
    return made;
  });
  await closeApp(app);
  return uploaders;
}

interface Round {
  readonly machine: Machine;
  readonly service: Running;
  readonly uploaders: readonly Uploader[];
  readonly figures: { parts: number; completed: number };
  readonly lost: string[];
}

async function uploadUntilCut(round: Round): Promise<void> {
  const { machine, service, uploaders, figures, lost } = round;
  const state = { isKilled: false };
  const uploading = uploaders.map(async (uploader) => {
    while (!state.isKilled) await step(service.port, uploader, figures, lost, () => state.isKilled);
  });
  // Waits for a part, however slow the machine is, and then ends at a random moment.
  const before = figures.parts;
  while (figures.parts === before) await new Promise((resolve) => setTimeout(resolve, 10));
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 1_500));
  state.isKilled = true;
  await machine.cut(service);
  await Promise.all(uploading);
}

/** Continues one upload to its completion, unless the service is killed. */
async function step(
  port: number,
  uploader: Uploader,
  figures: { parts: number; completed: number },
  lost: string[],
  isKilled: () => boolean,
): Promise<void> {
  const send = (method: string, path: string, options: { headers?: Record<string, string>; body?: Buffer } = {}) =>
    call(port, uploader, method, path, options);
  try {
    const created = await send('POST', '', { body: Buffer.from(`filename=a.zip&nonce=${uploader.round}`) });
    if (created.ref === 29002 && uploader.uploadId !== undefined) return next(uploader);
    const id: string = created.body.upload_id;
    if (uploader.uploadId !== undefined && uploader.uploadId !== id) lost.push(`session ${uploader.uploadId}`);
    uploader.uploadId = id;
    const query = `?upload_id=${id}`;
    const listed = await send('GET', query);
    const present: number[] = listed.body.data.map((part: { part_number: number }) => part.part_number);
    for (const number of uploader.acknowledged)
      if (!present.includes(number)) lost.push(`part ${number} of ${id}, which was acknowledged`);
    for (const number of [2, 1].filter((each) => !present.includes(each))) {
      const begin = (number - 1) * PART_BYTES;
      const body = WHOLE.subarray(begin, begin + PART_BYTES);
      const headers = { 'content-range': `bytes ${begin}-${begin + body.length - 1}/${WHOLE.length}` };
      const put = await send('PUT', query, { headers, body });
      // A machine that stalls for seconds gives the part up, and the client looks again which ones are there.
      if (put.ref === 29015) return;
      if (put.status !== 200) return void unexpected(put, lost, isKilled);
      uploader.acknowledged.add(number);
      figures.parts += 1;
    }
    const completed = await completeInTime(() => send('POST', `/complete${query}`), isKilled);
    if (completed.status === 200) figures.completed += 1;
    else if (completed.ref !== 29002) return void unexpected(completed, lost, isKilled);
    next(uploader);
  } catch (error) {
    if (!isKilled() && (error as NodeJS.ErrnoException).code === undefined) throw error;
  }
}

function next(uploader: Uploader): void {
  uploader.round += 1;
  uploader.uploadId = undefined;
  uploader.acknowledged.clear();
}

function unexpected({ status, ref }: Answer, lost: string[], isKilled: () => boolean): void {
  if (!isKilled()) lost.push(`an answer ${status} ${ref} that was not expected`);
}

/** A session of the killed service counts as being processed until its claim expires, so it is retried. */
async function completeInTime(complete: () => Promise<Answer>, isKilled: () => boolean): Promise<Answer> {
  for (;;) {
    const answer = await complete();
    if (answer.ref !== 29003 || isKilled()) return answer;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Assembled files that differ from the uploaded content. */
function brokenFiles(folder: string): string[] {
  const uploads = join(folder, 'production', 'files', 'uploads');
  const names = existsSync(uploads) ? readdirSync(uploads) : [];
  return names
    .filter(
      (name) =>
        createHash('sha256')
          .update(readFileSync(join(uploads, name)))
          .digest('hex') !== SHA256,
    )
    .map((name) => `the bytes of ${name}`);
}

interface Answer {
  readonly status: number;
  readonly ref: number | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: the body of any response
  readonly body: any;
}

const agent = new Agent({ keepAlive: false });

function call(
  port: number,
  { files, token }: Uploader,
  method: string,
  path: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: Buffer },
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const all = {
      'x-forwarded-proto': 'https',
      authorization: `Bearer ${token}`,
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': String(body?.length ?? 0),
      ...headers,
    };
    const sent = request({ port, host: '127.0.0.1', agent, method, path: files + path, headers: all }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += chunk));
      response.on('error', reject);
      response.on('end', () => {
        const answer = JSON.parse(text || '{}');
        resolve({ status: response.statusCode ?? 0, ref: answer.error?.error_ref, body: answer });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
