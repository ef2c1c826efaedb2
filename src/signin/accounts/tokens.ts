import { forgetTokens, revokeTokens } from '../../platform/access/credentials.ts';
import type { App } from '../../platform/app.ts';

/** For a day, an expired token gets a different error than an unknown one. */
const REMEMBER_SECONDS = 86_400;

export const revokeToken = (app: App, tokenId: number): Promise<void> =>
  app.db.write((transaction) => revokeTokens(app, transaction, { tokenId }));

export async function forgetOutdatedTokens(app: App): Promise<void> {
  await forgetTokens(app.db, app.clock.now() - REMEMBER_SECONDS);
}
