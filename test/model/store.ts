import assert from 'node:assert/strict';
import { purchase } from '../../src/money/purchases/operations.ts';
import { addSimulatedPurchase, refundSimulatedPurchase, syncSteam } from '../../src/money/stores/operations.ts';
import type { Sold } from './books.ts';
import type { History } from './history.ts';
import { INSUFFICIENT, NO_ENTITLEMENT, NO_PACK, NOT_FINAL } from './refs.ts';
import { type Player, PORTAL, type SellingMod, type StorePurchase } from './scene.ts';

/** What people buy in the platform's store, and spend in the game. */
export class Store {
  readonly #history: History;
  readonly #gameId: number;

  constructor(history: History, gameId: number) {
    this.#history = history;
    this.#gameId = gameId;
  }

  /** Buys a pack in the store, which the service learns of later. */
  async buy({ client, bought }: Player): Promise<void> {
    const { sku, tokens } = this.#history.pick(this.#history.packs);
    // One lost answer per person at a time, because jobs finish several in an order that the model does not know.
    const isLost = this.#history.chance(4) && !bought.some((each) => each.isLost && each.state !== 'used');
    const params = { game_id: this.#gameId, portal: PORTAL };
    const body = { sku, fault: isLost ? 'lost_answer' : 'none' };
    const answer = await client.call(addSimulatedPurchase, { params, body });
    this.#history.check('store', answer, 0);
    bought.push({ id: answer.body.id, sku, tokens, isLost, state: 'owned', order: undefined, sold: undefined });
  }

  async sync(person: Player): Promise<void> {
    const answer = await person.client.call(syncSteam, { body: { game_id: this.#gameId } });
    this.#history.check('sync', answer, 0);
    for (const each of person.bought.filter(({ state }) => state === 'owned')) {
      each.state = each.isLost ? 'pending' : 'used';
      if (!each.isLost) this.#history.books.credit(person, each.tokens);
    }
    assert.equal(answer.body.wallet.balance, person.balance, 'sync');
  }

  /** Buys a mod with a pack that was bought in the store. */
  async spend(person: Player, mod: SellingMod): Promise<void> {
    const body = { idempotent_key: this.#history.nextKey(), type: 1 };
    const headers = { 'X-Modio-Portal': PORTAL };
    const { ref, spent } = this.#entitlementFor(person, mod);
    const sent = () => person.client.call(purchase, { params: mod.params, headers, body });
    const answer = await this.#history.send('entitlement', ref, sent);
    if (!spent) return;
    if (ref === NOT_FINAL) {
      spent.state = 'pending';
      spent.order = { mod, price: mod.price };
      return;
    }
    spent.state = 'used';
    this.#history.books.credit(person, spent.tokens);
    spent.sold = this.#history.books.sell(person, mod, mod.price) as Sold;
    this.#history.paidFor(answer, person, spent.sold);
  }

  #entitlementFor(person: Player, mod: SellingMod): { ref: number; spent?: StorePurchase } {
    if (person.bought.some(({ state, order }) => state === 'pending' && order?.mod === mod)) return { ref: NOT_FINAL };
    const refusal = this.#history.books.refusal(person, mod);
    if (refusal !== 0) return { ref: refusal };
    const pack = this.#history.packs.find(({ id }) => id === mod.packId);
    if (!pack) return { ref: NO_PACK };
    const spent = person.bought.find(({ state, sku }) => state === 'owned' && sku === pack.sku);
    if (!spent) return { ref: NO_ENTITLEMENT };
    if (person.balance - person.deficit + spent.tokens < mod.price) return { ref: INSUFFICIENT };
    return { ref: spent.isLost ? NOT_FINAL : 0, spent };
  }

  async refund(person: Player): Promise<void> {
    const { client, bought } = person;
    if (bought.length === 0) return;
    const each = this.#history.pick(bought);
    const params = { game_id: this.#gameId, portal: PORTAL, simulated_purchase_id: each.id };
    for (let told = this.#history.chance(3) ? 0 : 1; told < 2; told += 1)
      this.#history.check('store refund', await client.call(refundSimulatedPurchase, { params }), 0);
    bought.splice(bought.indexOf(each), 1);
    if (each.state !== 'used') return;
    this.#history.books.takeBack(person, each.tokens);
    if (each.sold?.isPaid) this.#history.books.refund(each.sold);
    await this.#history.runJobs();
  }

  /** Jobs have finished what the store did not answer. */
  finish(person: Player): void {
    const { books } = this.#history;
    for (const each of person.bought.filter(({ state }) => state === 'pending')) {
      each.state = 'used';
      books.credit(person, each.tokens);
      const sold = each.order && books.sell(person, each.order.mod, each.order.price);
      if (typeof sold === 'object') each.sold = sold;
      each.order = undefined;
    }
  }
}
