import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { Agent as HttpsAgent, type RequestOptions as HttpsRequestOptions, request as httpsRequest } from 'node:https';
import { after, beforeEach, type TestContext } from 'node:test';
import { createSecureContext } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import type { z } from 'zod';
import { addGame, type NewGame } from '../src/catalogue/games/games.ts';
import { addMod, type ModStats, type NewMod } from '../src/catalogue/mods/mods.ts';
import { changeModStats } from '../src/catalogue/mods/stats.ts';
import { joinTeam } from '../src/catalogue/teams/teams.ts';
import { addGuide, type NewGuide } from '../src/community/guides/guides.ts';
import { composeService, ENVIRONMENTS, type Service } from '../src/composition/compose.ts';
import { jobHandlers } from '../src/composition/resources.ts';
import { addModfile, type NewFile } from '../src/files/modfiles/modfiles.ts';
import { addOwner } from '../src/people/staff/staff.ts';
import { addUser } from '../src/people/users/users.ts';
import type { TokenScope, UserCaller } from '../src/platform/access/caller.ts';
import { issueToken } from '../src/platform/access/credentials.ts';
import type { App } from '../src/platform/app.ts';
import type { Environment } from '../src/platform/config/addresses.ts';
import { readSettings, type Settings } from '../src/platform/config/settings.ts';
import type { ChangeNotificationOptions } from '../src/platform/database/postgres-notifications.ts';
import type { AnyOperation, Declaration } from '../src/platform/http/operation.ts';
import type { Observation } from '../src/platform/http/server.ts';
import { manualClock } from '../src/platform/runtime/clock.ts';
import { createLog } from '../src/platform/runtime/log.ts';
import { seededRandom, systemRandom } from '../src/platform/runtime/random.ts';
import type { Siblings } from '../src/platform/runtime/siblings.ts';
import { bucketOfFleet, hasOwnFiles, settingsOfBucket, storageIn } from './fleet/bucket.ts';
import { IS_FLEET, siblingsInFleet } from './fleet/siblings.ts';
import { Observer } from './observer.ts';
import { staleSummaryRows } from './summary-rows.ts';
import { temporaryDatabases, temporaryFolder } from './temporary.ts';
import { zipOf } from './zips.ts';

/** The time at which the clock of every test stands until it is advanced. */
export const START = 1_800_000_000;

export interface Answer<T = unknown> {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: T;
  readonly text: string;
  readonly bytes: Buffer;
}

export interface RequestOptions {
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
  readonly host?: string;
}

type Text = string | number | boolean;
type Fields = Record<string, Text | readonly Text[] | undefined>;

export interface CallInput {
  readonly params?: Record<string, Text>;
  readonly query?: Fields;
  readonly body?: Fields;
  /** Sends all fields as multipart. */
  readonly files?: Record<string, { readonly filename: string; readonly bytes: Buffer }>;
  /** The body of an operation that accepts raw bytes. */
  readonly raw?: Buffer;
  readonly headers?: Record<string, string>;
}

type ReturnOf<O> = O extends { declaration: Declaration<infer _P, infer _Q, infer _B, infer R> } ? z.output<R> : never;

export interface User {
  readonly id: number;
  readonly name_id: string;
  readonly username: string;
  readonly api_key: string;
}

export interface Game {
  readonly id: number;
  readonly name_id: string;
  readonly name: string;
  readonly api_key: string;
  readonly owner: User;
}

export interface Mod {
  readonly id: number;
  readonly game_id: number;
  readonly name_id: string;
  readonly name: string;
  readonly owner: User;
}

export interface Guide {
  readonly id: number;
  readonly game_id: number;
  readonly name_id: string;
  readonly owner: User;
}

export type AFile = Partial<NewFile> & { readonly archive?: Buffer; readonly filename?: string };

/** A caller: anonymous, with a key, or with a token. */
export class Client {
  readonly #api: Api;
  readonly #credentials: { apiKey?: string; token?: string; secret?: string };
  readonly environment: Environment;

