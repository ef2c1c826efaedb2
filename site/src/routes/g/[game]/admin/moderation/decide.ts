import type { Client } from '@modstead/client';
import { fail, type RequestEvent, redirect } from '@sveltejs/kit';
import { apiOf } from '#api';
import { gameOf } from '#components/dashboard/actions.ts';
import { withAreas } from '#texts';
import { isReason } from './reasons.ts';

const RESOURCES = ['mods', 'guides', 'collections', 'comments'] as const;
const DECISIONS = ['approve', 'deny', 'delete', 'restore', 'resolve', 'open-dmca', 'close-dmca'] as const;
/** Those that can be undone within a minute. */
const UNDONE = ['approve', 'deny', 'delete', 'restore'];

interface Item {
  readonly resource: (typeof RESOURCES)[number];
  readonly id: number;
  readonly authorId: number;
  /** As the form named it. */
  readonly text: string;
}
interface Refused {
  readonly resource: string;
  readonly id: number;
  readonly message: string;
  readonly status: number;
}

/** `mods:12:7`: the kind of content, its id, and that of its author. */
function itemIn(text: string): Item | undefined {
  const [kind, id, author] = text.split(':');
  const resource = RESOURCES.find((each) => each === kind);
  return resource && { resource, id: Number(id), authorId: Number(author), text };
}

const itemsIn = (form: FormData) => form.getAll('item').flatMap((text) => itemIn(String(text)) ?? []);

/** The reason as written, or the chosen one in the language of the author. */
async function reasonFor(api: Client, form: FormData, authorId: number): Promise<string> {
  const written = String(form.get('reason') ?? '').trim();
  const chosen = String(form.get('canned') ?? '');
  if (written !== '' || !isReason(chosen)) return written;
  const author = await api.attempt('GET /users/{user_id}', { user_id: authorId });
  const { moderation } = await withAreas({}, author.ok ? author.value.language : 'en', ['moderation']);
  return moderation.reasons[chosen];
}

/** Calls the service for each item, and tells which were refused. */
async function each(
  items: readonly Item[],
  call: (item: Item) => Promise<{ ok: true } | { ok: false; error: { status: number; message: string } }>,
) {
  const refused: Refused[] = [];
  const done: string[] = [];
  for (const item of items) {
    const answer = await call(item);
    const { resource, id } = item;
    if (answer.ok) done.push(item.text);
    else refused.push({ resource, id, message: answer.error.message, status: answer.error.status });
  }
  return { done, refused };
}

/** Decides on every chosen item. */
export async function decide(event: RequestEvent) {
  const form = await event.request.formData();
  const api = apiOf(event);
  const decision = DECISIONS.find((name) => name === form.get('decision'));
  const items = itemsIn(form);
  if (!decision || items.length === 0) return fail(422, { at: '', message: '', decided: 0 });
  const game = await gameOf(event);
  const { done, refused } = await each(items, async ({ resource, id, authorId }) =>
    api.attempt('POST /games/{game_id}/moderation/decisions', {
      game_id: game.id,
      resource,
      id,
      decision,
      reason: await reasonFor(api, form, authorId),
    }),
  );
  const undo = UNDONE.includes(decision) ? done : [];
  const result = { at: 'decide', decision, decided: done.length, undo, refused };
  return refused[0] ? fail(refused[0].status, { ...result, message: refused[0].message }) : result;
}

const contentIn = (game: { readonly id: number }, { resource, id }: Item) => ({
  game_id: game.id,
  content: resource,
  content_id: id,
});

/** Takes back decisions of the last minute. */
export async function undo(event: RequestEvent) {
  const form = await event.request.formData();
  const game = await gameOf(event);
  const { done, refused } = await each(itemsIn(form), (item) =>
    apiOf(event).attempt('DELETE /games/{game_id}/moderation/{content}/{content_id}/decision', contentIn(game, item)),
  );
  const result = { at: 'undo', decided: 0, undone: done.length, refused };
  return refused[0] ? fail(refused[0].status, { ...result, message: refused[0].message }) : result;
}

/** Claims or releases every chosen item. */
export const claiming = (method: 'PUT' | 'DELETE') => async (event: RequestEvent) => {
  const form = await event.request.formData();
  const game = await gameOf(event);
  const { refused } = await each(itemsIn(form), (item) =>
    apiOf(event).attempt(`${method} /games/{game_id}/moderation/{content}/{content_id}/claim`, contentIn(game, item)),
  );
  const result = { at: 'claim', decided: 0, undone: 0, refused };
  return refused[0] ? fail(refused[0].status, { ...result, message: refused[0].message }) : undefined;
};

/** Claims the next items, and shows them. */
export async function take(event: RequestEvent) {
  const form = await event.request.formData();
  const game = await gameOf(event);
  const taken = await apiOf(event).attempt('POST /games/{game_id}/moderation/claims', {
    game_id: game.id,
    count: Number(form.get('count')) || 1,
  });
  if (!taken.ok) return fail(taken.error.status, { at: 'take', decided: 0, refused: [], message: taken.error.message });
  redirect(303, '?mine');
}
