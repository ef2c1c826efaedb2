import type { Client, TokenSource } from '../calls/client.ts';
import { isApiError } from '../calls/errors.ts';
import type { AccessToken, OauthToken } from '../contract/operations.ts';

/** What a finished sign-in provides, ready to be stored as JSON. Who has it acts as the user. */
export interface SignIn {
  readonly accessToken: string;
  /** Unix seconds. */
  readonly dateExpires: number;
  /** Of OAuth sign-ins alone. */
  readonly refreshToken?: string;
}

export const toSignIn = ({ access_token, date_expires }: AccessToken): SignIn => ({
  accessToken: access_token,
  dateExpires: date_expires,
});

export const fromOauth = ({ access_token, expires_in, refresh_token }: OauthToken): SignIn => ({
  accessToken: access_token,
  dateExpires: Math.floor(Date.now() / 1000) + expires_in,
  ...(refresh_token && { refreshToken: refresh_token }),
});

export interface RefreshOptions {
  /** The OAuth client that the user signed in with. */
  clientId: number;
  clientSecret?: string | undefined;
  redirectUri?: string | undefined;
  /** Stores the new tokens; undefined when the sign-in has ended. */
  onChange?: ((signIn: SignIn | undefined) => void | Promise<void>) | undefined;
}

/** Provides the access token to a client, and replaces it with the refresh token once the service refuses it. */
export function refreshingToken(client: Client, signIn: SignIn, options: RefreshOptions): TokenSource {
  let current: SignIn | undefined = signIn;
  let refreshing: Promise<void> | undefined;
  const refresh = async () => {
    const renewed = current?.refreshToken && (await renew(client, current.refreshToken, options));
    current = renewed || undefined;
    await options.onChange?.(current);
  };
  return {
    get: () => current?.accessToken,
    refresh: async (refused) => {
      // Concurrent calls share one refresh, because a refresh token is used once.
      if (current?.accessToken === refused)
        refreshing ??= refresh().finally(() => {
          refreshing = undefined;
        });
      await refreshing;
      return current?.accessToken;
    },
  };
}

async function renew(client: Client, refreshToken: string, options: RefreshOptions): Promise<SignIn | undefined> {
  const { clientId, clientSecret, redirectUri } = options;
  const fields = { client_id: clientId, client_secret: clientSecret, redirect_uri: redirectUri };
  try {
    const token = await withoutCredentials(client).call(
      'POST /oauth/token',
      { grant_type: 'refresh_token', refresh_token: refreshToken, ...fields },
      // The same request within ten seconds gets the same response.
      { idempotent: true },
    );
    return fromOauth(token);
  } catch (error) {
    if (isApiError(error) && error.oauthError === 'invalid_grant') return undefined;
    throw error;
  }
}

/** OAuth endpoints refuse parameters in the query, such as the key. */
export const withoutCredentials = (client: Client): Client => client.with({ key: undefined, token: undefined });

/** Ends the sign-in of the client's token, on the service too. */
export async function signOut(client: Client, options?: { signal?: AbortSignal }): Promise<void> {
  await client.call('POST /oauth/logout', {}, options);
}
