import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { kill, start, withService } from '../crash/crash.ts';
import { ask, type Door } from '../fleet/doors.ts';
import { makeWriters } from '../fleet/writers.ts';
import { startListenProxy } from '../listen-proxy.ts';

const CLIENTS = 16;
const LOOK_MS = 10;

export interface SilenceResult {
  /** How long each revoked token was still accepted. */
  readonly revokedMs: readonly number[];
  /** After how long every client had written again, in each round. */
  readonly backMs: readonly number[];
}

/**
 * Two services on one PostgreSQL, one of them behind a proxy. First its listening connection falls silent while a token is
 * revoked at the other; then all connections that it has vanish, while new ones are answered.
 */
export function silence(rounds: number, say: (line: string) => void): Promise<SilenceResult> {
  return withService(async (env) => {
    const proxy = await startListenProxy(env['MODSTEAD_DATABASE_URL']!);
    const [behind, direct] = [
      await start({ ...env, MODSTEAD_DATABASE_URL: proxy.url, MODSTEAD_PROCESSES: '1' }),
      await start({ ...env, MODSTEAD_PROCESSES: '1' }),
    ];
    const agent = new Agent({ keepAlive: true });
    const doorOf = ({ port }: { port: number }): Door => ({ host: '127.0.0.1', port });
    const result = { revokedMs: [] as number[], backMs: [] as number[] };
    try {
      for (let round = 1; round <= rounds; round += 1) {
        const writers = await makeWriters({ ...env, MODSTEAD_PORT: '8443' }, CLIENTS);
        const { token } = writers.pop()!;
        const statusOf = async () =>
          (await ask(doorOf(behind), agent, { method: 'GET', path: '/v1/me', token }))?.status;
        if ((await statusOf()) !== 200) throw new Error('the token is not accepted');
        proxy.block();
        await ask(doorOf(direct), agent, { method: 'POST', path: '/v1/oauth/logout', token, body: '' });
        const revoked = performance.now();
        while ((await statusOf()) === 200) await pause(LOOK_MS);
        result.revokedMs.push(performance.now() - revoked);
        proxy.unblock();

        const writes = (body: string) =>
          Promise.all(writers.map((writer) => untilWritten(doorOf(behind), agent, writer, body)));
        await writes('summary=1');
        proxy.vanish('all');
        const vanished = performance.now();
        await writes('summary=2');
        result.backMs.push(performance.now() - vanished);
        const [lastRevoked, lastBack] = [result.revokedMs.at(-1)!, result.backMs.at(-1)!];
        say(`round ${round}: refused after ${Math.round(lastRevoked)} ms, written after ${Math.round(lastBack)} ms`);
      }
      return result;
    } finally {
      for (const { process } of [behind, direct]) await kill(process);
      agent.destroy();
      proxy.close();
    }
  });
}

async function untilWritten(
  door: Door,
  agent: Agent,
  { gameId, token }: { gameId: number; token: string },
  body: string,
): Promise<void> {
  const asked = { method: 'PUT', path: `/v1/games/${gameId}`, token, body };
  while ((await ask(door, agent, asked))?.status !== 200) await pause(LOOK_MS);
}
