import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Egress, EgressError, type KeptConnections } from '../../platform/egress/egress.ts';

export interface FetcherOptions {
  /** The address that paths are below. */
  readonly base: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Added to the query of every path. */
  readonly query?: Readonly<Record<string, string>>;
  /** Further hosts that files may come from. */
  readonly hosts?: readonly string[];
  readonly connections?: KeptConnections;
  /** Requests at once. */
  readonly parallel?: number;
  readonly wait?: (milliseconds: number) => Promise<unknown>;
}

/** The source answered with an error that a repetition does not change. */
export class SourceProblem extends Error {
  override readonly name = 'SourceProblem';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const TRIES = 8;
const BACKOFF_MS = 1_000;
const BACKOFF_MS_MAX = 60_000;
const RETRY_SECONDS_MAX = 900;
const JSON_BYTES_MAX = 64 * 1024 ** 2;
const JSON_TIMEOUT_MS = 60_000;
const FILE_BYTES_MAX = 1024 ** 4;
const FILE_TIMEOUT_MS = 6 * 3_600_000;

export type Query = Readonly<Record<string, string | number | undefined>>;

/** Reads from a service politely: few requests at once, and pauses when it asks for them. */
export class Fetcher {
  readonly base: URL;
  readonly #egress: Egress;
  readonly #options: FetcherOptions;
  readonly #hosts: ReadonlySet<string>;
  /** No request starts before this time: one answer that asks for a pause stops all. */
  #paused = 0;
  requests = 0;

  constructor(egress: Egress, options: FetcherOptions) {
    this.base = new URL(options.base.endsWith('/') ? options.base : `${options.base}/`);
    this.#egress = egress;
    this.#options = options;
    this.#hosts = new Set([this.base.host, ...(options.hosts ?? [])]);
  }

  /** `path` is below the base, or an absolute address at an allowed host. */
  async json<T>(path: string, query: Query = {}): Promise<T> {
    const url = new URL(path, this.base);
    for (const [name, value] of Object.entries({ ...this.#options.query, ...query }))
      if (value !== undefined) url.searchParams.set(name, String(value));
    const response = await this.#send(url, { bytesMax: JSON_BYTES_MAX, timeoutMs: JSON_TIMEOUT_MS });
    try {
      return JSON.parse(response.body.toString('utf8')) as T;
    } catch {
      throw new SourceProblem(response.status, `${url.pathname} did not answer with JSON`);
    }
  }

  /** As `json`, or undefined where the source has nothing or forbids it. */
  optional<T>(path: string, query: Query = {}): Promise<T | undefined> {
    return this.#unless<T>((status) => [401, 403, 404, 405, 410].includes(status), path, query);
  }

  /** As `json`, or undefined where the source refuses the request for any reason but its limits. */
  unlessRefused<T>(path: string, query: Query = {}): Promise<T | undefined> {
    return this.#unless<T>((status) => status < 500 && status !== 429, path, query);
  }

  async #unless<T>(isExpected: (status: number) => boolean, path: string, query: Query): Promise<T | undefined> {
    try {
      return await this.json<T>(path, query);
    } catch (error) {
      if (error instanceof SourceProblem && isExpected(error.status)) return undefined;
      throw error;
    }
  }

  /** Downloads a file completely or not at all, and compares its digest if it is known. */
  async download(address: string, file: string, expected: { md5?: string; sha256?: string; sha512?: string } = {}) {
    const url = new URL(address, this.base);
    const partial = `${file}.partial`;
    await mkdir(dirname(file), { recursive: true });
    const names = ['md5', 'sha256', 'sha512'] as const;
    let hashes = names.map((name) => createHash(name));
    await this.#send(url, {
      bytesMax: FILE_BYTES_MAX,
      timeoutMs: FILE_TIMEOUT_MS,
      into: (body) => {
        hashes = names.map((name) => createHash(name));
        return pipeline(
          body,
          async function* (chunks: AsyncIterable<Uint8Array>) {
            for await (const chunk of chunks) {
              for (const hash of hashes) hash.update(chunk);
              yield chunk;
            }
          },
          createWriteStream(partial),
        );
      },
    });
    for (const [index, hash] of hashes.entries()) {
      const wanted = expected[names[index]!];
      if (!wanted || hash.digest('hex') === wanted.toLowerCase()) continue;
      await rm(partial, { force: true });
      throw new SourceProblem(200, `${url.pathname} does not have the ${names[index]} that its source names`);
    }
    await rename(partial, file);
  }

  async #send(
    url: URL,
    more: { bytesMax: number; timeoutMs: number; into?: (body: AsyncIterable<Uint8Array>) => Promise<void> },
  ) {
    const { headers = {}, wait = sleep, connections } = this.#options;
    // Credentials are for the source itself, not for hosts of files.
    const own = url.origin === this.base.origin ? headers : {};
    for (let tried = 1; ; tried += 1) {
      const pause = this.#paused - Date.now();
      if (pause > 0) await wait(pause);
      this.requests += 1;
      const isAllowed = ({ host }: URL) => this.#hosts.has(host);
      const response = await this.#egress
        .fetch(url.href, {
          headers: { accept: 'application/json', 'user-agent': 'modstead-import', ...own },
          isAllowed,
          ...(connections && { connections }),
          ...more,
        })
        .catch((error) => {
          const isFinal =
            !(error instanceof EgressError) || ['forbidden', 'invalid-url', 'too-large'].includes(error.reason);
          if (isFinal || tried === TRIES) throw error;
          return undefined;
        });
      if (response && response.status >= 200 && response.status < 300) return response;
      const isPassing = !response || response.status === 429 || response.status >= 500;
      if (response && (!isPassing || tried === TRIES))
        throw new SourceProblem(response.status, `${url.host}${url.pathname} answered ${response.status}`);
      const asked = Number(response?.headers['retry-after']);
      const backoff = Math.min(BACKOFF_MS * 2 ** (tried - 1), BACKOFF_MS_MAX);
      this.#paused = Date.now() + (asked > 0 ? Math.min(asked, RETRY_SECONDS_MAX) * 1_000 : backoff);
    }
  }

  /** Runs the work for all items, a few at once. */
  async each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
    const left = items.values();
    const workers = Array.from({ length: this.#options.parallel ?? 4 }, async () => {
      for (const item of left) await work(item);
    });
    await Promise.all(workers);
  }
}
