import { ApiError, type Client, createClient } from '@modstead/client';
import { error, fail, type RequestEvent, redirect } from '@sveltejs/kit';
import { signInAddress } from '#components/addresses.ts';

const USER_MUST_BE_LOGGED_IN = 11059;

/** The client, bound to the visitor of this request, with errors as the API returns them. */
export const clientOf = ({ platform }: Pick<RequestEvent, 'platform'>): Client =>
  createClient({
    url: platform!.origin,
    fetch: (input, init) => platform!.fetch(new Request(input, init)),
    retry: { times: 0 },
  });

/**
 * The client, bound to the visitor of this request. `call` turns an error of the API into an error page, or into the
 * sign-in page; `attempt` returns it, for forms that show it beside their fields.
 */
export function apiOf({ platform, url }: Pick<RequestEvent, 'platform' | 'url'>): Client {
  const client = clientOf({ platform });
  const call = async (...args: Parameters<Client['call']>) => {
    try {
      return await client.call(...args);
    } catch (cause) {
      throw toPage(cause, url);
    }
  };
  return { ...client, call: call as Client['call'] };
}

/** Throws what SvelteKit answers with. */
function toPage(cause: unknown, { pathname, search }: URL): unknown {
  if (!(cause instanceof ApiError)) return cause;
  if (cause.errorRef === USER_MUST_BE_LOGGED_IN) redirect(303, signInAddress(pathname + search));
  error(cause.status, { message: cause.message, ref: cause.errorRef });
}

/** What a form shows when the API refused it; with the form, a page without scripts shows what was sent again. */
export const refused = (
  { status, message, fields }: Pick<ApiError, 'status' | 'message' | 'fields'>,
  sent: Iterable<readonly [string, unknown]> = [],
) => fail(status, { message, fields, values: valuesOf(sent) });

const valuesOf = (sent: Iterable<readonly [string, unknown]>): Record<string, string> =>
  Object.fromEntries(
    [...sent].filter((entry): entry is [string, string] => typeof entry[1] === 'string' && entry[0] !== 'csrf'),
  );

/** The part of a list that the address asks for. Pages start at 1. */
export function pagingOf({ searchParams }: URL, perPage: number) {
  const page = Math.max(1, Math.floor(Number(searchParams.get('page'))) || 1);
  return { page, perPage, part: { _limit: perPage, _offset: (page - 1) * perPage } };
}
