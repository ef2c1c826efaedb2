// Runs alone: it starts programs, which end with its process.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { setTimeout as passes } from 'node:timers/promises';
import { addGame } from '../src/catalogue/games/games.ts';
import { addMod } from '../src/catalogue/mods/mods.ts';
import { closeApp, composeApp, outsideOf } from '../src/composition/compose.ts';
import { addUser } from '../src/people/users/users.ts';
import { issueToken } from '../src/platform/access/credentials.ts';
import { readSettings } from '../src/platform/config/settings.ts';
import { PART_BYTES } from '../src/platform/storage/storage.ts';
import { type Ended, runHere, START_OPTIONS } from './commands.ts';
import { mountSmallDisk, reasonWithoutDisk, type SmallDisk } from './small-disk.ts';
import { temporaryDatabases, temporaryFolder } from './temporary.ts';
import { rangeOf } from './uploads.ts';
import { STORED, zipOf } from './zips.ts';

const MEGABYTE = 1_024 ** 2;
const DISK_MEGABYTES = 300;
const PROGRAM = 'bin/modstead.mjs';
const ALREADY_COMPLETE = 29_002;
const ALREADY_PROCESSING = 29_003;
const ON_POSTGRES = process.env['MODSTEAD_TEST_DATABASE'] === 'postgres';
const FILES = join('production', 'files');
const WRITES_MAX = 2_000;
const WRITE_CHARACTERS = 20_000;

const md5Of = (bytes: Buffer) => createHash('md5').update(bytes).digest('hex');
/** The disk must store all of it, so it is not compressed. */
const anArchive = (bytes: number) => zipOf([{ name: 'data.bin', content: randomBytes(bytes), method: STORED }]);

interface Answer {
  readonly status: number;
  readonly ref: number | undefined;
  readonly bytes: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: the body of any response
  readonly body: any;
}

interface Sent {
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
  /** Sends no Content-Length, so that the service cannot check the free space in advance. */
  readonly chunked?: boolean;
}

/** The service in its own process, as operators start it, with its data on the small disk. */
interface Service {
  readonly process: ChildProcess;
  readonly folder: string;
  readonly mod: string;
  /** The statuses of all responses. */
  readonly statuses: Set<number>;
  ask(method: string, path: string, sent?: Sent): Promise<Answer>;
  check(): Promise<Pick<Ended, 'code' | 'out'>>;
}

async function withServiceOn(
  folder: string,
  { onItsDisk }: { onItsDisk: boolean },
  work: (service: Service) => Promise<void>,
): Promise<void> {
  const databases = await temporaryDatabases(folder, { onItsDisk });
  const env: Record<string, string> = {
    MODSTEAD_DATA: folder,
    MODSTEAD_PORT: '0',
    MODSTEAD_PUBLIC_PORT: '443',
    MODSTEAD_TRUST_PROXY: '127.0.0.1',
    MODSTEAD_FREE_MB: '0',
    MODSTEAD_PROCESSES: '1',
    MODSTEAD_LOG: 'off',
    ...databases.settings,
  };
  const rest = Object.entries(process.env).filter(([name]) => !/^(MODSTEAD|NODE)_/.test(name));
  const run = (...args: string[]) =>
    spawn(process.execPath, [...START_OPTIONS, PROGRAM, ...args], {
      env: { ...Object.fromEntries(rest), ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  const { token, mod } = await seed(env);
  const child = run('serve', '--json');
  const ended = once(child, 'exit');
  try {
    const { port } = await firstLineOf(child);
    const statuses = new Set<number>();
    await work({
      process: child,
      folder,
      mod,
      statuses,
      ask: async (method, path, sent) => {
        const answer = await ask(port, token, method, path, sent);
        statuses.add(answer.status);
        return answer;
      },
      check: async () => {
        const { code, out } = await runHere(['storage', 'check', '--verify'], env);
        return { code, out };
      },
    });
  } finally {
    child.kill('SIGKILL');
    await ended;
    await databases.drop();
  }
}

async function firstLineOf(child: ChildProcess): Promise<{ port: number }> {
  for await (const line of createInterface(child.stdout!)) return JSON.parse(line);
  throw new Error('the service ended before it listened');
}

async function seed(env: Record<string, string>): Promise<{ token: string; mod: string }> {
  const settings = readSettings(env);
  const app = await composeApp(settings, 'production', outsideOf(settings));
  const made = await app.db.write(async (transaction) => {
    const { id: ownerId } = await addUser(app, transaction, { username: 'Ada' });
    const game = await addGame(app, transaction, { name: 'Full', ownerId, accepted: true, summary: '0' });
    const mod = await addMod(app, transaction, { name: 'Full', summary: '0', gameId: game.id, ownerId });
    const { access_token } = await issueToken(app, transaction, { userId: ownerId });
    return { token: access_token, mod: `/v1/games/${game.id}/mods/${mod.id}` };
  });
  await closeApp(app);
  return made;
}

function ask(
  port: number,
  token: string,
  method: string,
  path: string,
  { headers = {}, body = '', chunked = false }: Sent = {},
) {
  return new Promise<Answer>((resolve, reject) => {
    const all = {
      'x-forwarded-proto': 'https',
      authorization: `Bearer ${token}`,
      'content-type': 'application/x-www-form-urlencoded',
      ...(!chunked && method !== 'GET' && { 'content-length': String(Buffer.byteLength(body)) }),
      ...headers,
    };
    const sending = request({ port, host: '127.0.0.1', agent: false, method, path, headers: all }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const bytes = Buffer.concat(chunks);
        const isJson = response.headers['content-type']?.startsWith('application/json');
        const answer = isJson ? JSON.parse(bytes.toString()) : undefined;
        resolve({ status: response.statusCode!, ref: answer?.error?.error_ref, bytes, body: answer });
      });
    });
    sending.on('error', reject);
    if (chunked) sending.write(body, () => sending.end());
    else sending.end(body);
  });
}

