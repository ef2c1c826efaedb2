import { ALREADY_OWNED, INSUFFICIENT, SOLD_OUT } from './refs.ts';

/** A naive model of what the service owes and owns: plain numbers, no database, no locks, no retries. */

export interface Person {
  readonly id: number;
  balance: number;
  deficit: number;
  /** Purchases and payments that were refunded, for the limits of a year. */
  refunds: number;
  packRefunds: number;
}

export interface ModelMod {
  readonly id: number;
  readonly leader: number;
  readonly packId: number | undefined;
  price: number;
  /** Undefined: unlimited. */
  stock: number | undefined;
  shares: readonly { readonly id: number; readonly split: number }[];
}

export interface Sold {
  /** The id of the purchase at the service, where a response named it. */
  id: number | undefined;
  owner: Person;
  readonly mod: ModelMod;
  readonly price: number;
  readonly date: number;
  readonly fee: number;
  readonly studio: number;
  readonly earned: ReadonlyMap<number, number>;
  isPaid: boolean;
}

export interface Payment {
  readonly id: number;
  readonly reference: string;
  owner: Person;
  readonly tokens: number;
  readonly price: number;
  readonly date: number;
  status: 'paid' | 'refunded' | 'disputed';
  readonly sold: Sold | undefined;
}

export const REFUNDS_MAX = 1_000;
const OK = 0;

export class Books {
  now = 0;
  fee = 0;
  studio = 0;
  issued = 0;
  /** What the payment provider holds, in the smallest unit. */
  money = 0;
  readonly earnings = new Map<number, number>();
  readonly sales: Sold[] = [];

  owned(person: Person, mod: ModelMod): Sold | undefined {
    return this.sales.find((sold) => sold.isPaid && sold.owner === person && sold.mod === mod);
  }

  ownedBy(person: Person): Sold[] {
    return this.sales.filter((sold) => sold.isPaid && sold.owner === person);
  }

  credit(person: Person, tokens: number, settlesDeficit = true): void {
    const recovered = settlesDeficit ? Math.min(tokens, person.deficit) : 0;
    person.balance += tokens - recovered;
    person.deficit -= recovered;
    this.issued += tokens;
  }

  takeBack(person: Person, tokens: number): void {
    const taken = Math.min(person.balance, tokens);
    person.balance -= taken;
    person.deficit += tokens - taken;
    this.issued -= tokens;
  }

  /** The error with which a purchase is refused, whatever pays for it; 0 if it is not. */
  refusal(person: Person, mod: ModelMod): number {
    if (this.owned(person, mod)) return ALREADY_OWNED;
    return mod.stock === 0 ? SOLD_OUT : OK;
  }

  /** Sells for tokens of the wallet, or tells why not. */
  sell(person: Person, mod: ModelMod, price: number): Sold | number {
    const refusal = this.refusal(person, mod);
    if (refusal !== OK) return refusal;
    if (person.balance < price) return INSUFFICIENT;
    const fee = Math.floor((price * 1_200) / 5_200);
    const seller = Math.floor(((price - fee) * 7_000) / 10_000);
    const earned = new Map(mod.shares.map(({ id, split }) => [id, Math.floor((seller * split) / 100)]));
    const rest = seller - [...earned.values()].reduce((sum, each) => sum + each, 0);
    earned.set(mod.leader, (earned.get(mod.leader) ?? 0) + rest);
    const studio = price - fee - seller;
    const sold = { id: undefined, owner: person, mod, price, date: this.now, fee, studio, earned, isPaid: true };
    person.balance -= price;
    this.#divide(sold, 1);
    if (mod.stock !== undefined) mod.stock -= 1;
    this.sales.push(sold);
    return sold;
  }

  refund(sold: Sold, payee: Person = sold.owner): void {
    const recovered = Math.min(sold.price, payee.deficit);
    payee.balance += sold.price - recovered;
    payee.deficit -= recovered;
    this.#divide(sold, -1);
    if (sold.mod.stock !== undefined) sold.mod.stock += 1;
    sold.isPaid = false;
    sold.owner.refunds += 1;
    // What is over is never looked for again.
    this.sales.splice(this.sales.indexOf(sold), 1);
  }

  #divide({ fee, studio, earned }: Sold, sign: 1 | -1): void {
    this.fee += fee * sign;
    this.studio += studio * sign;
    for (const [id, amount] of earned) this.earnings.set(id, (this.earnings.get(id) ?? 0) + amount * sign);
  }

  pay(payment: Pick<Payment, 'owner' | 'tokens' | 'price'>): void {
    this.credit(payment.owner, payment.tokens);
    this.money += payment.price;
  }

  giveBack(payment: Payment): void {
    this.takeBack(payment.owner, payment.tokens);
    this.money -= payment.price;
    payment.status = 'refunded';
    payment.owner.packRefunds += 1;
  }

  /** A mod that was paid for with money is refunded in money, if the payment bought exactly its price. */
  refundWithMoney(sold: Sold, payment: Payment | undefined): void {
    this.refund(sold);
    if (payment?.status !== 'paid' || payment.tokens !== sold.price) return;
    if (payment.owner.balance >= payment.tokens) this.giveBack(payment);
  }

  /** The bank takes the money back: the tokens go, and mods that were bought since, until nothing is owed. */
  dispute(payment: Payment): void {
    this.takeBack(payment.owner, payment.tokens);
    this.money -= payment.price;
    payment.status = 'disputed';
    if (payment.sold?.isPaid) this.refund(payment.sold);
    while (payment.owner.deficit > 0) {
      const newest = this.ownedBy(payment.owner).findLast(({ date }) => date >= payment.date);
      if (!newest) return;
      this.refund(newest);
    }
  }

  /** The other account's tokens and debts move; what both own is refunded once. */
  merge(from: Person, to: Person): void {
    to.balance += from.balance;
    to.deficit += from.deficit;
    from.balance = 0;
    from.deficit = 0;
    const both = this.ownedBy(from).filter(({ mod }) => this.owned(to, mod));
    for (const sold of both.toSorted((one, other) => one.mod.id - other.mod.id)) this.refund(sold, to);
    for (const sold of this.ownedBy(from)) sold.owner = to;
    to.refunds += from.refunds;
    to.packRefunds += from.packRefunds;
  }
}
