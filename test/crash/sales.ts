import { Agent } from 'node:http';
import type { Service } from '../../src/composition/compose.ts';
import { decideOverSeller, registerSeller } from '../../src/money/partners/sellers.ts';
import { acceptVersion } from '../../src/people/agreements/acceptances.ts';
import { requireCurrent } from '../../src/people/agreements/agreements.ts';
import { AGREEMENT_TYPES } from '../../src/people/agreements/types.ts';
import { OPERATOR } from '../../src/platform/access/caller.ts';
import { issueToken } from '../../src/platform/access/credentials.ts';
import type { App } from '../../src/platform/app.ts';
import { addClient } from '../../src/signin/oauth/clients.ts';
import { startAhead } from './ahead.ts';
import { checkSums, inspect, makeScene, PRICE, prepare, type Scene, SKU, send } from './checkouts.ts';
import { kill, type Running, start, withService } from './crash.ts';

type Step = 'intent' | 'commit' | 'clawback';
const NEXT: Readonly<Record<Step, Step>> = { intent: 'commit', commit: 'clawback', clawback: 'intent' };

/** A player for whom the backend reports a sale, commits it and claws it back, again and again. */
interface Player {
  readonly userId: number;
  readonly token: string;
  /** Half of the players buy a mod with the tokens. */
  readonly buysMod: boolean;
  delegation: string;
  sales: number;
  transactionId: number;
  /** The request that is sent next, or was sent and not acknowledged. */
  step: Step;
}

interface Shop {
  readonly scene: Scene;
  readonly client: { readonly client_id: number; readonly client_secret: string };
  readonly players: readonly Player[];
  /** The author of the mod asks for payouts. A request that was not acknowledged is repeated with its key. */
  readonly seller: { payouts: number; open: boolean };
}

export interface SaleCrashResult {
  readonly loops: number;
  readonly commits: number;
  readonly clawbacks: number;
  /** Sales that cleared, and payouts. */
  readonly cleared: number;
  readonly payouts: number;
  readonly problems: string[];
}

/**
 * Kills the service with -9 while a backend commits and claws back sales, a job clears them, and the seller is paid;
 * then nothing is half done.
 */
export function saleCrashLoop(loops: number, said: (line: string) => void = () => {}): Promise<SaleCrashResult> {
  return withService(async (plain) => {
    const env = { ...plain, MODSTEAD_PAYMENTS: 'simulated', MODSTEAD_PAYOUTS: 'simulated' };
    const shop = await prepare(env, makeShop);
    const problems: string[] = [];
    const counted = { intent: 0, commit: 0, clawback: 0 };
    const resume = async ({ port }: { readonly port: number }) => {
      const backend = await signIn(port, shop);
      problems.push(...(await repeatOpen(port, backend, shop)), ...(await compare(port, shop)));
      return backend;
    };
    for (let loop = 1; loop <= loops; loop += 1) {
      const service = await start(env, loop * 60);
      // Every second start is killed while the job clears what was sold before, and the seller asks for it.
      if (loop % 2 === 0) await payAndKill(service, shop, problems);
      else await sellUntilKilled(service, await resume(service), shop, counted);
      problems.push(...(await inspect(env, checkBooks)));
      const { commit, clawback } = counted;
      said(
        `kill ${loop} of ${loops}: ${commit} commits, ${clawback} clawbacks, ${shop.seller.payouts} payouts, ${problems.length} problems`,
      );
    }
    const service = await startAhead(env, (loops + 1) * 60);
    await resume(service);
    problems.push(...(await checkSums(service.apps.production)));
    const cleared = await countCleared(service.apps.production);
    await service.stop();
    const { payouts } = shop.seller;
    return { loops, commits: counted.commit, clawbacks: counted.clawback, cleared, payouts, problems };
  });
}

