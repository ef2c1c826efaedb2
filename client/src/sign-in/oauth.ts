import type { CallOptions, Client } from '../calls/client.ts';
import { fromOauth, type SignIn, withoutCredentials } from './tokens.ts';

export interface OauthOptions {
  clientId: number;
  redirectUri: string;
  scope?: 'read' | 'read write';
}

/** An authorization that has begun. Store it, such as in `sessionStorage`, until the user returns. */
export interface PendingOauth extends OauthOptions {
  /** Send the user here. */
  readonly url: string;
  readonly state: string;
  readonly verifier: string;
}

/** Begins the authorization code flow with PKCE (RFC 7636). */
export async function startOauth(client: Client, options: OauthOptions): Promise<PendingOauth> {
  const { clientId, redirectUri, scope = 'read write' } = options;
  const [state, verifier] = [randomText(), randomText()];
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  const url = new URL('/oauth/authorize', client.url);
  url.search = new URLSearchParams({
    response_type: 'code',
    grant_type: 'authorization_code',
    client_id: String(clientId),
    redirect_uri: redirectUri,
    scope,
    state,
    code_challenge: base64Url(new Uint8Array(digest)),
    code_challenge_method: 'S256',
  }).toString();
  return { ...options, url: url.href, state, verifier };
}

/** The user returned without a code, or the return does not belong to this authorization. */
export class OauthReturnError extends Error {
  override readonly name = 'OauthReturnError';
  /** Such as `access_denied`, or `invalid_return` if the return was forged or mixed up. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Exchanges the code of the address that the user returned to. A confidential client adds its secret. */
export async function finishOauth(
  client: Client,
  pending: PendingOauth,
  returned: string | URL,
  { clientSecret, ...options }: CallOptions & { clientSecret?: string } = {},
): Promise<SignIn> {
  const { searchParams } = new URL(returned, pending.redirectUri);
  checkReturn(client, pending, searchParams);
  const token = await withoutCredentials(client).call(
    'POST /oauth/token',
    {
      grant_type: 'authorization_code',
      client_id: pending.clientId,
      redirect_uri: pending.redirectUri,
      code: searchParams.get('code') ?? '',
      code_verifier: pending.verifier,
      ...(clientSecret && { client_secret: clientSecret }),
    },
    options,
  );
  return fromOauth(token);
}

/** The state stops forged returns, and the issuer (RFC 9207) codes of another service. */
function checkReturn({ url }: Client, { state }: PendingOauth, returned: URLSearchParams): void {
  const issuer = returned.get('iss');
  if (returned.get('state') !== state || (issuer !== null && new URL(issuer).host !== url.host))
    throw new OauthReturnError('invalid_return', 'The return does not belong to this sign-in.');
  const error = returned.get('error');
  if (error) throw new OauthReturnError(error, returned.get('error_description') ?? error);
}

const randomText = () => base64Url(crypto.getRandomValues(new Uint8Array(32)));
const base64Url = (bytes: Uint8Array) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
