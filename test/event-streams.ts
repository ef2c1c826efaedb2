import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import type { Api } from './api.ts';

export interface HeardEvent<T> {
  /** 0 for events that nobody continues after. */
  readonly id: number;
  readonly type: string;
  readonly data: T;
}

export interface Opening {
  readonly headers?: Record<string, string>;
  readonly port?: number;
}

/** A client like `EventSource` that returns one event after the other. */
export class EventListener<T> {
  readonly response: IncomingMessage;
  readonly #chunks: AsyncIterator<Buffer>;
  #text = '';

  constructor(response: IncomingMessage) {
    this.response = response;
    this.#chunks = response[Symbol.asyncIterator]();
  }

  static open<T>(api: Api, path: string, token: string, { headers = {}, port = api.port }: Opening = {}) {
    const { promise, resolve, reject } = Promise.withResolvers<EventListener<T>>();
    const own = { host: 'localhost', authorization: `Bearer ${token}`, accept: 'text/event-stream', ...headers };
    const ca = readFileSync(api.service.certificateFile!);
    const options = { host: '127.0.0.1', port, path, ca, servername: 'localhost', headers: own, agent: false as const };
    request(options, (response) => resolve(new EventListener(response)))
      .on('error', reject)
      .end();
    return promise;
  }

  /** The next event; undefined once the stream has ended. */
  async next(): Promise<HeardEvent<T> | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\n\n');
      if (end === -1) {
        const { done, value } = await this.#chunks.next();
        if (done) return undefined;
        this.#text += value;
        continue;
      }
      const lines = this.#text.slice(0, end).split('\n');
      this.#text = this.#text.slice(end + 2);
      const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      const data = field('data');
      if (data) return { id: Number(field('id') ?? 0), type: field('event')!, data: JSON.parse(data) as T };
    }
  }

  close(): void {
    this.response.destroy();
  }
}
