import { connect, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { type ClamdAddress, toClamdAddress } from './address.ts';

/** The reply of clamd for some bytes. `too-large` and `failed` were not scanned, or not completely. */
export type Verdict =
  | { readonly kind: 'clean' }
  | { readonly kind: 'found'; readonly signature: string }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'failed'; readonly says: string };

export interface Clamd {
  ping(): Promise<void>;
  version(): Promise<string>;
  scan(content: AsyncIterable<Uint8Array>): Promise<Verdict>;
}

/** The scanner is unreachable, too slow, or sent an incomplete reply; a retry may succeed later. */
export class ScannerUnavailable extends Error {
  override readonly name = 'ScannerUnavailable';
}

const CONNECT_MS = 5_000;
const ANSWER_BYTES_MAX = 4_096;
const CHUNK_BYTES_MAX = 128 * 1024;
const END_OF_STREAM = Buffer.alloc(4);

/** Speaks the protocol of clamd(8) with NUL-terminated commands, each on its own connection. */
export function clamdAt(text: string, { patienceMs }: { patienceMs: number }): Clamd {
  const address = toClamdAddress(text);
  if (!address) throw new Error(`not an address of clamd: ${text}`);
  const send = async (command: string, content?: AsyncIterable<Uint8Array>) => {
    await using conversation = await Conversation.start(address, patienceMs);
    return await conversation.send(command, content);
  };
  return {
    async ping() {
      const answer = await send('PING');
      if (answer !== 'PONG') throw new ScannerUnavailable(`clamd answers ${JSON.stringify(answer)} to PING`);
    },
    version: () => send('VERSION'),
    scan: async (content) => toVerdict(await send('INSTREAM', content)),
  };
}

/** Only the exact reply for it means clean. */
function toVerdict(answer: string): Verdict {
  if (answer === 'stream: OK') return { kind: 'clean' };
  if (/size limit exceeded/i.test(answer)) return { kind: 'too-large' };
  const found = /^stream: (.+) FOUND$/.exec(answer);
  return found ? { kind: 'found', signature: found[1]! } : { kind: 'failed', says: answer };
}

class Conversation implements AsyncDisposable {
  readonly #socket: Socket;
  readonly #patienceMs: number;
  readonly #answer = Promise.withResolvers<string>();
  #heard = '';
  #isAnswered = false;
  #timer: NodeJS.Timeout | undefined;

  private constructor(address: ClamdAddress, patienceMs: number) {
    this.#patienceMs = patienceMs;
    this.#socket = connect(address);
    this.#socket.setNoDelay(true);
    this.#socket.on('data', (data) => this.#receive(data.toString('latin1')));
    this.#socket.on('end', () => this.#fail('clamd ended before it answered'));
    this.#socket.on('close', () => this.#fail('clamd closed the connection before it answered'));
    this.#socket.on('error', (cause) => this.#fail(`clamd cannot be reached: ${cause.message || cause}`, cause));
    // Prevents an unhandled rejection if nobody awaits the reply yet.
    this.#answer.promise.catch(() => {});
  }

  static async start(address: ClamdAddress, patienceMs: number): Promise<Conversation> {
    const conversation = new Conversation(address, patienceMs);
    conversation.#wait(Math.min(CONNECT_MS, patienceMs), 'clamd cannot be reached in time');
    const connected = new Promise<void>((resolve) => conversation.#socket.once('connect', resolve));
    try {
      await Promise.race([connected, conversation.#answer.promise]);
    } catch (error) {
      conversation.#socket.destroy();
      throw error;
    } finally {
      clearTimeout(conversation.#timer);
    }
    return conversation;
  }

  /** Sends one command and its content in chunks, until the content ends or clamd replies. */
  async send(command: string, content?: AsyncIterable<Uint8Array>): Promise<string> {
    await this.#write(Buffer.from(`z${command}\0`));
    if (content) await this.#stream(content);
    this.#wait(this.#patienceMs, 'clamd takes too long to answer');
    return this.#answer.promise.finally(() => clearTimeout(this.#timer));
  }

  async #stream(content: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const chunk of content) {
      for (let at = 0; at < chunk.length && !this.#isAnswered; at += CHUNK_BYTES_MAX) {
        const piece = chunk.subarray(at, at + CHUNK_BYTES_MAX);
        const length = Buffer.alloc(4);
        length.writeUInt32BE(piece.length);
        // Clamd replies at its limit and closes the connection, so the reply must be read before a write fails.
        await turn();
        await this.#write(length, piece);
      }
      if (this.#isAnswered) return;
    }
    await this.#write(END_OF_STREAM);
  }

  /** Resolves when the bytes are flushed, or when a reply makes them unnecessary. */
  async #write(...parts: Uint8Array[]): Promise<void> {
    if (this.#isAnswered) return;
    this.#wait(this.#patienceMs, 'clamd takes too long to read');
    this.#socket.cork();
    const written = parts.map((part) => new Promise<void>((resolve) => this.#socket.write(part, () => resolve())));
    this.#socket.uncork();
    await Promise.race([Promise.all(written), this.#answer.promise.catch(() => {})]);
    clearTimeout(this.#timer);
  }

  #receive(text: string): void {
    this.#heard += text;
    const end = this.#heard.indexOf('\0');
    if (end !== -1) this.#settle(() => this.#answer.resolve(this.#heard.slice(0, end).trim()));
    else if (this.#heard.length > ANSWER_BYTES_MAX) this.#fail('clamd answers without an end');
  }

  #fail(says: string, cause?: unknown): void {
    this.#settle(() => this.#answer.reject(new ScannerUnavailable(says, cause === undefined ? undefined : { cause })));
  }

  #settle(work: () => void): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    work();
  }

  #wait(ms: number, says: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#fail(says), ms);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer);
    this.#socket.destroy();
  }
}
