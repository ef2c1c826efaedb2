import { gameRowIn, requireGame, requireGameForChange } from '../../catalogue/games/games.ts';
import { ADMINISTRATOR, MODERATOR, teamLevel } from '../../catalogue/teams/teams.ts';
import { requireUserForChange } from '../../people/users/users.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { audit } from '../../records/audit/audit.ts';
import { requireSelling } from '../terms/switches.ts';
import { termsOf } from '../terms/terms.ts';
import { showStatus } from './sellers.ts';
import * as store from './store.ts';

export type { PartnerRow, PartnerStatus } from './store.ts';

const DAY = 86_400;
/** The bit of a game's `monetization_options`: only partners sell. */
export const GAME_HAS_PARTNERS = 4;

/** A user applies for the partner programme of a game. Criteria that the game sets decide, or its team. */
export async function applyAsPartner(app: App, { userId, ...caller }: UserCaller, gameId: number) {
  await requireGame(app.db, { userId, ...caller }, gameId);
  return app.db.write(async (transaction) => {
    const user = await requireUserForChange(transaction, userId);
    const game = await gameRowIn(transaction, gameId);
    requireSelling(app, game);
    if ((game.monetization_options & GAME_HAS_PARTNERS) === 0)
      throw new ApiError('MONETIZATION_ENABLE_ERROR', { fields: [{ field: 'game_id', rule: 'not_for_sale' }] });
    if ((await store.accountOf(transaction, userId))?.status !== 'approved')
      throw new ApiError('MONETIZATION_USER_NOT_APPROVED');
    const before = await store.partnerOf(transaction, gameId, userId);
    if (before?.status === 'approved' || before?.status === 'applied') return before;
    const { terms } = await termsOf(transaction, gameId);
    const now = app.clock.now();
    if (before?.status === 'rejected' && now - before.date_decided < terms.partner_reapply_days * DAY)
      throw new ApiError('MONETIZATION_GAME_PARTNER_REJECTED_30_DAYS');
    if (terms.partner_invited_only && before?.status !== 'invited')
      throw new ApiError('MONETIZATION_GAME_PARTNER_SPECIAL_ACCESS');
    await requireCriteria(transaction, gameId, { id: userId, email: user.email }, terms);
    const decided = terms.partner_review
      ? ({ status: 'applied', date_decided: 0 } as const)
      : ({ status: 'approved', date_decided: now } as const);
    const row = { game_id: gameId, user_id: userId, reason: '', decided_by: 0, date_added: now, ...decided };
    const partner = await store.putPartner(transaction.query, row);
    await showStatus(transaction, userId);
    return partner;
  });
}

type Criteria = Awaited<ReturnType<typeof termsOf>>['terms'];

async function requireCriteria(
  transaction: Transaction,
  gameId: number,
  { id, email }: { readonly id: number; readonly email: string | null },
  terms: Criteria,
): Promise<void> {
  const { mods, subscribers, rating } = await store.achievementsOf(transaction, gameId, id);
  const isMet =
    email !== null &&
    mods >= terms.partner_mods_min &&
    subscribers >= terms.partner_subscribers_min &&
    rating * 100 >= terms.partner_rating_min;
  if (!isMet) throw new ApiError('MONETIZATION_USER_CRITERIA_NOT_MET');
}

/** The administrators of a game invite, approve or reject. */
export async function decideOverPartner(
  app: App,
  caller: UserCaller,
  gameId: number,
  userId: number,
  { status, reason }: { readonly status: 'invited' | 'approved' | 'rejected'; readonly reason: string },
): Promise<store.PartnerRow> {
  return app.db.write(async (transaction) => {
    await requireGameForChange(transaction, caller, gameId);
    if ((await teamLevel(transaction, caller, 'games', gameId)) < ADMINISTRATOR)
      throw new ApiError('GAME_NO_UPDATE_PERMISSION');
    await requireUserForChange(transaction, userId);
    const isApproved = (await store.accountOf(transaction, userId))?.status === 'approved';
    if (status === 'approved' && !isApproved) throw new ApiError('MONETIZATION_USER_NOT_APPROVED');
    const now = app.clock.now();
    const before = await store.partnerOf(transaction, gameId, userId);
    const partner = await store.putPartner(transaction.query, {
      game_id: gameId,
      user_id: userId,
      status,
      reason,
      decided_by: caller.userId,
      date_added: before?.date_added ?? now,
      date_decided: now,
    });
    await showStatus(transaction, userId);
    const subject = { resource: 'games', id: gameId, gameId };
    const data = { user_id: userId, status };
    await audit(app, transaction, { actor: caller.userId, action: 'games.partner', subject, reason, data });
    return partner;
  });
}

export async function listPartners(
  app: App,
  caller: UserCaller,
  gameId: number,
  page: { readonly limit: number; readonly offset: number },
) {
  await requireGame(app.db, caller, gameId);
  if ((await teamLevel(app.db, caller, 'games', gameId)) < MODERATOR) throw new ApiError('GAME_NO_UPDATE_PERMISSION');
  return store.partnersOf(app.db.query, gameId, page);
}

/** Where a game has a partner programme, only partners offer mods for sale. */
export async function requirePartner(
  transaction: Transaction,
  game: { readonly id: number; readonly monetization_options: number },
  userId: number,
): Promise<void> {
  if ((game.monetization_options & GAME_HAS_PARTNERS) === 0) return;
  if ((await store.partnerOf(transaction, game.id, userId))?.status !== 'approved')
    throw new ApiError('MONETIZATION_GAME_PARTNER_NOT_APPROVED');
}
