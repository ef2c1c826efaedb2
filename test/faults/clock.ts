import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import { closeApp, composeApp, outsideOf } from '../../src/composition/compose.ts';
import { readSettings } from '../../src/platform/config/settings.ts';
import { kill, start, withService } from '../crash/crash.ts';
import { ask } from '../fleet/doors.ts';
import { makeSubscribers } from '../fleet/subscribers.ts';
import { makeUploaders } from '../fleet/uploaders.ts';

const PLAYERS = 50;
const AHEAD_SECONDS = 400 * 86_400;
const TABLES = ['access_tokens', 'user_events', 'mod_events'];
/** Jobs that a worker looked at while its clock was ahead are due again only then. */
export const LOOKED_AT = 'jobs looked at';

export interface ClockResult {
  /** Rows before and after, by table, and how many jobs a worker looked at. */
  readonly before: Readonly<Record<string, number>>;
  readonly after: Readonly<Record<string, number>>;
  /** Tokens that are not accepted once the clock is right again. */
  readonly refused: number;
}

/** The clock of a running service, and of one that starts meanwhile, is 400 days ahead for some seconds. */
export function clockJump(seconds: number, say: (line: string) => void): Promise<ClockResult> {
  return withService(async (plain) => {
    const env = { ...plain, MODSTEAD_PROCESSES: '1' };
    const agent = new Agent({ keepAlive: true });
    const service = await start(env);
    const door = { host: '127.0.0.1', port: service.port };
    try {
      const here = { ...env, MODSTEAD_PORT: '8443' };
      const { mod } = (await makeUploaders(here))[0]!;
      const players = await makeSubscribers(here, PLAYERS);
      for (const { token } of players)
        await ask(door, agent, { method: 'POST', path: `${mod}/subscribe`, token, body: '' });
      const before = await rowsIn(here);
      say(`${seconds} s with the clock ${AHEAD_SECONDS / 86_400} days ahead, over ${JSON.stringify(before)}`);
      service.process.send(AHEAD_SECONDS);
      const other = await start(env, AHEAD_SECONDS);
      await pause(seconds * 1_000);
      await kill(other.process);
      service.process.send(0);
      const after = await rowsIn(here);
      let refused = 0;
      for (const { token } of players)
        if ((await ask(door, agent, { method: 'GET', path: '/v1/me', token }))?.status !== 200) refused += 1;
      return { before, after, refused };
    } finally {
      await kill(service.process);
      agent.destroy();
    }
  });
}

async function rowsIn(env: NodeJS.ProcessEnv): Promise<Record<string, number>> {
  const settings = readSettings(env);
  const app = await composeApp(settings, 'production', outsideOf(settings));
  try {
    const rows: Record<string, number> = {};
    const count = async (name: string, from: RawBuilder<unknown>) => {
      const found = await sql<{ count: number }>`select count(*) as count from ${from}`.execute(app.db.query);
      rows[name] = Number(found.rows[0]!.count);
    };
    for (const table of TABLES) await count(table, sql`${sql.table(table)}`);
    const later = app.clock.now() + AHEAD_SECONDS / 2;
    await count(LOOKED_AT, sql`jobs where date_due > ${later}`);
    return rows;
  } finally {
    await closeApp(app);
  }
}
