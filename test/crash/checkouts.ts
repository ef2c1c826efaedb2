import { Agent, request } from 'node:http';
import { addGame, applyGameChanges } from '../../src/catalogue/games/games.ts';
import { addMod } from '../../src/catalogue/mods/mods.ts';
import { closeApp, composeApp, outsideOf, type Service } from '../../src/composition/compose.ts';
import { verifyLedger } from '../../src/money/ledger/verification.ts';
import { addUser } from '../../src/people/users/users.ts';
import { issueToken } from '../../src/platform/access/credentials.ts';
import type { App } from '../../src/platform/app.ts';
import { readSettings } from '../../src/platform/config/settings.ts';
import { localiseLater } from '../../src/platform/localisation/texts.ts';
import { zipOf } from '../zips.ts';
import { startAhead } from './ahead.ts';
import { kill, type Running, start, withService } from './crash.ts';

const BUYERS = 16;
export const PRICE = 500;
export const SKU = 'coins';
const PACK_PRICE = 499;

/** A buyer buys the mod with money, returns it, and repeats this. One request is open at a time. */
interface Buyer {
  readonly userId: number;
  readonly token: string;
  /** What the last acknowledged request left. */
  owns: boolean;
  /** The request that was sent and not acknowledged: the next start repeats it with the same key. */
  open: { readonly path: string; readonly form: string } | undefined;
  attempts: number;
}

export interface CheckoutCrashResult {
  readonly loops: number;
  readonly purchases: number;
  readonly refunds: number;
  readonly problems: string[];
}

export interface Scene {
  readonly gameId: number;
  readonly modId: number;
  /** The author of the mod, and their token. */
  readonly sellerId: number;
  readonly studio: string;
  readonly buyers: readonly Buyer[];
}

/** Kills the service with -9 while 16 buyers pay and return a mod; then nothing is half done, and no answer is lost. */
export function checkoutCrashLoop(
  loops: number,
  said: (line: string) => void = () => {},
): Promise<CheckoutCrashResult> {
  return withService(async (plain) => {
    const env = { ...plain, MODSTEAD_PAYMENTS: 'simulated' };
    const scene = await prepare(env, makeScene);
    const problems: string[] = [];
    const counted = { purchases: 0, refunds: 0 };
    for (let loop = 1; loop <= loops; loop += 1) {
      const service = await start(env, loop * 60);
      problems.push(...(await repeatOpen(service.port, scene)), ...(await compareOwned(service.port, scene)));
      await buyUntilKilled(service, scene, counted);
      problems.push(...(await inspect(env, (app) => checkBooks(app, scene))));
      said(
        `kill ${loop} of ${loops}: ${counted.purchases} purchases, ${counted.refunds} returns, ${problems.length} problems`,
      );
    }
    const service = await startAhead(env, (loops + 1) * 60);
    problems.push(...(await repeatOpen(service.port, scene)), ...(await compareOwned(service.port, scene)));
    problems.push(...(await checkBooks(service.apps.production, scene)));
    await service.stop();
    return { loops, ...counted, problems };
  });
}

export async function inspect<T>(env: Record<string, string>, work: (app: App) => Promise<T>): Promise<T> {
  const settings = readSettings(env);
  const app = await composeApp(settings, 'production', outsideOf(settings));
  try {
    return await work(app);
  } finally {
    await closeApp(app);
  }
}

export const checkSums = async (app: App): Promise<readonly string[]> =>
  (await verifyLedger(app)).problems.map((problem) => localiseLater(problem, 'en'));

/** The books add up, and nobody paid for more than they have. */
async function checkBooks(app: App, { buyers }: Scene): Promise<string[]> {
  const problems = [...(await checkSums(app))];
  for (const { userId } of buyers) {
    const count = (table: 'purchases' | 'payments') =>
      app.db.query
        .selectFrom(table)
        .select(({ fn }) => fn.countAll().as('rows'))
        .where('user_id', '=', userId)
        .where('status', '=', 'paid')
        .executeTakeFirstOrThrow();
    const [owned, paid] = [Number((await count('purchases')).rows), Number((await count('payments')).rows)];
    // Between the payment and the purchase there is at most the one order that the next start completes.
    if (owned > 1 || paid > 1 || owned > paid)
      problems.push(`user ${userId} paid ${paid} times and owns ${owned} mods`);
  }
  return problems;
}

/** Adds with a service what is there before the first kill. */
export async function prepare<T>(env: Record<string, string>, work: (service: Service) => Promise<T>): Promise<T> {
  const service = await startAhead(env);
  try {
    return await work(service);
  } finally {
    await service.stop();
  }
}

