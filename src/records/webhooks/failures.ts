import type { EgressDetail } from '../../platform/egress/egress.ts';
import type { LaterText } from '../../platform/localisation/texts.ts';

const DETAILS: ReadonlySet<string> = new Set<EgressDetail>([
  'forbidden',
  'invalid-url',
  'only-https',
  'redirects',
  'special-address',
  'timeout',
  'too-large',
  'unreachable',
  'unresolved',
]);

/** The text for the stored error of an attempt, which begins with a code such as `forbidden/only-https`. */
export function failureText(error: string): LaterText | undefined {
  const delivery = /^behind:? (\d+)/.exec(error)?.[1];
  if (delivery) return { name: 'webhook_behind', values: { delivery } };
  const detail = /^[^:]*/.exec(error)![0].split('/').at(-1)!;
  return DETAILS.has(detail) ? { name: `network_${detail as EgressDetail}` } : undefined;
}
