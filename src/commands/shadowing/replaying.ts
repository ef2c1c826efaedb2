import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { compare, Differences, operationOf } from './differences.ts';
import type { Answered } from './forwarding.ts';

export interface Counts {
  reads: number;
  equal: number;
  different: number;
  /** Reads of a user's own data, which the new service cannot answer without the user. */
  ofUsers: number;
  /** Reads that came faster than the new service answers. */
  dropped: number;
  unreachable: number;
}

export interface Replaying {
  readonly fresh: URL;
  readonly key: string | undefined;
  readonly parallel: number;
  readonly ignored: ReadonlySet<string>;
  readonly fetch?: typeof fetch;
}

const WAITING_MAX = 200;
const WAITING_BYTES_MAX = 64 * 1024 * 1024;
const TIMEOUT_MS = 15_000;
const CARRIED = /^(?:accept-language|x-[a-z]+-(?:platform|portal))$/;

/** Repeats reads at the new service, a few at a time, and compares the answers. */
export class Replayer {
  readonly counts: Counts = { reads: 0, equal: 0, different: 0, ofUsers: 0, dropped: 0, unreachable: 0 };
  readonly differences = new Differences();
  readonly #options: Replaying;
  readonly #waiting: Answered[] = [];
  #waitingBytes = 0;
  #running = 0;
  #idle: (() => void)[] = [];

  constructor(options: Replaying) {
    this.#options = options;
  }

  add(read: Answered): void {
    this.counts.reads += 1;
    const isFull = this.#waiting.length >= WAITING_MAX || this.#waitingBytes + read.body.length > WAITING_BYTES_MAX;
    if (/^\/v1\/me(?:[/?]|$)/.test(read.target)) this.counts.ofUsers += 1;
    else if (isFull) this.counts.dropped += 1;
    else {
      this.#waiting.push(read);
      this.#waitingBytes += read.body.length;
      this.#next();
    }
  }

  /** Resolves when everything that was added has been compared. */
  async finished(): Promise<void> {
    if (this.#running > 0 || this.#waiting.length > 0)
      await new Promise<void>((resolve) => void this.#idle.push(resolve));
  }

  #next(): void {
    while (this.#running < this.#options.parallel) {
      const read = this.#waiting.shift();
      if (!read) break;
      this.#waitingBytes -= read.body.length;
      this.#running += 1;
      void this.#replay(read)
        .catch(() => {
          this.counts.unreachable += 1;
        })
        .finally(() => {
          this.#running -= 1;
          this.#next();
        });
    }
    if (this.#running === 0 && this.#waiting.length === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  async #replay(read: Answered): Promise<void> {
    const { fresh, key, ignored } = this.#options;
    const asked = new URL(read.target, fresh);
    asked.protocol = fresh.protocol;
    asked.host = fresh.host;
    asked.searchParams.delete('api_key');
    // What is shown in the report has no credentials; the request has only those of the new service.
    const path = asked.pathname + asked.search;
    if (key !== undefined) asked.searchParams.set('api_key', key);
    const headers = Object.entries(read.headers).filter(([name]) => CARRIED.test(name));
    const response = await (this.#options.fetch ?? fetch)(asked, {
      headers: {
        accept: 'application/json',
        ...Object.fromEntries(headers.map(([name, value]) => [name, String(value)])),
      },
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await response.text();
    const before = { status: read.status, json: jsonOf(await decoded(read)) };
    let isEqual = true;
    compare(before, { status: response.status, json: jsonOf(text) }, ignored, (field, problem, one, other) => {
      isEqual = false;
      this.differences.add(operationOf(asked.pathname), path, field, problem, one, other);
    });
    this.counts[isEqual ? 'equal' : 'different'] += 1;
  }
}

const DECODERS: Readonly<Record<string, (body: Buffer) => Promise<Buffer>>> = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

async function decoded({ body, encoding }: Answered): Promise<string> {
  const decode = encoding === undefined ? undefined : DECODERS[encoding.trim().toLowerCase()];
  return String(decode ? await decode(body) : body);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
