import { ADMINISTRATOR } from '../../catalogue/teams/teams.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import * as claims from './claim-store.ts';
import { lockContent, type Moderated } from './content.ts';
import { requireModerator } from './moderators.ts';
import * as store from './store.ts';

/** Long enough to look at a mod's files, short enough that forgotten claims do not delay its author. */
export const CLAIM_SECONDS = 900;
export const CLAIMS_AT_ONCE = 50;

interface Named {
  readonly resource: Moderated;
  readonly id: number;
}

/** Claims content for the caller, or renews the claim. */
export const claim = (app: App, caller: UserCaller, gameId: number, named: Named): Promise<claims.ClaimRow> =>
  app.db.write(async (transaction) => {
    await requireModerator(transaction, caller, gameId);
    const content = await lockContent(app, transaction, caller, { ...named, gameId });
    const claimed = await put(app, transaction, caller, content);
    if (!claimed) throw new ApiError('MODERATION_CLAIMED');
    return claimed;
  });

function put(app: App, transaction: Transaction, { userId }: UserCaller, { resource, id, gameId }: Claimable) {
  const now = app.clock.now();
  const row = { resource, resource_id: id, game_id: gameId, user_id: userId, date_expires: now + CLAIM_SECONDS };
  return claims.put(transaction, row, now);
}
type Claimable = { readonly resource: string; readonly id: number; readonly gameId: number };

/**
 * Claims the oldest pending items that nobody else has claimed, up to `count` together with the caller's own claims. A
 * repeated request returns the same items.
 */
export const claimNext = (
  app: App,
  caller: UserCaller,
  gameId: number,
  { count, resource }: { readonly count: number; readonly resource: Moderated | undefined },
): Promise<claims.ClaimRow[]> =>
  app.db.write(async (transaction) => {
    await requireModerator(transaction, caller, gameId);
    await claims.lockTaking(transaction, gameId);
    const now = app.clock.now();
    await claims.removeExpired(transaction, gameId, now);
    const reading = { query: transaction.query, dialect: app.db.dialect };
    const items = await store.claimable(reading, gameId, { userId: caller.userId, resource, count, now });
    const taken: claims.ClaimRow[] = [];
    for (const item of items) {
      const claimed = await put(app, transaction, caller, { ...item, gameId });
      if (claimed) taken.push(claimed);
    }
    return taken;
  });

/** Allowed for the moderator who claimed it, and for administrators of the game. */
export const release = (app: App, caller: UserCaller, gameId: number, { resource, id }: Named): Promise<void> =>
  app.db.write(async (transaction) => {
    const level = await requireModerator(transaction, caller, gameId);
    const valid = await claims.validClaim(transaction, resource, id, app.clock.now());
    if (valid?.game_id !== gameId) throw new ApiError('MODERATION_NOT_FOUND');
    if (valid.user_id !== caller.userId && level < ADMINISTRATOR) throw new ApiError('MODERATION_CLAIMED');
    await claims.remove(transaction, resource, id);
  });

/** Ends the claim with the decision. The content is locked, so no other moderator claims it meanwhile. */
export async function endClaim(app: App, transaction: Transaction, { userId }: UserCaller, { resource, id }: Named) {
  const valid = await claims.validClaim(transaction, resource, id, app.clock.now());
  if (valid && valid.user_id !== userId) throw new ApiError('MODERATION_CLAIMED');
  await claims.remove(transaction, resource, id);
}
