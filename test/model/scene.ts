import assert from 'node:assert/strict';
import { editGameSellingTerms } from '../../src/money/terms/operations.ts';
import { delegationToken } from '../../src/signin/oauth/operations.ts';
import type { Api, ApiOptions, Client, User } from '../api.ts';
import { serviceOf } from '../browser.ts';
import { aPack, aPaidMod, aSellingGame, type SellingGame } from '../money.ts';
import { type ModelMod, type Person, REFUNDS_MAX, type Sold } from './books.ts';

export const PORTAL = 'steam';
/** Longer than any history takes. */
const DAYS = 3_650;

export const MODEL_API: ApiOptions = {
  settings: {
    MODSTEAD_JOBS: 'off',
    MODSTEAD_PAYMENTS: 'simulated',
    MODSTEAD_STORES: 'simulated',
    MODSTEAD_RATE_LIMITS: 'off',
    MODSTEAD_LOG: 'error',
    MODSTEAD_TRUST_PROXY: '127.0.0.1',
  },
  plain: true,
};

export interface Player extends Person {
  readonly user: User;
  readonly site: Client;
  readonly client: Client;
  delegation: { readonly headers: Record<string, string>; readonly date: number } | undefined;
  readonly bought: StorePurchase[];
}

export interface StorePurchase {
  readonly id: number;
  readonly sku: string;
  readonly tokens: number;
  readonly isLost: boolean;
  state: 'owned' | 'pending' | 'used';
  order: { readonly mod: ModelMod; readonly price: number } | undefined;
  sold: Sold | undefined;
}

export interface Pack {
  readonly id: number;
  readonly sku: string;
  readonly tokens: number;
  readonly price: number;
}

export interface SellingMod extends ModelMod {
  readonly author: Client;
  readonly params: { readonly game_id: number; readonly mod_id: number };
}

/** A game that sells two packs and five mods, one of them limited and two for the price of a pack. */
export async function makeScene(api: Api) {
  const game = await aSellingGame(api, 1 | 2 | 8);
  const terms = {
    refunds_per_year: REFUNDS_MAX,
    pack_refunds_per_year: REFUNDS_MAX,
    refund_days: DAYS,
    studio_refund_days: DAYS,
    pack_refund_days: DAYS,
    hold_days: DAYS,
  };
  const changed = await game.studio.call(editGameSellingTerms, { params: { game_id: game.id }, body: terms });
  assert.equal(changed.status, 200, changed.text);
  const packs = [await packOf(api, game, 100, 199), await packOf(api, game, 500, 499)] as const;
  const mods = [
    await modOf(api, game, { price: 30 }),
    await modOf(api, game, { price: 75 }),
    await modOf(api, game, { price: 140, stock: 2 }),
    await modOf(api, game, { price: 100, packId: packs[0].id }),
    await modOf(api, game, { price: 500, packId: packs[1].id }),
  ];
  return { game, packs, mods, backend: await serviceOf(api, game, 'read,write,monetization') };
}

async function packOf(api: Api, game: SellingGame, tokens: number, price: number): Promise<Pack> {
  const sku = `coins-${tokens}`;
  const { id } = await aPack(api, game, { tokens, price, skus: [`${PORTAL}=${sku}`] });
  return { id, sku, tokens, price };
}

interface Offer {
  readonly price: number;
  readonly packId?: number;
  readonly stock?: number;
}

async function modOf(api: Api, game: SellingGame, { price, packId, stock }: Offer): Promise<SellingMod> {
  const offer = {
    ...(packId ? { tokenpack_id: packId } : { price }),
    ...(stock !== undefined && { stock, monetization_options: 1 | 2 | 8 }),
  };
  const { mod, author, params } = await aPaidMod(api, game, offer);
  const { id: leader } = mod.owner;
  return { id: mod.id, leader, author, params, packId, price, stock, shares: [{ id: leader, split: 100 }] };
}

export async function aPlayer(api: Api, game: SellingGame): Promise<Player> {
  const user = await api.aUser();
  const [site, client] = [await api.as(user), await api.as(user, { gameId: game.id })];
  const empty = { balance: 0, deficit: 0, refunds: 0, packRefunds: 0 };
  return { id: user.id, user, site, client, delegation: undefined, bought: [], ...empty };
}

/** How long a token is used; the service accepts it for longer. */
const DELEGATED_SECONDS = 600;

/** Headers with which the backend acts for the player. */
export async function delegated(player: Player, now: number): Promise<Record<string, string>> {
  if (!player.delegation || now - player.delegation.date >= DELEGATED_SECONDS) {
    const { token } = (await player.client.call(delegationToken)).body;
    player.delegation = { headers: { 'x-modio-delegation-token': token }, date: now };
  }
  return player.delegation.headers;
}
