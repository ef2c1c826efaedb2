import { z } from 'zod';
import { Id, Integer, Timestamp } from '../../platform/http/objects.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import { localiseLater } from '../../platform/localisation/texts.ts';
import { bodyOf, type Outcome } from '../../records/webhooks/delivering.ts';
import type { DeliveryRow, WebhookRow, WithSecret } from '../../records/webhooks/endpoints.ts';
import { failureText } from '../../records/webhooks/failures.ts';
import type { StudioEventRow } from '../../records/webhooks/outbox.ts';

export const WebhookObject = z
  .object({
    id: Id,
    game_id: Id,
    name: z.string(),
    url: z.string(),
    events: z.array(z.string()).meta({ description: 'Empty if all events are sent.' }),
    is_active: z.boolean(),
    failures: Integer.meta({ description: 'How many attempts in a row got no answer.' }),
    date_resumes: Timestamp.meta({
      description: 'Nothing is sent until then, because the endpoint did not answer. Unix seconds',
    }),
    date_old_secret_ends: Timestamp.meta({
      description: 'Until then, messages are also signed with the previous secret. Unix seconds',
    }),
    added_by: Id,
    date_added: Timestamp,
    date_updated: Timestamp,
  })
  .meta({ id: 'Webhook' });

export const WebhookSecretObject = WebhookObject.extend({
  secret: z.string().meta({ description: 'Shown only in this answer.' }),
}).meta({ id: 'WebhookSecret' });

export function toWebhook(row: WebhookRow): z.input<typeof WebhookObject> {
  return {
    id: row.id,
    game_id: row.game_id,
    name: row.name,
    url: row.url,
    events: row.kinds === '' ? [] : row.kinds.split(' '),
    is_active: row.is_active === 1,
    failures: row.failures,
    date_resumes: row.date_resumes,
    date_old_secret_ends: row.old_secret_seed === null ? 0 : row.date_old_secret_ends,
    added_by: row.added_by,
    date_added: row.date_added,
    date_updated: row.date_updated,
  };
}

export const toWebhookSecret = ({ webhook, secret }: WithSecret) => ({ ...toWebhook(webhook), secret });

const Message = z
  .string()
  .meta({ description: 'Why there was no answer, in the language of the request; empty if there was one.' });

function messageOf(error: string | null, language: Language): string {
  const text = error === null ? undefined : failureText(error);
  return text ? localiseLater(text, language) : '';
}

export const WebhookTestObject = z
  .object({
    success: z.boolean(),
    status: Integer.nullable().meta({ description: 'The status that the endpoint answered, if it did.' }),
    error: z
      .string()
      .nullable()
      .meta({ description: 'Begins with a code, such as `timeout` or `forbidden/only-https`.' }),
    message: Message,
    duration_ms: Integer,
  })
  .meta({ id: 'WebhookTest' });

export const toWebhookTest = (
  { ok, status, error, durationMs }: Outcome,
  language: Language,
): z.input<typeof WebhookTestObject> => ({
  success: ok,
  status,
  error,
  message: messageOf(error, language),
  duration_ms: durationMs,
});

export const WebhookDeliveryObject = z
  .object({
    id: Id,
    webhook_id: Id,
    event_id: Id,
    event_type: z.string(),
    subject: z.string(),
    state: z.enum(['waiting', 'delivered', 'parked']),
    attempts: Integer,
    status: Integer.nullable().meta({ description: 'The status of the last attempt, if it was answered.' }),
    error: z
      .string()
      .nullable()
      .meta({ description: 'Begins with a code, such as `timeout` or `forbidden/only-https`.' }),
    message: Message,
    duration_ms: Integer,
    date_added: Timestamp,
    date_tried: Timestamp,
    date_due: Timestamp.meta({ description: 'The time of the next attempt of a pending delivery. Unix seconds' }),
    payload: z.string().meta({ description: 'The body of the request.' }),
  })
  .meta({ id: 'WebhookDelivery' });

export function toDelivery(row: DeliveryRow, language: Language): z.input<typeof WebhookDeliveryObject> {
  return {
    id: row.id,
    webhook_id: row.webhook_id,
    event_id: row.event_id,
    event_type: row.kind,
    subject: row.subject,
    state: row.state,
    attempts: row.attempts,
    status: row.status,
    error: row.error,
    message: messageOf(row.error, language),
    duration_ms: row.duration_ms,
    date_added: row.date_added,
    date_tried: row.date_tried,
    date_due: row.state === 'waiting' ? row.date_due : 0,
    payload: bodyOf({ ...row, id: row.event_id, date_added: row.date_happened }),
  };
}

/** In the format of `EventSource`: serialised JSON contains no line breaks. */
export const toServerSentEvent = (event: StudioEventRow): string =>
  `id: ${event.id}\nevent: ${event.kind}\ndata: ${bodyOf(event)}\n\n`;

export const ReplayObject = z.object({ replayed: Integer }).meta({ id: 'WebhookReplay' });
