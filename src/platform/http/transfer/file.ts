import type { IncomingMessage } from 'node:http';
import type { Settings } from '../../config/settings.ts';
import { ApiError } from '../../errors/catalogue.ts';
import type { OpenObject, Storage } from '../../storage/storage.ts';
import { peerOf } from '../address.ts';
import type { Exchange } from '../exchange.ts';
import type { Bytes, StoredFile } from '../operation.ts';
import { attachment } from './disposition.ts';
import { Damaged } from './soundness.ts';
import { startsAtFirstByte, type Transfers } from './transfer.ts';

interface FileParts {
  readonly settings: Settings;
  readonly transfers: Transfers;
}

/** Long enough to start the download. Resuming later requires a new link, which a withdrawn file does not get. */
const LINK_SECONDS = 300;
const VARY = 'authorization, origin';

/** Sends an operation's file, or delegates it to the storage or to the server in front. */
export async function sendFile(parts: FileParts, exchange: Exchange, { file, begun }: Bytes): Promise<void> {
  const { request, response, tenant } = exchange;
  const { storage } = tenant.app;
  if (storage.link && followsLinks(storage, request)) {
    const options = { seconds: LINK_SECONDS, type: file.type, disposition: attachment(file.filename) };
    const location = await storage.link(file.key, options);
    if (startsAtFirstByte(request)) begun();
    return redirect(exchange, location);
  }
  try {
    const opened = await openWhole(storage, file);
    const offload = offloadHeaders(parts.settings, exchange, file);
    if (offload) {
      await parts.transfers.leave(opened, file.sha256);
      if (startsAtFirstByte(request)) begun();
      const headers = ['content-type', file.type, 'content-length', '0', ...offload];
      return void response.writeHead(200, [...headersOf(exchange, file), ...headers]).end();
    }
    await parts.transfers.send(request, response, {
      opened,
      etag: `"${file.sha256}"`,
      dateModified: file.dateModified,
      type: file.type,
      headers: headersOf(exchange, file),
      sha256: file.sha256,
      begun,
    });
  } catch (error) {
    if (error instanceof Damaged) throw new ApiError('UNEXPECTED_SERVICE_OUTAGE', { cause: error });
    throw error;
  }
}

/**
 * Links are signed for GET. Game SDKs repeat the header Authorization after a redirect, which S3 refuses beside a signed
 * link; clients with the Fetch standard's headers remove it.
 */
function followsLinks({ linksRefuseCredentials }: Storage, { method, headers }: IncomingMessage): boolean {
  if (method === 'HEAD') return false;
  return !linksRefuseCredentials || headers.authorization === undefined || headers['sec-fetch-mode'] !== undefined;
}

function redirect({ response, headers }: Exchange, location: string): void {
  const about = ['location', location, 'content-length', '0', 'cache-control', 'private, no-store'];
  response.writeHead(302, [...about, 'referrer-policy', 'no-referrer', 'vary', VARY, ...headers]).end();
}

/** A missing object or one of another length is damaged, and nothing of it is sent. */
async function openWhole(storage: Storage, { key, bytes }: StoredFile): Promise<OpenObject> {
  const opened = await storage.read(key);
  if (opened?.bytes === bytes) return opened;
  await opened?.close();
  throw new Damaged(`${key} should have ${bytes} bytes and ${opened ? `has ${opened.bytes}` : 'is not there'}`);
}

/** Caches must revalidate, because the file may have been withdrawn. */
const headersOf = ({ headers }: Exchange, { filename }: StoredFile): string[] => [
  'content-disposition',
  attachment(filename),
  'cache-control',
  'private, no-cache',
  'vary',
  VARY,
  'content-security-policy',
  "default-src 'none'; sandbox",
  'cross-origin-resource-policy',
  'cross-origin',
  ...headers,
];

/** The header that makes a trusted server in front send the file; empty for other clients. */
function offloadHeaders({ offload, trustProxy }: Settings, exchange: Exchange, { key }: StoredFile) {
  const { environment, storage } = exchange.tenant.app;
  if (!offload || !storage.path || !peerOf(exchange.request.socket, trustProxy).trusted) return undefined;
  if (offload.header === 'x-sendfile') return [offload.header, storage.path(key)];
  return [offload.header, `${offload.prefix}/${environment}/${key}`];
}
