import assert from 'node:assert/strict';
import { editModByPut } from '../../src/catalogue/mods/operations.ts';
import { chooseOutcome } from '../../src/money/gateways/simulated.ts';
import { buyTokenPack, refundUserPayment } from '../../src/money/payments/operations.ts';
import { disputeReference, settleReference } from '../../src/money/payments/payments.ts';
import {
  getUserPurchases,
  purchase,
  refundGamePurchase,
  refundPurchase,
} from '../../src/money/purchases/operations.ts';
import { createRevenueTeam } from '../../src/money/revenue-teams/operations.ts';
import { seededRandom } from '../../src/platform/runtime/random.ts';
import { closeOwnAccount, deleteOwnAccount, mergeOwnAccount } from '../../src/signin/accounts/operations.ts';
import type { Answer, Api } from '../api.ts';
import { type SellingGame, walletOf } from '../money.ts';
import { Books, type ModelMod, type Payment, type Person, REFUNDS_MAX, type Sold } from './books.ts';
import type { Jobs } from './jobs.ts';
import { INSUFFICIENT, MERGE_REFUSED, NO_PACK, NOT_OWNED, OWING, PAYMENT_FAILED, UNEXPECTED } from './refs.ts';
import { Sales } from './sales.ts';
import { aPlayer, makeScene, type Pack, type Player, PORTAL, type SellingMod } from './scene.ts';
import { Store } from './store.ts';
import { sumsIn, sumsOf } from './sums.ts';

const PEOPLE = 8;
const ACCEPTED = { terms_accepted: true, refund_accepted: true };

/** Drives a game of the service with a random history, and compares each outcome with a naive model. */
export class History {
  readonly api: Api;
  readonly #jobs: Jobs;
  readonly #name: string;
  readonly books = new Books();
  readonly #random: (most: number) => number;
  #game!: SellingGame;
  #packs: readonly Pack[] = [];
  #mods: readonly SellingMod[] = [];
  #people: Player[] = [];
  #payments: Payment[] = [];
  #paymentOf = new Map<Sold, Payment>();
  #store!: Store;
  #sales!: Sales;
  #keys = 0;
  #operations = 0;
  #trace: string[] = [];
  readonly counts = new Map<string, number>();

  constructor(api: Api, jobs: Jobs, seed: string) {
    this.api = api;
    this.#jobs = jobs;
    this.#name = seed;
    const random = seededRandom(seed);
    this.#random = (most) => random.bytes(4).readUInt32BE() % most;
  }

  async setUp(): Promise<void> {
    const { game, packs, mods, backend } = await makeScene(this.api);
    this.#game = game;
    this.#packs = packs;
    this.#mods = mods;
    this.#store = new Store(this, game.id);
    this.#sales = new Sales(this, backend, PORTAL);
    for (let made = 0; made < PEOPLE; made += 1) this.#people.push(await aPlayer(this.api, game));
  }

