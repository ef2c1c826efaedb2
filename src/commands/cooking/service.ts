import { createHash } from 'node:crypto';
import { createWriteStream, openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const PART_BYTES = 52_428_800;
const PATIENCE_MS_MAX = 60_000;
const ATTEMPTS_MAX = 8;

/** The metadata of an archive to download. */
export interface Archive {
  readonly filename: string;
  readonly filesize: number;
  readonly filehash: { readonly sha256: string };
}

export interface Claim {
  readonly claim_id: string;
  readonly game_id: number;
  readonly mod_id: number;
  readonly lease_seconds: number;
  readonly cook: { readonly cook_uuid: string; readonly platform: string };
  readonly source: Archive & { readonly version: string; readonly metadata_blob: string };
  readonly build: Archive | null;
}

/** An error answer of the service, with its message. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

interface Sent {
  readonly method?: string;
  readonly body?: string | Blob | FormData;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal | undefined;
}

/** The runner protocol over fetch. Network failures are retried; error answers are not. */
export class CookService {
  readonly #url: string;
  readonly #authorization: string;

  constructor(url: string, secret: string) {
    this.#url = url.replace(/\/+$/, '');
    this.#authorization = `Basic ${btoa(`runner:${secret}`)}`;
  }

  async claim(wait: number, platforms: readonly string[], signal: AbortSignal): Promise<Claim | null> {
    const body = { wait, ...(platforms.length > 0 && { platforms }) };
    return (await this.#json<{ claim: Claim | null }>('/cook-runner/claims', body, signal)).claim;
  }

  report(claim: Claim, report: { progress?: number | undefined; logs: readonly string[] }): Promise<unknown> {
    return this.#json(pathOf(claim), report);
  }

  fail(claim: Claim, report: { again: boolean; logs: readonly string[] }): Promise<unknown> {
    return this.#json(`${pathOf(claim)}/failure`, report);
  }

  /** Downloads to a file, and retries if the hash does not match. */
  async download(claim: Claim, what: 'source' | 'build', archive: Archive, file: string): Promise<void> {
    await this.#patiently(async () => {
      const response = await this.#fetch(`${pathOf(claim)}/${what}`, {});
      const hash = createHash('sha256');
      await pipeline(
        Readable.fromWeb(response.body as import('node:stream/web').ReadableStream),
        async function* (chunks: AsyncIterable<Buffer>) {
          for await (const chunk of chunks) {
            hash.update(chunk);
            yield chunk;
          }
        },
        createWriteStream(file),
      );
      if (hash.digest('hex') !== archive.filehash.sha256) throw new Error(`the downloaded ${what} is damaged`);
    });
  }

  async finish(claim: Claim, file: string): Promise<void> {
    const { size } = await stat(file);
    const blob = await openAsBlob(file);
    const form = new FormData();
    if (size <= PART_BYTES) form.set('filedata', blob, 'cooked.zip');
    else form.set('upload_id', await this.#upload(claim, blob));
    await this.#send(`${pathOf(claim)}/result`, { method: 'POST', body: form });
  }

  async #upload(claim: Claim, blob: Blob): Promise<string> {
    const path = `${pathOf(claim)}/multipart`;
    const { upload_id } = (await (await this.#send(path, { method: 'POST' })).json()) as { upload_id: string };
    for (let start = 0; start < blob.size; start += PART_BYTES) {
      const end = Math.min(start + PART_BYTES, blob.size);
      const headers = {
        'content-range': `bytes ${start}-${end - 1}/${blob.size}`,
        'content-type': 'application/octet-stream',
      };
      await this.#send(`${path}?upload_id=${upload_id}`, { method: 'PUT', body: blob.slice(start, end), headers });
    }
    await this.#send(`${path}/complete?upload_id=${upload_id}`, { method: 'POST' });
    return upload_id;
  }

  async #json<T>(path: string, body: object, signal?: AbortSignal): Promise<T> {
    const headers = { 'content-type': 'application/json' };
    const response = await this.#send(path, { method: 'POST', body: JSON.stringify(body), headers, signal });
    return (await response.json()) as T;
  }

  #send(path: string, sent: Sent): Promise<Response> {
    return this.#patiently(() => this.#fetch(path, sent), sent.signal);
  }

  async #fetch(path: string, { method = 'GET', body, headers = {}, signal }: Sent): Promise<Response> {
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers: { authorization: this.#authorization, ...headers },
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    });
    if (response.ok) return response;
    const text = await response.text();
    if (response.status === 429 || response.status >= 500)
      throw new Later(Number(response.headers.get('retry-after')) * 1_000 || undefined, text);
    throw new Refused(response.status, messageIn(text) ?? `HTTP ${response.status}`);
  }

  async #patiently<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await work();
      } catch (error) {
        if (error instanceof Refused || signal?.aborted || attempt >= ATTEMPTS_MAX) throw error;
        const asked = error instanceof Later ? error.waitMs : undefined;
        await sleep(Math.min(asked ?? 1_000 * 2 ** (attempt - 1), PATIENCE_MS_MAX), undefined, signal && { signal });
      }
    }
  }
}

/** A temporary failure. */
class Later extends Error {
  readonly waitMs: number | undefined;

  constructor(waitMs: number | undefined, text: string) {
    super(messageIn(text) ?? 'the service is busy');
    this.waitMs = waitMs;
  }
}

const pathOf = ({ claim_id }: Claim) => `/cook-runner/claims/${claim_id}`;

function messageIn(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: string; errors?: Record<string, string> } };
    return [error?.message, ...Object.values(error?.errors ?? {})].filter(Boolean).join(' ') || undefined;
  } catch {
    return undefined;
  }
}
