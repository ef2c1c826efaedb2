import { type GameRow, gameRowIn } from '../../catalogue/games/games.ts';
import { lockMods, type ModRow } from '../../catalogue/mods/mods.ts';
import { findUserIn, requireUserIn, USER_ACTIVE, type UserRow } from '../../people/users/users.ts';
import type { ServiceCaller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { lock, takeAdvisoryLock } from '../../platform/database/locks.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import type { LaterText } from '../../platform/localisation/texts.ts';
import type { Portal } from '../../platform/vocabulary/game-platforms.ts';
import { audit } from '../../records/audit/audit.ts';
import { requireBuyer } from '../../signin/oauth/delegation.ts';
import { type Cause, insufficientFunds } from '../ledger/ledger.ts';
import { findPackBySku, type PackRow, sellsInPortal } from '../packs/packs.ts';
import { answerOnce } from '../purchases/keys.ts';
import { requireBuyable } from '../purchases/purchases.ts';
import { revokePurchase } from '../purchases/refunds.ts';
import { requireInStock, sell } from '../purchases/selling.ts';
import { requireSelling } from '../terms/switches.ts';
import { taxedPrice, termsOf, termsOfDay } from '../terms/terms.ts';
import { creditTokens, takeTokensBack } from '../wallets/token-sales.ts';
import { tokensOwned } from '../wallets/wallets.ts';
import * as store from './store.ts';

export type { TransactionRow } from './store.ts';

const DAY = 86_400;
/** An intent that nobody commits within this time has failed. */
const INTENT_SECONDS = DAY;

const OPERATIONS = {
  begin: 's-2-s-transaction-intent',
  commit: 's-2-s-transaction-commit',
  abandon: 's-2-s-transaction-abandon',
  clawback: 's-2-s-transaction-clawback',
} as const;

type Respond = (transaction: Transaction, row: store.TransactionRow) => Promise<string>;

const refusedField = (error: ErrorName, field: string, rule: 'invalid' | 'taken' | 'not_refundable' = 'invalid') =>
  new ApiError(error, { fields: [{ field, rule }] });

/** The buyer as the rules of mods and purchases know them. Their token is one of a sign-in in the game. */
const buyerOf = (user: UserRow, { tokenId, gameId, dateExpires }: ServiceCaller): UserCaller => ({
  kind: 'user',
  userId: user.id,
  tokenId,
  scopes: ['read', 'write'],
  gameId,
  admin: false,
  language: user.language,
  dateExpires,
  inTeams: true,
});

export interface Intent {
  readonly delegationToken: string | undefined;
  readonly portal: Portal | undefined;
  readonly sku: string;
  /** The backend's own id of the sale. */
  readonly gatewayUuid: string | undefined;
  /** A mod that the tokens buy at once. */
  readonly modId: number | undefined;
  readonly key: string | undefined;
}

/** The backend announces a sale, before it consumes what the player bought in the store. */
export async function beginTransaction(
  app: App,
  caller: ServiceCaller,
  intent: Intent,
  respond: Respond,
): Promise<string> {
  const { portal, sku, gatewayUuid, modId = 0, key } = intent;
  const user = await requireBuyer(app, caller, intent.delegationToken);
  if (!portal) throw refusedField('MONETIZATION_PORTAL_INVALID', 'portal');
  return app.db.write(async (transaction) => {
    await lockBuyer(transaction, caller, user.id);
    const game = await gameRowIn(transaction, caller.gameId);
    requireSelling(app, game);
    const mod = modId === 0 ? undefined : (await lockMods(transaction, [modId])).get(modId);
    const work = async () => {
      const known = await knownSale(app, transaction, intent, user, { gameId: game.id, portal });
      if (known) return respond(transaction, known);
      const pack = await findPackBySku(transaction, game.id, portal, sku);
      if (!pack) throw await unknownSku(transaction, game.id, portal);
      if (modId !== 0) await requireAffordable(transaction, buyerOf(user, caller), game, mod, pack);
      const row = await addIntent(app, transaction, caller, { ...intent, portal }, user, pack, mod?.price ?? 0);
      return respond(transaction, row);
    };
    const sent = [sku, portal, gatewayUuid ?? '', modId];
    return once(
      app,
      transaction,
      { user_id: user.id, game_id: game.id, mod_id: modId },
      OPERATIONS.begin,
      key,
      sent,
      work,
    );
  });
}

/** With a key, a repeated request gets the first response. */
function once(
  app: App,
  transaction: Transaction,
  { user_id, game_id, mod_id }: Pick<store.TransactionRow, 'user_id' | 'game_id' | 'mod_id'>,
  operation: string,
  key: string | undefined,
  sent: readonly unknown[],
  work: () => Promise<string>,
): Promise<string> {
  if (!key) return work();
  const name = { user_id, game_id, operation, request_key: key };
  const digest = app.secrets.digest(JSON.stringify(sent));
  return answerOnce(app, transaction, { name, digest, modId: mod_id }, work);
}

/** Nobody adds a sale to an account or a game that ends at the same moment. */
async function lockBuyer(transaction: Transaction, { gameId }: ServiceCaller, userId: number): Promise<void> {
  const found = await lock(transaction, [
    { kind: 'users', id: userId, mode: 'under' },
    { kind: 'games', id: gameId, mode: 'under' },
  ]);
  const [user, game] = [found.find(({ kind }) => kind === 'users'), found.find(({ kind }) => kind === 'games')];
  if (user?.status !== USER_ACTIVE || user.isLocked) throw refusedField('MONETIZATION_ACCOUNT_ERROR', 'buyer');
  if (!game || game.isGone) throw new ApiError('GAME_DELETED');
}

/** The pack and what is in the wallet have to be enough for the mod, because the player pays before the commit. */
async function requireAffordable(
  transaction: Transaction,
  buyer: UserCaller,
  game: GameRow,
  mod: ModRow | undefined,
  pack: PackRow,
): Promise<void> {
  if (mod?.game_id !== game.id) throw new ApiError('MOD_NOT_FOUND');
  await requireBuyable(transaction, buyer, game.id, mod.id, undefined);
  requireInStock(mod);
  const { balance } = await tokensOwned(transaction, game.id, buyer.userId);
  if (balance + pack.tokens < mod.price) throw insufficientFunds();
}

const unknownSku = async (transaction: Transaction, gameId: number, portal: Portal): Promise<ApiError> =>
  (await sellsInPortal(transaction, gameId, portal))
    ? refusedField('MONETIZATION_SKU_MISSING', 'sku')
    : new ApiError('MONETIZATION_IAP_NOT_CONFIGURED');

/** A sale that the backend announced before, perhaps because it lost the answer. */
async function knownSale(
  app: App,
  transaction: Transaction,
  { gatewayUuid, sku, modId = 0 }: Intent,
  user: UserRow,
  { gameId, portal }: { readonly gameId: number; readonly portal: Portal },
): Promise<store.TransactionRow | undefined> {
  if (gatewayUuid === undefined) return undefined;
  await takeAdvisoryLock(transaction, `s2s/${gameId}/${portal}/${gatewayUuid}`);
  const known = await store.standing(transaction, gameId, portal, gatewayUuid);
  if (known && (known.user_id !== user.id || known.sku !== sku || known.mod_id !== modId))
    throw refusedField('MONETIZATION_REQUEST_ERROR', 'gateway_uuid', 'taken');
  if (!known || !isExpired(app, known)) return known;
  await store.change(transaction.query, known.id, { status: 'failed', date_ended: app.clock.now() });
  return undefined;
}

async function addIntent(
  app: App,
  transaction: Transaction,
  caller: ServiceCaller,
  { portal, sku, gatewayUuid, modId = 0 }: Intent & { readonly portal: Portal },
  user: UserRow,
  pack: PackRow,
  modPrice: number,
): Promise<store.TransactionRow> {
  const { id: termsId, terms } = await termsOf(transaction, caller.gameId);
  const { total, tax } = taxedPrice(pack.price, terms);
  return store.add(transaction.query, {
    user_id: user.id,
    game_id: caller.gameId,
    client_id: caller.clientId,
    portal,
    sku,
    pack_id: pack.id,
    mod_id: modId,
    mod_price: modPrice,
    terms_id: termsId,
    tokens: pack.tokens,
    price: total,
    tax,
    currency: pack.currency,
    provider: portal,
    gateway_uuid: gatewayUuid ?? app.random.uuid(),
    clawback_uuid: '',
    reason: '',
    status: 'pending',
    transaction_id: 0,
    purchase_id: 0,
    date_added: app.clock.now(),
    date_paid: 0,
    date_clears: 0,
    date_ended: 0,
  });
}

export interface Step {
  readonly transactionId: number;
  readonly clawbackUuid: string | undefined;
  readonly key: string | undefined;
}

/** The player's purchase was consumed in the store: they get their tokens, or the mod. A second commit changes nothing. */
export async function commitTransaction(app: App, caller: ServiceCaller, step: Step, respond: Respond) {
  return deciding(app, caller, OPERATIONS.commit, step, respond, async (transaction, row) => {
    if (row.status === 'paid' || row.status === 'refunded') return row;
    if (row.status !== 'pending' || isExpired(app, row)) throw new ApiError('MONETIZATION_PAYMENT_FAILED');
    const game = await gameRowIn(transaction, row.game_id);
    requireSelling(app, game);
    const cause = causeOf(row, OPERATIONS.commit, step.key);
    const buys = row.mod_id !== 0;
    const transactionId = await creditTokens(app, transaction, row, cause, { settlesDeficit: !buys });
    const purchaseId = buys ? await buyMod(app, transaction, caller, game, row) : 0;
    const now = app.clock.now();
    const terms = await termsOfDay(transaction, row.terms_id);
    return store.change(transaction.query, row.id, {
      status: 'paid',
      transaction_id: transactionId,
      purchase_id: purchaseId,
      clawback_uuid: step.clawbackUuid ?? row.clawback_uuid,
      date_paid: now,
      date_clears: now + terms.hold_days * DAY,
    });
  });
}

/** The mod costs what it did when the sale was announced. */
async function buyMod(
  app: App,
  transaction: Transaction,
  caller: ServiceCaller,
  game: GameRow,
  row: store.TransactionRow,
): Promise<number> {
  const mod = (await lockMods(transaction, [row.mod_id])).get(row.mod_id);
  if (!mod) throw new ApiError('MOD_DELETED');
  const buyer = buyerOf(await requireUserIn(transaction, row.user_id), caller);
  const conditions = await requireBuyable(transaction, buyer, game.id, mod.id, undefined);
  const bargain = { key: row.gateway_uuid, price: row.mod_price, subscribe: true };
  return (await sell(app, transaction, buyer, mod, bargain, conditions)).purchase.id;
}

/** The player's purchase could not be consumed in the store. A second call changes nothing. */
export async function abandonTransaction(app: App, caller: ServiceCaller, step: Step, respond: Respond) {
  return deciding(app, caller, OPERATIONS.abandon, step, respond, async (transaction, row) => {
    if (row.status === 'cancelled' || row.status === 'failed') return row;
    if (row.status !== 'pending') throw refusedField('MONETIZATION_UNEXPECTED_OPERATION', 'transaction_id');
    return store.change(transaction.query, row.id, { status: 'cancelled', date_ended: app.clock.now() });
  });
}

export interface Clawback {
  readonly transactionId: number | undefined;
  readonly portal: Portal | undefined;
  readonly gatewayUuid: string | undefined;
  readonly clawbackUuid: string | undefined;
  readonly reason: string;
  readonly key: string | undefined;
}

/** The store gave the money back: tokens and mod go, and what was spent of the tokens is owed. */
export async function clawBack(app: App, caller: ServiceCaller, clawback: Clawback, respond: Respond) {
  const { portal, gatewayUuid, reason, key } = clawback;
  if (!portal) throw refusedField('MONETIZATION_PORTAL_INVALID', 'portal');
  const named = await requireNamed(app, caller, clawback, portal);
  if (named.portal !== portal || (gatewayUuid !== undefined && named.gateway_uuid !== gatewayUuid))
    throw new ApiError('RESOURCE_NOT_FOUND');
  const step = { transactionId: named.id, clawbackUuid: clawback.clawbackUuid, key };
  return deciding(app, caller, OPERATIONS.clawback, step, respond, async (transaction, row) => {
    if (row.status === 'refunded') return row;
    if (row.status !== 'paid')
      throw refusedField('MONETIZATION_UNEXPECTED_OPERATION', 'transaction_id', 'not_refundable');
    const cause = causeOf(row, OPERATIONS.clawback, key);
    const owner = await ownerOf(transaction, row);
    if (row.purchase_id !== 0) await revokePurchase(app, transaction, row.purchase_id, cause, owner);
    await takeTokensBack(
      app,
      transaction,
      { ...row, user_id: owner },
      { kind: 'clawback', cause, reverses: row.transaction_id },
    );
    const changed = await store.change(transaction.query, row.id, {
      status: 'refunded',
      clawback_uuid: step.clawbackUuid ?? row.clawback_uuid,
      reason,
      date_ended: app.clock.now(),
    });
    const subject = { resource: 'transactions', id: row.id, gameId: row.game_id };
    const data = { user_id: row.user_id, tokens: row.tokens, mod_id: row.mod_id, client_id: caller.clientId };
    await audit(app, transaction, { actor: 0, action: 'transactions.clawback', subject, reason, data });
    return changed;
  });
}

/** Whose wallet it is: that of the account which the buyer's was merged into, before the rows follow. */
const ownerOf = async (transaction: Transaction, { user_id }: store.TransactionRow): Promise<number> =>
  (await findUserIn(transaction, user_id))?.merged_into ?? user_id;

async function requireNamed(
  app: App,
  { gameId }: ServiceCaller,
  { transactionId, gatewayUuid }: Clawback,
  portal: Portal,
): Promise<store.TransactionRow> {
  const row =
    transactionId === undefined
      ? await store.standing(app.db, gameId, portal, gatewayUuid ?? '')
      : await store.byId(app.db, transactionId);
  if (row?.game_id !== gameId) throw new ApiError('RESOURCE_NOT_FOUND');
  return row;
}

/**
 * Decides over a transaction of the caller's game, with everything locked that the decision touches: account, game, mod,
 * key and transaction, in this order.
 */
async function deciding(
  app: App,
  caller: ServiceCaller,
  operation: string,
  { transactionId, clawbackUuid, key }: Step,
  respond: Respond,
  decide: (transaction: Transaction, row: store.TransactionRow) => Promise<store.TransactionRow>,
): Promise<string> {
  return app.db.write(async (transaction) => {
    const found = await store.byId(transaction, transactionId);
    if (found?.game_id !== caller.gameId) throw new ApiError('RESOURCE_NOT_FOUND');
    if (operation === OPERATIONS.commit) await lockBuyer(transaction, caller, found.user_id);
    if (found.mod_id !== 0) await lockMods(transaction, [found.mod_id]);
    const work = async () => {
      const row = (await store.lockById(transaction, transactionId))!;
      return respond(transaction, await decide(transaction, row));
    };
    return once(app, transaction, found, operation, key, [transactionId, clawbackUuid ?? ''], work);
  });
}

const causeOf = (row: store.TransactionRow, operation: string, key: string | undefined): Cause => ({
  operation,
  actor: row.user_id,
  provider: row.provider,
  reference: row.gateway_uuid,
  key: key ?? '',
});

export const isExpired = (app: App, { status, date_added }: store.TransactionRow): boolean =>
  status === 'pending' && app.clock.now() - date_added >= INTENT_SECONDS;

/** Gives up intents that nobody committed. */
export const expireIntents = (app: App): Promise<void> =>
  app.db.write(async (transaction) => {
    const now = app.clock.now();
    await store.expireUntil(transaction, now - INTENT_SECONDS, now);
  });

/** Every committed transaction has its posting, and one that was taken back has a posting that reverses it. */
export async function checkTransactions(app: App): Promise<LaterText[]> {
  const rows = await store.disagreeing(app.db.withLongTimeouts.query);
  return rows.map(({ id, status }) => ({ name: 'ledger_store_sale', values: { id, status } }));
}
