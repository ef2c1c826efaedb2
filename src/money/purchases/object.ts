import { z } from 'zod';
import type { ModRow } from '../../catalogue/mods/mods.ts';
import { ModObject } from '../../catalogue/mods/object.ts';
import { Id, Integer, Timestamp } from '../../platform/http/objects.ts';
import type { PaymentRow } from '../payments/payments.ts';
import type { PurchaseRow } from './purchases.ts';

export const TRANSACTION_TYPES = ['CANCELLED', 'CLEARED', 'FAILED', 'PAID', 'PENDING', 'REFUNDED'] as const;

export const meta = z.array(
  z.object({
    mod_id: Integer.min(0).meta({ description: '0 for a token pack.' }),
    game_id: Id,
    buyer_id: Id,
    mod_name: z.string(),
    game_name: z.string(),
    buyer_name: z.string(),
    token_name: z.string(),
  }),
);

const amounts = {
  gross_amount: Integer.meta({ description: 'What the buyer paid, in `currency`.' }),
  net_amount: Integer.meta({ description: 'Without the fee of the site, or without tax while it is pending.' }),
  platform_fee: Integer,
  gateway_fee: Integer,
};

export const PayObject = z
  .object({
    transaction_id: Id.meta({ description: 'The id of the purchase, or of the payment while it is pending.' }),
    gateway_uuid: z.string(),
    ...amounts,
    transaction_type: z.enum(TRANSACTION_TYPES),
    meta,
    purchase_date: Timestamp,
    wallet_type: z.string(),
    balance: Integer.meta({ description: 'What is left in the wallet.' }),
    deficit: Integer,
    payment_method_id: z.string(),
    currency: z.string().meta({ description: '`mio` for tokens; ISO 4217 while a payment is pending.' }),
    tax: Integer,
    checkout_url: z.string().meta({ description: 'Where the buyer pays a pending payment; otherwise empty.' }),
    mod: ModObject,
  })
  .meta({ id: 'Pay' });

export const RefundObject = z
  .object({
    transaction_id: Id.meta({ description: 'The id of the purchase.' }),
    ...amounts,
    tax: Integer,
    tax_type: z.string(),
    transaction_type: z.enum(TRANSACTION_TYPES),
    meta,
    purchase_date: Timestamp,
  })
  .meta({ id: 'Refund' });

export interface Names {
  readonly mod: Pick<ModRow, 'name'> | undefined;
  readonly game: { readonly name: string; readonly token_name: string };
  readonly buyer: { readonly username: string };
}

const metaOf = (
  { mod_id, game_id, user_id }: Pick<PurchaseRow, 'mod_id' | 'game_id' | 'user_id'>,
  { mod, game, buyer }: Names,
) => [
  {
    mod_id,
    game_id,
    buyer_id: user_id,
    mod_name: mod?.name ?? '',
    game_name: game.name,
    buyer_name: buyer.username,
    token_name: game.token_name,
  },
];

function parts(row: PurchaseRow, names: Names) {
  return {
    transaction_id: row.id,
    gross_amount: row.price,
    net_amount: row.price - row.fee,
    platform_fee: row.fee,
    gateway_fee: 0,
    meta: metaOf(row, names),
    purchase_date: row.date_added,
  };
}

export const toRefund = (row: PurchaseRow, names: Names): z.output<typeof RefundObject> => ({
  ...parts(row, names),
  tax: 0,
  tax_type: '',
  transaction_type: 'REFUNDED',
});

interface ShownWallet {
  readonly balance: number;
  readonly deficit: number;
  readonly paymentMethod: string;
}

type PayWithoutMod = Omit<z.output<typeof PayObject>, 'mod'>;

/** As JSON, because the mod in it is. */
const withMod = (pay: PayWithoutMod, modJson: string): string =>
  `${JSON.stringify(pay).slice(0, -1)},"mod":${modJson}}`;

/** The response to a checkout that sold the mod. */
export const paidJson = (row: PurchaseRow, names: Names, wallet: ShownWallet, modJson: string): string =>
  withMod(
    {
      ...parts(row, names),
      gateway_uuid: row.gateway_uuid,
      transaction_type: 'PAID',
      wallet_type: 'standard_mio',
      balance: wallet.balance,
      deficit: wallet.deficit,
      payment_method_id: wallet.paymentMethod,
      currency: 'mio',
      tax: 0,
      checkout_url: '',
    },
    modJson,
  );

/** The response to a checkout that waits for money. */
export const pendingJson = (
  row: PaymentRow,
  names: Names,
  modId: number,
  wallet: ShownWallet,
  modJson: string,
): string =>
  withMod(
    {
      transaction_id: row.id,
      gateway_uuid: row.reference,
      gross_amount: row.price,
      net_amount: row.price - row.tax,
      platform_fee: 0,
      gateway_fee: 0,
      transaction_type: 'PENDING',
      meta: metaOf({ ...row, mod_id: modId }, names),
      purchase_date: row.date_added,
      wallet_type: 'standard_mio',
      balance: wallet.balance,
      deficit: wallet.deficit,
      payment_method_id: wallet.paymentMethod,
      currency: row.currency,
      tax: row.tax,
      checkout_url: row.url,
    },
    modJson,
  );

export const GamePurchaseObject = z
  .object({
    id: Id.meta({ description: 'For `POST /games/{game_id}/purchases/{purchase_id}/refund`.' }),
    user_id: Id.meta({ description: 'The buyer.' }),
    mod_id: Id,
    price: Integer.meta({ description: 'In tokens.' }),
    fee: Integer.meta({ description: 'What the site got of it.' }),
    status: z.enum(['paid', 'refunded']),
    date_added: Timestamp,
    date_refunded: Timestamp.meta({ description: '0 unless it was refunded.' }),
  })
  .meta({ id: 'GamePurchase' });

export const toGamePurchase = (row: PurchaseRow): z.output<typeof GamePurchaseObject> => ({
  id: row.id,
  user_id: row.user_id,
  mod_id: row.mod_id,
  price: row.price,
  fee: row.fee,
  status: row.status,
  date_added: row.date_added,
  date_refunded: row.date_refunded,
});
