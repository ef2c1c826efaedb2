/** Headers of every response with a body: browsers must not guess its type, nor send its address as a referrer. */
export const CONTENT_HEADERS: readonly string[] = [
  'x-content-type-options',
  'nosniff',
  'referrer-policy',
  'no-referrer',
];

/** The same for responses that clients and browsers request, which also must use HTTPS next time. */
export const SECURITY_HEADERS: readonly string[] = [
  ...CONTENT_HEADERS,
  'strict-transport-security',
  'max-age=31536000',
];