function aForm(archive: Buffer): Required<Pick<Sent, 'headers' | 'body'>> {
  const head = '--cut\r\ncontent-disposition: form-data; name="filedata"; filename="a.zip"\r\n\r\n';
  const body = Buffer.concat([Buffer.from(head), archive, Buffer.from('\r\n--cut--\r\n')]);
  return { headers: { 'content-type': 'multipart/form-data; boundary=cut' }, body };
}

const upload = ({ ask, mod }: Service, archive: Buffer, chunked = false) =>
  ask('POST', `${mod}/files`, { ...aForm(archive), chunked });

/** An upload session and the content that is sent in it. */
class Upload {
  readonly #service: Service;
  readonly whole: Buffer;
  readonly id: string;

  static async of(service: Service, whole: Buffer): Promise<Upload> {
    const { status, body } = await openSession(service);
    assert.equal(status, 200, JSON.stringify(body));
    return new Upload(service, whole, body.upload_id);
  }

  private constructor(service: Service, whole: Buffer, id: string) {
    this.#service = service;
    this.whole = whole;
    this.id = id;
  }

  #at(path = ''): string {
    return `${this.#service.mod}/files/multipart${path}?upload_id=${this.id}`;
  }

  put(number: number): Promise<Answer> {
    const start = (number - 1) * PART_BYTES;
    const body = this.whole.subarray(start, start + PART_BYTES);
    const headers = { 'content-range': rangeOf(start, body.length, this.whole.length) };
    return this.#service.ask('PUT', this.#at(), { headers, body });
  }

  complete(): Promise<Answer> {
    return this.#service.ask('POST', this.#at('/complete'));
  }

  async parts(): Promise<number[]> {
    const { body } = await this.#service.ask('GET', this.#at());
    return body.data.map(({ part_number }: { part_number: number }) => part_number);
  }

  take(): Promise<Answer> {
    return this.#service.ask('POST', `${this.#service.mod}/files`, { body: `upload_id=${this.id}` });
  }
}

const openSession = ({ ask, mod }: Service) => ask('POST', `${mod}/files/multipart`, { body: 'filename=a.zip' });

/** Writes until the free space in the database's existing pages is used up and a write is refused. */
async function writeUntilRefused({ ask, mod }: Service): Promise<Answer> {
  for (let n = 1; n <= WRITES_MAX; n += 1) {
    const answer = await ask('PUT', mod, { body: `description=${String(n).padEnd(WRITE_CHARACTERS, 'x')}` });
    if (answer.status !== 200) return answer;
  }
  throw new Error(`a full disk took ${WRITES_MAX} writes`);
}

/** Retries until the claim of an aborted attempt has expired, which takes six seconds. */
async function unlessClaimed(again: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await again();
    if (answer.ref !== ALREADY_PROCESSING) return answer;
    await passes(200);
  }
}

const refusedAs = ({ status, ref }: Answer) => `${status} ${ref}`;
const bytesOf = async ({ ask }: Service, file: Answer) => {
  const { pathname, search } = new URL(file.body.download.binary_url);
  const { status, bytes } = await ask('GET', pathname + search);
  assert.equal(status, 200);
  return bytes;
};

const without = reasonWithoutDisk();

/** If no disk can be mounted, the name of the skipped test gives the reason. */
const onSmallDisk = (name: string, run: (disk: SmallDisk) => Promise<void>) =>
  test(without ? `${name} (${without})` : name, { skip: without !== undefined }, async () => {
    const disk = mountSmallDisk(DISK_MEGABYTES);
    try {
      await run(disk);
    } finally {
      disk.unmount();
    }
  });

