import { resource } from '../../platform/manifest/resource.ts';
import { service } from '../../platform/manifest/treatment.ts';
import { eventJobs } from './jobs.ts';
import { personalEvents } from './personal.ts';

export const events = resource({
  name: 'events',
  tables: {
    mod_events: service(),
    user_events: service(),
  },
  jobs: eventJobs,
  personalData: personalEvents,
});
