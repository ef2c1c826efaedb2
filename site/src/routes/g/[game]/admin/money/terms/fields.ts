import type { Field } from '#components/dashboard/fields.ts';

const number = (name: string): Field => ({ name, kind: 'number' });
const yes = (name: string): Field => ({ name, kind: 'yes' });

/** The conditions under which a game sells, by group. */
export const GROUPS: readonly { readonly name: string; readonly fields: readonly Field[] }[] = [
  {
    name: 'shares',
    fields: [
      { name: 'currency', kind: 'text', max: 3 },
      number('fee_micros'),
      number('pool_micros'),
      number('seller_basis_points'),
      number('price_min'),
      number('price_max'),
    ],
  },
  {
    name: 'returns',
    fields: [
      number('hold_days'),
      number('refund_days'),
      number('refunds_per_year'),
      number('studio_refund_days'),
      number('pack_refund_days'),
      number('pack_refunds_per_year'),
    ],
  },
  { name: 'taxes', fields: [number('tax_basis_points'), yes('tax_included'), number('withholding_basis_points')] },
  {
    name: 'payouts',
    fields: [
      number('payout_min'),
      number('payout_fee'),
      yes('payout_monthly'),
      yes('seller_agreement'),
      yes('sellers_need_paypal'),
    ],
  },
  {
    name: 'partners',
    fields: [
      number('partner_mods_min'),
      number('partner_subscribers_min'),
      number('partner_rating_min'),
      yes('partner_review'),
      yes('partner_invited_only'),
      number('partner_reapply_days'),
    ],
  },
  {
    name: 'limits',
    fields: [
      yes('verified_only'),
      yes('in_game_only'),
      number('store_packs_per_day'),
      number('packs_per_day'),
      number('payments_per_hour_and_address'),
      number('sign_in_hours_min'),
      number('sign_in_hours_max'),
      number('purchases_per_hour'),
      number('tokens_per_day'),
      number('purchases_per_hour_and_address'),
      number('purchases_per_hour_in_game'),
      number('circular_trade_days'),
      number('clawbacks_to_lock'),
      number('clawback_storm'),
    ],
  },
];
