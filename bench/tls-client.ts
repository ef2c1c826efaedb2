import { connect } from 'node:tls';

export interface Handshakes {
  readonly connections: number;
  readonly resumed: number;
}

interface Order {
  readonly port: number;
  readonly path: string;
  readonly milliseconds: number;
  readonly returning: boolean;
  readonly ca: string;
}

const AT_ONCE = 16;

/** The same key exchange with every server: new versions of OpenSSL prefer one that costs more and that older ones lack. */
const CONNECTION = { host: '127.0.0.1', servername: 'localhost', ecdhCurve: 'X25519' };

/** The newest tickets of each server, for clients that return. */
const tickets = new Map<number, Buffer[]>();

/** Opens connections for one request each, from a process of its own. */
async function handshakes({ port, path, milliseconds, returning, ca }: Order): Promise<Handshakes> {
  const end = performance.now() + milliseconds;
  let connections = 0;
  let resumed = 0;
  const once = (session?: Buffer): Promise<Buffer | undefined> =>
    new Promise((resolve, reject) => {
      const socket = connect({ ...CONNECTION, port, ca, ...(session && { session }) });
      let ticket: Buffer | undefined;
      let answer = '';
      socket.on('secureConnect', () => {
        if (socket.isSessionReused()) resumed += 1;
        socket.write(
          `GET ${path} HTTP/1.1\r\nhost: localhost\r\naccept: application/json\r\nconnection: close\r\n\r\n`,
        );
      });
      socket.on('session', (one: Buffer) => {
        ticket = one;
      });
      socket.on('data', (bytes: Buffer) => {
        answer += bytes.toString('latin1');
      });
      socket.on('error', reject);
      socket.on('close', () => {
        if (!answer.startsWith('HTTP/1.1 200')) return reject(new Error(`answered ${answer}`));
        connections += 1;
        resolve(ticket);
      });
    });
  const known = tickets.get(port) ?? [];
  tickets.set(port, known);
  const loop = async (_: unknown, place: number) => {
    if (returning) known[place] ??= await first();
    while (performance.now() < end) {
      const ticket = await once(returning ? known[place] : undefined);
      if (returning && ticket) known[place] = ticket;
    }
  };
  const first = async (): Promise<Buffer> => {
    const ticket = await once();
    if (!ticket) throw new Error('the server sent no ticket');
    connections -= 1;
    return ticket;
  };
  await Promise.all(Array.from({ length: AT_ONCE }, loop));
  return { connections, resumed };
}

process.on('message', async (order: Order) => process.send!(await handshakes(order)));
process.on('disconnect', () => process.exit());
process.send!('ready');
