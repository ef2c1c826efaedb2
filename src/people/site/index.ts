import { resource } from '../../platform/manifest/resource.ts';
import { service } from '../../platform/manifest/treatment.ts';
import { siteLook } from './migrations/2026-11-17-site-look.ts';
import { siteOperations } from './operations.ts';

export const site = resource({
  name: 'site',
  operations: siteOperations,
  migrations: [siteLook],
  tables: {
    site_look: service({ pictures: ['icon'], notOfGames: true }),
  },
});
