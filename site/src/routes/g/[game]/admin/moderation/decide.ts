import type { Client } from '@modstead/client';
import { fail, type RequestEvent } from '@sveltejs/kit';
import { apiOf } from '#api';
import { gameOf } from '#components/dashboard/actions.ts';
import { withAreas } from '#texts';
import { isReason } from './reasons.ts';

const RESOURCES = ['mods', 'guides', 'collections', 'comments'] as const;
const DECISIONS = ['approve', 'deny', 'delete', 'restore', 'resolve', 'open-dmca', 'close-dmca'] as const;

/** `mods:12:7`: the kind of content, its id, and that of its author. */
function itemIn(text: string) {
  const [kind, id, author] = text.split(':');
  const resource = RESOURCES.find((each) => each === kind);
  return resource && { resource, id: Number(id), authorId: Number(author) };
}

/** The reason as written, or the chosen one in the language of the author. */
async function reasonFor(api: Client, form: FormData, authorId: number): Promise<string> {
  const written = String(form.get('reason') ?? '').trim();
  const chosen = String(form.get('canned') ?? '');
  if (written !== '' || !isReason(chosen)) return written;
  const author = await api.attempt('GET /users/{user_id}', { user_id: authorId });
  const { moderation } = await withAreas({}, author.ok ? author.value.language : 'en', ['moderation']);
  return moderation.reasons[chosen];
}

/** Decides on every chosen item, and tells which were refused. */
export async function decide(event: RequestEvent) {
  const form = await event.request.formData();
  const api = apiOf(event);
  const decision = DECISIONS.find((each) => each === form.get('decision'));
  const items = form.getAll('item').flatMap((text) => itemIn(String(text)) ?? []);
  if (!decision || items.length === 0) return fail(422, { at: '', message: '', decided: 0 });
  const game = await gameOf(event);
  const refused: {
    readonly resource: string;
    readonly id: number;
    readonly message: string;
    readonly status: number;
  }[] = [];
  for (const { resource, id, authorId } of items) {
    const done = await api.attempt('POST /games/{game_id}/moderation/decisions', {
      game_id: game.id,
      resource,
      id,
      decision,
      reason: await reasonFor(api, form, authorId),
    });
    if (!done.ok) refused.push({ resource, id, message: done.error.message, status: done.error.status });
  }
  const result = { at: 'decide', decision, decided: items.length - refused.length, refused };
  return refused[0] ? fail(refused[0].status, { ...result, message: refused[0].message }) : result;
}