  pick<T>(of: readonly T[]): T {
    return of[this.#random(of.length)]!;
  }

  chance(most: number): boolean {
    return this.#random(most) === 0;
  }

  get packs(): readonly Pack[] {
    return this.#packs;
  }

  get mods(): readonly ModelMod[] {
    return this.#mods;
  }

  nextKey(): string {
    this.#keys += 1;
    return `${this.#name}-${this.#keys}`;
  }

  /** The outcome has to be the one of the model: 0 for success, or the reference of an error. */
  check(what: string, answer: Answer<unknown>, ref: number): void {
    const { error } = (answer.body ?? {}) as { error?: { error_ref: number } };
    this.#count(`${what}: ${ref}`);
    const found = answer.status < 300 ? 0 : (error?.error_ref ?? answer.status);
    assert.equal(found, ref, `${this.#trace.join(', ')}\n${answer.text.slice(0, 400)}`);
  }

  /** An operation is a request, also a repeated one, or something that the provider or the bank does. */
  #count(outcome: string): void {
    this.#operations += 1;
    this.counts.set(outcome, (this.counts.get(outcome) ?? 0) + 1);
    this.#trace.push(outcome);
    if (this.#trace.length > 30) this.#trace.shift();
  }

  /** Sends a request; sometimes twice, as a client whose answer was lost. */
  async send(what: string, ref: number, sent: () => Promise<Answer<unknown>>): Promise<Answer<unknown>> {
    const answer = await sent();
    this.check(what, answer, ref);
    if (this.chance(8)) {
      const again = await sent();
      this.check(`${what} again`, again, ref);
      assert.equal(again.text, answer.text, what);
    }
    return answer;
  }

  get operations(): number {
    return this.#operations;
  }

  /** At least one operation: a choice for which there is nothing to do, such as a refund before the first sale, is none. */
  async step(): Promise<void> {
    const before = this.#operations;
    while (this.#operations === before) await this.#attempt();
  }

  async #attempt(): Promise<void> {
    const person = this.pick(this.#people);
    const kind = this.#random(995);
    if (kind < 180) return this.#buyPack(person);
    if (kind < 240) return this.#store.buy(person);
    if (kind < 300) return this.#store.sync(person);
    if (kind < 500) return this.#spendTokens(person, this.pick(this.#mods));
    if (kind < 560) return this.#store.spend(person, this.pick(this.#mods));
    if (kind < 640) return this.#payForMod(person, this.pick(this.#mods));
    if (kind < 740) return this.#return(person, this.pick(this.#mods));
    if (kind < 760) return this.#refundAsStudio();
    if (kind < 790) return this.#refundPayment();
    if (kind < 800) return this.#dispute();
    if (kind < 810) return this.#store.refund(person);
    if (kind < 970) return this.#sales.step(person);
    if (kind < 980) return this.#changePrice(this.pick(this.#mods));
    if (kind < 988) return this.#share(this.pick(this.#mods));
    if (kind < 992) return this.#merge(person, this.pick(this.#people));
    return this.#delete(person);
  }

  async #buyPack(owner: Player): Promise<void> {
    const { id, tokens, price } = this.pick(this.#packs);
    const params = { game_id: this.#game.id, token_pack_id: id };
    const body = { idempotent_key: this.nextKey() };
    const answer = await this.send('pack', 0, () => owner.client.call(buyTokenPack, { params, body }));
    const begun = answer.body as { id: number; checkout_url: string };
    const reference = begun.checkout_url.split('/').at(-1)!;
    const app = this.api.app();
    const isPaid = !this.chance(10);
    await chooseOutcome(app, reference, isPaid ? 'pay' : 'decline');
    this.#count(isPaid ? 'paid: 0' : 'declined: 0');
    // The provider may report twice.
    for (let told = this.chance(4) ? 0 : 1; told < 2; told += 1) {
      await settleReference(app, 'simulated', reference);
      this.#count('reported: 0');
    }
    if (isPaid) this.#paid({ id: begun.id, reference, owner, tokens, price, sold: undefined });
  }

  #paid(payment: Omit<Payment, 'status' | 'date'>): Payment {
    const paid: Payment = { ...payment, status: 'paid', date: this.books.now };
    if (!payment.sold) this.books.pay(paid);
    this.#payments.push(paid);
    if (this.#payments.length > 60) this.#payments.shift();
    return paid;
  }

  /** The purchase has the id of the response, which shows the wallet afterwards. */
  paidFor(answer: Answer<unknown>, person: Person, sold: Sold): void {
    const { transaction_id, balance, deficit } = answer.body as Record<string, number>;
    sold.id = transaction_id;
    assert.deepEqual([balance, deficit], [person.balance, person.deficit], this.#trace.join(', '));
  }

  async #spendTokens(person: Player, mod: SellingMod): Promise<void> {
    const sold = this.books.sell(person, mod, mod.price);
    const refusal = typeof sold === 'number' ? sold : 0;
    const ref = refusal === INSUFFICIENT && person.deficit > 0 ? OWING : refusal;
    const body = { idempotent_key: this.nextKey() };
    const answer = await this.send('tokens', ref, () => person.client.call(purchase, { params: mod.params, body }));
    if (typeof sold !== 'number') this.paidFor(answer, person, sold);
  }

  async #payForMod(person: Player, mod: SellingMod): Promise<void> {
    const { ref, pack } = this.#packFor(person, mod);
    const isDeclined = ref === 0 && this.chance(10);
    const method = isDeclined ? 'simulated_declined' : 'simulated_paid';
    const key = { idempotent_key: this.nextKey(), ...ACCEPTED };
    const call = (body: object) => () =>
      person.client.call(purchase, { params: mod.params, body: { ...key, ...body } });
    const inSteps = !isDeclined && this.chance(2);
    const expected = isDeclined ? PAYMENT_FAILED : ref;
    const type = inSteps ? { type: 3 } : { type: 2, payment_method_id: method };
    let answer = await this.send(inSteps ? 'intent' : 'money', expected, call(type));
    if (expected !== 0) return;
    const reference = (answer.body as { gateway_uuid: string }).gateway_uuid;
    const payment = { id: 0, reference, owner: person, tokens: pack!.tokens, price: pack!.price };
    if (inSteps) {
      const { transaction_id } = answer.body as { transaction_id: number };
      payment.id = transaction_id;
      await chooseOutcome(this.api.app(), reference, 'pay');
      this.#count('paid: 0');
      answer = await this.send('commit of money', 0, call({ type: 4, transaction_id }));
    }
    this.books.pay(payment);
    const sold = this.books.sell(person, mod, mod.price) as Sold;
    this.paidFor(answer, person, sold);
    // Paid at once, the response names the purchase and not the payment.
    if (inSteps) this.#paymentOf.set(sold, this.#paid({ ...payment, sold }));
    else this.#paymentOf.set(sold, { ...payment, status: 'paid', date: this.books.now, sold });
  }

  #packFor(person: Person, mod: SellingMod): { ref: number; pack?: Pack } {
    const refusal = this.books.refusal(person, mod);
    if (refusal !== 0) return { ref: refusal };
    const spendable = person.balance - person.deficit;
    const missing = Math.max(1, mod.price - spendable);
    const pack = this.#packs.find(({ id, tokens }) => (mod.packId ? id === mod.packId : tokens >= missing));
    if (!pack) return { ref: NO_PACK };
    return { ref: spendable + pack.tokens < mod.price ? INSUFFICIENT : 0, pack };
  }

  async #return(person: Player, mod: SellingMod): Promise<void> {
    const sold = this.books.owned(person, mod);
    const isOften = sold !== undefined && person.refunds >= REFUNDS_MAX;
    const ref = isOften ? UNEXPECTED : sold ? 0 : NOT_OWNED;
    this.check('return', await person.client.call(refundPurchase, { params: mod.params }), ref);
    if (sold && ref === 0) this.#refunded(sold);
  }

