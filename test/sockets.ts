import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';

interface Server {
  readonly port: number;
  readonly certificateFile: string | undefined;
}

export interface Message {
  readonly operation: string;
  readonly context: Record<string, unknown>;
}

/** A game on a device: it queues the received messages. */
export class Device {
  readonly socket: WebSocket;
  readonly closed: Promise<number>;
  readonly #received: Message[] = [];
  #notify = () => {};

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data) => {
      const bytes = data as Buffer;
      // Shipped clients have a read buffer of this size.
      if (bytes.length > 4_096) throw new Error('the message is too long for shipped clients');
      this.#received.push(...(JSON.parse(String(bytes)) as { messages: Message[] }).messages);
      this.#notify();
    });
    socket.on('error', () => {});
    this.closed = new Promise((resolve) => socket.once('close', (code) => resolve(code)));
  }

  send(...messages: object[]): void {
    this.socket.send(JSON.stringify({ messages }));
  }

  async nextMessage(): Promise<Message> {
    while (this.#received.length === 0)
      await new Promise<void>((resolve) => {
        this.#notify = resolve;
      });
    return this.#received.shift()!;
  }

  /** Expects an error as the next message, and returns it. */
  async failed(): Promise<{ operation: unknown; code: number; ref: number }> {
    const { operation, context } = await this.nextMessage();
    if (operation !== 'failed_operation') throw new Error(`${operation} did not fail: ${JSON.stringify(context)}`);
    const { code, error_ref: ref } = context['error'] as { code: number; error_ref: number };
    return { operation: context['operation'], code, ref };
  }

  async close(): Promise<void> {
    this.socket.close();
    await this.closed;
  }
}

interface ConnectOptions {
  readonly host: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
}

function connect({ port, certificateFile }: Server, { host, path = '/', headers = {} }: ConnectOptions): WebSocket {
  const trust = { ca: readFileSync(certificateFile!), servername: 'localhost' };
  const options = { ...trust, headers: { host: `${host}:${port}`, ...headers } };
  return new WebSocket(`wss://127.0.0.1:${port}${path}`, options);
}

export async function aDevice(server: Server, options: ConnectOptions): Promise<Device> {
  const socket = connect(server, options);
  const device = new Device(socket);
  await once(socket, 'open');
  return device;
}

/** The status and reference with which a device is refused. */
export async function refusedDevice(server: Server, options: ConnectOptions): Promise<{ status: number; ref: number }> {
  const socket = connect(server, options);
  socket.on('error', () => {});
  const [request, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  const text = String(Buffer.concat(await Array.fromAsync(response)));
  (request as { destroy(): void }).destroy();
  return { status: response.statusCode!, ref: JSON.parse(text).error.error_ref };
}
