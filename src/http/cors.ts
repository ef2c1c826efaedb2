import type { IncomingMessage } from 'node:http';
import { ApiError } from '../errors/catalogue.ts';

const MAX_AGE_SECONDS = '86400';

/** Which pages may call the API. Cookies are never accepted by it, so no answer allows credentials. */
export interface Cors {
  /** Headers for the answer, none where the request is not a page's. Throws where the page may not call. */
  headers(request: IncomingMessage): readonly string[];
  preflight(request: IncomingMessage, methods: readonly string[]): readonly string[];
}

export function createCors(origins: readonly string[]): Cors {
  const any = origins.includes('*');
  const headers = (request: IncomingMessage): readonly string[] => {
    const { origin } = request.headers;
    if (origin === undefined) return [];
    if (any)
      return [
        'access-control-allow-origin',
        '*',
        'access-control-expose-headers',
        'location, retry-after, x-request-id',
      ];
    if (!origins.includes(origin)) throw new ApiError('CORS_GENERIC');
    return [
      'access-control-allow-origin',
      origin,
      'access-control-expose-headers',
      'location, retry-after, x-request-id',
    ];
  };
  return {
    headers,
    preflight: (request, methods) => [
      ...headers(request),
      'access-control-allow-methods',
      methods.join(', '),
      'access-control-allow-headers',
      String(request.headers['access-control-request-headers'] ?? 'authorization, content-type, accept-language'),
      'access-control-max-age',
      MAX_AGE_SECONDS,
    ],
  };
}
