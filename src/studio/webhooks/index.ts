import { resource } from '../../platform/manifest/resource.ts';
import { webhookOperations } from './operations.ts';

/** The webhook endpoints of a game and its event stream. `records/webhooks` records the events and delivers them. */
export const webhookSettings = resource({
  name: 'webhook-settings',
  operations: webhookOperations,
});
