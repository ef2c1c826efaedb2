import { modExtensions } from '../../catalogue/mods/extensions.ts';
import { contribute } from '../../platform/extensions.ts';
import { resource } from '../../platform/manifest/resource.ts';
import { ledgerChecks } from '../ledger/verification.ts';
import { forgetKeys } from './keys.ts';
import { purchasesTables } from './migrations/2026-11-16-purchases.ts';
import { purchaseOperations } from './operations.ts';
import { personalPurchases } from './personal.ts';
import { checkPurchases, refuseDeletion } from './purchases.ts';

const HOUR = 3_600;

export const purchases = resource({
  name: 'purchases',
  operations: purchaseOperations,
  migrations: [purchasesTables],
  jobs: [{ kind: 'purchases.forget-keys', every: HOUR, run: forgetKeys }],
  personalData: personalPurchases,
  extends: [
    contribute(ledgerChecks, { name: 'purchases', check: checkPurchases }),
    contribute(modExtensions, { name: 'purchases', onDelete: refuseDeletion, onRemove: refuseDeletion }),
  ],
});
