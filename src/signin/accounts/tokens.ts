import { forgetTokens, revokeTokens } from '../../platform/access/credentials.ts';
import type { App } from '../../platform/app.ts';

/** An expired token gets an error of its own for a day, then that of an unknown one. */
const REMEMBER_SECONDS = 86_400;

export const revokeToken = (app: App, tokenId: number): Promise<void> =>
  app.db.write((transaction) => revokeTokens(app, transaction, { tokenId }));

export async function forgetOutdatedTokens(app: App): Promise<void> {
  await app.db.write(({ query }) => forgetTokens(query, app.clock.now() - REMEMBER_SECONDS));
}
