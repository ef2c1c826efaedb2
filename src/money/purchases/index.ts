import { modExtensions } from '../../catalogue/mods/extensions.ts';
import { contribute } from '../../platform/extensions.ts';
import { resource } from '../../platform/manifest/resource.ts';
import { left, SHORT_LIVED, service } from '../../platform/manifest/treatment.ts';
import { ledgerChecks } from '../ledger/verification.ts';
import { paymentExtensions } from '../payments/extensions.ts';
import { storeExtensions } from '../stores/extensions.ts';
import { forgetKeys } from './keys.ts';
import { purchasesTables } from './migrations/2026-11-16-purchases.ts';
import { modOrdersTable } from './migrations/2026-11-16-purchases-mod-orders.ts';
import { storeOrdersTable } from './migrations/2026-11-16-stores-mod-orders.ts';
import { purchasesByGame } from './migrations/2026-11-17-purchases-by-game.ts';
import { purchaseOperations } from './operations.ts';
import { COMPLETE_ORDER, completeOrder, orderPaid, paymentDisputed, REVERSE_ORDER, reverseOrder } from './orders.ts';
import { personalPurchases } from './personal.ts';
import { checkPurchases, refuseDeletion } from './purchases.ts';
import {
  COMPLETE_STORE_ORDER,
  completeStoreOrder,
  orderFulfilled,
  orderReversed,
  REVERSE_STORE_ORDER,
  reverseStoreOrder,
} from './store-orders.ts';

const HOUR = 3_600;

export const purchases = resource({
  name: 'purchases',
  operations: purchaseOperations,
  migrations: [purchasesTables, modOrdersTable, storeOrdersTable, purchasesByGame],
  tables: {
    mod_orders: service({ refers: { purchase_id: 'purchases' } }),
    purchases: service({ refers: { terms_id: 'selling_terms' } }),
    store_orders: service({ refers: { purchase_id: 'purchases' } }),
    idempotent_requests: left(SHORT_LIVED),
  },
  jobs: [
    { kind: 'purchases.forget-keys', byAge: true, every: HOUR, run: forgetKeys },
    { kind: COMPLETE_ORDER, run: completeOrder },
    { kind: REVERSE_ORDER, run: reverseOrder },
    { kind: COMPLETE_STORE_ORDER, run: completeStoreOrder },
    { kind: REVERSE_STORE_ORDER, run: reverseStoreOrder },
  ],
  personalData: personalPurchases,
  extends: [
    contribute(ledgerChecks, { name: 'purchases', check: checkPurchases }),
    contribute(paymentExtensions, { name: 'purchases', onPaid: orderPaid, onDisputed: paymentDisputed }),
    contribute(storeExtensions, { name: 'purchases', onFulfilled: orderFulfilled, onReversed: orderReversed }),
    contribute(modExtensions, { name: 'purchases', onDelete: refuseDeletion, onRemove: refuseDeletion }),
  ],
});
