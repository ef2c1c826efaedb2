/** The kinds of agreements, by the numbers of the API. */
export const AGREEMENT_TYPES = {
  TERMS: 1,
  PRIVACY: 2,
  GAME: 3,
  API: 4,
  MONETIZATION: 5,
  ACCEPTABLE_USE: 6,
  COOKIES: 7,
  REFUND: 8,
  DIRECT_DEBIT: 9,
} as const;

export type AgreementType = (typeof AGREEMENT_TYPES)[keyof typeof AGREEMENT_TYPES];

const NUMBERS: readonly number[] = Object.values(AGREEMENT_TYPES);

export const isAgreementType = (type: number): type is AgreementType => NUMBERS.includes(type);

/** The names of their pages below `/legal/`. */
export const LEGAL_PAGES: Readonly<Record<string, AgreementType>> = {
  terms: AGREEMENT_TYPES.TERMS,
  privacy: AGREEMENT_TYPES.PRIVACY,
  game: AGREEMENT_TYPES.GAME,
  api: AGREEMENT_TYPES.API,
  monetization: AGREEMENT_TYPES.MONETIZATION,
  'acceptable-use': AGREEMENT_TYPES.ACCEPTABLE_USE,
  cookies: AGREEMENT_TYPES.COOKIES,
  refund: AGREEMENT_TYPES.REFUND,
  'direct-debit': AGREEMENT_TYPES.DIRECT_DEBIT,
};
