import { z } from 'zod';
import type { App } from '../../platform/app.ts';
import { Id, Integer, Timestamp } from '../../platform/http/objects.ts';
import { meta, type RefundObject, TRANSACTION_TYPES } from '../purchases/object.ts';
import { type Attempt, type NamedTransaction, type TransactionType, typeOf } from './history.ts';

const TransactionTypeField = z.enum(TRANSACTION_TYPES);

const amounts = {
  gross_amount: Integer.meta({ description: 'In the smallest unit of the currency.' }),
  net_amount: Integer.meta({ description: 'Without taxes.' }),
  platform_fee: Integer.meta({ description: 'The site takes its fee when tokens are spent: 0.' }),
  gateway_fee: Integer,
};

export const S2SPayObject = z
  .object({
    transaction_id: Id,
    gateway_uuid: z.string(),
    ...amounts,
    transaction_type: TransactionTypeField,
    meta,
    purchase_date: Timestamp,
  })
  .meta({ id: 'S2SPay' });

const PaymentMethodObject = z
  .object({ name: z.string(), id: z.string(), amount: Integer, display_amount: z.string() })
  .meta({ id: 'PaymentMethod' });

const LineItemsObject = z
  .object({
    game_id: Id,
    buyer_id: Id,
    game_name: z.string(),
    buyer_name: z.string(),
    token_name: z.string(),
    token_pack_id: Integer,
    token_pack_name: z.string(),
    mod_id: Integer,
    mod_name: z.string(),
    sku: z.string(),
  })
  .meta({ id: 'LineItems' });

const indexFields = {
  id: Id,
  gateway_uuid: z.string(),
  gateway_name: z.string().meta({ description: 'The store.' }),
  account_id: Id.meta({ description: 'The id of the buyer.' }),
  ...amounts,
  tax: Integer,
  tax_type: z.string(),
  currency: z.string(),
  tokens: Integer,
  transaction_type: TransactionTypeField,
  monetization_type: z.literal('EXTERNAL'),
  clawback_uuid: z.string(),
  purchase_date: z.string().meta({ description: 'ISO 8601' }),
  created_at: z.string().meta({ description: 'ISO 8601' }),
  payment_method: z.array(PaymentMethodObject),
  line_items: z.array(LineItemsObject),
};

export const TransactionIndexObject = z.object(indexFields).meta({ id: 'TransactionIndex' });

const TransactionItemsObject = z
  .object({
    id: Id,
    gateway_uuid: z.string(),
    gateway_name: z.string(),
    sale_price: z.number(),
    gateway_fee: z.number(),
    platform_fee: z.number(),
    currency: z.string(),
    tokens: Integer,
    token_team_id: Id,
    sale_type: z.enum(['TOKEN_PACK', 'MOD']),
    monetization_type: z.literal('EXTERNAL'),
    transaction_type: TransactionTypeField,
    purchase_date: z.string(),
    created_at: Timestamp,
    line_items: z.array(LineItemsObject),
    breakdown: z
      .array(
        z.object({
          platform: z.object({ revenue: z.number() }),
          store: z.array(
            z.object({
              revenue: z.number(),
              users: z.array(z.object({ account_name: z.string(), account_id: Id, revenue: z.number() })),
            }),
          ),
        }),
      )
      .meta({ description: 'What each party gets of the mod that the tokens bought, in tokens.' }),
    revenue: z.number(),
  })
  .meta({ id: 'TransactionItems' });

export const TransactionShowObject = z
  .object({ ...indexFields, items: z.array(TransactionItemsObject) })
  .meta({ id: 'TransactionShow' });

/** A page of a list that is read from a cursor on. */
export const CursorMetaObject = z
  .object({
    per_page: Integer,
    current_page: Integer,
    next_page_url: z.string().nullable(),
    prev_page_url: z.string().nullable(),
  })
  .meta({ id: 'CursorMeta' });

const amountsOf = ({ price, tax }: NamedTransaction) => ({
  gross_amount: price,
  net_amount: price - tax,
  platform_fee: 0,
  gateway_fee: 0,
});

const metaOf = (row: NamedTransaction) => [
  {
    mod_id: row.mod_id,
    game_id: row.game_id,
    buyer_id: row.user_id,
    mod_name: row.mod_name ?? '',
    game_name: row.game_name,
    buyer_name: row.buyer_name,
    token_name: row.token_name,
  },
];