  constructor(api: Api, credentials: { apiKey?: string; token?: string; secret?: string }, environment: Environment) {
    this.#api = api;
    this.#credentials = credentials;
    this.environment = environment;
  }

  get token(): string | undefined {
    return this.#credentials.token;
  }

  /** Calls a declared operation and validates the response against the declaration. */
  async call<O extends AnyOperation>(operation: O, input: CallInput = {}): Promise<Answer<ReturnOf<O>>> {
    const { method, path } = operation.declaration;
    const target = path.replace(/\{(\w+)\}/g, (_: string, name: string) =>
      encodeURIComponent(String(input.params?.[name])),
    );
    const { body, headers } = input.raw ? { body: input.raw, headers: input.headers } : encoded(input);
    return (await this.send(method, target, { query: input.query, body, headers })) as Answer<ReturnOf<O>>;
  }

  /** Expects an error with this status and reference. */
  async refused<O extends AnyOperation>(
    operation: O,
    input: CallInput,
    status: number,
    ref: number,
  ): Promise<Answer<ErrorAnswer>> {
    const answer = (await this.call(operation, input)) as Answer<unknown> as Answer<ErrorAnswer>;
    assertRefused(answer, status, ref);
    return answer;
  }

  async send(
    method: string,
    path: string,
    options: {
      query?: Fields | undefined;
      body?: string | Buffer | undefined;
      headers?: Record<string, string> | undefined;
    } = {},
  ): Promise<Answer> {
    const query = encodeForm({
      ...(this.#credentials.apiKey && { api_key: this.#credentials.apiKey }),
      ...options.query,
    });
    const headers: Record<string, string> = { ...options.headers };
    if (this.#credentials.token) headers['authorization'] = `Bearer ${this.#credentials.token}`;
    if (this.#credentials.secret) headers['authorization'] = `Basic ${btoa(`runner:${this.#credentials.secret}`)}`;
    if (options.body !== undefined) headers['content-type'] ??= 'application/x-www-form-urlencoded';
    return this.#api.request(method, `/v1${path}${query && `?${query}`}`, {
      headers,
      ...(options.body !== undefined && { body: options.body }),
      host: this.#api.host(this.environment),
    });
  }
}

export interface ErrorAnswer {
  error: { code: number; error_ref: number; message: string; errors?: Record<string, string> };
}

export function assertRefused(answer: Answer<unknown>, status: number, ref: number): void {
  const { error } = answer.body as ErrorAnswer;
  assert.deepEqual(
    { status: answer.status, code: error?.code, ref: error?.error_ref },
    { status, code: status, ref },
    answer.text.slice(0, 500),
  );
}

function pairsOf(fields: Fields): [string, string][] {
  return Object.entries(fields).flatMap(([name, value]): [string, string][] => {
    if (value === undefined) return [];
    return typeof value === 'object' ? value.map((item) => [`${name}[]`, String(item)]) : [[name, String(value)]];
  });
}

function encoded({ body, files, headers = {} }: CallInput): {
  body?: string | Buffer;
  headers: Record<string, string>;
} {
  if (!files) return { ...(body && { body: encodeForm(body) }), headers };
  return { body: encodeParts(body ?? {}, files), headers: { 'content-type': MULTIPART, ...headers } };
}

const BOUNDARY = '-----modstead-test';
const MULTIPART = `multipart/form-data; boundary=${BOUNDARY}`;

function encodeParts(fields: Fields, files: NonNullable<CallInput['files']>): Buffer {
  const part = (disposition: string, content: string | Buffer) => [
    Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ];
  return Buffer.concat([
    ...pairsOf(fields).flatMap(([name, value]) => part(`name="${name}"`, value)),
    ...Object.entries(files).flatMap(([name, { filename, bytes }]) =>
      part(`name="${name}"; filename="${filename}"`, bytes),
    ),
    Buffer.from(`--${BOUNDARY}--\r\n`),
  ]);
}

export function encodeForm(fields: Fields): string {
  return pairsOf(fields)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join('&');
}

export interface ApiOptions {
  /** The folder of the built site, for tests that open its pages. */
  readonly site?: string | undefined;
  readonly settings?: NodeJS.ProcessEnv;
  /** The tests insert rows directly, past all rules. */
  readonly writesRows?: boolean;
  /** The tests look at stored files on the disk, so with `npm test -- --fleet` they are not in a bucket. */
  readonly filesOnDisk?: boolean;
  /** Replaces the address under which the service reaches PostgreSQL. */
  readonly databaseAt?: (url: string) => Promise<string>;
  readonly notifications?: ChangeNotificationOptions;
  /** Requests are sent without TLS, as by a proxy: for tests that send very many. */
  readonly plain?: boolean;
}

/** The whole service in this process, on the database of the run, with a clock that stands still. */
export class Api {
  readonly service: Service;
  /** Further processes of the service, on the same databases and files. */
  readonly others: Service[] = [];
  isPlain = false;
  /** Where a command finds the files of this service, if not in its folder. */
  storage: NodeJS.ProcessEnv = {};
  #requests = 0;
  #stays = false;
  readonly clock: ReturnType<typeof manualClock>;
  readonly folder: string;
  readonly logLines: string[];
  readonly #observer: Observer;
  readonly #agent: HttpsAgent;
  /** Closes idle connections before the service does, which would otherwise reset a request that is just being sent. */
  readonly #plainAgent = new HttpAgent({ keepAlive: true, maxSockets: 512, timeout: 30_000 });
  #counter = 0;

