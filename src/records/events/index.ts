import { resource } from '../../platform/resource.ts';
import { eventJobs } from './jobs.ts';
import { eventOperations } from './operations.ts';
import { personalEvents } from './personal.ts';

export const events = resource({
  name: 'events',
  operations: eventOperations,
  jobs: eventJobs,
  personalData: personalEvents,
});
