import { isApiError } from '@modstead/client';
import { json, type RequestEvent } from '@sveltejs/kit';
import { modOf } from '#making/finding.ts';

const PATH = '/games/{game_id}/mods/{mod_id}/files/multipart';
/** The headers of a part that the API checks it by. */
const CHECKED = ['content-range', 'content-length', 'digest'] as const;

/**
 * The upload sessions of the mod for a page's script, which has no token: the same requests and answers as those of the
 * API, one address shorter. A part streams through, so its size never matters here.
 */
async function answer(event: RequestEvent, call: (found: Awaited<ReturnType<typeof modOf>>) => Promise<unknown>) {
  const found = await modOf(event);
  try {
    return json((await call(found)) ?? {});
  } catch (cause) {
    if (!isApiError(cause)) throw cause;
    const { status, errorRef, message, fields, retryAfterSeconds } = cause;
    const headers: HeadersInit = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
    return json({ error: { code: status, error_ref: errorRef, message, errors: fields } }, { status, headers });
  }
}

const uploadIdOf = ({ url }: RequestEvent) => url.searchParams.get('upload_id') ?? '';

export const GET = (event: RequestEvent) =>
  answer(event, async ({ client, named }) =>
    client.call(`GET ${PATH}`, {
      ...named,
      upload_id: uploadIdOf(event),
      _limit: Number(event.url.searchParams.get('_limit')) || 100,
      _offset: Number(event.url.searchParams.get('_offset')) || 0,
    }),
  );

/** Opens a session, or with `?complete` closes one. */
export const POST = (event: RequestEvent) =>
  answer(event, async ({ client, named }) => {
    if (event.url.searchParams.has('complete'))
      return client.call(`POST ${PATH}/complete`, { ...named, upload_id: uploadIdOf(event) });
    const form = await event.request.formData();
    const [filename, nonce] = [String(form.get('filename') ?? ''), String(form.get('nonce') ?? '')];
    return client.call(`POST ${PATH}`, { ...named, filename, nonce });
  });

export const PUT = (event: RequestEvent) =>
  answer(event, async ({ client, named }) => {
    const sent = CHECKED.map((name) => [name, event.request.headers.get(name)] as const);
    const headers = Object.fromEntries(
      sent.filter((entry): entry is [(typeof CHECKED)[number], string] => entry[1] !== null),
    );
    const body = event.request.body ?? new Blob([]);
    return client.call(`PUT ${PATH}`, { ...named, upload_id: uploadIdOf(event), body }, { headers });
  });

export const DELETE = (event: RequestEvent) =>
  answer(event, async ({ client, named }) => client.call(`DELETE ${PATH}`, { ...named, upload_id: uploadIdOf(event) }));