/** The state before the disk is full: a file, a session with one missing part, and a complete session. */
async function begin(service: Service) {
  const archive = anArchive(MEGABYTE);
  const file = await upload(service, archive);
  assert.equal(file.status, 201, JSON.stringify(file.body));
  const half = await Upload.of(service, anArchive(PART_BYTES + MEGABYTE));
  assert.equal((await half.put(1)).status, 200);
  const whole = await Upload.of(service, anArchive(MEGABYTE));
  assert.equal((await whole.put(1)).status, 200);
  return { archive, file, half, whole };
}

type Begun = Awaited<ReturnType<typeof begin>>;

/** Reads must work while the disk is full. */
async function readsGoOn(service: Service, { archive, file, half }: Begun): Promise<void> {
  const { ask, mod } = service;
  assert.deepEqual(await half.parts(), [1]);
  assert.equal((await ask('GET', mod)).body.id, file.body.mod_id);
  assert.equal((await ask('GET', `${mod}/files`)).body.result_total, 1);
  assert.deepEqual(await bytesOf(service, file), archive);
  assert.equal((await ask('GET', '/readyz')).status, 200);
  assert.equal(service.process.exitCode, null);
}

/** Uploads must continue where they stopped when there is space again, without a restart. */
async function goesOn(service: Service, { half, whole }: Begun): Promise<void> {
  const { ask, mod, statuses } = service;
  assert.equal((await ask('PUT', mod, { body: 'summary=after' })).body.summary, 'after');
  assert.equal((await half.put(2)).status, 200);
  for (const session of [half, whole]) {
    const { status, ref } = await unlessClaimed(() => session.complete());
    assert.ok(status === 200 || ref === ALREADY_COMPLETE, `${status} ${ref}`);
    const taken = await session.take();
    assert.equal(taken.status, 201, JSON.stringify(taken.body));
    assert.equal(taken.body.filehash.md5, md5Of(session.whole));
    assert.deepEqual(await bytesOf(service, taken), session.whole);
  }
  assert.equal((await upload(service, anArchive(MEGABYTE))).status, 201);
  assert.deepEqual(readdirSync(join(service.folder, FILES, '.tmp')), []);
  assert.deepEqual(await service.check(), { code: 0, out: 'All is well.\n' });
  assert.equal(service.process.exitCode, null);
  assert.ok(!statuses.has(500), 'an unexpected error occurred');
}

onSmallDisk('a full disk refuses all writes with a clear error, reads go on, and it heals by itself', (disk) =>
  withServiceOn(disk.folder, { onItsDisk: true }, async (service) => {
    const begun = await begin(service);
    const { archive, half, whole } = begun;
    disk.fill();
    assert.equal(refusedAs(await writeUntilRefused(service)), '503 10000');
    disk.fill();
    const refused = [
      await upload(service, archive),
      await upload(service, archive, true),
      await openSession(service),
      await half.put(2),
    ];
    // PostgreSQL may have room in existing pages; then the session is complete, as the next check shows.
    const completion = await whole.complete();
    if (!ON_POSTGRES || completion.status !== 200) refused.push(completion);
    // Either the database or the file system reports the full disk first, with different messages.
    for (const answer of refused) assert.match(refusedAs(answer), /^(?:503 10000|507 (?:10000|29016|29018|29027))$/);
    await readsGoOn(service, begun);
    disk.free();
    await goesOn(service, begun);
  }),
);

// Files are stored in the same way on every database.
if (!ON_POSTGRES)
  onSmallDisk('a full disk of the files alone refuses what it cannot hold, and nothing else', (disk) => {
    const folder = temporaryFolder('full');
    mkdirSync(join(folder, 'production'));
    symlinkSync(disk.folder, join(folder, FILES));
    return withServiceOn(folder, { onItsDisk: false }, async (service) => {
      const begun = await begin(service);
      const { archive, half, whole } = begun;
      // There is room at the start of the upload, but not for its end.
      disk.fill(2 * MEGABYTE);
      assert.equal(refusedAs(await upload(service, anArchive(4 * MEGABYTE), true)), '507 10000');
      disk.fill();
      assert.equal(refusedAs(await upload(service, archive)), '507 10000');
      assert.equal(refusedAs(await openSession(service)), '507 29016');
      assert.equal(refusedAs(await half.put(2)), '507 29018');
      assert.equal((await service.ask('PUT', service.mod, { body: 'summary=full' })).body.summary, 'full');
      // Completing takes no space: the file is only renamed.
      assert.equal((await whole.complete()).status, 200);
      await readsGoOn(service, begun);
      disk.free();
      await goesOn(service, begun);
    });
  });
