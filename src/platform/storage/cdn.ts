import { createHmac, createPrivateKey, type KeyObject, sign } from 'node:crypto';
import type { LinkOptions } from './storage.ts';

/** How a CDN in front of the bucket verifies its addresses. */
export type CdnKey =
  | { readonly kind: 'cloudfront'; readonly keyPairId: string; readonly privateKey: KeyObject }
  | { readonly kind: 'bunny'; readonly securityKey: string };

/** A CDN that reads the bucket with its own permission and accepts signed addresses only. */
export interface Cdn {
  /** Without a slash at its end. */
  readonly url: string;
  readonly key: CdnKey;
}

const CLOUDFRONT = /^cloudfront:(\w{1,64}):(\/.+)$/s;
const BUNNY = /^bunny:(\S{8,200})$/;

/** Parses `cloudfront:<key pair id>:/path/of/private-key.pem` or `bunny:<security key>`; undefined if it is invalid. */
export function toCdnKey(text: string, readFile: (path: string) => string): CdnKey | undefined {
  const [, keyPairId, path] = CLOUDFRONT.exec(text) ?? [];
  if (keyPairId && path) return { kind: 'cloudfront', keyPairId, privateKey: createPrivateKey(readFile(path)) };
  const [, securityKey] = BUNNY.exec(text) ?? [];
  return securityKey ? { kind: 'bunny', securityKey } : undefined;
}

/** Values that only appear percent-encoded, because each CDN decodes what it verifies in its own way. */
const encoded = (value: string) =>
  encodeURIComponent(value).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);

/** The address of an object at the CDN. `path` is the object's key in the bucket; `now` is in Unix seconds. */
export function cdnLink({ url, key }: Cdn, path: string, now: number, options: LinkOptions): string {
  const expires = now + options.seconds;
  // S3 answers with these headers, if the CDN forwards the parameters. In this order, because Bunny signs them sorted.
  const parameters: [string, string][] = [
    ['response-content-disposition', options.disposition],
    ['response-content-type', options.type],
  ];
  const query = parameters.map(([name, value]) => `${name}=${encoded(value)}`).join('&');
  const address = `${url}/${path}`;
  if (key.kind === 'bunny') {
    const plain = parameters.map(([name, value]) => `${name}=${value}`).join('&');
    const message = `${new URL(address).pathname}${expires}${plain}`;
    const token = createHmac('sha256', key.securityKey).update(message).digest('base64url');
    return `${address}?token=HS256-${token}&${query}&expires=${expires}`;
  }
  return `${address}?${query}&${cloudfrontSignature(key, `${address}?${query}`, expires)}`;
}

/** A canned policy: https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/private-content-creating-signed-url-canned-policy.html */
function cloudfrontSignature(
  { keyPairId, privateKey }: Extract<CdnKey, { kind: 'cloudfront' }>,
  resource: string,
  expires: number,
): string {
  const condition = { DateLessThan: { 'AWS:EpochTime': expires } };
  const policy = JSON.stringify({ Statement: [{ Resource: resource, Condition: condition }] });
  const signature = sign('sha256', Buffer.from(policy), privateKey)
    .toString('base64')
    .replace(/[+=/]/g, (mark) => ({ '+': '-', '=': '_', '/': '~' })[mark]!);
  return `Expires=${expires}&Key-Pair-Id=${keyPairId}&Signature=${signature}&Hash-Algorithm=SHA256`;
}
