import assert from 'node:assert/strict';
import { editModByPut } from '../src/catalogue/mods/operations.ts';
import { moneyAccount, post, sellerAccount } from '../src/money/ledger/ledger.ts';
import { addGameTokenPack } from '../src/money/packs/operations.ts';
import { decideSellerAccount, registerSellerAccount } from '../src/money/partners/operations.ts';
import { buyTokenPack } from '../src/money/payments/operations.ts';
import { getUserWallet } from '../src/money/wallets/operations.ts';
import { acceptAgreement, getCurrentAgreement } from '../src/people/agreements/operations.ts';
import { AGREEMENT_TYPES } from '../src/people/agreements/types.ts';
import type { Api, Client, Game, User } from './api.ts';
import { Browser } from './browser.ts';

export interface SellingGame extends Game {
  /** The administrator of the game. */
  readonly studio: Client;
}

/** A game that sells. `api` has to be started with `MODSTEAD_PAYMENTS=simulated`. */
export async function aSellingGame(api: Api, monetization_options = 1 | 2): Promise<SellingGame> {
  const game = await api.aGame({ settings: { monetization_options } });
  return { ...game, studio: await api.as(game.owner) };
}

export interface APack {
  readonly tokens?: number;
  readonly price?: number;
  readonly skus?: readonly string[];
}

export async function aPack(api: Api, game: SellingGame, { tokens = 100, price = 199, skus = [] }: APack = {}) {
  const body = { name: api.unique('Pack'), tokens, price, skus };
  return (await game.studio.call(addGameTokenPack, { params: { game_id: game.id }, body })).body;
}

type Choice = 'pay' | 'pay-later' | 'decline' | 'dispute';

/** What a buyer chooses at the address of a payment. */
export async function choose(api: Api, checkoutUrl: string, choice: Choice): Promise<void> {
  const browser = new Browser(api);
  const { pathname } = new URL(checkoutUrl);
  const answer = await browser.submit(await browser.get(pathname), { choice });
  assert.equal(answer.status, 200, answer.text);
}

/** Buys a pack, and returns the payment as it began. */
export async function buyPack(
  api: Api,
  buyer: Client,
  game: { id: number },
  pack: { id: number },
  choice: Choice = 'pay',
) {
  const params = { game_id: game.id, token_pack_id: pack.id };
  const body = { idempotent_key: api.unique('key') };
  const payment = (await buyer.call(buyTokenPack, { params, body })).body;
  await choose(api, payment.checkout_url, choice);
  return payment;
}

interface Offer {
  readonly price?: number;
  readonly monetization_options?: number;
  readonly stock?: number;
  readonly tokenpack_id?: number;
}

/** A mod with a file, for sale. */
export async function aPaidMod(api: Api, game: SellingGame, { price = 40, ...offer }: Offer = {}) {
  const mod = await api.aMod({ game });
  const { id: file_id } = await api.aFile(mod);
  const author = await api.as(mod.owner);
  const params = { game_id: game.id, mod_id: mod.id, file_id };
  const priced = offer.tokenpack_id ? offer : { price, ...offer };
  const answer = await author.call(editModByPut, { params, body: { monetization_options: 1 | 2, ...priced } });
  assert.equal(answer.status, 200, answer.text);
  return { mod, author, params };
}

/** A user who has bought tokens. */
export async function aBuyer(api: Api, game: SellingGame, tokens = 100): Promise<{ user: User; buyer: Client }> {
  const user = await api.aUser();
  const buyer = await api.as(user);
  await buyPack(api, buyer, game, await aPack(api, game, { tokens }));
  return { user, buyer };
}

export const walletOf = async (buyer: Client, game: { id: number }) => {
  const {
    balance,
    deficit,
    pending_balance: pending,
  } = (await buyer.call(getUserWallet, { query: { game_id: game.id } })).body;
  return { balance, deficit, pending };
};

export const SELLER_DETAILS = {
  legal_name: 'Ada Lovelace',
  country: 'GB',
  payout_details: 'GB33 BUKB 2020 1555 5555 55',
};

/** Accepts the agreement on selling that is in force. */
export async function acceptSellingTerms(seller: Client): Promise<void> {
  const inForce = { params: { agreement_type_id: AGREEMENT_TYPES.MONETIZATION } };
  const { id } = (await seller.call(getCurrentAgreement, inForce)).body;
  await seller.call(acceptAgreement, { body: { agreement_version_id: id } });
}

/** Accepts the agreement on selling, and asks for a seller account. */
export async function registerAsSeller(seller: Client) {
  await acceptSellingTerms(seller);
  return seller.call(registerSellerAccount, { body: SELLER_DETAILS });
}

/** Cleared earnings, without the sales that made them. */
export const giveEarnings = (api: Api, { id }: { id: number }, gameId: number, amount: number, currency = 'USD') =>
  api.app().db.write((transaction) =>
    post(api.app(), transaction, {
      kind: 'merge',
      gameId,
      cause: { operation: 'test', actor: 0 },
      entries: [
        { account: moneyAccount('seller_costs', gameId, currency), amount: -amount },
        { account: sellerAccount('earnings', gameId, id, currency), amount },
      ],
    }),
  );

/** A user whose earnings can be paid out. */
export async function aSeller(api: Api, payout_details = SELLER_DETAILS.payout_details) {
  const user = await api.aUser();
  const client = await api.as(user);
  await acceptSellingTerms(client);
  await client.call(registerSellerAccount, { body: { ...SELLER_DETAILS, payout_details } });
  const staff = await api.as(await api.aUser({ admin: true }));
  await staff.call(decideSellerAccount, { params: { user_id: user.id }, body: { status: 'approved' } });
  return { user, client };
}