  constructor(
    service: Service,
    clock: ReturnType<typeof manualClock>,
    folder: string,
    observer: Observer,
    logLines: string[],
  ) {
    this.service = service;
    this.clock = clock;
    this.folder = folder;
    this.logLines = logLines;
    this.#observer = observer;
    // Created once: Node.js would otherwise parse the certificate and negotiate a key for each connection.
    const secureContext = createSecureContext({ ca: readFileSync(service.certificateFile!), ecdhCurve: 'X25519' });
    this.#agent = new HttpsAgent({ keepAlive: true, secureContext, maxSockets: 512 });
  }

  /** Folds in the counts and events that workers fold in within seconds. */
  async counted(): Promise<void> {
    for (const { continuous, run } of jobHandlers)
      if (continuous) await run(this.app(), undefined, { id: 0, attempt: 1, heartbeat: async () => {} });
  }

  /** The same fixtures for a second service on the same databases and folder; it stops after the file's tests. */
  beside(service: Service): Api {
    const there = new Api(service, this.clock, this.folder, this.#observer, this.logLines);
    after(async () => {
      there.#agent.destroy();
      there.#plainAgent.destroy();
      await service.stop();
    });
    return there;
  }

  get port(): number {
    return this.service.port;
  }

  /** With `npm test -- --fleet` each request goes to the next process of the service. */
  nextPort(): number {
    if (this.#stays) return this.port;
    this.#requests += 1;
    return [this.service, ...this.others][this.#requests % (1 + this.others.length)]!.port;
  }

  /** For a test that pauses, replaces or counts something within one process: its requests go to that one. */
  stayInOneProcess(t: Pick<TestContext, 'after'>): void {
    this.#stays = true;
    t.after(() => {
      this.#stays = false;
    });
  }

  /** Waits until earlier changes have arrived: PostgreSQL delivers each change once more, in order, by NOTIFY. */
  changesArrived(): Promise<void> {
    const { db } = this.app();
    let missing = db.dialect === 'postgres' ? 2 : 1;
    return new Promise((resolve, reject) => {
      const stop = db.changes.listen((scope) => {
        if (scope === 'test') missing -= 1;
        if (missing > 0) return;
        stop();
        resolve();
      });
      db.write(async (transaction) => transaction.changed('test')).catch(reject);
    });
  }

  /** Those of all processes of the service. */
  apps(environment: Environment = 'production'): App[] {
    return [this.service, ...this.others].map(({ apps }) => apps[environment]);
  }

  app(environment: Environment = 'production'): App {
    return this.service.apps[environment];
  }

  /** The host name of the site. */
  host(environment: Environment = 'production'): string {
    return new URL(this.app(environment).addresses.site).hostname;
  }

  /** Sends a request over HTTPS, exactly as given. */
  request(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    if (this.isPlain) return this.proxied(method, path, options);
    const { host = this.host() } = options;
    return this.#exchange(httpsRequest, { agent: this.#agent, servername: host }, method, path, options);
  }

  /** Sends it over plain HTTP, like a proxy that terminates TLS, to a service that trusts 127.0.0.1. */
  proxied(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const headers = { 'x-forwarded-proto': 'https', ...options.headers };
    return this.#exchange(httpRequest, { agent: this.#plainAgent }, method, path, { ...options, headers });
  }

  async #exchange(
    send: typeof httpsRequest,
    way: HttpsRequestOptions,
    method: string,
    path: string,
    { headers = {}, body, host = this.host() }: RequestOptions,
  ): Promise<Answer> {
    const port = this.nextPort();
    const answer = await new Promise<Answer>((resolve, reject) => {
      const options = {
        ...way,
        method,
        path,
        port,
        host: '127.0.0.1',
        headers: { host: `${host}:${port}`, ...lengthOf(method, body), ...headers },
      };
      const request = send(options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const bytes = Buffer.concat(chunks);
          const text = response.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
          resolve(toAnswer(response.statusCode ?? 0, response.headers, text));
        });
      });
      request.on('error', reject);
      request.end(body);
    });
    this.#observer.throwViolations();
    return answer;
  }

