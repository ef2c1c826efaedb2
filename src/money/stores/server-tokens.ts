import type { App } from '../../platform/app.ts';
import type { Asking } from './adapter.ts';

interface ServerToken {
  readonly token: string;
  readonly seconds: number;
}

/** A token is not used in its last minute. */
const MARGIN_SECONDS = 60;
/** A token that the store has revoked is given up after this long at the latest. */
const KEPT_SECONDS_MAX = 900;

const kept = new WeakMap<App, Map<string, { readonly token: string; readonly until: number }>>();

/**
 * The header with the game's own token at a store, which is fetched again before it expires. `account` and `secret` are
 * part of its name, so that changed settings take effect at once.
 */
export async function serverAuthorization(
  { app }: Asking,
  account: string,
  secret: string,
  fetchToken: () => Promise<ServerToken>,
): Promise<{ authorization: string }> {
  const tokens = kept.get(app) ?? new Map<string, { token: string; until: number }>();
  kept.set(app, tokens);
  const name = `${account} ${app.secrets.digest(secret)}`;
  const now = app.clock.now();
  const known = tokens.get(name);
  if (known && known.until > now) return { authorization: `Bearer ${known.token}` };
  const { token, seconds } = await fetchToken();
  tokens.set(name, { token, until: now + Math.min(seconds - MARGIN_SECONDS, KEPT_SECONDS_MAX) });
  return { authorization: `Bearer ${token}` };
}
