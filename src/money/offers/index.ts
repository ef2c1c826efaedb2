import { modExtensions } from '../../catalogue/mods/extensions.ts';
import { contribute } from '../../platform/extensions.ts';
import { resource } from '../../platform/manifest/resource.ts';
import { service } from '../../platform/manifest/treatment.ts';
import { packExtensions } from '../packs/extensions.ts';
import { marketplaceSubmissionsTable } from './migrations/2026-11-16-marketplace-submissions.ts';
import { offerPacksTable } from './migrations/2026-11-16-packs-of-offers.ts';
import { editOffer, FOLLOW_PACK, followPack, packChanged, skusOfMod } from './offers.ts';
import { offerOperations } from './operations.ts';
import { personalOffers } from './personal.ts';

export const offers = resource({
  name: 'offers',
  operations: offerOperations,
  migrations: [offerPacksTable, marketplaceSubmissionsTable],
  tables: {
    marketplace_submissions: service(),
    offer_packs: service(),
  },
  personalData: personalOffers,
  jobs: [{ kind: FOLLOW_PACK, run: (app, payload, { heartbeat }) => followPack(app, payload, heartbeat) }],
  extends: [
    contribute(modExtensions, {
      name: 'offers',
      onEdit: editOffer,
      fields: async (_, transaction, mod) => {
        const skus = await skusOfMod(transaction, mod);
        return () => ({ skus });
      },
    }),
    contribute(packExtensions, { name: 'offers', onChange: packChanged }),
  ],
});
