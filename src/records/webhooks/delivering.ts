import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { EgressError } from '../../platform/egress/egress.ts';
import type { RunningJob } from '../../platform/jobs/worker.ts';
import { deliveriesScope, wake } from './outbox.ts';
import { signatureOf } from './signing.ts';
import * as store from './store.ts';

const TIMEOUT_MS = 5_000;
const ANSWER_BYTES_MAX = 64 * 1024;
/** Longer than an attempt can take, so that no other worker starts one in parallel. */
export const LEASE_SECONDS = 10;
const AT_ONCE = 8;
/** Limits one run, because other jobs need the worker too. */
const RUN_MS = 20_000;
const BACKOFF_FIRST_SECONDS = 5;
const BACKOFF_MAX_SECONDS = 3_600;

/** The result of one attempt. */
export interface Outcome {
  readonly ok: boolean;
  readonly status: number | null;
  readonly error: string | null;
  readonly durationMs: number;
  /** The endpoint could not be reached, regardless of the message. */
  readonly isAway: boolean;
}

export interface Message {
  readonly id: number;
  readonly attempt: number;
  readonly body: string;
}

/** The JSON of an event, in webhooks and in the event stream. */
export const bodyOf = (event: {
  id: number;
  game_id: number;
  kind: string;
  subject: string;
  data: string;
  date_added: number;
}): string =>
  JSON.stringify({
    id: event.id,
    game_id: event.game_id,
    event_type: event.kind,
    subject: event.subject,
    date_added: event.date_added,
    data: JSON.parse(event.data),
  });

/** Posts a message to an endpoint. Redirects are not followed, because the message was signed for this address. */
export async function post(app: App, webhook: store.WebhookRow, { id, attempt, body }: Message): Promise<Outcome> {
  const own = app.settings.headerPrefixes.flatMap((prefix) => [
    [`x-${prefix}-webhook-token`, signatureOf(app, webhook, body)],
    [`x-${prefix}-webhook-event`, String(id)],
    [`x-${prefix}-webhook-attempt`, String(attempt)],
  ]);
  const headers = { 'content-type': 'application/json', 'user-agent': 'Modstead', ...Object.fromEntries(own) };
  const options = { method: 'POST', headers, body, timeoutMs: TIMEOUT_MS, bytesMax: ANSWER_BYTES_MAX, redirectsMax: 0 };
  const began = app.clock.monotonicMs();
  const took = () => Math.round(app.clock.monotonicMs() - began);
  try {
    const { status } = await app.egress.fetch(webhook.url, options);
    return { ok: status >= 200 && status < 300, status, error: null, durationMs: took(), isAway: false };
  } catch (cause) {
    if (!(cause instanceof EgressError)) throw cause;
    const { reason, detail, message } = cause;
    const isAway = reason === 'unreachable' || reason === 'timeout';
    const code = detail === reason ? reason : `${reason}/${detail}`;
    return { ok: false, status: null, error: `${code}: ${message}`, durationMs: took(), isAway };
  }
}

/** Delivers due events to an endpoint: in order within a subject, in parallel across subjects. */
export async function deliverDue(app: App, webhookId: number, job: Pick<RunningJob, 'heartbeat'>): Promise<void> {
  const begun = app.clock.monotonicMs();
  while (app.clock.monotonicMs() - begun < RUN_MS && (await deliverSome(app, webhookId))) await job.heartbeat();
  await wakeLater(app, webhookId);
}

