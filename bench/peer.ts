import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';

export interface Task {
  readonly kind: 'read' | 'write';
  readonly port: number;
  readonly path: string;
  readonly clients: number;
  /** How many transfers each client makes. */
  readonly times: number;
  /** Bytes per upload. */
  readonly bytes: number;
  /** Rate limit per client; unlimited by default. */
  readonly bytesPerSecond?: number;
}

const HOST = 'host: localhost\r\naccept: */*\r\n';
const BOUNDARY = '----bench';
const OPENING = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="filedata"; filename="bench.zip"\r\ncontent-type: application/zip\r\n\r\n`;
const CLOSING = `\r\n--${BOUNDARY}--\r\n`;
// Not zeros, which a disk may compress.
const noise = Buffer.alloc(1024 * 1024, 'as good as any other content of a mod, ');

/** Bytes that all clients have read and written so far. */
let moved = 0;

/** Reads and writes over TLS in its own process and discards what it receives, so that the client costs little. */
process.on('message', async (task: Task | Record<string, never>) => {
  if (!isTask(task)) return void process.send!({ moved });
  cipher = '';
  const started = performance.now();
  const work = task.kind === 'read' ? read : write;
  const bytes = await Promise.all(Array.from({ length: task.clients }, () => work(task)));
  process.send!({
    bytes: bytes.reduce((sum, one) => sum + one, 0),
    seconds: (performance.now() - started) / 1000,
    cipher,
  });
});

const isTask = (message: Task | Record<string, never>): message is Task => 'kind' in message;

let cipher = '';

function open(port: number): TLSSocket {
  const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', rejectUnauthorized: false });
  socket.once('secureConnect', () => (cipher = `${socket.getProtocol()} ${socket.getCipher().name}`));
  return socket;
}

const AHEAD_MS = 5;
/** A real network delivers bytes evenly, not in bursts. */
const PACED_BYTES = 64 * 1024;

function read({ port, path, times, bytesPerSecond = Number.POSITIVE_INFINITY }: Task): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = open(port);
    const ask = () => socket.write(`GET ${path} HTTP/1.1\r\n${HOST}\r\n`);
    let [total, left, missing, head] = [0, times, 0, ''];
    let taken = 0;
    const began = performance.now();
    const keepPace = (bytes: number) => {
      taken += bytes;
      moved += bytes;
      const aheadMs = (taken / bytesPerSecond) * 1000 - (performance.now() - began);
      if (aheadMs < AHEAD_MS) return;
      socket.pause();
      setTimeout(() => socket.resume(), aheadMs);
    };
    socket.on('secureConnect', ask);
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('closed early')));
    socket.on('data', (chunk: Buffer) => {
      keepPace(chunk.length);
      let body = chunk.length;
      if (missing === 0) {
        head += chunk.toString('latin1');
        const gap = head.indexOf('\r\n\r\n');
        if (gap === -1) return;
        if (!head.startsWith('HTTP/1.1 200')) return void reject(new Error(head.slice(0, 400)));
        missing = Number(/content-length: (\d+)/i.exec(head)![1]);
        body = head.length - gap - 4;
        total += missing;
        head = '';
      }
      missing -= body;
      if (missing > 0) return;
      left -= 1;
      if (left > 0) return void ask();
      resolve(total);
      socket.removeAllListeners('close').end();
    });
  });
}

async function write({ port, path, times, bytes, bytesPerSecond = Number.POSITIVE_INFINITY }: Task): Promise<number> {
  for (let i = 0; i < times; i += 1) {
    const socket = open(port);
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
    await once(socket, 'secureConnect');
    const length = OPENING.length + bytes + CLOSING.length;
    socket.write(
      `POST ${path} HTTP/1.1\r\n${HOST}content-type: multipart/form-data; boundary=${BOUNDARY}\r\ncontent-length: ${length}\r\n\r\n${OPENING}`,
    );
    const began = performance.now();
    for (let sent = 0; sent < bytes; ) {
      const chunk = noise.subarray(0, Math.min(bytesPerSecond < bytes ? PACED_BYTES : noise.length, bytes - sent));
      sent += chunk.length;
      if (!socket.write(chunk)) await once(socket, 'drain');
      moved += chunk.length;
      const aheadMs = (sent / bytesPerSecond) * 1000 - (performance.now() - began);
      if (aheadMs >= AHEAD_MS) await wait(aheadMs);
    }
    socket.write(CLOSING);
    await once(socket, 'close');
    if (!/^HTTP\/1.1 20[04]/.test(answer)) throw new Error(answer.slice(0, 400));
  }
  return bytes * times;
}
process.send!('ready');
process.on('disconnect', () => process.exit());
