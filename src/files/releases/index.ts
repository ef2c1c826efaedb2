import { teamExtensions } from '../../catalogue/teams/extensions.ts';
import { contribute } from '../../platform/extensions.ts';
import { resource } from '../../platform/manifest/resource.ts';
import { CREDENTIAL, left, SHORT_LIVED } from '../../platform/manifest/treatment.ts';
import { releaseExtensions } from '../modfiles/extensions.ts';
import { confirmedReleases } from './confirmation.ts';
import { releaseJobs } from './jobs.ts';
import { modExtension } from './mod-extension.ts';
import { newcomersOfTeams } from './newcomers.ts';
import { releaseOperations } from './operations.ts';
import { personalReleases } from './personal.ts';

export const releases = resource({
  name: 'releases',
  operations: releaseOperations,
  tables: {
    releases: left('an upload that waits for a confirmation by mail of this service'),
    release_guards: left(CREDENTIAL),
    release_newcomers: left(SHORT_LIVED),
  },
  jobs: releaseJobs,
  personalData: personalReleases,
  extends: [
    modExtension,
    contribute(teamExtensions, newcomersOfTeams),
    contribute(releaseExtensions, confirmedReleases),
  ],
});
