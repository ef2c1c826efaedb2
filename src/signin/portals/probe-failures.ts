import { EgressError } from '../../platform/egress/egress.ts';
import type { LaterText } from '../../platform/localisation/texts.ts';

/** Why a request to a portal failed: in a text of the service, and with the code or the words of the library. */
export function failureOf(thrown: unknown): { readonly detail: LaterText; readonly original: string } {
  const failure = [thrown, causeOf(thrown)].find((each) => each instanceof EgressError);
  if (failure) return { detail: { name: `network_${failure.detail}` }, original: codeOf(failure.cause) };
  const cause = causeOf(thrown);
  return { detail: { name: 'portal_unclear' }, original: cause instanceof SyntaxError ? cause.message : '' };
}

const causeOf = (thrown: unknown): unknown => (thrown instanceof Error ? thrown.cause : undefined);

/** Such as `ECONNREFUSED`. The message could name an address behind the host name. */
function codeOf(cause: unknown): string {
  const code = (cause as { readonly code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : '';
}
