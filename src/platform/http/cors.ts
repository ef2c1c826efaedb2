import type { IncomingMessage } from 'node:http';
import { ApiError } from '../errors/catalogue.ts';

const MAX_AGE_SECONDS = '86400';
const EXPOSED = 'etag, location, retry-after, x-request-id';

/** Decides which origins may call the API. The API accepts no cookies, so no response allows credentials. */
export interface Cors {
  /** Response headers; empty when the request has no Origin. Throws when the origin is not allowed. */
  headers(request: IncomingMessage): readonly string[];
  /** Further headers of the preflight response. */
  preflight(request: IncomingMessage, methods: readonly string[]): readonly string[];
}

export function createCors(origins: readonly string[]): Cors {
  const any = origins.includes('*');
  const headers = (request: IncomingMessage): readonly string[] => {
    const { origin, host } = request.headers;
    if (origin === undefined) return [];
    // Browsers send Origin to the page's own site, too.
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
