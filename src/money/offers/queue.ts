import { gameRowIn, requireGame, requireGameForChange } from '../../catalogue/games/games.ts';
import { levelsOf, MOD_DELETED } from '../../catalogue/mods/access.ts';
import {
  type ModRow,
  refreshMod,
  requireMod,
  requireModForChange,
  requireModInAnyState,
  setOffer,
} from '../../catalogue/mods/mods.ts';
import { ADMINISTRATOR, MANAGER, MODERATOR, teamLevel } from '../../catalogue/teams/teams.ts';
import { notifyDecision } from '../../people/notifications/notifications.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { audit } from '../../records/audit/audit.ts';
import { hasQueue, MOD_ON_MARKETPLACE, MOD_SELLS, requireOfferable } from './offers.ts';
import * as store from './store.ts';

export type { QueuedMod, SubmissionRow, SubmissionStatus } from './store.ts';

/** An author submits a mod with its price to the marketplace of a game with a queue. */
export async function submitToMarketplace(
  app: App,
  caller: UserCaller,
  gameId: number,
  modId: number,
): Promise<store.SubmissionRow> {
  return app.db.write(async (transaction) => {
    const mod = await requireModForChange(transaction, caller, gameId, modId);
    const levels = await levelsOf(transaction, caller, mod);
    if (levels.mod < ADMINISTRATOR && levels.game < MANAGER) throw new ApiError('MOD_SUPPLY_NO_EDIT_PERMISSION');
    const game = await gameRowIn(transaction, gameId);
    if (!hasQueue(game))
      throw new ApiError('MONETIZATION_MARKETPLACE_ERROR', { fields: [{ field: 'game_id', rule: 'invalid' }] });
    if (mod.price === 0 || (mod.monetization_options & MOD_SELLS) === 0)
      throw new ApiError('MONETIZATION_MOD_MONETIZATION_DISABLED');
    const before = await store.submissionOf(transaction, modId);
    if (before?.status === 'queued' || before?.status === 'approved') return before;
    await requireOfferable(app, transaction, game, mod, onMarketplace(mod));
    return store.putSubmission(transaction.query, {
      mod_id: modId,
      game_id: gameId,
      submitted_by: caller.userId,
      status: 'queued',
      reason: '',
      decided_by: 0,
      date_added: app.clock.now(),
      date_decided: 0,
    });
  });
}

const onMarketplace = (mod: ModRow): ModRow => ({
  ...mod,
  monetization_options: mod.monetization_options | MOD_ON_MARKETPLACE,
});

/** The state of a submission, for the teams of the mod and of its game; undefined before the first one. */
export async function showSubmission(
  app: App,
  caller: UserCaller,
  gameId: number,
  modId: number,
): Promise<store.SubmissionRow | undefined> {
  const mod = await requireMod(app.db, caller, gameId, modId);
  const levels = await levelsOf(app.db, caller, mod);
  if (levels.mod === 0 && levels.game === 0) throw new ApiError('RESOURCE_NOT_FOUND');
  return store.submissionOf(app.db, modId);
}

async function requireModerator(reader: Pick<Database, 'first'>, caller: UserCaller, gameId: number): Promise<void> {
  if ((await teamLevel(reader, caller, 'games', gameId)) < MODERATOR)
    throw new ApiError('RESOURCE_NO_MODERATE_PERMISSION');
}

export async function listSubmissions(
  app: App,
  caller: UserCaller,
  gameId: number,
  status: store.SubmissionStatus,
  page: { readonly limit: number; readonly offset: number },
) {
  await requireGame(app.db, caller, gameId);
  await requireModerator(app.db, caller, gameId);
  return store.submissionsOf(app.db.query, gameId, status, page);
}

export interface QueueDecision {
  readonly status: 'approved' | 'declined';
  readonly reason: string;
}

/** The team of the game decides. A mod that is declined later leaves the marketplace; who bought it keeps it. */
export async function decideSubmission(
  app: App,
  caller: UserCaller,
  gameId: number,
  modId: number,
  { status, reason }: QueueDecision,
): Promise<store.SubmissionRow> {
  return app.db.write(async (transaction) => {
    const game = await requireGameForChange(transaction, caller, gameId);
    await requireModerator(transaction, caller, gameId);
    const mod = await requireModInAnyState(transaction, caller, gameId, modId);
    const before = await store.submissionOf(transaction, modId);
    if (!before || mod.status === MOD_DELETED) throw new ApiError('RESOURCE_NOT_FOUND');
    if (before.status === status) throw new ApiError('MODERATION_ALREADY_ACTIONED');
    if (status === 'approved') await requireOfferable(app, transaction, game, mod, onMarketplace(mod));
    await putOnMarketplace(app, transaction, mod, status === 'approved');
    const decided = { status, reason, decided_by: caller.userId, date_decided: app.clock.now() };
    const submission = await store.putSubmission(transaction.query, { ...before, ...decided });
    const subject = { resource: 'mods', id: modId, gameId };
    const kind = status === 'approved' ? 'marketplace_approved' : 'marketplace_declined';
    await notifyDecision(app, transaction, kind, subject, { userId: mod.submitted_by, by: caller.userId });
    const action = status === 'approved' ? 'mods.marketplace-approve' : 'mods.marketplace-decline';
    await audit(app, transaction, { actor: caller.userId, action, subject, reason });
    return submission;
  });
}

async function putOnMarketplace(app: App, transaction: Transaction, mod: ModRow, isOn: boolean): Promise<void> {
  const { monetization_options } = isOn
    ? onMarketplace(mod)
    : { monetization_options: mod.monetization_options & ~MOD_ON_MARKETPLACE };
  await setOffer(transaction, mod.id, { monetization_options });
  await refreshMod(app, transaction, mod);
}
