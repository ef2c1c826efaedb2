import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** A process of its own that checks health ten times a second, each time on a new connection. */
export interface Probe {
  readonly ms: number;
  readonly status: string;
}

const port = Number(process.argv[2]);
let probes: Probe[] = [];
process.on('message', () => {
  process.send!(probes);
  probes = [];
});

const probe = (path: string) =>
  new Promise<Probe>((resolve) => {
    const began = performance.now();
    const socket = connect({ port, host: '127.0.0.1' });
    const end = (status: string) => {
      socket.destroy();
      resolve({ ms: performance.now() - began, status });
    };
    const request = `GET ${path} HTTP/1.1\r\nhost: localhost\r\naccept: application/json\r\nx-forwarded-proto: https\r\nconnection: close\r\n\r\n`;
    socket.on('connect', () => socket.write(request));
    socket.once('data', (bytes: Buffer) => end(bytes.toString('latin1', 9, 12)));
    socket.on('error', (error) => end(error.message));
  });

for (let i = 0; ; i += 1) {
  probes.push(await probe(i % 2 === 0 ? '/healthz' : '/readyz'));
  await wait(100);
}
