/**
 * The chart of accounts. Amounts are integers in the smallest unit; a positive amount is a credit (the owner is owed
 * more), a negative one a debit. Every transaction sums to zero in each of its currencies.
 */
export const ACCOUNT_KINDS = {
  wallet: {
    owner: 'user',
    unit: 'tokens',
    side: 'credit',
    says: 'Tokens that a user can spend in one game.',
  },
  deficit: {
    owner: 'user',
    unit: 'tokens',
    side: 'debit',
    says: 'Tokens that a user owes, because a payment was taken back after its tokens were spent.',
  },
  pending_earnings: {
    owner: 'user',
    unit: 'tokens',
    side: 'credit',
    says: 'The share of a seller in purchases that can still be refunded.',
  },
  earnings: {
    owner: 'user',
    unit: 'money',
    side: 'credit',
    says: 'What a seller can be paid: the value of cleared earnings, without withheld tax.',
  },
  earnings_deficit: {
    owner: 'user',
    unit: 'money',
    side: 'debit',
    says: 'What a seller owes, because a sale was refunded after its earnings were paid out.',
  },
  payouts_in_transit: {
    owner: 'user',
    unit: 'money',
    side: 'credit',
    says: 'Payouts to a seller that were requested and have neither arrived nor failed.',
  },
  studio_share: {
    owner: 'game',
    unit: 'tokens',
    side: 'either',
    says: 'The share of the game in the purchases of its mods.',
  },
  platform_fee: {
    owner: 'game',
    unit: 'tokens',
    side: 'either',
    says: 'The fee of the site on the purchases of a game.',
  },
  issued_tokens: {
    owner: 'game',
    unit: 'tokens',
    side: 'debit',
    says: 'The counterpart of every token in circulation: what was issued, without what sellers redeemed.',
  },
  token_sales: {
    owner: 'game',
    unit: 'money',
    side: 'either',
    says: 'What token packs were sold for, without taxes.',
  },
  tax: {
    owner: 'game',
    unit: 'money',
    side: 'either',
    says: 'Taxes collected with token packs, owed to the authorities.',
  },
  seller_costs: {
    owner: 'game',
    unit: 'money',
    side: 'either',
    says: 'The value of the tokens that sellers redeemed: an expense of the game.',
  },
  withheld_tax: {
    owner: 'game',
    unit: 'money',
    side: 'either',
    says: 'Taxes withheld from sellers, owed to the authorities.',
  },
  payout_fees: {
    owner: 'game',
    unit: 'money',
    side: 'either',
    says: 'Fees that sellers paid for payouts.',
  },
  gateway: {
    owner: 'provider',
    unit: 'money',
    side: 'either',
    says: 'What a payment provider has collected for the game and not yet paid to sellers: a debit.',
  },
} as const satisfies Record<string, AccountRule>;

interface AccountRule {
  readonly owner: 'user' | 'game' | 'provider';
  /** Tokens of the game, or a currency of ISO 4217. */
  readonly unit: 'tokens' | 'money';
  /** `credit`: never below zero. `debit`: never above zero. */
  readonly side: 'credit' | 'debit' | 'either';
  readonly says: string;
}

export type AccountKind = keyof typeof ACCOUNT_KINDS;

/** Identifies an account. */
export interface AccountName {
  readonly kind: AccountKind;
  /** 0 unless a user owns it. */
  readonly userId: number;
  /** Empty unless a payment provider owns it. */
  readonly provider: string;
  readonly gameId: number;
  readonly currency: string;
}

/** The tokens of a game are a currency of their own. */
export const tokensOf = (gameId: number): string => `TOKEN:${gameId}`;

type TokenKind = { [K in AccountKind]: (typeof ACCOUNT_KINDS)[K]['unit'] extends 'tokens' ? K : never }[AccountKind];
type MoneyKind = Exclude<AccountKind, TokenKind>;

/** An account in the tokens of a game; `userId` for the kinds that users own. */
export const tokenAccount = (kind: TokenKind, gameId: number, userId = 0): AccountName => ({
  kind,
  userId,
  provider: '',
  gameId,
  currency: tokensOf(gameId),
});

export const moneyAccount = (
  kind: Exclude<MoneyKind, SellerKind>,
  gameId: number,
  currency: string,
  provider = '',
): AccountName => ({
  kind,
  userId: 0,
  provider,
  gameId,
  currency,
});

type SellerKind = {
  [K in MoneyKind]: (typeof ACCOUNT_KINDS)[K]['owner'] extends 'user' ? K : never;
}[MoneyKind];

/** An account of a seller in money. */
export const sellerAccount = (kind: SellerKind, gameId: number, userId: number, currency: string): AccountName => ({
  kind,
  userId,
  provider: '',
  gameId,
  currency,
});

const ISO_4217 = /^[A-Z]{3}$/;

/** True when the name follows the rules of its kind: the right owner and the right unit. */
export function isValidName({ kind, userId, provider, gameId, currency }: AccountName): boolean {
  const rule: AccountRule | undefined = ACCOUNT_KINDS[kind];
  if (!rule || gameId < 1) return false;
  const isOwned = userId > 0 === (rule.owner === 'user') && (provider !== '') === (rule.owner === 'provider');
  const isUnit = rule.unit === 'tokens' ? currency === tokensOf(gameId) : ISO_4217.test(currency);
  return isOwned && isUnit;
}

export function isAllowedBalance(kind: AccountKind, balance: number): boolean {
  const { side }: AccountRule = ACCOUNT_KINDS[kind];
  return side === 'either' || (side === 'credit' ? balance >= 0 : balance <= 0);
}
