import type { CallOptions, Client, Input } from '../calls/client.ts';
import type { AccessToken } from '../contract/operations.ts';
import { type SignIn, toSignIn } from './tokens.ts';

/** The portals, and the operation that accepts their proof of who the user is. */
const OPERATIONS = {
  apple: 'POST /external/appleauth',
  discord: 'POST /external/discordauth',
  epicgames: 'POST /external/epicgamesauth',
  facebook: 'POST /external/facebookauth',
  gog: 'POST /external/galaxyauth',
  google: 'POST /external/googleauth',
  itchio: 'POST /external/itchioauth',
  oculus: 'POST /external/oculusauth',
  openid: 'POST /external/openidauth',
  psn: 'POST /external/psnauth',
  steam: 'POST /external/steamauth',
  switch: 'POST /external/switchauth',
  xboxlive: 'POST /external/xboxauth',
} as const;

export type Portal = keyof typeof OPERATIONS;

/**
 * Signs in with the ticket or token of a portal. A user who has not agreed to the terms is refused with the reference
 * 11074: show `GET /authenticate/terms`, then repeat with `terms_agreed: true`.
 */
export async function signInWithPortal<Name extends Portal>(
  client: Client,
  portal: Name,
  proof: Input<(typeof OPERATIONS)[Name]>,
  options?: CallOptions,
): Promise<SignIn> {
  const call = client.call as (operation: string, input: object, options?: CallOptions) => Promise<AccessToken>;
  return toSignIn(await call(OPERATIONS[portal], proof, options));
}

/** Signs in with the delegation token of a game that runs beside this one, such as on a dedicated server. */
export async function signInWithDelegation(
  client: Client,
  delegationToken: string,
  { termsAgreed, ...options }: CallOptions & { termsAgreed?: boolean } = {},
): Promise<SignIn> {
  const headers = { ...options.headers, 'X-Service-Delegation-Token': delegationToken };
  const input = termsAgreed === undefined ? {} : { terms_agreed: termsAgreed };
  return toSignIn(await client.call('POST /external/udtauth', input, { ...options, headers }));
}
