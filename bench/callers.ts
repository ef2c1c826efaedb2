import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Callers whose connections stay open between turns, so that a short turn measures requests alone. */
export class Callers {
  readonly #connections: readonly Connection[];

  private constructor(connections: readonly Connection[]) {
    this.#connections = connections;
  }

  static async open(port: number, count: number): Promise<Callers> {
    return new Callers(await Promise.all(Array.from({ length: count }, () => Connection.open(port))));
  }

  /** Keeps all connections busy for this time, and returns the number of responses. */
  async call(requests: (connection: number) => Buffer, milliseconds: number): Promise<number> {
    const end = performance.now() + milliseconds;
    const counts = await Promise.all(
      this.#connections.map((connection, index) => connection.callUntil(end, () => requests(index))),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
  }
}

/** Parses only the status and the length of a response, so that calling costs little itself. */
class Connection {
  readonly #socket: Socket;
  #head: Buffer = Buffer.alloc(0);
  #missing = 0;
  #answered = () => {};
  #failed = (_error: Error) => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', (error) => this.#failed(error));
    socket.on('close', () => this.#failed(new Error('closed by the server')));
  }

  static async open(port: number): Promise<Connection> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    return new Connection(socket);
  }

  callUntil(end: number, request: () => Buffer): Promise<number> {
    return new Promise((resolve, reject) => {
      let answers = 0;
      this.#failed = reject;
      this.#answered = () => {
        answers += 1;
        if (performance.now() >= end) resolve(answers);
        else this.#socket.write(request());
      };
      this.#socket.write(request());
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    if (this.#missing > 0) this.#missing -= chunk.length;
    else {
      this.#head = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]);
      const gap = this.#head.indexOf('\r\n\r\n');
      if (gap === -1) return;
      const text = this.#head.toString('latin1', 0, gap);
      if (!text.startsWith('HTTP/1.1 2')) return void this.#failed(new Error(`answered ${text}`));
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      this.#missing = gap + 4 + length - this.#head.length;
      this.#head = Buffer.alloc(0);
    }
    if (this.#missing === 0) this.#answered();
  }
}
