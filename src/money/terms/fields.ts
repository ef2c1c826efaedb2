import { z } from 'zod';

const DAYS_MAX = 3_650;
const Days = z.int().min(0).max(DAYS_MAX);
const PerYear = z.int().min(0).max(1_000);
const BasisPoints = z.int().min(0).max(10_000);
const Limit = z.int().min(0).max(1_000_000_000);
const Micros = z.int().min(0).max(1_000_000_000_000);

/** The conditions under which a game sells. The defaults are those that players of this API know. */
export const TermsFields = z.object({
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/)
    .meta({ description: 'The currency of token packs that name none (ISO 4217).' })
    .default('USD'),
  fee_micros: Micros.meta({
    description: 'The fee of the site per token, in millionths of the currency.',
  }).default(1_200),
  pool_micros: Micros.meta({
    description: 'What sellers and the game share per token, in millionths of the currency.',
  }).default(4_000),
  seller_basis_points: BasisPoints.meta({
    description: 'The share of sellers in the pool, in hundredths of a percent; the rest is the game’s.',
  }).default(7_000),
  price_min: z.int().min(1).max(1_000_000).meta({ description: 'The lowest price of a mod, in tokens.' }).default(1),
  price_max: z
    .int()
    .min(1)
    .max(1_000_000_000)
    .meta({ description: 'The highest price of a mod, in tokens.' })
    .default(1_000_000),
  hold_days: Days.meta({ description: 'How long earnings are pending.' }).default(30),
  refund_days: Days.meta({ description: 'How long a buyer can return a mod.' }).default(7),
  refunds_per_year: PerYear.meta({ description: 'How many mods a buyer can return in 365 days.' }).default(8),
  studio_refund_days: Days.meta({ description: 'How long the game’s team can refund a mod.' }).default(30),
  pack_refund_days: Days.meta({ description: 'How long a buyer can return an unused token pack.' }).default(30),
  pack_refunds_per_year: PerYear.meta({
    description: 'How many token packs a buyer can return in 365 days.',
  }).default(1),
  store_packs_per_day: z
    .int()
    .min(0)
    .max(100_000)
    .meta({ description: 'How many token packs a buyer can bring from one store in 24 hours; 0 for any number.' })
    .default(0),
  packs_per_day: Limit.meta({
    description:
      'How many token packs a user can pay for in 24 hours, without payments that failed (900008); 0 for any number.',
  }).default(0),
  payments_per_hour_and_address: Limit.meta({
    description:
      'How many payments for token packs can begin from one network address in an hour, also if they fail (900008); 0 for any number.',
  }).default(0),
  tax_basis_points: BasisPoints.meta({ description: 'The tax on token packs, in hundredths of a percent.' }).default(0),
  tax_included: z.boolean().meta({ description: 'Whether the price of a pack contains the tax.' }).default(true),
  withholding_basis_points: BasisPoints.meta({
    description: 'The tax withheld from what sellers earn, in hundredths of a percent.',
  }).default(0),
  payout_min: z
    .int()
    .min(1)
    .max(1_000_000_000)
    .meta({ description: 'The least that is paid out at once, in the smallest unit of the currency.' })
    .default(1_000),
  payout_fee: z
    .int()
    .min(0)
    .max(1_000_000)
    .meta({ description: 'What a seller pays for each payout, in the smallest unit of the currency.' })
    .default(0),
  payout_monthly: z
    .boolean()
    .meta({ description: 'Whether sellers are paid at the beginning of each month without a request.' })
    .default(false),
  partner_mods_min: z
    .int()
    .min(0)
    .max(1_000)
    .meta({ description: 'How many public mods an applicant for the partner programme needs.' })
    .default(1),
  partner_subscribers_min: z
    .int()
    .min(0)
    .max(1_000_000_000)
    .meta({ description: 'How many subscribers these mods need together.' })
    .default(0),
  partner_rating_min: z
    .int()
    .min(0)
    .max(100)
    .meta({ description: 'The weighted rating that the best of them needs, in percent.' })
    .default(0),
  partner_review: z.boolean().meta({ description: 'Whether the team decides over each application.' }).default(true),
  partner_invited_only: z
    .boolean()
    .meta({ description: 'Whether only invited users may apply (900042).' })
    .default(false),
  partner_reapply_days: Days.meta({ description: 'How long a rejected applicant waits (900043).' }).default(30),
  seller_agreement: z
    .boolean()
    .meta({ description: 'Whether sellers have to accept the agreement on monetization first (900044).' })
    .default(false),
  sellers_need_paypal: z
    .boolean()
    .meta({
      description:
        'Whether sellers have to register a PayPal account: `payout_details` of `paypal:` and a mail address (15046).',
    })
    .default(false),
  verified_only: z
    .boolean()
    .meta({
      description: 'Whether only accounts with a confirmed mail address have a wallet (17034) and buy (900007).',
    })
    .default(false),
  sign_in_hours_min: z
    .int()
    .min(0)
    .max(720)
    .meta({
      description: 'How many hours after a new sign-in to an older account its token cannot buy mods (900008).',
    })
    .default(0),
  sign_in_hours_max: z
    .int()
    .min(0)
    .max(8_760)
    .meta({ description: 'How many hours after a sign-in its token can buy mods (900002); 0 for any time.' })
    .default(0),
  purchases_per_hour: Limit.meta({
    description: 'How many mods a user can buy in an hour (900008); 0 for any number.',
  }).default(0),
  tokens_per_day: Limit.meta({
    description: 'How many tokens a user can spend in 24 hours (900008); 0 for any number.',
  }).default(0),
  purchases_per_hour_and_address: Limit.meta({
    description: 'How many mods can be bought from one network address in an hour (900008); 0 for any number.',
  }).default(0),
  purchases_per_hour_in_game: Limit.meta({
    description: 'How many mods of the game can be bought in an hour by all users (900008); 0 for any number.',
  }).default(0),
  circular_trade_days: Days.meta({
    description: 'Who sold a mod to a user cannot buy from them within these days (900001); 0 to allow it.',
  }).default(0),
  clawbacks_to_lock: Limit.meta({
    description: 'After how many clawbacks in 24 hours a user is locked out of the marketplace (900015); 0 for never.',
  }).default(0),
  clawback_storm: Limit.meta({
    description: 'After how many clawbacks of the game in 24 hours the audit log says so; 0 for never.',
  }).default(0),
  in_game_only: z
    .boolean()
    .meta({ description: 'Whether only tokens of a sign-in in the game may buy (900074).' })
    .default(false),
});

export type Terms = z.output<typeof TermsFields>;

export const DEFAULT_TERMS: Terms = TermsFields.parse({});

/** What an edit may send: any of the fields, without their defaults. */
export const TermsChanges = z.object(
  Object.fromEntries(
    Object.entries(TermsFields.shape).map(([name, field]) => [name, field.unwrap().optional()]),
  ) as unknown as {
    [K in keyof typeof TermsFields.shape]: z.ZodOptional<ReturnType<(typeof TermsFields.shape)[K]['unwrap']>>;
  },
);
