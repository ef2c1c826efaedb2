import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { addGame } from '../../src/catalogue/games/games.ts';
import { addMod } from '../../src/catalogue/mods/mods.ts';
import { closeApp, composeApp, outsideOf } from '../../src/composition/compose.ts';
import { addUser } from '../../src/people/users/users.ts';
import type { UserCaller } from '../../src/platform/access/caller.ts';
import { issueToken } from '../../src/platform/access/credentials.ts';
import { readSettings } from '../../src/platform/config/settings.ts';
import { addWebhook } from '../../src/studio/webhooks/webhooks.ts';
import { startAhead } from './ahead.ts';
import { kill, type Running, start, withService } from './crash.ts';

const MODS = 4;
/** Per mod and loop. */
const EDITS_MAX = 25;
const RECEIVED_BEFORE_KILL = 8;
/** After this time the leases of a killed service have expired, and retries are due. */
const LEASES_SECONDS = 30;

export interface WebhookCrashResult {
  readonly acknowledged: number;
  /** The number of received messages, including repeated ones. */
  readonly received: number;
  readonly lost: string[];
  readonly disordered: string[];
}

/** The events that a studio received per subject, in order of arrival. */
type Received = Map<string, number[]>;

interface Studio {
  readonly game: string;
  readonly webhook: string;
  readonly token: string;
  readonly mods: readonly { readonly id: number; acknowledged: number }[];
}

/**
 * Kills the service with -9 while clients edit mods and a receiver, which fails sometimes, gets the events. In the end it
 * must have received every acknowledged edit, in order per mod.
 */
export function webhookCrashLoop(loops: number): Promise<WebhookCrashResult> {
  return withService(async (env) => {
    const receiver = await aReceiver();
    const settings = { ...env, MODSTEAD_EGRESS_ALLOW: '127.0.0.1/32' };
    const studio = await makeStudio(settings, receiver.url);
    try {
      for (let loop = 1; loop <= loops; loop += 1) {
        const service = await start(settings, (loop - 1) * LEASES_SECONDS);
        await editUntilKilled(service, studio, receiver.receives(RECEIVED_BEFORE_KILL));
      }
      receiver.recover();
      const service = await startAhead(settings, loops * LEASES_SECONDS);
      await untilAllIsDelivered(service.port, studio);
      await service.stop();
      return resultOf(studio, receiver.received);
    } finally {
      receiver.close();
    }
  });
}

/** Accepts messages with a delay, and refuses every fifth. */
async function aReceiver() {
  const received: Received = new Map();
  const state = { messages: 0, fails: true };
  const came = new EventEmitter();
  const server = createServer((message, response) => {
    let text = '';
    message.on('data', (chunk) => (text += chunk));
    message.on('end', () => {
      const { id, subject } = JSON.parse(text) as { id: number; subject: string };
      received.set(subject, [...(received.get(subject) ?? []), id]);
      state.messages += 1;
      came.emit('message');
      response.statusCode = state.fails && state.messages % 5 === 0 ? 500 : 200;
      setImmediate(() => response.end());
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    received,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    recover: () => (state.fails = false),
    /** Resolves after this many further messages. */
    receives: async (more: number) => {
      for (let i = 0; i < more; i += 1) await once(came, 'message');
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function makeStudio(env: Record<string, string>, url: string): Promise<Studio> {
  const settings = readSettings(env);
  const app = await composeApp(settings, 'production', outsideOf(settings));
  const made = await app.db.write(async (transaction) => {
    const owner = await addUser(app, transaction, { username: 'Crash' });
    const game = await addGame(app, transaction, { name: 'Crash', ownerId: owner.id, accepted: true });
    const mods = [];
    for (let i = 0; i < MODS; i += 1) {
      const mod = { name: `Crash ${i}`, summary: '0', accepted: true, ownerId: owner.id, gameId: game.id };
      mods.push({ id: (await addMod(app, transaction, mod)).id, acknowledged: 0 });
    }
    const { access_token } = await issueToken(app, transaction, { userId: owner.id });
    return { owner, game, mods, token: access_token };
  });
  const { webhook } = await addWebhook(app, ownerCaller(made.owner.id), made.game.id, {
    name: 'Studio',
    url,
    kinds: ['MOD_EDITED'],
    isActive: true,
  });
  await closeApp(app);
  const game = `/v1/games/${made.game.id}`;
  return { game, webhook: `${game}/webhooks/${webhook.id}`, token: made.token, mods: made.mods };
}

const ownerCaller = (userId: number): UserCaller => ({
  kind: 'user',
  userId,
  tokenId: 0,
  scopes: ['read', 'write'],
  gameId: undefined,
  admin: false,
  language: 'en',
  dateExpires: Number.POSITIVE_INFINITY,
  inTeams: true,
});

async function editUntilKilled(service: Running, { game, token, mods }: Studio, enough: Promise<void>): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  const state = { killed: false };
  const editing = mods.map(async (mod) => {
    for (let edits = 0; edits < EDITS_MAX && !state.killed; edits += 1) {
      const path = `${game}/mods/${mod.id}`;
      const body = `summary=${randomUUID()}`;
      const answer = await send(service.port, agent, 'PUT', path, token, body).catch(() => undefined);
      if (answer?.status !== 200) return;
      mod.acknowledged += 1;
    }
  });
  await enough;
  state.killed = true;
  await kill(service.process);
  await Promise.all(editing);
  agent.destroy();
}

/** Never resolves if a delivery is lost; the test's time limit then fails it. */
async function untilAllIsDelivered(port: number, { webhook, token }: Studio): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  const isLeft = async () => {
    const path = `${webhook}/deliveries?_limit=1&state-not=delivered`;
    const { body } = await send(port, agent, 'GET', path, token);
    return (JSON.parse(body) as { result_total: number }).result_total > 0;
  };
  while (await isLeft()) await new Promise((resolve) => setTimeout(resolve, 50));
  agent.destroy();
}

function resultOf({ mods }: Studio, received: Received): WebhookCrashResult {
  const lost: string[] = [];
  const disordered: string[] = [];
  for (const { id, acknowledged } of mods) {
    const ids = received.get(`mods/${id}`) ?? [];
    const first = [...new Set(ids)];
    if (first.length < acknowledged) lost.push(`mod ${id}: ${acknowledged} acknowledged, ${first.length} received`);
    if (first.some((each, index) => index > 0 && each < first[index - 1]!)) disordered.push(`mod ${id}: ${first}`);
  }
  return {
    acknowledged: mods.reduce((sum, mod) => sum + mod.acknowledged, 0),
    received: [...received.values()].reduce((sum, ids) => sum + ids.length, 0),
    lost,
    disordered,
  };
}

function send(
  port: number,
  agent: Agent,
  method: string,
  path: string,
  token: string,
  body?: string,
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const headers: Record<string, string> = { 'x-forwarded-proto': 'https', authorization: `Bearer ${token}` };
    if (body) headers['content-type'] = 'application/x-www-form-urlencoded';
    const sent = request({ port, host: '127.0.0.1', agent, method, path, headers }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
