import { resource } from '../../platform/manifest/resource.ts';
import { eventJobs } from './jobs.ts';
import { personalEvents } from './personal.ts';

export const events = resource({
  name: 'events',
  jobs: eventJobs,
  personalData: personalEvents,
});