  nobody(environment: Environment = 'production'): Client {
    return new Client(this, {}, environment);
  }

  withKey(owner: { api_key: string }, environment: Environment = 'production'): Client {
    return new Client(this, { apiKey: owner.api_key }, environment);
  }

  withToken(token: string, environment: Environment = 'production'): Client {
    return new Client(this, { token }, environment);
  }

  /** A cook runner with its secret. */
  withSecret(secret: string, environment: Environment = 'production'): Client {
    return new Client(this, { secret }, environment);
  }

  /** A client with a new token of the user. */
  async as(
    user: { id: number },
    token: { scopes?: readonly TokenScope[]; dateExpires?: number; gameId?: number } = {},
    environment: Environment = 'production',
  ): Promise<Client> {
    const app = this.app(environment);
    const issued = await app.db.write((transaction) => issueToken(app, transaction, { userId: user.id, ...token }));
    return this.withToken(issued.access_token, environment);
  }

  unique(name: string): string {
    this.#counter += 1;
    return `${name} ${this.#counter}`;
  }

  async aUser(
    { admin, ...user }: { username?: string; email?: string; admin?: boolean; language?: string } = {},
    environment: Environment = 'production',
  ): Promise<User> {
    const app = this.app(environment);
    const add = admin ? addOwner : addUser;
    return app.db.write((transaction) => add(app, transaction, { username: this.unique('Ada'), ...user }));
  }

  async aGame(
    game: Partial<Omit<NewGame, 'ownerId'>> & { owner?: User } = {},
    environment: Environment = 'production',
  ): Promise<Game> {
    const app = this.app(environment);
    const { owner = await this.aUser({}, environment), ...rest } = game;
    const added = await app.db.write((transaction) =>
      addGame(app, transaction, { name: this.unique('Example Game'), accepted: true, ...rest, ownerId: owner.id }),
    );
    return { id: added.id, name_id: added.name_id, name: added.name, api_key: added.api_key, owner };
  }

  /** Accepted and public by default, without a file. */
  async aMod(
    mod: Partial<Omit<NewMod, 'ownerId' | 'gameId'>> & {
      owner?: User;
      game?: { id: number };
      stats?: Partial<ModStats> & { popularity?: number };
    } = {},
    environment: Environment = 'production',
  ): Promise<Mod> {
    const app = this.app(environment);
    const { owner = await this.aUser({}, environment), game = await this.aGame({}, environment), stats, ...rest } = mod;
    const named = { name: this.unique('Example Mod'), summary: 'An example', accepted: true, ...rest };
    if (stats || 'price' in rest) this.#observer.reached.wrote();
    return app.db.write(async (transaction) => {
      const added = await addMod(app, transaction, { ...named, ownerId: owner.id, gameId: game.id });
      if (stats) await changeModStats(app, transaction, added, stats);
      return { id: added.id, game_id: added.game_id, name_id: added.name_id, name: added.name, owner };
    });
  }

