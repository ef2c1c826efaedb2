import { createHash, createHmac, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/**
 * A small S3 server: objects, ranges, copies, paged lists, multipart uploads, and verified version 4 signatures in headers
 * and links. Unlike a real one (test/ceph.ts) it can fail on demand.
 */
export interface S3Server {
  /** As in MODSTEAD_STORAGE_URL. */
  readonly url: string;
  /** The content of objects, by bucket and key. */
  readonly objects: Map<string, { bytes: Buffer; modified: Date }>;
  /** The parts of unfinished uploads, by number. */
  readonly uploads: Map<string, Map<number, Buffer>>;
  /** The received requests, as method and path. */
  readonly requests: string[];
  /** If it returns a status and code, the server responds with that error. */
  fault: ((request: IncomingMessage) => readonly [number, string] | 'hang up' | undefined) | undefined;
  stop(): Promise<void>;
}

const KEY = 'test-key';
const SECRET = 'test/secret+key';
const REGION = 'test-1';
const PAGE = 3;
const MULTIPART_BYTES_MIN = 5 * 1024 ** 2;

class Refused extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string) {
    super(code);
    this.status = status;
    this.code = code;
  }
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
const encoded = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);

/** Verifies a version 4 signature; throws if key, time, body or signature are wrong. */
function verify(request: IncomingMessage, url: URL, body: Buffer): void {
  const query = new Map(url.searchParams);
  const isLink = query.has('X-Amz-Signature');
  const [, credential = '', names = '', signature] = isLink
    ? ['', query.get('X-Amz-Credential'), query.get('X-Amz-SignedHeaders'), query.get('X-Amz-Signature')]
    : (/Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=(\w+)/.exec(request.headers.authorization ?? '') ?? []);
  if (!signature) throw new Refused(403, 'AccessDenied');
  // Amazon accepts only one kind of authentication.
  if (isLink && request.headers.authorization !== undefined) throw new Refused(400, 'InvalidArgument');
  const [key, day = '', region = ''] = credential.split('/');
  if (key !== KEY) throw new Refused(403, 'InvalidAccessKeyId');
  const date = String(isLink ? query.get('X-Amz-Date') : request.headers['x-amz-date']);
  if (isLink && secondsSince(date) > Number(query.get('X-Amz-Expires'))) throw new Refused(403, 'AccessDenied');
  query.delete('X-Amz-Signature');
  const hash = isLink ? 'UNSIGNED-PAYLOAD' : String(request.headers['x-amz-content-sha256']);
  if (/^[0-9a-f]{64}$/.test(hash) && hash !== sha256(body)) throw new Refused(400, 'XAmzContentSHA256Mismatch');
  const canonical = [
    request.method,
    url.pathname,
    [...query]
      .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
      .sort()
      .join('&'),
    ...names.split(';').map((name) => `${name}:${String(request.headers[name]).trim()}`),
    '',
    names,
    hash,
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const signing = scope.split('/').reduce<string | Buffer>((last, part) => hmac(last, part), `AWS4${SECRET}`);
  const expected = hmac(signing, ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n')).toString('hex');
  if (expected !== signature) throw new Refused(403, 'SignatureDoesNotMatch');
}

function secondsSince(date: string): number {
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date) ?? [];
  const [year, month, ...rest] = parts.map(Number) as [number, number, number, number, number, number];
  return (Date.now() - Date.UTC(year, month - 1, ...rest)) / 1000;
}

const etags = new WeakMap<Buffer, string>();
/** Computed once per object, because a large object is read in many ranges. */
function etagOf(bytes: Buffer): string {
  const etag = etags.get(bytes) ?? `"${createHash('md5').update(bytes).digest('hex')}"`;
  etags.set(bytes, etag);
  return etag;
}
const xml = (text: string) => `<?xml version="1.0" encoding="UTF-8"?>\n${text}`;
const textIn = (body: string, tag: string) =>
  [...body.matchAll(new RegExp(`<${tag}>(.*?)</${tag}>`, 'gs'))].map(([, text]) => text!.replaceAll('&quot;', '"'));

export async function startS3({ bucket = 'files', port = 0 } = {}): Promise<S3Server> {
  const objects: S3Server['objects'] = new Map();
  const uploads: S3Server['uploads'] = new Map();
  const state = { objects, uploads, requests: [] as string[], fault: undefined as S3Server['fault'] };

  function list(query: URLSearchParams): string {
    const start = `${bucket}/${query.get('prefix') ?? ''}`;
    const after = query.get('continuation-token') ?? '';
    const names = [...objects.keys()].filter((name) => name.startsWith(start) && name > after).sort();
    const page = names.slice(0, PAGE);
    const contents = page.map((name) => `<Contents><Key>${name.slice(bucket.length + 1)}</Key></Contents>`).join('');
    const isCut = names.length > PAGE;
    const next = isCut ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : '';
    return `<ListBucketResult><IsTruncated>${isCut}</IsTruncated>${contents}${next}</ListBucketResult>`;
  }

  function requireObject(name: string) {
    const found = objects.get(name);
    if (!found) throw new Refused(404, 'NoSuchKey');
    return found;
  }

  function requireUpload(id: string): Map<number, Buffer> {
    const upload = uploads.get(id);
    if (!upload) throw new Refused(404, 'NoSuchUpload');
    return upload;
  }

  function listParts(id: string, query: URLSearchParams): string {
    const [after, most] = [Number(query.get('part-number-marker')), Number(query.get('max-parts'))];
    const parts = [...requireUpload(id)].sort(([one], [other]) => one - other).filter(([number]) => number > after);
    const items = parts
      .slice(0, most)
      .map(([number, bytes]) => [
        `<PartNumber>${number}</PartNumber>`,
        `<ETag>${etagOf(bytes)}</ETag>`,
        `<Size>${bytes.length}</Size>`,
      ]);
    return `<ListPartsResult>${items.map((fields) => `<Part>${fields.join('')}</Part>`).join('')}</ListPartsResult>`;
  }

  function send(request: IncomingMessage, response: ServerResponse, name: string, query: URLSearchParams): void {
    const { bytes, modified } = requireObject(name);
    const condition = request.headers['if-match'];
    if (condition !== undefined && condition !== etagOf(bytes)) throw new Refused(412, 'PreconditionFailed');
    const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
    if (from !== undefined && Number(from) >= bytes.length) throw new Refused(416, 'InvalidRange');
    const end = Math.min(bytes.length - 1, to ? Number(to) : Number.POSITIVE_INFINITY);
    const part = from === undefined ? bytes : bytes.subarray(Number(from), end + 1);
    response.writeHead(from === undefined ? 200 : 206, {
      etag: etagOf(bytes),
      'last-modified': modified.toUTCString(),
      'content-length': part.length,
      'content-type': query.get('response-content-type') ?? 'application/octet-stream',
      ...(from !== undefined && { 'content-range': `bytes ${from}-${end}/${bytes.length}` }),
      ...(query.has('response-content-disposition') && {
        'content-disposition': query.get('response-content-disposition')!,
      }),
    });
    response.end(request.method === 'HEAD' ? undefined : part);
  }

  /** The body of a request, or the content of the object that it copies. */
  function bytesOf(request: IncomingMessage, body: Buffer): Buffer {
    const source = request.headers['x-amz-copy-source'];
    if (source === undefined) return body;
    const { bytes } = requireObject(decodeURIComponent(String(source)));
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(String(request.headers['x-amz-copy-source-range'] ?? '')) ?? [];
    return from === undefined ? bytes : bytes.subarray(Number(from), Number(to) + 1);
  }

  function store(request: IncomingMessage, name: string, query: URLSearchParams, body: Buffer): [string, string] {
    const bytes = bytesOf(request, body);
    const id = query.get('uploadId');
    if (id === null) objects.set(name, { bytes, modified: new Date() });
    else requireUpload(id).set(Number(query.get('partNumber')), bytes);
    const result = id === null ? 'CopyObjectResult' : 'CopyPartResult';
    const isCopy = 'x-amz-copy-source' in request.headers;
    return [isCopy ? `<${result}><ETag>${etagOf(bytes)}</ETag></${result}>` : '', etagOf(bytes)];
  }

  function complete(name: string, id: string, body: string): string {
    const upload = requireUpload(id);
    const [numbers, tags] = [textIn(body, 'PartNumber').map(Number), textIn(body, 'ETag')];
    const pieces = numbers.map((number, index) => {
      const piece = upload.get(number);
      if (!piece || etagOf(piece) !== tags[index]) throw new Refused(400, 'InvalidPart');
      if (numbers[index - 1]! >= number) throw new Refused(400, 'InvalidPartOrder');
      return piece;
    });
    if (pieces.slice(0, -1).some(({ length }) => length < MULTIPART_BYTES_MIN))
      throw new Refused(400, 'EntityTooSmall');
    const bytes = Buffer.concat(pieces);
    objects.set(name, { bytes, modified: new Date() });
    uploads.delete(id);
    return `<CompleteMultipartUploadResult><ETag>${etagOf(bytes)}</ETag></CompleteMultipartUploadResult>`;
  }

  function begin(): string {
    const id = randomBytes(8).toString('hex');
    uploads.set(id, new Map());
    return `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, 'http://s3');
    const query = url.searchParams;
    const name = decodeURIComponent(url.pathname.slice(1));
    const body = await buffer(request);
    state.requests.push(`${request.method} ${url.pathname}`);
    const fault = state.fault?.(request);
    if (fault === 'hang up') return void request.socket.destroy();
    if (fault) throw new Refused(...fault);
    verify(request, url, body);
    if (!name.startsWith(bucket)) throw new Refused(404, 'NoSuchBucket');
    const id = query.get('uploadId') ?? '';
    const say = (text: string, headers: Record<string, string> = {}) => {
      response.writeHead(200, headers).end(text && xml(text));
    };
    switch (request.method) {
      case 'HEAD':
        return send(request, response, name, query);
      case 'GET':
        if (id) return say(listParts(id, query));
        return query.has('list-type') ? say(list(query)) : send(request, response, name, query);
      case 'PUT': {
        const [text, etag] = store(request, name, query, body);
        return say(text, { etag });
      }
      case 'POST':
        return say(query.has('uploads') ? begin() : complete(name, id, body.toString()));
      default:
        if (id) requireUpload(id);
        if (id) uploads.delete(id);
        else objects.delete(name);
        response.writeHead(204).end();
    }
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: Refused) => {
      const { status = 500, code = 'InternalError' } = error;
      if (request.method === 'HEAD') response.writeHead(status).end();
      else
        response.writeHead(status).end(xml(`<Error><Code>${code}</Code><Message>${error.message}</Message></Error>`));
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const url = `s3://${KEY}:${encoded(SECRET)}@${bucket}?endpoint=${encoded(endpoint)}&region=${REGION}&prefix=tests`;
  return Object.assign(state, {
    url,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}
