import type { Client } from '../calls/client.ts';
import { ConnectionError } from '../calls/errors.ts';
import { waitFor } from '../calls/retries.ts';
import type { Modfile } from '../contract/operations.ts';
import { createMd5 } from './md5.ts';

const RESUMES_MAX = 5;
const RESUME_WAIT_MS = 1_000;

export interface DownloadOptions {
  onProgress?: (progress: { readonly receivedBytes: number; readonly totalBytes: number }) => void;
  signal?: AbortSignal | undefined;
}

/** The received bytes are not those that the service has published. */
export class DamagedDownload extends Error {
  override readonly name = 'DamagedDownload';
}

/**
 * Downloads a file as a stream of chunks. It continues after a lost connection, and fails at the end if length or MD5 differ:
 * use the bytes only after the last chunk.
 */
export async function* download(
  client: Client,
  { download: { binary_url }, filesize, filehash }: Pick<Modfile, 'download' | 'filesize' | 'filehash'>,
  { onProgress, signal }: DownloadOptions = {},
): AsyncGenerator<Uint8Array, void, undefined> {
  const md5 = createMd5();
  const wait = client.options.retry?.wait ?? waitFor;
  let received = 0;
  for (let resumes = 0; received < filesize; resumes++)
    try {
      for await (const chunk of rest(client, binary_url, received, signal)) {
        received += chunk.length;
        if (received > filesize) throw new DamagedDownload('The file is longer than published.');
        md5.update(chunk);
        onProgress?.({ receivedBytes: received, totalBytes: filesize });
        yield chunk;
      }
      if (received < filesize) throw new ConnectionError('download', 'The response is incomplete.');
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof ConnectionError) || isRefused(error) || resumes === RESUMES_MAX) throw error;
      await wait(RESUME_WAIT_MS * 2 ** resumes, signal);
    }
  if (md5.digest() !== filehash.md5) throw new DamagedDownload('The checksum of the file differs.');
}

const isRefused = ({ status }: ConnectionError) => status !== undefined && status >= 400 && status < 500;

/** The bytes from `start` on. Some games require the token beside the signed link; no other host gets it. */
async function* rest(
  { options, url: service }: Client,
  url: string,
  start: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  const isOurs = `.${new URL(url).host}`.endsWith(`.${service.host}`);
  const token = isOurs && (typeof options.token === 'object' ? await options.token.get(signal) : options.token);
  const headers: Record<string, string> = {
    ...(start > 0 && { Range: `bytes=${start}-` }),
    ...(token && { Authorization: `Bearer ${token}` }),
  };
  let skip = start;
  try {
    const response = await (options.fetch ?? fetch)(url, { headers, credentials: 'omit', ...(signal && { signal }) });
    if (!response.ok)
      throw new ConnectionError('download', `download: status ${response.status}`, { status: response.status });
    // A server that ignores ranges sends everything again.
    if (response.status === 206) skip = 0;
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
    if (cause instanceof ConnectionError) throw cause;
    throw new ConnectionError('download', `download: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}
