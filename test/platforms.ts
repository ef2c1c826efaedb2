import { createCipheriv, createHash, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';
import { crc32 } from 'node:zlib';
import { CompactEncrypt, exportJWK, type JWTPayload, SignJWT } from 'jose';
import { LINKED_PORTALS } from '../src/platform/vocabulary/game-platforms.ts';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly form: URLSearchParams;
  readonly text: string;
}

interface Reply {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly json: unknown;
}

type Responder = (asked: Asked) => Reply | 'no answer';

/** Stands in for the servers of all platforms, with their own paths, over real HTTP. */
export class Platforms {
  readonly url: string;
  readonly asked: Asked[] = [];
  readonly #responders = new Map<string, Responder>();

  constructor(url: string) {
    this.url = url;
  }

  on(path: string, responder: Responder): void {
    this.#responders.set(path, responder);
  }

  /** Requests to this path get no response. */
  down(path: string): void {
    this.on(path, () => 'no answer');
  }

  answer(asked: Asked): Reply | 'no answer' {
    this.asked.push(asked);
    return this.#responders.get(asked.path)?.(asked) ?? { status: 404, json: { error: 'not found' } };
  }

  timesAsked(path: string): number {
    return this.asked.filter((each) => each.path === path).length;
  }

  /** Settings with which the service uses this server for every platform. */
  get settings(): Record<string, string> {
    return {
      MODSTEAD_PORTAL_ADDRESSES: LINKED_PORTALS.map((portal) => `${portal}=${this.url}`).join(','),
      MODSTEAD_EGRESS_ALLOW: '127.0.0.1/32',
      MODSTEAD_RATE_LIMITS: 'off',
    };
  }
}

export async function startPlatforms(): Promise<Platforms> {
  let platforms: Platforms;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { pathname, searchParams } = new URL(request.url!, platforms.url);
    const text = Buffer.concat(chunks).toString('utf8');
    const reply = platforms.answer({
      method: request.method!,
      path: pathname,
      query: searchParams,
      headers: request.headers,
      form: new URLSearchParams(text),
      text,
    });
    if (reply === 'no answer') return void request.socket.destroy();
    response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers });
    response.end(typeof reply.json === 'string' ? reply.json : JSON.stringify(reply.json));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  platforms = new Platforms(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  after(() => server.close());
  return platforms;
}

const CURVES: Record<string, string> = { ES256: 'P-256', ES512: 'P-521' };

/** A token issuer with its own key. */
export class Issuer {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;

  constructor(kid = 'first', alg = 'RS256') {
    this.kid = kid;
    this.alg = alg;
    const pair =
      alg === 'RS256'
        ? generateKeyPairSync('rsa', { modulusLength: 2048 })
        : generateKeyPairSync('ec', { namedCurve: CURVES[alg]! });
    this.privateKey = pair.privateKey;
    this.publicKey = pair.publicKey;
  }

  async jwk(more: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    return { ...(await exportJWK(this.publicKey)), kid: this.kid, alg: this.alg, use: 'sig', ...more };
  }

  sign(claims: JWTPayload, header: Record<string, unknown> = {}): Promise<string> {
    return new SignJWT(claims).setProtectedHeader({ alg: this.alg, kid: this.kid, ...header }).sign(this.privateKey);
  }
}

/** Encrypts a signed token for the relying party, as Xbox does. */
export const encryptFor = (publicKey: KeyObject, token: string): Promise<string> =>
  new CompactEncrypt(Buffer.from(token))
    .setProtectedHeader({ alg: 'RSA-OAEP', enc: 'A128CBC-HS256', cty: 'JWT' })
    .encrypt(publicKey);

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return Buffer.from([...bytes, rest]);
}

const numberField = (field: number, value: number) => Buffer.concat([varint(field * 8), varint(value)]);
const bytesField = (field: number, value: Buffer) =>
  Buffer.concat([varint(field * 8 + 2), varint(value.length), value]);

export interface SteamTicketContent {
  readonly key: Buffer;
  readonly steamId: bigint;
  readonly appId: number;
  readonly issued: number;
  readonly expires?: number;
  readonly userData?: Buffer;
  readonly version?: 1 | 2;
  /** Damages the content before it is encrypted. */
  readonly damage?: 'crc' | 'digest';
}

/** An encrypted app ticket in Steam's format. */
export function steamTicket(content: SteamTicketContent): string {
  const { key, userData = Buffer.from('game data'), version = 1 } = content;
  const ownership = Buffer.alloc(40 + 2 + 4 + 2);
  ownership.writeUInt32LE(ownership.length, 0);
  ownership.writeUInt32LE(4, 4);
  ownership.writeBigUInt64LE(content.steamId, 8);
  ownership.writeUInt32LE(content.appId, 16);
  ownership.writeUInt32LE(content.issued, 32);
  ownership.writeUInt32LE(content.expires ?? content.issued + 21 * 86_400, 36);
  ownership.writeUInt16LE(1, 40);
  ownership.writeUInt32LE(content.appId, 42);
  const salted = Buffer.concat([userData, ownership, randomBytes(version === 2 ? 20 : 0), randomBytes(8)]);
  const digest = createHash('sha1').update(salted).digest();
  if (content.damage === 'digest') digest.writeUInt8(digest.readUInt8(0) ^ 1, 0);
  const plain = Buffer.concat([salted, digest, Buffer.alloc(4)]);
  const iv = randomBytes(16);
  const ofIv = createCipheriv('aes-256-ecb', key, null).setAutoPadding(false);
  const cipher = createCipheriv('aes-256-cbc', key, iv);
  const encrypted = [ofIv.update(iv), ofIv.final(), cipher.update(plain), cipher.final()];
  const message = [
    numberField(1, version),
    numberField(2, content.damage === 'crc' ? crc32(plain) ^ 1 : crc32(plain)),
    numberField(3, userData.length),
    numberField(4, ownership.length),
    bytesField(5, Buffer.concat(encrypted)),
  ];
  return Buffer.concat(message).toString('base64');
}

/** An encrypted app ticket in GOG's format: padded with zeros, base64url. */
export function gogTicket(key: Buffer, content: readonly unknown[]): string {
  const plain = Buffer.from(JSON.stringify(content));
  const padded = Buffer.concat([plain, Buffer.alloc((16 - (plain.length % 16)) % 16)]);
  const iv = randomBytes(16);
  const cipher = createCipheriv('aes-256-cbc', key, iv).setAutoPadding(false);
  return Buffer.concat([iv, cipher.update(padded), cipher.final()]).toString('base64url');
}
