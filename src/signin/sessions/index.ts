import { resource } from '../../platform/resource.ts';
import { sessionJobs } from './jobs.ts';
import { sessionOperations } from './operations.ts';
import { personalSessions } from './personal.ts';

export const sessions = resource({
  name: 'sessions',
  operations: sessionOperations,
  jobs: sessionJobs,
  personalData: personalSessions,
});