  #refunded(sold: Sold): void {
    this.books.refundWithMoney(sold, this.#paymentOf.get(sold));
    this.#paymentOf.delete(sold);
  }

  async #refundAsStudio(): Promise<void> {
    const known = this.books.sales.filter(({ id }) => id !== undefined);
    if (known.length === 0) return;
    const sold = this.pick(known);
    const params = { game_id: this.#game.id, purchase_id: sold.id! };
    const sent = () => this.#game.studio.call(refundGamePurchase, { params, body: { reason: 'Broken' } });
    this.check('studio refund', await sent(), 0);
    this.#refunded(sold);
    if (this.chance(4)) this.check('studio refund again', await sent(), UNEXPECTED);
  }

  async #refundPayment(): Promise<void> {
    if (this.#payments.length === 0) return;
    const payment = this.pick(this.#payments);
    const owner = payment.owner as Player;
    const isShort = owner.balance < payment.tokens;
    const isOver = payment.status !== 'paid' || (!isShort && owner.packRefunds >= REFUNDS_MAX);
    const ref = isOver ? UNEXPECTED : isShort ? INSUFFICIENT : 0;
    const params = { payment_id: payment.id };
    this.check('pack refund', await owner.site.call(refundUserPayment, { params }), ref);
    if (ref === 0) this.books.giveBack(payment);
  }

  async #dispute(): Promise<void> {
    const paid = this.#payments.filter(({ status }) => status === 'paid');
    if (paid.length === 0) return;
    const payment = this.pick(paid);
    await disputeReference(this.api.app(), 'simulated', payment.reference);
    this.books.dispute(payment);
    this.#count('dispute: 0');
    await this.runJobs();
  }

