import { isLinked } from '../../catalogue/dependencies/dependencies.ts';
import { type GameRow, gameRowIn } from '../../catalogue/games/games.ts';
import { CURATION } from '../../catalogue/games/settings.ts';
import type { ModEdit, SentOffer } from '../../catalogue/mods/extensions.ts';
import { lockMods, type ModRow, refreshMod, setOffer } from '../../catalogue/mods/mods.ts';
import type { ContributedFields } from '../../catalogue/mods/object.ts';
import { ADMINISTRATOR, MANAGER } from '../../catalogue/teams/teams.ts';
import { leaveCollections } from '../../community/collections/contents.ts';
import { hasAccepted } from '../../people/agreements/acceptances.ts';
import { AGREEMENT_TYPES } from '../../people/agreements/types.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { requireNotLocked } from '../marketplace-locks/marketplace-locks.ts';
import { findPack, findPackCovering, type PackRow, skusOfPack } from '../packs/packs.ts';
import { requirePartner } from '../partners/partners.ts';
import { hasPayPal } from '../partners/sellers.ts';
import {
  GAME_HAS_LIMITED_STOCK,
  GAME_HAS_MARKETPLACE,
  GAME_LIMITS_ALL,
  requireMarketplace,
  requireSelling,
} from '../terms/switches.ts';
import { type Terms, termsOf } from '../terms/terms.ts';
import * as store from './store.ts';

/** Bits of the `monetization_options` of mods. */
export const MOD_SELLS = 1;
export const MOD_ON_MARKETPLACE = 2;
export const MOD_LIMITED = 8;

export interface Offer {
  readonly price: number;
  readonly monetization_options: number;
  readonly stock: number;
  readonly credit_options: number;
}

/** Whether the team of the game decides what is on the marketplace. */
export const hasQueue = ({ curation_option }: Pick<GameRow, 'curation_option'>): boolean =>
  curation_option === CURATION.marketplace;

/**
 * What an author may change in a game with a marketplace queue: nothing while the mod is queued, except to end the sale,
 * which withdraws it. The team of the game decides anyway.
 */
async function withoutQueued(
  transaction: Transaction,
  game: GameRow,
  { mod, levels }: ModEdit,
  offer: SentOffer,
): Promise<SentOffer | undefined> {
  if (!hasQueue(game) || levels.game >= MANAGER) return offer;
  const { monetization_options: options = mod.monetization_options } = offer;
  const status = (await store.submissionOf(transaction, mod.id))?.status;
  if ((options & MOD_ON_MARKETPLACE & ~mod.monetization_options) !== 0 && status !== 'approved')
    throw new ApiError('MONETIZATION_MARKETPLACE_QUEUE_ENABLED', {
      fields: [{ field: 'monetization_options', rule: 'not_for_sale' }],
    });
  return status === 'queued' && options !== 0 ? undefined : offer;
}

/** Stores what a mod is sold for. Clients send the whole mod back, so an offer that stays needs no permission. */
export async function editOffer(app: App, transaction: Transaction, edit: ModEdit): Promise<void> {
  const { mod, levels, sent } = edit;
  if (!sent.offer) return;
  const game = await gameRowIn(transaction, mod.game_id);
  const offer = await withoutQueued(transaction, game, edit, sent.offer);
  if (!offer) return;
  const pack = offer.tokenpack_id ? await packNamed(transaction, mod, offer.tokenpack_id) : undefined;
  const wanted: Offer = {
    price: pack?.tokens ?? offer.price ?? mod.price,
    monetization_options: offer.monetization_options ?? mod.monetization_options,
    stock: offer.stock ?? mod.stock,
    credit_options: offer.credit_options ?? mod.credit_options,
  };
  const packBefore = await store.packOf(transaction, mod.id);
  const packId = pack?.id ?? (wanted.price === mod.price ? packBefore : undefined);
  requireUnsoldOrUntraded(game, wanted);
  const isSame =
    wanted.price === mod.price && wanted.monetization_options === mod.monetization_options && packId === packBefore;
  const isLimited = (wanted.monetization_options & MOD_LIMITED) !== 0;
  if (isSame && (!isLimited || wanted.stock === mod.stock)) return;
  if (levels.mod < ADMINISTRATOR && levels.game < MANAGER) throw new ApiError('MOD_SUPPLY_NO_EDIT_PERMISSION');
  await requireOfferable(app, transaction, game, mod, wanted);
  const { price, monetization_options, stock } = wanted;
  await store.setPack(transaction, mod.id, packId);
  await setOffer(transaction, mod.id, { price, monetization_options, stock });
  if (monetization_options === 0) await store.removeSubmission(transaction, mod.id);
  else await leaveCollections(transaction, mod.id);
}

/** The SKUs under which stores sell the mod: those of its pack. */
export async function skusOfMod(transaction: Transaction, mod: Pick<ModRow, 'id'>): Promise<ContributedFields['skus']> {
  const packId = await store.packOf(transaction, mod.id);
  return packId === undefined ? [] : skusOfPack(transaction, packId);
}

/** The pack that a buyer without enough tokens pays for: that of the mod, or the cheapest with the missing tokens. */
export async function packToBuy(
  transaction: Transaction,
  mod: Pick<ModRow, 'id' | 'game_id'>,
  missing: number,
): Promise<PackRow | undefined> {
  const packId = await store.packOf(transaction, mod.id);
  const own = packId === undefined ? undefined : await findPack(transaction, mod.game_id, packId);
  return own ?? findPackCovering(transaction, mod.game_id, missing);
}

