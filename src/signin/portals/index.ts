import { resource } from '../../platform/manifest/resource.ts';
import { CREDENTIAL, left, people } from '../../platform/manifest/treatment.ts';
import { portalJobs } from './jobs.ts';
import { portalOperations } from './operations.ts';
import { personalPortals } from './personal.ts';

export const portals = resource({
  name: 'portals',
  operations: portalOperations,
  tables: {
    portal_accounts: people(),
    portal_settings: left('settings with secrets of a portal; they are entered again'),
    email_confirmations: left(CREDENTIAL),
    portal_journeys: left(CREDENTIAL),
    portal_tickets: left(CREDENTIAL),
  },
  jobs: portalJobs,
  personalData: personalPortals,
});