  /** Accepted and live by default. */
  async aGuide(
    guide: Partial<Omit<NewGuide, 'ownerId' | 'gameId'>> & { owner?: User; game?: { id: number } } = {},
  ): Promise<Guide> {
    const app = this.app();
    const { owner = await this.aUser(), game = await this.aGame(), ...rest } = guide;
    const texts = {
      name: this.unique('Example Guide'),
      summary: 'How it is done, in short',
      description: 'Like this.',
    };
    const added = await app.db.write((transaction) =>
      addGuide(app, transaction, { ...texts, ...rest, ownerId: owner.id, gameId: game.id }),
    );
    return { id: added.id, game_id: added.game_id, name_id: added.name_id, owner };
  }

  /** A small archive, live by default, uploaded by the mod's owner. */
  async aFile(
    mod: Mod,
    { archive = zipOf({ 'readme.txt': this.unique('Example File') }), filename = 'example.zip', ...fields }: AFile = {},
  ): Promise<{ readonly id: number; readonly sha256: string }> {
    const app = this.app();
    const key = `incoming/${app.random.uuid()}`;
    const received = { key, filename, ...(await app.storage.put(key, archive)) };
    const which = { gameId: mod.game_id, modId: mod.id };
    // Awaited here, so that test/reached.ts finds this fixture in the stack of its writes.
    return await addModfile(app, memberCaller(mod.owner), which, received, { active: true, ...fields });
  }

  async joins(user: { id: number }, game: { id: number }, level: number): Promise<void> {
    await this.#joins(user, 'games', game.id, level);
  }

  async joinsMod(user: { id: number }, mod: { id: number }, level: number): Promise<void> {
    await this.#joins(user, 'mods', mod.id, level);
  }

  async #joins(user: { id: number }, resource: 'games' | 'mods', resourceId: number, level: number): Promise<void> {
    const app = this.app();
    await app.db.write((transaction) =>
      joinTeam(app, transaction, { resource, resourceId, userId: user.id, level, position: '' }),
    );
  }

  /** Plain HTTP on the same port. */
  plain(method: string, path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const request = httpRequest(
        { method, path, port: this.port, host: '127.0.0.1', headers: { host: `localhost:${this.port}`, ...headers } },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk) => chunks.push(chunk));
          response.on('end', () =>
            resolve(toAnswer(response.statusCode ?? 0, response.headers, Buffer.concat(chunks))),
          );
        },
      );
      request.on('error', reject);
      request.end();
    });
  }

  async stop(): Promise<void> {
    this.#agent.destroy();
    this.#plainAgent.destroy();
    for (const service of [...this.others, this.service]) await service.stop();
    rmSync(this.folder, { recursive: true, force: true });
    this.#observer.throwViolations();
  }
}

/** A team member as a caller of the rules. */
const memberCaller = (user: User): UserCaller => ({
  kind: 'user',
  userId: user.id,
  tokenId: 0,
  scopes: ['read', 'write'],
  gameId: undefined,
  admin: false,
  language: 'en',
  dateExpires: Number.POSITIVE_INFINITY,
  inTeams: true,
});

/** Node.js sends no Content-Length with a DELETE, and the server would ignore the body. */
const lengthOf = (method: string, body: string | Buffer | undefined): Record<string, string> =>
  method === 'DELETE' && body !== undefined ? { 'content-length': String(Buffer.byteLength(body)) } : {};

function toAnswer(status: number, headers: IncomingHttpHeaders, bytes: Buffer): Answer {
  const text = bytes.toString();
  const isJson = headers['content-type']?.startsWith('application/json') && text !== '';
  return { status, headers, body: isJson ? JSON.parse(text) : undefined, text, bytes };
}

