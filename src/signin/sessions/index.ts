import { signOutExtensions } from '../../people/users/signing-out.ts';
import { contribute } from '../../platform/extensions.ts';
import { resource } from '../../platform/manifest/resource.ts';
import { CREDENTIAL, left } from '../../platform/manifest/treatment.ts';
import { sessionJobs } from './jobs.ts';
import { sessionOperations } from './operations.ts';
import { personalSessions } from './personal.ts';
import { endSessionsOf } from './sessions.ts';

export const sessions = resource({
  name: 'sessions',
  operations: sessionOperations,
  tables: {
    sessions: left(CREDENTIAL),
  },
  jobs: sessionJobs,
  personalData: personalSessions,
  extends: [contribute(signOutExtensions, endSessionsOf)],
});