export const toS2SPay = (app: App, row: NamedTransaction): z.output<typeof S2SPayObject> => ({
  transaction_id: row.id,
  gateway_uuid: row.gateway_uuid,
  ...amountsOf(row),
  transaction_type: typeOf(app, row),
  meta: metaOf(row),
  purchase_date: row.date_paid || row.date_added,
});

export const toClawback = (row: NamedTransaction): z.output<typeof RefundObject> => ({
  transaction_id: row.id,
  ...amountsOf(row),
  tax: row.tax,
  tax_type: '',
  transaction_type: 'REFUNDED',
  meta: metaOf(row),
  purchase_date: row.date_paid,
});

const isoOf = (seconds: number): string => new Date(seconds * 1_000).toISOString();

const lineItemsOf = (row: NamedTransaction) => [
  {
    game_id: row.game_id,
    buyer_id: row.user_id,
    game_name: row.game_name,
    buyer_name: row.buyer_name,
    token_name: row.token_name,
    token_pack_id: row.pack_id,
    token_pack_name: row.pack_name,
    mod_id: row.mod_id,
    mod_name: row.mod_name ?? '',
    sku: row.sku,
  },
];

export function toTransactionIndex(app: App, row: NamedTransaction): z.output<typeof TransactionIndexObject> {
  const { gross_amount: amount } = amountsOf(row);
  return {
    id: row.id,
    gateway_uuid: row.gateway_uuid,
    gateway_name: row.portal,
    account_id: row.user_id,
    ...amountsOf(row),
    tax: row.tax,
    tax_type: '',
    currency: row.currency,
    tokens: row.tokens,
    transaction_type: typeOf(app, row),
    monetization_type: 'EXTERNAL',
    clawback_uuid: row.clawback_uuid,
    purchase_date: isoOf(row.date_paid || row.date_added),
    created_at: isoOf(row.date_added),
    payment_method: [{ name: row.portal, id: row.sku, amount, display_amount: `${amount} ${row.currency}` }],
    line_items: lineItemsOf(row),
  };
}

/** The states that an attempt has had, the oldest first. */
function statesOf(app: App, row: NamedTransaction): { type: TransactionType; date: number }[] {
  const type = typeOf(app, row);
  const states: { type: TransactionType; date: number }[] = [{ type: 'PENDING', date: row.date_added }];
  if (row.date_paid > 0) states.push({ type: 'PAID', date: row.date_paid });
  if (type === 'CLEARED') states.push({ type, date: row.date_clears });
  if (type === 'REFUNDED' || type === 'CANCELLED' || type === 'FAILED') states.push({ type, date: row.date_ended });
  return states;
}

function itemsOf(app: App, { row, breakdown: { platform, studio, sellers } }: Attempt) {
  const users = sellers.map(({ id, name, amount }) => ({ account_name: name, account_id: id, revenue: amount }));
  return statesOf(app, row).map(
    ({ type, date }): z.output<typeof TransactionItemsObject> => ({
      id: row.id,
      gateway_uuid: row.gateway_uuid,
      gateway_name: row.portal,
      sale_price: amountsOf(row).gross_amount,
      gateway_fee: 0,
      platform_fee: 0,
      currency: row.currency,
      tokens: row.tokens,
      token_team_id: row.game_id,
      sale_type: row.mod_id === 0 ? 'TOKEN_PACK' : 'MOD',
      monetization_type: 'EXTERNAL',
      transaction_type: type,
      purchase_date: isoOf(row.date_paid || row.date_added),
      created_at: date,
      line_items: lineItemsOf(row),
      breakdown: [{ platform: { revenue: platform }, store: [{ revenue: studio, users }] }],
      revenue: row.transaction_id === 0 ? 0 : row.price - row.tax,
    }),
  );
}

export const toTransactionShow = (
  app: App,
  { row, attempts }: { readonly row: NamedTransaction; readonly attempts: readonly Attempt[] },
): z.output<typeof TransactionShowObject> => ({
  ...toTransactionIndex(app, row),
  items: attempts.flatMap((each) => itemsOf(app, each)),
});