async function makeShop(service: Service): Promise<Shop> {
  const app = service.apps.production;
  const scene = await makeScene(service);
  await approveSeller(app, scene.sellerId);
  await allowPayouts(service.port, scene);
  return app.db.write(async (transaction) => {
    const grants = ['client_credentials'] as const;
    const { gameId } = scene;
    const client = await addClient(app, transaction, { gameId, name: 'Backend', redirectUris: [], grants });
    const players: Player[] = [];
    for (const [at, { userId }] of scene.buyers.entries()) {
      const { access_token: token } = await issueToken(app, transaction, { userId, gameId });
      const begun = { delegation: '', sales: 1, transactionId: 0, step: 'intent' } as const;
      players.push({ userId, token, buysMod: at % 2 === 0, ...begun });
    }
    return { scene, client, players, seller: { payouts: 0, open: false } };
  });
}

const DETAILS = { legal_name: 'Ada Lovelace', country: 'GB', payout_details: 'GB33 BUKB 2020 1555 5555 55' };

async function approveSeller(app: App, sellerId: number): Promise<void> {
  const { id } = await requireCurrent(app, AGREEMENT_TYPES.MONETIZATION);
  const seller = { ...OPERATOR, userId: sellerId, admin: false, staff: 0 };
  await acceptVersion(app, seller, id);
  await registerSeller(app, seller, DETAILS);
  await decideOverSeller(app, OPERATOR, sellerId, { status: 'approved', reason: '' });
}

/** Sales clear with the next run of the job, and every amount is paid out. */
async function allowPayouts(port: number, { gameId, studio }: Scene): Promise<void> {
  const path = `/v1/games/${gameId}/monetization/terms`;
  const { status, body } = await send(port, { token: studio }, 'PUT', path, 'hold_days=0&payout_min=1');
  if (status !== 200) throw new Error(body);
}

const checkBooks = async (app: App): Promise<string[]> => [...(await checkSums(app)), ...(await checkKeys(app))];

/** One key makes one payout. */
async function checkKeys({ db }: App): Promise<string[]> {
  const rows = await db.query
    .selectFrom('payouts')
    .select(['request_key'])
    .groupBy('request_key')
    .having(({ fn }) => fn.countAll(), '>', 1)
    .execute();
  return rows.map(({ request_key }) => `key ${request_key} made two payouts`);
}

const countCleared = async ({ db }: App): Promise<number> =>
  (await db.query.selectFrom('earnings').select('id').where('cleared_id', '>', 0).execute()).length;

/** Signs the backend in, and lets it act for the players; both end after a while. */
async function signIn(port: number, { client, players }: Shop): Promise<string> {
  const scope = 'read,write,monetization';
  const { client_id, client_secret } = client;
  const form = new URLSearchParams({
    client_id: `${client_id}`,
    client_secret,
    grant_type: 'client_credentials',
    scope,
  });
  const signedIn = await send(port, {}, 'POST', '/v1/oauth/token', String(form));
  if (signedIn.status !== 200) throw new Error(signedIn.body);
  for (const player of players) {
    const { status, body } = await send(port, player, 'POST', '/v1/me/s2s/oauth/token');
    if (status !== 200) throw new Error(body);
    player.delegation = JSON.parse(body).token;
  }
  return JSON.parse(signedIn.body).access_token;
}

const uuidOf = ({ userId, sales }: Player) => `sale-${userId}-${sales}`;

function formOf(player: Player, { scene }: Shop): string {
  const named = { portal: 'steam', gateway_uuid: uuidOf(player) };
  const mod = player.buysMod && { mod_id: String(scene.modId) };
  if (player.step === 'intent') return String(new URLSearchParams({ ...named, sku: SKU, ...mod }));
  if (player.step === 'commit') return `transaction_id=${player.transactionId}`;
  return String(new URLSearchParams({ ...named, refund_reason: 'Refunded by the store' }));
}

