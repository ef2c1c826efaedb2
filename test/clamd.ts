import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EICAR } from './zips.ts';

/** How the stand-in differs from clamd. */
export interface ClamdBehaviour {
  streamBytesMax?: number;
  /** Replaces the reply; a reply without a final NUL is incomplete. */
  answer?: string;
  /** Stops responding, or closes the connection, after this many commands or bytes of a stream. */
  silent?: boolean;
  hangsUp?: boolean;
}

export interface ClamdStub {
  readonly address: string;
  readonly streams: Buffer[];
}

/** The test or test file after which the server stops. */
interface Ending {
  after(work: () => void): void;
}

/** A clamd with one signature, on a real socket. */
export async function startClamdStub(
  t: Ending,
  manner: ClamdBehaviour = {},
  over: 'unix' | 'tcp' = 'unix',
): Promise<ClamdStub> {
  const streams: Buffer[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    converse(socket, manner, streams);
  });
  const folder = mkdtempSync(join(tmpdir(), 'modstead-clamd-'));
  const path = join(folder, 'clamd');
  await new Promise<void>((resolve) => {
    if (over === 'unix') server.listen(path, resolve);
    else server.listen(0, '127.0.0.1', resolve);
  });
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const at = server.address();
  return { address: typeof at === 'string' ? `unix:${at}` : `tcp://127.0.0.1:${at!.port}`, streams };
}

function converse(socket: Socket, manner: ClamdBehaviour, streams: Buffer[]): void {
  let pending = Buffer.alloc(0);
  let stream: Buffer[] | undefined;
  const say = (text: string) => {
    if (manner.silent) return;
    if (manner.hangsUp) socket.destroy();
    else socket.end(manner.answer ?? `${text}\0`);
  };
  const command = () => {
    const end = pending.indexOf(0);
    if (end === -1) return false;
    const name = pending.toString('latin1', 0, end);
    pending = pending.subarray(end + 1);
    if (name === 'zPING') say('PONG');
    else if (name === 'zVERSION') say('ClamAV 1.4.6/27000/Sun Nov 15 2026');
    else if (name === 'zINSTREAM') stream = [];
    else say('UNKNOWN COMMAND');
    return true;
  };
  const piece = (sent: Buffer[]) => {
    const length = pending.length < 4 ? Infinity : pending.readUInt32BE(0);
    if (pending.length < 4 + length) return false;
    sent.push(Buffer.from(pending.subarray(4, 4 + length)));
    pending = pending.subarray(4 + length);
    const whole = Buffer.concat(sent);
    if (whole.length > (manner.streamBytesMax ?? Infinity)) say('INSTREAM size limit exceeded. ERROR');
    if (length > 0) return true;
    streams.push(whole);
    say(whole.includes(EICAR) ? 'stream: Eicar-Signature FOUND' : 'stream: OK');
    return false;
  };
  socket.on('data', (data: Buffer) => {
    pending = Buffer.concat([pending, data]);
    while (stream ? piece(stream) : command());
  });
}