/** A machine that runs tests may be so busy that the limits of the service would turn slow answers into refusals. */
const PATIENCE_MS = 60_000;

export interface OpenApi {
  readonly api: Api;
  /** Fails on what the requests left wrong in the database. */
  close(): Promise<void>;
}

/** Starts the service, also for a program that is no test. */
export async function openApi(options: ApiOptions = {}, observer = new Observer()): Promise<OpenApi> {
  const folder = temporaryFolder('test');
  const clock = manualClock(START);
  const databases = await temporaryDatabases(folder, { scheduledAt: START });
  const url = databases.settings['MODSTEAD_DATABASE_URL'];
  const bucket =
    IS_FLEET && url && !options.filesOnDisk && !hasOwnFiles(options.settings ?? {}) ? await bucketOfFleet() : undefined;
  const settings: Settings = readSettings({
    MODSTEAD_DATA: folder,
    MODSTEAD_PORT: '0',
    MODSTEAD_PUBLIC_PORT: '443',
    MODSTEAD_DOMAIN: 'localhost',
    MODSTEAD_RATE_LIMITS: 'off',
    MODSTEAD_DRAIN_SECONDS: '1',
    MODSTEAD_LOG: 'debug',
    // A process of several allows an address its share, because they usually have one port together.
    ...(IS_FLEET && { MODSTEAD_CONNECTIONS_PER_ADDRESS: '4000' }),
    MODSTEAD_READ_MS: String(PATIENCE_MS),
    ...(bucket && settingsOfBucket(bucket)),
    ...databases.settings,
    ...(options.databaseAt && url && { MODSTEAD_DATABASE_URL: await options.databaseAt(url) }),
    ...options.settings,
  });
  const warned = (warning: Error) => observer.warned(warning);
  process.on('warning', warned);
  const logLines: string[] = [];
  const log = createLog(settings.log, (text) => void logLines.push(...text.trimEnd().split('\n')));
  const outside = {
    clock,
    random: systemRandom,
    log,
    // A test that disturbs the connections asserts how soon that is noticed.
    ...(!options.databaseAt && { patienceMs: PATIENCE_MS }),
    ...(options.notifications && { notifications: options.notifications }),
  };
  const [first, ...rest] = settings.databaseUrl ? siblingsInFleet() : [];
  const composeOne = (siblings: Siblings | undefined, port = settings.port) =>
    composeService({ ...settings, port }, siblings ? { ...outside, siblings } : outside, {
      observe: (observation: Observation) => observer.see(observation),
      site: options.site,
    });
  const service = await composeOne(first);
  const api = new Api(service, clock, folder, observer, logLines);
  api.isPlain = options.plain ?? false;
  api.storage = bucket ? settingsOfBucket(bucket) : storageIn(options.settings ?? {});
  for (const siblings of rest) {
    const other = await composeOne(siblings, 0);
    // Machines share a mail server, and the names of files of mails sort by time within one process alone.
    for (const environment of ENVIRONMENTS)
      Object.assign(other.apps[environment], { mail: service.apps[environment].mail });
    api.others.push(other);
  }
  const close = async () => {
    const stale = options.writesRows ? [] : await staleSummaryRows(service.apps.production.db);
    await api.stop();
    process.off('warning', warned);
    await bucket?.stop();
    await databases.drop();
    assert.deepEqual(stale, [], 'summary rows of mods and users that differ from their source tables');
  };
  return { api, close };
}

/** Starts the service for a test file and stops it after the file's tests. */
export async function startApi(options: ApiOptions = {}): Promise<Api> {
  const observer = new Observer();
  const { api, close } = await openApi(options, observer);
  for (const app of Object.values(api.service.apps)) observer.reached.watch(app);
  beforeEach((test) => observer.reached.begin(test.name));
  after(async () => {
    await close();
    observer.reached.save();
  });
  return api;
}

export { seededRandom };
