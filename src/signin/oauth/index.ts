import { redirectUriSettings } from '../../catalogue/games/redirect-uris.ts';
import { signOutExtensions } from '../../people/users/signing-out.ts';
import { contribute } from '../../platform/extensions.ts';
import { resource } from '../../platform/manifest/resource.ts';
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
  personalData: personalGrants,
  extends: [
    contribute(redirectUriSettings, { validate: requireRedirectUris, set: setRedirectUris }),
    contribute(signOutExtensions, revokeGrantsOf),
  ],
});
