import { requireGame } from '../../catalogue/games/games.ts';
import { MODERATOR, teamLevel } from '../../catalogue/teams/teams.ts';
import type { Caller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import * as store from './store.ts';

export const GUIDE_NOT_ACCEPTED = 0;
export const GUIDE_ACCEPTED = 1;
export const GUIDE_DELETED = 3;

/** The bit of a game’s `community_options` that enables guides. */
const GUIDES = 2;

type Reader = Pick<Database, 'first'>;

/** Whether the guide is public. */
export const isLive = (app: App, { status, date_live }: Pick<store.GuideRow, 'status' | 'date_live'>): boolean =>
  status === GUIDE_ACCEPTED && date_live <= app.clock.now();

export const isAuthor = (caller: Caller, { submitted_by }: Pick<store.GuideRow, 'submitted_by'>): boolean =>
  caller.kind === 'user' && caller.userId === submitted_by;

export const hasGuides = ({ community_options }: { community_options: number }): boolean =>
  (community_options & GUIDES) !== 0;

/** If the game has switched guides off, only its team sees existing ones. */
export async function requireGuides(reader: Reader, caller: Caller, gameId: number): Promise<void> {
  const game = await requireGame(reader, caller, gameId);
  if (!hasGuides(game) && (await teamLevel(reader, caller, 'games', gameId)) < MODERATOR)
    throw new ApiError('GUIDE_NO_VIEW_PERMISSION');
}

/**
 * Drafts and scheduled guides exist only for their author and the game’s team. Only these get the error for a deleted
 * guide.
 */
async function refuseHidden(
  app: App,
  reader: Reader,
  caller: Caller,
  gameId: number,
  guide: store.GuideRow | undefined,
): Promise<store.GuideRow> {
  if (guide?.game_id !== gameId) throw new ApiError('RESOURCE_NOT_FOUND');
  if (isLive(app, guide)) return guide;
  if (!isAuthor(caller, guide) && (await teamLevel(reader, caller, 'games', gameId)) < MODERATOR)
    throw new ApiError('RESOURCE_NOT_FOUND');
  if (guide.status === GUIDE_DELETED) throw new ApiError('GUIDE_DELETED');
  return guide;
}

export async function requireGuide(
  app: App,
  reader: Reader,
  caller: Caller,
  gameId: number,
  id: number,
): Promise<store.GuideRow> {
  await requireGuides(reader, caller, gameId);
  return refuseHidden(app, reader, caller, gameId, await store.byId(reader, id));
}

/** On PostgreSQL this locks the guide. */
export async function requireGuideForChange(
  app: App,
  transaction: Transaction,
  caller: Caller,
  gameId: number,
  id: number,
): Promise<store.GuideRow> {
  await requireGuides(transaction, caller, gameId);
  return refuseHidden(app, transaction, caller, gameId, await store.rowForChange(transaction, id));
}

/** Locks the guide without a visibility check. The caller has to check the permission to moderate. */
export const lockGuide = (transaction: Transaction, id: number) => store.rowForChange(transaction, id);
