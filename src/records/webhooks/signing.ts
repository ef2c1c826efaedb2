import { createHmac } from 'node:crypto';
import type { App } from '../../platform/app.ts';
import type { WebhookRow } from './store.ts';

/** What the receiver knows an endpoint's messages by. It is never stored. */
export const secretOf = (app: App, seed: string): string => `whsec_${app.secrets.sign('webhooks', seed)}`;

/** The secrets that sign now: the old one, too, until its end. */
function secretsOf(app: App, webhook: WebhookRow): string[] {
  const seeds = [webhook.secret_seed];
  if (webhook.old_secret_seed !== null && app.clock.now() < webhook.date_old_secret_ends)
    seeds.push(webhook.old_secret_seed);
  return seeds.map((seed) => secretOf(app, seed));
}

/** `t=<Unix seconds>,v1=<hex>`, with a further `v1` for each further secret. */
export function signatureOf(app: App, webhook: WebhookRow, body: string): string {
  const timestamp = app.clock.now();
  const sign = (secret: string) => createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
  return [`t=${timestamp}`, ...secretsOf(app, webhook).map((secret) => `v1=${sign(secret)}`)].join(',');
}
