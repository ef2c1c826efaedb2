import { resource } from '../../platform/manifest/resource.ts';
import { service } from '../../platform/manifest/treatment.ts';
import { partnersTables } from './migrations/2026-11-16-partners.ts';
import { partnerOperations } from './operations.ts';
import { personalPartners } from './personal.ts';

export const partners = resource({
  name: 'partners',
  operations: partnerOperations,
  migrations: [partnersTables],
  tables: {
    partners: service(),
    seller_accounts: service({ notOfGames: true }),
  },
  personalData: personalPartners,
});
