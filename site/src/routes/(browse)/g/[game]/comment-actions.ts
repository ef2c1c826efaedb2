import type { ApiError } from '@modstead/client';
import { error, type RequestEvent } from '@sveltejs/kit';
import { apiOf, refused } from '#api';

const PATHS = {
  mods: ['/games/{game_id}/mods/{mod_id}/comments', 'mod_id'],
  guides: ['/games/{game_id}/guides/{guide_id}/comments', 'guide_id'],
  collections: ['/games/{game_id}/collections/{collection_id}/comments', 'collection_id'],
} as const;

type Attempt = (
  operation: string,
  input: object,
) => Promise<{ readonly ok: true } | { readonly ok: false; readonly error: ApiError }>;

/** What visitors do with comments on mods, guides and collections: the same operations at three addresses. */
export function commentActions(kind: keyof typeof PATHS) {
  const [path, key] = PATHS[kind];
  const action = (operation: string, bodyOf: (form: FormData) => object) => async (event: RequestEvent) => {
    const form = await event.request.formData();
    const number = (name: string) => Number(form.get(name) ?? 0);
    const named = { game_id: number('game_id'), [key]: number(key), comment_id: number('comment_id') };
    const { comment_id, ...content } = named;
    const place = operation.includes('{comment_id}') ? { ...content, comment_id } : content;
    const attempt = apiOf(event).attempt as unknown as Attempt;
    const done = await attempt(operation, { ...place, ...bodyOf(form) });
    return done.ok ? {} : refused(done.error);
  };
  const text = (form: FormData, name: string) => String(form.get(name) ?? '');
  return {
    comment: action(`POST ${path}`, (form) => ({
      content: text(form, 'content'),
      ...(form.get('reply_id') && { reply_id: Number(form.get('reply_id')) }),
    })),
    editComment: action(`PUT ${path}/{comment_id}`, (form) => ({ content: text(form, 'content') })),
    markComment: action(`PUT ${path}/{comment_id}`, (form) => ({ options: Number(form.get('options')) })),
    vote: action(`POST ${path}/{comment_id}/karma`, (form) => ({ karma: Number(form.get('karma')) })),
    removeComment: action(`DELETE ${path}/{comment_id}`, () => ({})),
  };
}

/** Whether the visitor belongs to the game's team, which may pin, lock and remove comments. */
export async function isOnGameTeam(event: Pick<RequestEvent, 'platform' | 'url'>, gameId: number): Promise<boolean> {
  if (!event.platform!.isSignedIn) return false;
  const games = await apiOf(event).call('GET /me/games', { id: gameId, _limit: 1 });
  return games.data.length > 0;
}

export const missing = () => error(404, { message: '' });
