import { Agent, get as getInClear, type IncomingMessage } from 'node:http';
import { Agent as EncryptedAgent, get as getEncrypted } from 'node:https';
import { setTimeout as wait } from 'node:timers/promises';

const ATTEMPTS_MAX = 4;
const FIRST_WAIT_MS = 50;
const SILENCE_MS = 30_000;
const CONNECTIONS = { keepAlive: true, maxSockets: 128 };
const agents = { 'http:': new Agent(CONNECTIONS), 'https:': new EncryptedAgent(CONNECTIONS) };

/** A failed read from the bucket, always in the shape of an SDK error, so that there is one kind to handle. */
export class S3ReadError extends Error {
  readonly $metadata: { readonly httpStatusCode?: number };
  constructor(message: string, options: ErrorOptions & { httpStatusCode?: number } = {}) {
    const { httpStatusCode, ...rest } = options;
    super(message, rest);
    this.$metadata = httpStatusCode === undefined ? {} : { httpStatusCode };
  }
}

export interface Wanted {
  /** A signed link, because loading the SDK in another thread would take 60 MB. */
  readonly link: string;
  /** The first byte, and the last one if it is not the end of the object. */
  readonly start: number;
  readonly end?: number | undefined;
  /** The ETag of the requested version of the object. */
  readonly etag?: string | undefined;
}

/**
 * Streams the bytes. After a broken connection it continues at the same position, because twenty gigabytes are too many
 * to start again.
 */
export async function* bytesOf(wanted: Wanted): AsyncGenerator<Buffer> {
  let { start } = wanted;
  for (let attempt = 1; ; attempt += 1) {
    try {
      for await (const chunk of (await answerTo({ ...wanted, start })) as AsyncIterable<Buffer>) {
        start += chunk.length;
        attempt = 1;
        yield chunk;
      }
      return;
    } catch (error) {
      const problem =
        error instanceof S3ReadError ? error : new S3ReadError((error as Error).message, { cause: error });
      if (attempt === ATTEMPTS_MAX || isFinal(problem)) throw problem;
      await wait(FIRST_WAIT_MS * 2 ** attempt);
    }
  }
}

const isFinal = ({ $metadata: { httpStatusCode = 500 } }: S3ReadError): boolean => httpStatusCode < 500;

function answerTo({ link, start, end, etag }: Wanted): Promise<IncomingMessage> {
  const isPart = start > 0 || end !== undefined;
  const headers = {
    ...(isPart && { range: `bytes=${start}-${end ?? ''}` }),
    ...(etag && { 'if-match': etag }),
  };
  const isEncrypted = link.startsWith('https:');
  const options = { headers, timeout: SILENCE_MS, agent: agents[isEncrypted ? 'https:' : 'http:'] };
  return new Promise((resolve, reject) => {
    const request = (isEncrypted ? getEncrypted : getInClear)(link, options, (response) => {
      if (response.statusCode === (isPart ? 206 : 200)) return resolve(response);
      response.resume();
      const httpStatusCode = response.statusCode!;
      reject(new S3ReadError(`the bucket answers ${httpStatusCode}`, { httpStatusCode }));
    });
    request.on('error', reject);
    request.on('timeout', () => request.destroy(new S3ReadError('the bucket is silent')));
  });
}
