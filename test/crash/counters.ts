import { Agent, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { addGame } from '../../src/catalogue/games/games.ts';
import { addMod } from '../../src/catalogue/mods/mods.ts';
import { closeApp, composeApp, outsideOf } from '../../src/composition/compose.ts';
import { addModfile } from '../../src/files/modfiles/modfiles.ts';
import { addUser } from '../../src/people/users/users.ts';
import type { UserCaller } from '../../src/platform/access/caller.ts';
import { issueToken } from '../../src/platform/access/credentials.ts';
import type { App } from '../../src/platform/app.ts';
import { readSettings } from '../../src/platform/config/settings.ts';
import { zipOf } from '../zips.ts';
import { kill, type Running, start, withService } from './crash.ts';

const MODS = 6;
const WRITERS = 16;

export interface StormOptions {
  readonly writes: number;
  readonly kills: number;
  /** Counters must be right this long after the last write. */
  readonly settleMs: number;
}

export interface StormResult {
  readonly acknowledged: number;
  readonly kills: number;
  /** Counters that differed from a recount, after the time in which they must settle. */
  readonly wrong: string[];
  readonly settledMs: number;
}

interface Scene {
  readonly game: number;
  readonly mods: readonly number[];
  readonly people: readonly { readonly id: number; readonly token: string }[];
}

/**
 * Random writes of many clients to two services on one PostgreSQL, or to one service on SQLite, where two would wait for the
 * file. Now and then a service is killed with -9 and started again. Afterwards every counter must equal a recount within seconds.
 */
export function counterStorm(options: StormOptions, said: (line: string) => void = () => {}) {
  return withService(async (env): Promise<StormResult> => {
    const settings = readSettings(env);
    const app = await composeApp(settings, 'production', outsideOf(settings));
    const services: Running[] = [];
    try {
      const scene = await aScene(app);
      const count = app.db.dialect === 'postgres' ? 2 : 1;
      for (let i = 0; i < count; i += 1) services.push(await start(env));
      const acknowledged = await storm(env, services, scene, options, said);
      const { wrong, settledMs } = await untilRight(app, options.settleMs);
      return { acknowledged, kills: options.kills, wrong, settledMs };
    } finally {
      for (const service of services) await kill(service.process);
      await closeApp(app);
    }
  });
}

async function aScene(app: App): Promise<Scene> {
  const owner = await app.db.write((transaction) => addUser(app, transaction, { username: 'Owner' }));
  const scene = await app.db.write(async (transaction) => {
    const game = await addGame(app, transaction, {
      name: 'Storm',
      ownerId: owner.id,
      accepted: true,
      tagGroups: [{ name: 'Kind', type: 'checkboxes', tags: ['Map'] }],
    });
    const mods: number[] = [];
    for (let i = 0; i < MODS; i += 1) {
      const mod = { name: `Storm mod ${i}`, summary: 'Counted', accepted: true, gameId: game.id, ownerId: owner.id };
      mods.push((await addMod(app, transaction, mod)).id);
    }
    const people: { id: number; token: string }[] = [];
    for (let i = 0; i < WRITERS; i += 1) {
      const { id } = await addUser(app, transaction, { username: `Writer ${i}` });
      people.push({ id, token: (await issueToken(app, transaction, { userId: id })).access_token });
    }
    return { game: game.id, mods, people };
  });
  const caller: UserCaller = {
    kind: 'user',
    userId: owner.id,
    tokenId: 0,
    scopes: ['read', 'write'],
    gameId: undefined,
    admin: false,
    language: 'en',
    dateExpires: Number.POSITIVE_INFINITY,
    inTeams: true,
  };
  for (const modId of scene.mods) {
    const key = `incoming/${app.random.uuid()}`;
    const archive = zipOf({ 'readme.txt': `mod ${modId}` });
    const received = { key, filename: 'mod.zip', ...(await app.storage.put(key, archive)) };
    await addModfile(app, caller, { gameId: scene.game, modId }, received, { active: true });
  }
  return scene;
}

async function storm(
  env: Record<string, string>,
  services: Running[],
  scene: Scene,
  { writes, kills }: StormOptions,
  said: (line: string) => void,
): Promise<number> {
  const agent = new Agent({ keepAlive: true });
  const share = writes / kills;
  let [acknowledged, done] = [0, 0];
  let restart: Promise<void> | undefined;
  const killAndStart = async () => {
    const place = done % services.length;
    await kill(services[place]!.process);
    services[place] = await start(env);
    done += 1;
    restart = undefined;
    said(`${done} of ${kills} kills, ${acknowledged} writes acknowledged`);
  };
  // Half of the writes of a kill come before it, and a quarter each during and after the restart.
  const writing = scene.people.map(async (person) => {
    while (acknowledged < writes) {
      if (acknowledged >= (done + 0.75) * share) await restart;
      const service = services[Math.floor(Math.random() * services.length)]!;
      const status = await send(service.port, agent, person.token, aWrite(scene, person.id)).catch(() => undefined);
      if (status === undefined) await wait(20);
      else if (status < 300) acknowledged += 1;
      else if (status >= 500 && status !== 503) throw new Error(`a write was answered with ${status}`);
      if (done < kills && acknowledged >= (done + 0.5) * share) restart ??= killAndStart();
    }
  });
  await Promise.all(writing);
  await restart;
  agent.destroy();
  return acknowledged;
}

const pick = <T>(from: readonly T[]): T => from[Math.floor(Math.random() * from.length)]!;
let comments = 0;

interface Write {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
}

function aWrite({ game, mods, people }: Scene, userId: number): Write {
  const mod = `/v1/games/${game}/mods/${pick(mods)}`;
  comments += 1;
  return pick<Write>([
    { method: 'POST', path: `${mod}/subscribe` },
    { method: 'DELETE', path: `${mod}/subscribe` },
    { method: 'POST', path: `${mod}/ratings`, body: `rating=${pick([-1, 0, 1])}` },
    { method: 'POST', path: `${mod}/ratings`, body: `rating=${pick([-1, 0, 1])}` },
    { method: 'POST', path: `${mod}/comments`, body: `content=Comment+${process.pid}+${comments}` },
    { method: 'POST', path: `/v1/users/${userId}/following`, body: `user_id=${pick(people).id}` },
    { method: 'DELETE', path: `/v1/users/${userId}/following/${pick(people).id}` },
  ]);
}

function send(port: number, agent: Agent, token: string, { method, path, body }: Write): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers: Record<string, string> = { 'x-forwarded-proto': 'https', authorization: `Bearer ${token}` };
    if (body) headers['content-type'] = 'application/x-www-form-urlencoded';
    const sent = request({ port, host: '127.0.0.1', agent, method, path, headers }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

async function untilRight(app: App, settleMs: number): Promise<{ wrong: string[]; settledMs: number }> {
  const began = performance.now();
  for (;;) {
    const wrong = await wrongCounters(app);
    const settledMs = performance.now() - began;
    if (wrong.length === 0 || settledMs > settleMs) return { wrong, settledMs };
    await wait(100);
  }
}

const OF_MOD = "resource = 'mods' and resource_id = m.id";
/** Lists sort a mod anew when its popularity has moved by one part in a hundred. */
const POPULARITY = '(s.downloads_today * 10 + s.subscribers_total + s.ratings_weighted_aggregate * 10)';
/** Each query returns the counters that differ from a recount. */
const CHECKS: Readonly<Record<string, string>> = {
  'stats of mods': `select m.id from mods m join mod_stats s on s.mod_id = m.id
    where s.subscribers_total <> (select count(*) from subscriptions where mod_id = m.id)
      or s.ratings_positive <> (select count(*) from ratings where ${OF_MOD} and rating = 1)
      or s.ratings_negative <> (select count(*) from ratings where ${OF_MOD} and rating = -1)
      or s.ratings_total <> s.ratings_positive + s.ratings_negative`,
  'sorted columns of mods': `select m.id from mods m join mod_stats s on s.mod_id = m.id
    where m.subscribers_total <> s.subscribers_total or m.ratings_weighted_aggregate <> s.ratings_weighted_aggregate
      or abs(m.popularity - ${POPULARITY}) > 0.000001 + 0.01 * (case when m.popularity > ${POPULARITY} then m.popularity else ${POPULARITY} end)`,
  'words of mods': 'select m.id from mods m join mod_words w on w.mod_id = m.id where w.popularity <> m.popularity',
  'tags of mods': 'select m.id from mods m join mod_tags t on t.mod_id = m.id where t.popularity <> m.popularity',
  'stats of games': `select g.game_id as id from game_stats g where g.mods_subscribers_total <>
    (select count(*) from subscriptions s join mods m on m.id = s.mod_id where m.game_id = g.game_id)`,
  'days of games': `select g.id from games g where
    (select coalesce(sum(d.subscribers), 0) from metrics_days d where d.game_id = g.id) <>
      (select count(*) from subscriptions s join mods m on m.id = s.mod_id where m.game_id = g.id)
    or (select coalesce(sum(d.ratings_positive), 0) from metrics_days d where d.game_id = g.id) <>
      (select count(*) from ratings r where r.game_id = g.id and r.rating = 1)
    or (select coalesce(sum(d.active_users), 0) from metrics_days d where d.game_id = g.id) <>
      (select count(*) from metrics_active a where a.game_id = g.id and a.counted = 1)`,
  'months of mods': `select m.id from mods m where
    (select coalesce(sum(d.subscribers), 0) from metrics_mod_months d where d.mod_id = m.id) <>
      (select count(*) from subscriptions s where s.mod_id = m.id)`,
  'events of studios': `select g.id from games g where
    (select count(*) from studio_events e where e.game_id = g.id and e.kind in ('USER_SUBSCRIBE', 'USER_UNSUBSCRIBE')) <>
      (select count(*) from user_events e where e.game_id = g.id
        and e.event_type in ('USER_SUBSCRIBE', 'USER_UNSUBSCRIBE'))`,
};

async function wrongCounters({ db }: App): Promise<string[]> {
  const wrong: string[] = [];
  for (const [name, check] of Object.entries(CHECKS)) {
    const { rows } = await sql<{ id: number }>`${sql.raw(check)}`.execute(db.query);
    if (rows.length > 0) wrong.push(`${name}: ${rows.map(({ id }) => id).join(', ')}`);
  }
  return wrong;
}
