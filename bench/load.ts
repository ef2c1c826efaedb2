import { connect, type Socket } from 'node:net';

export interface Load {
  readonly port: number;
  /** Whole requests as bytes; each connection sends the next one after the previous response is complete. */
  readonly requests: (connection: number) => Buffer;
  readonly connections: number;
  readonly milliseconds: number;
  /** Counts responses other than 2xx instead of failing on them. */
  readonly refusals?: { count: number };
}

export interface Measured {
  readonly answers: number;
  readonly seconds: number;
  readonly latencies: number[];
}

/**
 * Sends requests at a fixed rate, however slow the responses are. The latency includes the time that a request waits
 * for a free connection.
 */
export async function steadyLoad({
  port,
  request,
  perSecond,
  milliseconds,
}: {
  readonly port: number;
  readonly request: Buffer;
  readonly perSecond: number;
  readonly milliseconds: number;
}): Promise<number[]> {
  const latencies: number[] = [];
  const asked = await Promise.all(Array.from({ length: STEADY_CONNECTIONS }, () => openAsked(port)));
  const idle = [...asked];
  const due: number[] = [];
  const send = (connection: Asked, at: number) =>
    connection.ask(request, () => {
      latencies.push(performance.now() - at);
      const next = due.shift();
      if (next === undefined) idle.push(connection);
      else send(connection, next);
    });
  const started = performance.now();
  let count = 0;
  await new Promise<void>((resolve) => {
    const ticking = setInterval(() => {
      const elapsed = performance.now() - started;
      for (; count < (elapsed / 1000) * perSecond; count += 1) {
        const connection = idle.pop();
        if (connection) send(connection, performance.now());
        else due.push(performance.now());
      }
      if (elapsed < milliseconds || latencies.length < count) return;
      clearInterval(ticking);
      resolve();
    }, 1);
  });
  for (const connection of asked) connection.end();
  return latencies.sort((a, b) => a - b);
}

const STEADY_CONNECTIONS = 32;

interface Asked {
  ask(request: Buffer, done: () => void): void;
  end(): void;
}

function openAsked(port: number): Promise<Asked> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let done = () => {};
    let answer = '';
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString('latin1');
      const gap = answer.indexOf('\r\n\r\n');
      if (gap === -1) return;
      if (!answer.startsWith('HTTP/1.1 200')) throw new Error(answer.slice(0, 400));
      if (answer.length < gap + 4 + Number(/content-length: (\d+)/i.exec(answer)![1])) return;
      answer = '';
      done();
    });
    socket.on('error', reject);
    socket.on('connect', () =>
      resolve({
        ask: (request, answered) => {
          done = answered;
          socket.write(request);
        },
        end: () => socket.destroy(),
      }),
    );
  });
}

/** Keeps connections busy. It parses only the length of a response, so that the load generator costs little itself. */
export async function load({ port, requests, connections, milliseconds, refusals }: Load): Promise<Measured> {
  const latencies: number[] = [];
  const started = performance.now();
  const end = started + milliseconds;
  const counts = await Promise.all(
    Array.from({ length: connections }, (_, index) => drive(port, index, requests, end, latencies, refusals)),
  );
  return {
    answers: counts.reduce((sum, count) => sum + count, 0),
    seconds: (performance.now() - started) / 1000,
    latencies,
  };
}

function drive(
  port: number,
  index: number,
  requests: Load['requests'],
  end: number,
  latencies: number[],
  refusals?: { count: number },
): Promise<number> {
  return new Promise((resolve, reject) => {
    let answers = 0;
    /** A server may close the connection after a response; the next request then uses a new one. */
    const open = () => {
      const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true });
      let missing = 0;
      let head: Buffer = Buffer.alloc(0);
      let sent = 0;
      let isLast = false;
      let isRefused = false;
      let isOver = false;
      const next = () => {
        sent = performance.now();
        socket.write(requests(index));
      };
      const done = () => {
        if (isRefused) refusals!.count += 1;
        else answers += 1;
        latencies.push(performance.now() - sent);
        isOver = performance.now() >= end || isLast;
        if (!isOver) return next();
        socket.end();
        if (performance.now() >= end) resolve(answers);
        else open();
      };
      socket.on('connect', next);
      socket.on('error', reject);
      socket.on('close', () => {
        if (!isOver) reject(new Error('the connection was closed without an answer'));
      });
      socket.on('data', (chunk: Buffer) => {
        if (missing === 0) {
          head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
          const gap = head.indexOf('\r\n\r\n');
          if (gap === -1) return;
          const text = head.toString('latin1', 0, gap);
          const status = text.slice(9, 12);
          isRefused = status[0] !== '2';
          if (isRefused && !refusals)
            return void reject(new Error(`answered ${text}\n${head.toString('utf8', gap).slice(0, 400)}`));
          isLast = /\r\nconnection: close/i.test(text);
          const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
          missing = gap + 4 + length - head.length;
          head = Buffer.alloc(0);
        } else missing -= chunk.length;
        if (missing === 0) done();
      });
    };
    open();
  });
}
