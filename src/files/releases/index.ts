import { teamExtensions } from '../../catalogue/teams/extensions.ts';
import { contribute } from '../../platform/extensions.ts';
import { resource } from '../../platform/manifest/resource.ts';
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
  jobs: releaseJobs,
  personalData: personalReleases,
  extends: [
    modExtension,
    contribute(teamExtensions, newcomersOfTeams),
    contribute(releaseExtensions, confirmedReleases),
  ],
});