  async #changePrice(mod: SellingMod): Promise<void> {
    if (mod.packId) return;
    mod.price = 10 + this.#random(150);
    if (mod.stock !== undefined) mod.stock = this.#random(4);
    const offer = { price: mod.price, ...(mod.stock !== undefined && { stock: mod.stock }) };
    this.check('price', await mod.author.call(editModByPut, { params: mod.params, body: offer }), 0);
  }

  async #share(mod: SellingMod): Promise<void> {
    const others = this.#mods.map(({ leader }) => leader).filter((id) => id !== mod.leader);
    const split = 1 + this.#random(99);
    mod.shares = [
      { id: mod.leader, split },
      { id: this.pick(others), split: 100 - split },
    ];
    const body: Record<string, number> = {};
    for (const [at, share] of mod.shares.entries())
      for (const [name, value] of Object.entries(share)) body[`users[${at}][${name}]`] = value;
    this.check('share', await mod.author.call(createRevenueTeam, { params: mod.params, body }), 0);
  }

  async #merge(from: Player, to: Player): Promise<void> {
    if (from === to) return;
    const isPending = from.bought.some(({ state }) => state === 'pending');
    const body = { access_token: from.site.token! };
    this.check('merge', await to.site.call(mergeOwnAccount, { body }), isPending ? MERGE_REFUSED : 0);
    if (isPending) return;
    await this.runJobs();
    this.books.merge(from, to);
    for (const payment of this.#payments) if (payment.owner === from) payment.owner = to;
    for (const payment of this.#paymentOf.values()) if (payment.owner === from) payment.owner = to;
    this.#sales.move(from, to);
    to.bought.push(...from.bought);
    to.bought.sort((one, other) => one.id - other.id);
    await this.#replace(from);
  }

  async #replace(person: Player): Promise<void> {
    this.#people.splice(this.#people.indexOf(person), 1);
    this.#people.push(await aPlayer(this.api, this.#game));
  }

  async #delete(person: Player): Promise<void> {
    if (person.balance > 0 || person.deficit > 0) return;
    this.check('close', await person.site.call(closeOwnAccount), 0);
    const body = { email: person.user.username };
    this.check('delete', await person.site.call(deleteOwnAccount, { body }), 0);
    await this.runJobs();
    for (const sold of this.books.ownedBy(person)) this.#forget(sold);
    this.#payments = this.#payments.filter(({ owner }) => owner !== person);
    this.#sales.forget(person);
    await this.#replace(person);
  }

  #forget(sold: Sold): void {
    this.books.sales.splice(this.books.sales.indexOf(sold), 1);
    this.#paymentOf.delete(sold);
  }

  /** Time has passed, and jobs have finished what the store did not answer. */
  jumped(seconds: number): void {
    this.books.now += seconds;
    for (const person of this.#people) this.#store.finish(person);
  }

  runJobs(): Promise<unknown> {
    return this.#jobs.run();
  }

  /** Every wallet, every list of owned mods, and the sums of all accounts of the game. */
  async compare(): Promise<void> {
    for (const person of this.#people) {
      const { balance, deficit } = await walletOf(person.client, this.#game);
      assert.deepEqual([balance, deficit], [person.balance, person.deficit], `wallet: ${this.#trace.join(', ')}`);
      const listed = (await person.client.call(getUserPurchases)).body.data.map(({ id }) => id);
      const owned = this.books.ownedBy(person).map(({ mod }) => mod.id);
      assert.deepEqual(listed.sort(), owned.sort(), `owned: ${this.#trace.join(', ')}`);
    }
    assert.deepEqual(await sumsOf(this.api, this.#game), sumsIn(this.books, this.#people));
  }

  /** Two databases with the same history have the same state. */
  async state(): Promise<unknown> {
    const people = this.#people.map(({ balance, deficit }) => [balance, deficit]);
    const counts = [...this.counts].sort(([one], [other]) => (one < other ? -1 : 1));
    return [await sumsOf(this.api, this.#game), people, counts];
  }
}
