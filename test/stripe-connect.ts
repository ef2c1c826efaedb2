interface Transfer {
  readonly id: string;
  readonly object: 'transfer';
  readonly amount: number;
  readonly currency: string;
  readonly destination: string;
  readonly transfer_group: string;
  readonly metadata: { readonly reference: string };
  readonly created: number;
  reversed: boolean;
}

interface Payout {
  readonly id: string;
  readonly object: 'payout';
  readonly account: string;
  readonly amount: number;
  readonly currency: string;
  readonly metadata: { readonly reference: string };
  status: 'pending' | 'in_transit' | 'paid' | 'failed';
}

interface Request {
  readonly method: string;
  readonly url: string;
  /** The header `Stripe-Account`. */
  readonly account: string;
}

type Response = { status: number; body: object };

const listOf = (data: readonly object[]): Response => ({
  status: 200,
  body: { object: 'list', data, has_more: false, url: '/v1' },
});
const refusal = (code: string): Response => ({ status: 400, body: { error: { type: 'invalid_request_error', code } } });

/** Stripe Connect as far as the service uses it. A transfer fills an account, and a payout empties it. */
export class StripeConnect {
  readonly accounts = new Map<string, { readonly id: string; payouts_enabled: boolean; details_submitted: boolean }>();
  readonly transfers: Transfer[] = [];
  readonly payouts: Payout[] = [];
  /** What the site has at Stripe. */
  balance = 1_000_000;
  readonly #moved: (type: string, amount: number, source: object) => void;
  #count = 0;

  /** `moved` lists what a transfer moves in the account of the site. */
  constructor(moved: (type: string, amount: number, source: object) => void) {
    this.#moved = moved;
  }

  #id(prefix: string): string {
    this.#count += 1;
    return `${prefix}_${this.#count}`;
  }

  respond({ method, url, account }: Request, form: URLSearchParams): Response | undefined {
    const { pathname, searchParams } = new URL(url, 'http://stripe');
    const [, , resource = '', id = '', further] = pathname.split('/');
    switch (`${method} ${resource}${id && '/'}${further ?? ''}`) {
      case 'POST accounts':
        return { status: 200, body: this.#open() };
      case 'GET accounts/':
        return { status: 200, body: this.accounts.get(id)! };
      case 'POST account_links':
        return {
          status: 200,
          body: { object: 'account_link', url: `https://connect.stripe.com/${form.get('account')}` },
        };
      case 'GET transfers': {
        const group = searchParams.get('transfer_group');
        return listOf(this.transfers.filter((each) => group === null || each.transfer_group === group));
      }
      case 'GET transfers/':
        return { status: 200, body: this.transfers.find((each) => each.id === id)! };
      case 'POST transfers':
        return this.#transfer(form);
      case 'POST transfers/reversals':
        return this.#reverse(id);
      case 'GET payouts':
        return listOf(this.payouts.filter((each) => each.account === account));
      case 'POST payouts':
        return this.#payOut(account, form);
      case 'GET payouts/':
        return { status: 200, body: this.payouts.find((each) => each.id === id && each.account === account)! };
      default:
        return undefined;
    }
  }

  #open(): object {
    const account = { id: this.#id('acct'), object: 'account', payouts_enabled: false, details_submitted: false };
    this.accounts.set(account.id, account);
    return account;
  }

  #transfer(form: URLSearchParams): Response {
    const amount = Number(form.get('amount'));
    if (amount > this.balance) return refusal('balance_insufficient');
    this.balance -= amount;
    const transfer: Transfer = {
      id: this.#id('tr'),
      object: 'transfer',
      amount,
      currency: form.get('currency')!,
      destination: form.get('destination')!,
      transfer_group: form.get('transfer_group')!,
      metadata: { reference: form.get('metadata[reference]')! },
      created: 0,
      reversed: false,
    };
    this.transfers.push(transfer);
    this.#moved('transfer', -amount, transfer);
    return { status: 200, body: transfer };
  }

  #reverse(id: string): Response {
    const transfer = this.transfers.find((each) => each.id === id)!;
    if (transfer.reversed) return refusal('transfer_already_reversed');
    transfer.reversed = true;
    this.balance += transfer.amount;
    const { amount, currency } = transfer;
    const reversal = { id: this.#id('trr'), object: 'transfer_reversal', amount, currency, transfer: transfer.id };
    this.#moved('transfer_refund', amount, reversal);
    return { status: 200, body: reversal };
  }

  #payOut(account: string, form: URLSearchParams): Response {
    if (!this.accounts.get(account)?.payouts_enabled) return refusal('payouts_not_allowed');
    const payout: Payout = {
      id: this.#id('po'),
      object: 'payout',
      account,
      amount: Number(form.get('amount')),
      currency: form.get('currency')!,
      metadata: { reference: form.get('metadata[reference]')! },
      status: 'pending',
    };
    this.payouts.push(payout);
    return { status: 200, body: payout };
  }
}
