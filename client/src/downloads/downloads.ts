import type { Client } from '../calls/client.ts';
import { ConnectionError } from '../calls/errors.ts';
import { waitFor } from '../calls/retries.ts';
import type { Modfile } from '../contract/operations.ts';
import { createMd5, type Md5 } from './md5.ts';

const RESUMES_MAX = 5;
const RESUME_WAIT_MS = 1_000;

export type DownloadedFile = Pick<Modfile, 'download' | 'filesize' | 'filehash'>;

export interface DownloadOptions {
  onProgress?: ((progress: { readonly receivedBytes: number; readonly totalBytes: number }) => void) | undefined;
  signal?: AbortSignal | undefined;
  /** What an earlier download of this file has received. It is verified with the rest, and not returned again. */
  received?: AsyncIterable<Uint8Array> | undefined;
  /** Computes the MD5, such as `md5InWorker`. Default: on this thread. */
  md5?: Md5 | undefined;
}

/** The received bytes are not those that the service has published. */
export class DamagedDownload extends Error {
  override readonly name = 'DamagedDownload';
}

/** How far a download is, and the version of the file that it began with. */
interface Position {
  received: number;
  etag: string | undefined;
}

/**
 * Downloads a file as a stream of chunks. It continues after a lost connection, and fails at the end if length or MD5 differ:
 * use the bytes only after the last chunk.
 */
export async function* download(
  client: Client,
  { download: { binary_url }, filesize, filehash }: DownloadedFile,
  { onProgress, signal, received: earlier, md5 = createMd5() }: DownloadOptions = {},
): AsyncGenerator<Uint8Array, void, undefined> {
  const wait = client.options.retry?.wait ?? waitFor;
  const at: Position = { received: 0, etag: undefined };
  const add = async (chunk: Uint8Array) => {
    at.received += chunk.length;
    if (at.received > filesize) throw new DamagedDownload('The file is longer than published.');
    await md5.update(chunk);
    onProgress?.({ receivedBytes: at.received, totalBytes: filesize });
  };
  for await (const chunk of earlier ?? []) await add(chunk);
  for (let resumes = 0; at.received < filesize; resumes++)
    try {
      for await (const chunk of rest(client, binary_url, at, signal)) {
        await add(chunk);
        yield chunk;
      }
      if (at.received < filesize) throw new ConnectionError('download', 'The response is incomplete.');
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof ConnectionError) || isRefused(error) || resumes === RESUMES_MAX) throw error;
      await wait(RESUME_WAIT_MS * 2 ** resumes, signal);
    }
  if ((await md5.digest()) !== filehash.md5) throw new DamagedDownload('The checksum of the file differs.');
}

const isRefused = ({ status }: ConnectionError) => status !== undefined && status >= 400 && status < 500;

/** The bytes from the position on. Some games require the token beside the signed link; no other host gets it. */
async function* rest(
  { options, url: service }: Client,
  url: string,
  at: Position,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  const isOurs = `.${new URL(url).host}`.endsWith(`.${service.host}`);
  const token = isOurs && (typeof options.token === 'object' ? await options.token.get(signal) : options.token);
  const headers: Record<string, string> = {
    ...(at.received > 0 && { Range: `bytes=${at.received}-` }),
    ...(at.received > 0 && at.etag && { 'If-Range': at.etag }),
    ...(token && { Authorization: `Bearer ${token}` }),
  };
  try {
    const response = await (options.fetch ?? fetch)(url, { headers, credentials: 'omit', ...(signal && { signal }) });
    if (!response.ok)
      throw new ConnectionError('download', `download: status ${response.status}`, { status: response.status });
    requireSameVersion(at, response.headers.get('ETag'));
    // A server that ignores ranges sends everything again.
    let skip = response.status === 206 ? 0 : at.received;
    const reader = response.body!.getReader();
    try {
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        const kept = next.value.subarray(Math.min(skip, next.value.length));
        skip -= next.value.length - kept.length;
        if (kept.length > 0) yield kept;
      }
    } finally {
      await reader.cancel().catch(() => {});
    }
  } catch (cause) {
    if (cause instanceof ConnectionError || cause instanceof DamagedDownload) throw cause;
    throw new ConnectionError('download', `download: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}

/** A weak tag does not promise the same bytes. */
function requireSameVersion(at: Position, etag: string | null): void {
  if (etag === null || etag.startsWith('W/')) return;
  if (at.etag !== undefined && at.etag !== etag) throw new DamagedDownload('The file has changed during the download.');
  at.etag = etag;
}
