import { resource } from '../../platform/manifest/resource.ts';
import { activityOperations } from './operations.ts';

/** What dashboards follow while they are open. */
export const activity = resource({ name: 'activity', operations: activityOperations });