/** Returns false when nothing is due or the endpoint cannot be reached. */
async function deliverSome(app: App, webhookId: number): Promise<boolean> {
  const { webhook, taken } = await app.db.write(({ query }) => take(app, query, webhookId));
  if (!webhook || taken.length === 0) return false;
  const outcomes = await Promise.all(
    taken.map(async (delivery) => {
      const event = { ...delivery, id: delivery.event_id, date_added: delivery.date_happened };
      const message = { id: event.id, attempt: delivery.attempts, body: bodyOf(event) };
      return { delivery, outcome: await post(app, webhook, message) };
    }),
  );
  return app.db.write(async (transaction) => {
    for (const { delivery, outcome } of outcomes) await settle(app, transaction, delivery, outcome);
    transaction.changed(deliveriesScope(webhook.game_id));
    const isAway = outcomes.every(({ outcome }) => outcome.isAway);
    if (isAway) await pause(app, transaction, webhook);
    else if (webhook.failures > 0)
      await store.changeWebhook(transaction.query, webhook.id, { failures: 0, date_resumes: 0 });
    return !isAway;
  });
}

async function take(app: App, query: Transaction['query'], webhookId: number) {
  const now = app.clock.now();
  const webhook = await store.webhookById(query, webhookId);
  if (webhook?.is_active !== 1 || webhook.date_resumes > now) return { webhook, taken: [] };
  const bounds = { leaseSeconds: LEASE_SECONDS, most: AT_ONCE };
  return { webhook, taken: await store.claim(query, app.db.dialect, webhookId, now, bounds) };
}

async function settle(app: App, { query }: Transaction, delivery: store.DeliveryRow, outcome: Outcome): Promise<void> {
  const { ok, status, error, durationMs } = outcome;
  const now = app.clock.now();
  const result = { status, error, duration_ms: durationMs };
  if (ok) await store.settle(query, delivery, { ...result, state: 'delivered' });
  else if (now < delivery.date_gives_up)
    await store.settle(query, delivery, { ...result, date_due: now + backoffSeconds(app, delivery.tries) });
  else {
    await store.settle(query, delivery, { ...result, state: 'parked' });
    await store.parkFollowing(query, delivery, now, `behind: ${delivery.id}, which could not be delivered`);
    app.log.warn('a webhook delivery was parked', { webhook: delivery.webhook_id, delivery: delivery.id });
  }
}

/** Pauses an unreachable endpoint as a whole instead of retrying every delivery. */
async function pause(app: App, { query }: Transaction, { id, failures }: store.WebhookRow): Promise<void> {
  const date_resumes = app.clock.now() + backoffSeconds(app, failures + 1);
  // The endpoint may have been removed in the meantime.
  if (await store.webhookById(query, id))
    await store.changeWebhook(query, id, { failures: failures + 1, date_resumes });
}

/** Exponential backoff up to an hour, with jitter so that deliveries that failed together spread out. */
function backoffSeconds(app: App, tries: number): number {
  const whole = Math.min(BACKOFF_MAX_SECONDS, BACKOFF_FIRST_SECONDS * 2 ** Math.min(tries - 1, 20));
  return Math.ceil(whole * (0.75 + app.random.bytes(1)[0]! / 1020));
}

const wakeLater = (app: App, webhookId: number): Promise<void> =>
  app.db.write(async (transaction) => {
    const webhook = await store.webhookById(transaction.query, webhookId);
    if (webhook?.is_active !== 1) return;
    const due = await store.nextDue(transaction.query, webhookId);
    if (due !== undefined) await wake(app, transaction, webhookId, Math.max(due, webhook.date_resumes));
  });

/** Re-enqueues deliveries whose job was given up, for example after a database outage. */
export const wakeOverdue = (app: App): Promise<void> =>
  app.db.write(async (transaction) => {
    for (const { id } of await store.overdue(transaction, app.clock.now())) await wake(app, transaction, id);
  });

const RETENTION_SECONDS = 30 * 24 * 3_600;
const REMOVED_AT_ONCE = 500;

/** Events and deliveries expire after 30 days, which limits how far back the stream and the log go. */
export async function removeOldStudioEvents(app: App): Promise<void> {
  const before = app.clock.now() - RETENTION_SECONDS;
  const step = () => app.db.write((transaction) => store.removeSomeBefore(transaction, before, REMOVED_AT_ONCE));
  while ((await step()) === REMOVED_AT_ONCE);
}