export const FOLLOW_PACK = 'offers.follow-pack';
const FOLLOWED_AT_ONCE = 50;

/** Mods follow the pack that they cost. There is no bound on their number, so a job changes them. */
export const packChanged = (app: App, transaction: Transaction, packId: number): Promise<void> =>
  app.jobs.enqueue(transaction, FOLLOW_PACK, { packId }, { key: String(packId) });

export async function followPack(app: App, { packId }: { packId: number }, heartbeat: () => Promise<void>) {
  for (let last = 0; ; ) {
    const ids = await store.modsWithPack(app.db, packId, last, FOLLOWED_AT_ONCE);
    await app.db.write((transaction) => followWith(app, transaction, packId, ids));
    if (ids.length < FOLLOWED_AT_ONCE) return;
    last = ids.at(-1)!;
    await heartbeat();
  }
}

async function followWith(app: App, transaction: Transaction, packId: number, ids: readonly number[]): Promise<void> {
  for (const mod of (await lockMods(transaction, ids)).values()) {
    if ((await store.packOf(transaction, mod.id)) !== packId) continue;
    const pack = await findPack(transaction, mod.game_id, packId);
    if (pack) await setOffer(transaction, mod.id, { price: pack.tokens });
    // The price stays, but no store sells it any more.
    else await store.setPack(transaction, mod.id, undefined);
    await refreshMod(app, transaction, mod);
  }
}

/** A token pack as the price of a mod: the mod costs as many tokens as the pack has. */
async function packNamed(transaction: Transaction, mod: ModRow, id: number): Promise<PackRow> {
  const pack = await findPack(transaction, mod.game_id, id);
  if (!pack) throw refusedField('tokenpack_id');
  return pack;
}

const refusedField = (field: string): ApiError =>
  new ApiError('MONETIZATION_MARKETPLACE_ERROR', { fields: [{ field, rule: 'invalid' }] });

/** Everything that keeps a locked mod from being offered like this, each reason with its own error. */
export async function requireOfferable(
  app: App,
  transaction: Transaction,
  game: GameRow,
  mod: ModRow,
  wanted: Offer,
): Promise<void> {
  const { price, monetization_options: options, stock } = wanted;
  if (price === 0 && options === 0) return;
  requireSelling(app, game);
  if ((options & MOD_SELLS) === 0) throw new ApiError('MONETIZATION_MOD_MONETIZATION_DISABLED');
  if ((options & MOD_ON_MARKETPLACE) !== 0) requireMarketplace(app, 'monetization_options');
  if ((options & MOD_ON_MARKETPLACE) !== 0 && (game.monetization_options & GAME_HAS_MARKETPLACE) === 0)
    throw new ApiError('MONETIZATION_GAME_MARKETPLACE_DISABLED', {
      fields: [{ field: 'monetization_options', rule: 'not_for_sale' }],
    });
  requireAllowedStock(game, options, stock);
  // Nobody gets a paid mod for free with another one.
  if (price > 0 && (await isLinked(transaction, mod.id))) throw new ApiError('MOD_SUPPLY_CANNOT_BE_SOLD');
  const { terms } = await termsOf(transaction, game.id);
  await requireSeller(app, transaction, game, terms, mod.submitted_by);
  if (price > 0 && (price < terms.price_min || price > terms.price_max)) throw refusedField('price');
}

/** A game may allow limited stock, or ask it of every mod, and limit it. */
function requireAllowedStock(game: GameRow, options: number, stock: number): void {
  const isLimited = (options & MOD_LIMITED) !== 0;
  const limitsAll = (game.monetization_options & GAME_LIMITS_ALL) !== 0;
  if (!isLimited && limitsAll) throw new ApiError('MOD_CANNOT_CONTROL_SUPPLY_AND_SCARCITY');
  if (!isLimited) return;
  if (!limitsAll && (game.monetization_options & GAME_HAS_LIMITED_STOCK) === 0)
    throw new ApiError('MOD_SUPPLY_CANNOT_HAVE_LIMITED_STOCK');
  if (game.max_stock > 0 && stock > game.max_stock) throw refusedField('stock');
}

/** What a game asks of those who sell: its own partner programme, the agreement, an account for payouts. */
async function requireSeller(
  app: App,
  transaction: Transaction,
  game: GameRow,
  terms: Terms,
  sellerId: number,
): Promise<void> {
  await requireNotLocked(transaction, sellerId);
  if (terms.seller_agreement && !(await hasAccepted(transaction, sellerId, AGREEMENT_TYPES.MONETIZATION)))
    throw new ApiError('MONETIZATION_TERMS_NOT_ACCEPTED');
  if (terms.sellers_need_paypal && !(await hasPayPal(app, transaction, sellerId)))
    throw new ApiError('MOD_SUPPLY_PAYPAL_REQUIRED');
  await requirePartner(transaction, game, sellerId);
}

/** Bits of the `revenue_options` of games, and of the `credit_options` of mods. */
const GAME_ALLOWS_TRADE = 4;
const USERS_MAY_RESELL = 1_024;

/** Buyers resell a mod only where the game allows trade. */
function requireUnsoldOrUntraded(game: GameRow, { price, credit_options }: Offer): void {
  const isTraded = price > 0 && (credit_options & USERS_MAY_RESELL) !== 0;
  if (isTraded && (game.revenue_options & GAME_ALLOWS_TRADE) === 0) throw new ApiError('MOD_SUPPLY_CANNOT_BE_TRADED');
}
