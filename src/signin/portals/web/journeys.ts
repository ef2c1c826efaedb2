import type { App } from '../../../platform/app.ts';
import * as store from '../store.ts';

const JOURNEY_SECONDS = 600;

const purposeOf = (digest: string) => `portals/journey/${digest}`;

/**
 * Stores state for this browser and returns the token that retrieves it. It replaces what was stored for the same
 * token.
 */
export async function storeJourney(
  app: App,
  visit: string,
  content: object,
  token: string = app.random.token(),
): Promise<string> {
  const digest = app.secrets.digest(token);
  await app.db.write(({ query }) =>
    store.putJourney(query, {
      digest,
      visit,
      sealed: app.secrets.seal(purposeOf(digest), JSON.stringify(content)),
      date_expires: app.clock.now() + JOURNEY_SECONDS,
    }),
  );
  return token;
}

/** Returns the stored state to its browser, once. */
export async function takeJourney<T extends object>(
  app: App,
  visit: string,
  token: string | undefined,
): Promise<T | undefined> {
  if (!token) return undefined;
  const digest = app.secrets.digest(token);
  const row = await app.db.write(({ query }) => store.takeJourney(query, digest, visit, app.clock.now()));
  return row && (JSON.parse(app.secrets.unseal(purposeOf(digest), row.sealed)) as T);
}
