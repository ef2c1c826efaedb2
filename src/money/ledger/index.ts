import { resource } from '../../platform/manifest/resource.ts';
import { ledgerTables } from './migrations/2026-11-16-ledger.ts';
import { ledgerPeriods } from './migrations/2026-11-16-ledger-periods.ts';
import { ledgerSellerSides } from './migrations/2026-11-16-ledger-seller-sides.ts';
import { personalLedger } from './personal.ts';

export const ledger = resource({
  name: 'ledger',
  migrations: [ledgerTables, ledgerSellerSides, ledgerPeriods],
  personalData: personalLedger,
});
