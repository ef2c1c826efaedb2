import type { IncomingMessage, ServerResponse } from 'node:http';
import type { App } from '../app.ts';
import { placeholders } from '../images/images.ts';
import type { Storage } from '../storage/storage.ts';
import type { Transfers } from './transfer/transfer.ts';

/** Only images that this service rendered are public here; other stored objects have no address. */
const IMAGE = /^images\/[0-9a-f]{32}-([a-z]+)\/([a-z0-9_]+)\.png$/;
const PLACEHOLDER = /^placeholder\/(([a-z]+)\/([a-z0-9_]+)\.png)$/;

interface Found {
  readonly storage: Storage;
  readonly key: string;
  readonly filename: string;
}

/** Sends a stored image; false when there is none. */
export async function answerFile(
  app: App,
  transfers: Transfers,
  request: IncomingMessage,
  response: ServerResponse,
  key: string,
): Promise<boolean> {
  const found = find(app, key);
  const opened = await found?.storage.read(found.key);
  if (!found || !opened) return false;
  await transfers.send(request, response, {
    opened,
    etag: `"${key}:${opened.bytes}"`,
    dateModified: opened.dateModified,
    type: 'image/png',
    headers: headersOf(found.filename),
  });
  return true;
}

function find(app: App, key: string): Found | undefined {
  const image = IMAGE.exec(key);
  if (image) return { storage: app.storage, key, filename: filenameOf(image[1]!, image[2]!) };
  const placeholder = PLACEHOLDER.exec(key);
  if (!placeholder) return undefined;
  return { storage: placeholders, key: placeholder[1]!, filename: filenameOf(placeholder[2]!, placeholder[3]!) };
}

/** Built from kind and size alone, so that names chosen by users are never repeated. */
const filenameOf = (kind: string, name: string) => (name === 'original' ? `${kind}.png` : `${kind}_${name}.png`);

const headersOf = (filename: string): string[] => [
  'cache-control',
  'public, max-age=31536000, immutable',
  'content-disposition',
  `inline; filename="${filename}"`,
  'content-security-policy',
  "default-src 'none'; sandbox",
  'cross-origin-resource-policy',
  'cross-origin',
];