export async function makeScene(service: Service): Promise<Scene> {
  const app = service.apps.production;
  const made = await app.db.write(async (transaction) => {
    const owner = await addUser(app, transaction, { username: 'Studio' });
    const game = await addGame(app, transaction, {
      name: 'Shop',
      ownerId: owner.id,
      accepted: true,
      summary: 'Sells',
    });
    await applyGameChanges(app, transaction, game.id, { monetization_options: 3, dependency_option: 2 }, 'en');
    const mod = await addMod(app, transaction, {
      gameId: game.id,
      ownerId: owner.id,
      name: 'Sword',
      summary: 'Sharp',
    });
    const tokenOf = async (userId: number) => (await issueToken(app, transaction, { userId })).access_token;
    const buyers: Buyer[] = [];
    for (let i = 0; i < BUYERS; i += 1) {
      const { id: userId } = await addUser(app, transaction, { username: `Buyer ${i}` });
      buyers.push({ userId, token: await tokenOf(userId), owns: false, open: undefined, attempts: 0 });
    }
    return { gameId: game.id, modId: mod.id, sellerId: owner.id, studio: await tokenOf(owner.id), buyers };
  });
  await offerMod(service.port, made);
  return made;
}

async function offerMod(port: number, made: Scene): Promise<void> {
  const asStudio = { token: made.studio };
  const must = async (method: string, path: string, form: string | Buffer, type?: string) => {
    const { status, body } = await send(port, asStudio, method, path, form, type);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${body}`);
    return JSON.parse(body) as { id: number };
  };
  const inGame = `/v1/games/${made.gameId}`;
  await must('PUT', `${inGame}/monetization/terms`, 'refunds_per_year=1000');
  const pack = await must(
    'POST',
    `${inGame}/monetization/token-packs`,
    `name=Pack&tokens=${PRICE}&price=${PACK_PRICE}&skus[]=steam%3D${SKU}`,
  );
  const ofMod = `${inGame}/mods/${made.modId}`;
  await must('POST', `${ofMod}/files`, ...fileForm(zipOf({ 'a.txt': 'sword' })));
  await must('PUT', ofMod, `tokenpack_id=${pack.id}&monetization_options=3`);
}

function fileForm(zip: Buffer): [Buffer, string] {
  const head = '--crash\r\nContent-Disposition: form-data; name="filedata"; filename="a.zip"\r\n\r\n';
  const body = Buffer.concat([Buffer.from(head), zip, Buffer.from('\r\n--crash--\r\n')]);
  return [body, 'multipart/form-data; boundary=crash'];
}

const pathOf = ({ gameId, modId }: Scene, what: 'checkout' | 'refund') => `/v1/games/${gameId}/mods/${modId}/${what}`;

function nextRequest(scene: Scene, buyer: Buyer): NonNullable<Buyer['open']> {
  if (buyer.owns) return { path: pathOf(scene, 'refund'), form: '' };
  buyer.attempts += 1;
  const key = `idempotent_key=${buyer.attempts}`;
  const form = `${key}&type=2&payment_method_id=simulated_paid&terms_accepted=true&refund_accepted=true`;
  return { path: pathOf(scene, 'checkout'), form };
}

async function buyUntilKilled(service: Running, scene: Scene, counted: { purchases: number; refunds: number }) {
  const agent = new Agent({ keepAlive: true });
  const state = { killed: false, done: 0 };
  const enough = Promise.withResolvers<void>();
  const buying = scene.buyers.map(async (buyer) => {
    while (!state.killed) {
      buyer.open = nextRequest(scene, buyer);
      const { path, form } = buyer.open;
      const answer = await send(service.port, buyer, 'POST', path, form, undefined, agent).catch(() => undefined);
      if (answer?.status !== 200) return;
      buyer.open = undefined;
      buyer.owns = !buyer.owns;
      counted[buyer.owns ? 'purchases' : 'refunds'] += 1;
      state.done += 1;
      if (state.done > BUYERS) enough.resolve();
    }
  });
  await Promise.race([enough.promise, Promise.all(buying)]);
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 300));
  state.killed = true;
  await kill(service.process);
  await Promise.all(buying);
  agent.destroy();
}

/** A client that lost an answer repeats the request: a checkout succeeds, and a return has happened or happens now. */
async function repeatOpen(port: number, scene: Scene): Promise<string[]> {
  const problems: string[] = [];
  for (const buyer of scene.buyers) {
    if (!buyer.open) continue;
    const { status, body } = await send(port, buyer, 'POST', buyer.open.path, buyer.open.form);
    const isReturned = buyer.owns && status === 422 && body.includes('900033');
    if (status !== 200 && !isReturned) problems.push(`user ${buyer.userId} repeated a request: ${status} ${body}`);
    buyer.owns = !buyer.owns;
    buyer.open = undefined;
  }
  return problems;
}

async function compareOwned(port: number, { buyers }: Scene): Promise<string[]> {
  const problems: string[] = [];
  for (const { userId, token, owns } of buyers) {
    const { body } = await send(port, { token }, 'GET', '/v1/me/purchased');
    const { result_total: total } = JSON.parse(body) as { result_total: number };
    if (total !== Number(owns)) problems.push(`user ${userId} owns ${total} mods instead of ${Number(owns)}`);
  }
  return problems;
}

interface Sender {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function send(
  port: number,
  { token, headers: further }: Sender,
  method: string,
  path: string,
  form?: string | Buffer,
  type = 'application/x-www-form-urlencoded',
  agent?: Agent,
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const headers: Record<string, string> = { 'x-forwarded-proto': 'https', ...further };
    if (token) headers['authorization'] = `Bearer ${token}`;
    if (form) headers['content-type'] = type;
    const sent = request({ port, host: '127.0.0.1', ...(agent && { agent }), method, path, headers }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(form);
  });
}
