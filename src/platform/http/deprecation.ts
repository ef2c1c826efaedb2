import type { AnyOperation } from './operation.ts';

const unixSecondsOf = (day: string): number => Date.parse(`${day}T00:00:00Z`) / 1_000;

const NONE: readonly string[] = [];

/** The headers of an operation that ends: RFC 9745, RFC 8594, and the page that names its replacement. */
export function deprecationHeaders({ declaration }: AnyOperation, api: string): readonly string[] {
  const { deprecated, id } = declaration;
  if (!deprecated) return NONE;
  return [
    ...['deprecation', `@${unixSecondsOf(deprecated.since)}`],
    ...['sunset', new Date(`${deprecated.sunset}T00:00:00Z`).toUTCString()],
    ...['link', `<${api}/docs#${id}>; rel="deprecation"`],
  ];
}