/** Sends the request of the player's step. An acknowledged one leads to the next step. */
async function sendStep(port: number, backend: string, player: Player, shop: Shop, agent?: Agent) {
  const path = `/v1/s2s/transactions/${player.step}`;
  const headers = { 'x-modio-delegation-token': player.delegation };
  const answer = await send(port, { token: backend, headers }, 'POST', path, formOf(player, shop), undefined, agent);
  if (answer.status !== 200) return answer;
  if (player.step === 'intent') player.transactionId = JSON.parse(answer.body).transaction_id;
  if (player.step === 'clawback') player.sales += 1;
  player.step = NEXT[player.step];
  return answer;
}

async function sellUntilKilled(service: Running, backend: string, shop: Shop, counted: Record<Step, number>) {
  const agent = new Agent({ keepAlive: true });
  const state = { killed: false, done: 0 };
  const enough = Promise.withResolvers<void>();
  const selling = shop.players.map(async (player) => {
    while (!state.killed) {
      const { step } = player;
      const answer = await sendStep(service.port, backend, player, shop, agent).catch(() => undefined);
      if (answer?.status !== 200) return;
      counted[step] += 1;
      state.done += 1;
      if (state.done > shop.players.length * 2) enough.resolve();
    }
  });
  await Promise.race([enough.promise, Promise.all(selling)]);
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 300));
  state.killed = true;
  await kill(service.process);
  await Promise.all(selling);
  agent.destroy();
}

const PAYING_MS = 1_500;

async function payAndKill({ port, process }: Running, shop: Shop, problems: string[]): Promise<void> {
  const state = { killed: false };
  const paying = (async () => {
    while (!state.killed) {
      const answer = await payOut(port, shop).catch(() => 'answered');
      if (answer !== 'answered') problems.push(`the seller asked for a payout: ${answer}`);
    }
  })();
  await new Promise((resolve) => setTimeout(resolve, Math.random() * PAYING_MS));
  state.killed = true;
  await kill(process);
  await paying;
}

/** Asks for everything that is available, which may be nothing. */
async function payOut(port: number, { scene, seller }: Shop): Promise<string> {
  seller.open = true;
  const path = `/v1/games/${scene.gameId}/monetization/payouts`;
  const form = `idempotent_key=${seller.payouts + 1}`;
  const { status, body } = await send(port, { token: scene.studio }, 'POST', path, form);
  seller.open = false;
  if (status === 200) seller.payouts += 1;
  return status === 200 || body.includes('900006') ? 'answered' : `${status} ${body}`;
}

/** A backend that lost an answer repeats the request, which succeeds whether or not it had been done. */
async function repeatOpen(port: number, backend: string, shop: Shop): Promise<string[]> {
  const problems: string[] = [];
  for (const player of shop.players) {
    const { step } = player;
    const { status, body } = await sendStep(port, backend, player, shop);
    if (status !== 200) problems.push(`user ${player.userId} repeated ${step}: ${status} ${body}`);
  }
  const answer = shop.seller.open ? await payOut(port, shop) : 'answered';
  return answer === 'answered' ? problems : [...problems, `the seller repeated a payout: ${answer}`];
}

/** Between a commit and its clawback the player has the tokens or the mod, and otherwise nothing. */
async function compare(port: number, { scene, players }: Shop): Promise<string[]> {
  const problems: string[] = [];
  for (const { userId, token, buysMod, step } of players) {
    const wallet = JSON.parse((await send(port, { token }, 'GET', `/v1/me/wallets?game_id=${scene.gameId}`)).body);
    const purchased = JSON.parse((await send(port, { token }, 'GET', '/v1/me/purchased')).body);
    const found = [wallet.balance, wallet.deficit, purchased.result_total].join();
    const isSold = step === 'clawback';
    const expected = [isSold && !buysMod ? PRICE : 0, 0, Number(isSold && buysMod)].join();
    if (found !== expected) problems.push(`user ${userId} has ${found} instead of ${expected} before ${step}`);
  }
  return problems;
}
