import { resource } from '../../platform/manifest/resource.ts';
import { eventOperations } from './operations.ts';

/** The lists of events that players' clients and teams read. `records/events` writes them. */
export const eventLists = resource({
  name: 'event-lists',
  operations: eventOperations,
});
