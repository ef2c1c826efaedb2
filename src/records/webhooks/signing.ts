import { createHmac } from 'node:crypto';
import type { App } from '../../platform/app.ts';
import type { WebhookRow } from './store.ts';

/** The secret that signs an endpoint's messages. It is derived, never stored. */
export const secretOf = (app: App, seed: string): string => `whsec_${app.secrets.sign('webhooks', seed)}`;

/** The secrets in use: the current one, and the old one until it ends. */
function secretsOf(app: App, webhook: WebhookRow): string[] {
  const seeds = [webhook.secret_seed];
  if (webhook.old_secret_seed !== null && app.clock.now() < webhook.date_old_secret_ends)
    seeds.push(webhook.old_secret_seed);
  return seeds.map((seed) => secretOf(app, seed));
}

/** `t=<Unix seconds>,v1=<hex>`, with another `v1` for each additional secret. */
export function signatureOf(app: App, webhook: WebhookRow, body: string): string {
  const timestamp = app.clock.now();
  const sign = (secret: string) => createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
  return [`t=${timestamp}`, ...secretsOf(app, webhook).map((secret) => `v1=${sign(secret)}`)].join(',');
}
