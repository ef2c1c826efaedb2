import {
  transactionAbandon,
  transactionClawback,
  transactionCommit,
  transactionIntent,
} from '../../src/money/transactions/operations.ts';
import type { Client } from '../api.ts';
import type { ModelMod, Sold } from './books.ts';
import type { History } from './history.ts';
import { INSUFFICIENT, PAYMENT_FAILED, UNEXPECTED } from './refs.ts';
import { delegated, type Player } from './scene.ts';

const DAY = 86_400;
/** Older ones are not touched any more. */
const REMEMBERED = 60;

interface Reported {
  readonly id: number;
  readonly gatewayUuid: string;
  owner: Player;
  readonly tokens: number;
  readonly price: number;
  readonly mod: ModelMod | undefined;
  readonly modPrice: number;
  readonly date: number;
  status: 'pending' | 'paid' | 'refunded' | 'cancelled';
  sold: Sold | undefined;
}

/** The sales that the studio's backend reports: intent, commit, abandon and clawback. */
export class Sales {
  readonly #history: History;
  readonly #backend: Client;
  readonly #portal: string;
  #reported: Reported[] = [];

  constructor(history: History, backend: Client, portal: string) {
    this.#history = history;
    this.#backend = backend;
    this.#portal = portal;
  }

  step(person: Player): Promise<void> {
    const history = this.#history;
    if (this.#reported.length === 0 || history.chance(3)) return this.#begin(person);
    const reported = history.pick(this.#reported);
    if (history.chance(8)) return this.#abandon(reported);
    return history.chance(4) ? this.#clawBack(reported) : this.#commit(reported);
  }

  move(from: Player, to: Player): void {
    for (const reported of this.#reported) if (reported.owner === from) reported.owner = to;
  }

  forget(person: Player): void {
    this.#reported = this.#reported.filter(({ owner }) => owner !== person);
  }

  async #begin(owner: Player): Promise<void> {
    const history = this.#history;
    const { sku, tokens, price } = history.pick(history.packs);
    const mod = history.chance(2) ? history.pick(history.mods) : undefined;
    const isShort = mod !== undefined && owner.balance + tokens < mod.price;
    const ref = (mod && history.books.refusal(owner, mod)) || (isShort ? INSUFFICIENT : 0);
    const gatewayUuid = history.nextKey();
    const body = { sku, portal: this.#portal, gateway_uuid: gatewayUuid, ...(mod && { mod_id: mod.id }) };
    const headers = await delegated(owner, history.books.now);
    const sent = () => this.#backend.call(transactionIntent, { body, headers });
    const answer = await history.send('s2s intent', ref, sent);
    if (ref !== 0) return;
    const { transaction_id: id } = answer.body as { transaction_id: number };
    const date = history.books.now;
    const begun = { id, gatewayUuid, owner, tokens, price, mod, modPrice: mod?.price ?? 0, date };
    this.#reported.push({ ...begun, status: 'pending', sold: undefined });
    if (this.#reported.length > REMEMBERED) this.#reported.shift();
  }

  async #commit(reported: Reported): Promise<void> {
    const history = this.#history;
    const { books } = history;
    const { id, owner, tokens, price, mod, modPrice, status } = reported;
    const ref = this.#refusalOfCommit(reported);
    const body = { transaction_id: id };
    await history.send('s2s commit', ref, () => this.#backend.call(transactionCommit, { body }));
    if (ref !== 0 || status !== 'pending') return;
    reported.status = 'paid';
    books.money += price;
    books.credit(owner, tokens, mod === undefined);
    if (mod) reported.sold = books.sell(owner, mod, modPrice) as Sold;
  }

  #refusalOfCommit({ owner, tokens, mod, modPrice, status, date }: Reported): number {
    const { books } = this.#history;
    if (status === 'paid' || status === 'refunded') return 0;
    if (status === 'cancelled' || books.now - date >= DAY) return PAYMENT_FAILED;
    if (!mod) return 0;
    return books.refusal(owner, mod) || (owner.balance + tokens < modPrice ? INSUFFICIENT : 0);
  }

  async #abandon(reported: Reported): Promise<void> {
    const isOver = reported.status === 'paid' || reported.status === 'refunded';
    const body = { transaction_id: reported.id };
    const sent = () => this.#backend.call(transactionAbandon, { body });
    await this.#history.send('s2s abandon', isOver ? UNEXPECTED : 0, sent);
    if (!isOver) reported.status = 'cancelled';
  }

  async #clawBack(reported: Reported): Promise<void> {
    const { books } = this.#history;
    const { owner, tokens, price, sold, status, gatewayUuid, id } = reported;
    const isOver = status === 'paid' || status === 'refunded';
    const named = this.#history.chance(2) && isOver ? { gateway_uuid: gatewayUuid } : { transaction_id: id };
    const body = { ...named, portal: this.#portal, refund_reason: 'Refunded by the store' };
    const sent = () => this.#backend.call(transactionClawback, { body });
    await this.#history.send('s2s clawback', isOver ? 0 : UNEXPECTED, sent);
    if (status !== 'paid') return;
    reported.status = 'refunded';
    books.money -= price;
    if (sold?.isPaid) books.refund(sold, owner);
    books.takeBack(owner, tokens);
  }
}
