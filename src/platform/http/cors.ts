import type { IncomingMessage } from 'node:http';
import { ApiError } from '../errors/catalogue.ts';

const MAX_AGE_SECONDS = '86400';
const EXPOSED = 'location, retry-after, x-request-id';

/** Which pages may call the API. Cookies are never accepted by it, so no answer allows credentials. */
export interface Cors {
  /** Headers for the answer, none where the request is not a page's. Throws where the page may not call. */
  headers(request: IncomingMessage): readonly string[];
  /** What the answer to OPTIONS says besides. */
  preflight(request: IncomingMessage, methods: readonly string[]): readonly string[];
}

export function createCors(origins: readonly string[]): Cors {
  const any = origins.includes('*');
  const headers = (request: IncomingMessage): readonly string[] => {
    const { origin, host } = request.headers;
    if (origin === undefined) return [];
    // Browsers name the origin also to the page's own site.
    const mayCall = any || origins.includes(origin) || origin === `https://${host}`;
    if (!mayCall) throw new ApiError('CORS_GENERIC');
    return ['access-control-allow-origin', any ? '*' : origin, 'access-control-expose-headers', EXPOSED];
  };
  return {
    headers,
    preflight: ({ headers: { 'access-control-request-headers': asked } }, methods) => [
      'access-control-allow-methods',
      methods.join(', '),
      'access-control-allow-headers',
      asked ?? 'authorization, content-type, accept-language',
      'access-control-max-age',
      MAX_AGE_SECONDS,
      'vary',
      'origin, access-control-request-headers',
    ],
  };
}
