import type { Operation } from '@modstead/client';
import { type ActionFailure, error, fail, type RequestEvent } from '@sveltejs/kit';
import { apiOf } from '#api';
import { type Field, type Result, readFields } from './fields.ts';
import { LOOK } from './site-look.ts';

type Asked = Pick<RequestEvent, 'platform' | 'url'> & { readonly params: { readonly game?: string } };
type Input = Record<string, unknown>;
type Answer = Promise<Result | ActionFailure<Result>>;

/** The game in the address, also while it is not public. */
export async function gameOf(event: Asked) {
  const api = apiOf(event);
  const named = { name_id: event.params.game ?? '', _limit: 1 };
  const mine = await api.attempt('GET /me/games', named);
  const [game] = mine.ok && mine.value.data.length > 0 ? mine.value.data : (await api.call('GET /games', named)).data;
  if (!game) error(404, { message: '' });
  return game;
}

/**
 * A form action that calls one operation with the fields of its form. The service decides whether the visitor may; the
 * page shows what it answers.
 */
export const calling =
  (
    operation: Operation,
    fields: readonly Field[] = [],
    adapt: (input: Input, form: FormData) => Input = (same) => same,
  ) =>
  async (event: RequestEvent): Answer => {
    const form = await event.request.formData();
    const sent = readFields(form, fields);
    let input: Input;
    try {
      input = adapt(sent, form);
    } catch {
      return fail(422, { at: String(form.get('at') ?? ''), message: '', sent: shown(sent, fields) });
    }
    return attempted(event, operation, input, form, shown(sent, fields));
  };

/** What a refused form shows again. */
const shown = (sent: Input, fields: readonly Field[]): Input =>
  Object.fromEntries(
    Object.entries(sent).filter(([name]) => fields.some((f) => f.name === name && f.kind !== 'secret')),
  );

/** Calls an operation for a form. */
export async function attempted(
  event: RequestEvent,
  operation: Operation,
  input: Input,
  form: FormData,
  sent?: Input,
): Answer {
  const at = String(form.get('at') ?? '');
  const isOfGame = operation.includes('{game_id}') && event.params.game !== undefined;
  const named = isOfGame ? { game_id: (await gameOf(event)).id } : {};
  const done = await apiOf(event).attempt(operation, { ...input, ...named } as never);
  if (done.ok) return { at, done: true, answer: (done.value ?? {}) as Record<string, unknown> };
  const { status, message, fields } = done.error;
  return fail(status, { at, message, fields: fields as Record<string, string>, ...(sent && { sent }) });
}

/** Saves the name and look of the site. The icon comes first, because it is what may be wrong. */
export async function saveLook(event: RequestEvent): Answer {
  const api = apiOf(event);
  const form = await event.request.formData();
  const at = 'look';
  const sent = readFields(form, LOOK);
  const icon = form.get('icon');
  const added =
    icon instanceof File && icon.size > 0 ? await api.attempt('POST /site/icon', { icon }) : ({ ok: true } as const);
  const saved = added.ok ? await api.attempt('PUT /site', sent) : added;
  if (saved.ok) return { at, done: true };
  const { status, message, fields } = saved.error;
  return fail(status, { at, message, fields: { ...fields }, sent });
}
