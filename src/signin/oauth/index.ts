import { redirectUriSettings } from '../../catalogue/games/redirect-uris.ts';
import { signOutExtensions } from '../../people/users/signing-out.ts';
import { contribute } from '../../platform/extensions.ts';
import { resource } from '../../platform/manifest/resource.ts';
import { CREDENTIAL, left } from '../../platform/manifest/treatment.ts';
import { setRedirectUris } from './clients.ts';
import { revokeGrantsOf } from './grants.ts';
import { oauthJobs } from './jobs.ts';
import { oauthSecretOverlap } from './migrations/2026-11-17-oauth-secret-overlap.ts';
import { oauthOperations } from './operations.ts';
import { personalGrants } from './personal.ts';
import { requireRedirectUris } from './redirects.ts';

export const oauth = resource({
  name: 'oauth',
  operations: oauthOperations,
  jobs: oauthJobs,
  migrations: [oauthSecretOverlap],
  tables: {
    oauth_clients: left(CREDENTIAL),
    oauth_codes: left(CREDENTIAL),
    oauth_grants: left(CREDENTIAL),
    oauth_refresh_tokens: left(CREDENTIAL),
  },
  personalData: personalGrants,
  extends: [
    contribute(redirectUriSettings, { validate: requireRedirectUris, set: setRedirectUris }),
    contribute(signOutExtensions, revokeGrantsOf),
  ],
});
