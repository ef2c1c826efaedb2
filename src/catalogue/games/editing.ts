import { hasAccepted } from '../../people/agreements/acceptances.ts';
import { AGREEMENT_TYPES } from '../../people/agreements/types.ts';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { type Database, isDuplicate, type Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { completePictures } from '../../platform/images/pictures.ts';
import { writeAfterRemoval } from '../../platform/jobs/removals.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import { requireEnglish } from '../../platform/text/translations.ts';
import { audit } from '../../records/audit/audit.ts';
import { requirePlanThatSells } from '../plans/plans.ts';
import { ADMINISTRATOR, MANAGER, teamLevel } from '../teams/teams.ts';
import {
  addGame,
  applyGameChanges,
  changeGame,
  GAME_ACCEPTED,
  type GameRow,
  removeGame,
  requireGameForChange,
  type StoredGame,
} from './games.ts';
import { claimGamePictures, type GameImages, prepareGamePictures } from './media.ts';
import { enablesPreviews } from './preview-options.ts';
import { type GameChanges, localisableOf } from './settings.ts';
import * as store from './store.ts';

/** `community_options`: where the site itself shows the game. Its team cannot set them. */
const ON_HOMEPAGE = 4 | 8 | 16;
/** `community_options`: the game's administrators may change its status. */
const CAN_CHANGE_STATUS = 32;

const FOR_ADMINISTRATORS = ['monetization_options', 'revenue_options', 'max_stock'] as const;
const FOR_OPERATORS = ['service_features', 'cloud_cooking_status'] as const;

/** The edit, the language it is written in and the language of the response. */
export interface GameEdit {
  readonly changes: GameChanges;
  readonly written: Language;
  readonly answered: Language;
}

/**
 * Changes a game for its team. Texts in a language other than English are stored as translations. All checks run inside
 * the transaction, which is both safer and cheaper than running them before it.
 */
export async function editGame(
  app: App,
  caller: UserCaller,
  id: number,
  { changes, written, answered }: GameEdit,
): Promise<StoredGame> {
  return app.db.write(async (transaction) => {
    const before = await requireGameForChange(transaction, caller, id);
    const level = await teamLevel(transaction, caller, 'games', id);
    if (level < MANAGER) throw new ApiError('GAME_NO_UPDATE_PERMISSION');
    requireMayChange(caller, before, level, changes);
    requirePreviewable(before, changes);
    await requireMaySell(transaction, before, changes);
    if (changes.status === GAME_ACCEPTED && before.status !== GAME_ACCEPTED)
      await requireLeaderAgreed(transaction, before.submitted_by);
    await changeGame(app, transaction, before, changes, written);
    await audit(app, transaction, {
      ...auditedGame(caller, id),
      action: 'games.edit',
      data: tellable(before, changes),
    });
    return (await store.documentOf(transaction, id, answered, true))!;
  });
}

const auditedGame = (caller: UserCaller, id: number) => ({
  actor: caller.userId,
  subject: { resource: 'games', id, gameId: id },
});

/** The audited data: names of the changed fields, and both values of numbers. */
function tellable(before: GameRow, changes: GameChanges): Record<string, unknown> {
  const sent = Object.entries(changes).filter(([, value]) => value !== undefined);
  const isChanged = ([field, value]: [string, unknown]) => value !== before[field as keyof GameRow];
  const audited = ([field, value]: [string, unknown]) =>
    [field, typeof value === 'number' ? [before[field as keyof GameRow], value] : true] as const;
  return Object.fromEntries(sent.filter(isChanged).map(audited));
}

/** Clients send the whole game back, so an unchanged value is no attempt to change it. */
function requireMayChange(caller: Caller, before: GameRow, level: number, changes: GameChanges): void {
  if (isSiteAdmin(caller)) return;
  const isChanged = (field: keyof GameChanges & keyof GameRow) =>
    changes[field] !== undefined && changes[field] !== before[field];
  const { community_options = before.community_options } = changes;
  const switched = community_options ^ before.community_options;
  const mayChangeStatus = level >= ADMINISTRATOR && (before.community_options & CAN_CHANGE_STATUS) !== 0;
  if ((isChanged('status') && !mayChangeStatus) || (switched & CAN_CHANGE_STATUS) !== 0)
    throw new ApiError('GAME_NO_UPDATE_STATUS_PERMISSION');
  if ((switched & ON_HOMEPAGE) !== 0 || FOR_OPERATORS.some(isChanged)) throw new ApiError('GAME_NO_UPDATE_PERMISSION');
  if (level < ADMINISTRATOR && FOR_ADMINISTRATORS.some(isChanged)) throw new ApiError('GAME_NO_ADMIN_PERMISSION');
}

/** `monetization_options`: the game sells. */
const SELLS = 1;

/** Whether a game may begin to sell depends on its plan. */
async function requireMaySell(transaction: Transaction, before: GameRow, changes: GameChanges): Promise<void> {
  const { monetization_options = before.monetization_options } = changes;
  if ((monetization_options & ~before.monetization_options & SELLS) !== 0)
    await requirePlanThatSells(transaction, before.id);
}

/** A public game needs no preview. */
function requirePreviewable(before: GameRow, { status = before.status, community_options }: GameChanges): void {
  if (status === GAME_ACCEPTED && enablesPreviews(before.community_options, community_options))
    throw new ApiError('PREVIEW_CANNOT_ENABLE_RESOURCE_IS_PUBLIC');
}

const isSiteAdmin = (caller: Caller): boolean => caller.kind === 'user' && caller.admin;

export type NewGameFields = GameChanges & { readonly name: string; readonly summary: string };

/** A submitted game with its API key, which is not shown again. */
export type SubmittedGame = StoredGame & { readonly api_key: string };

/** Adds a game for the caller. Only its own key and team see it until a member of the site staff accepts it. */
export async function submitGame(
  app: App,
  caller: UserCaller,
  images: GameImages,
  { changes, written, answered }: GameEdit & { readonly changes: NewGameFields },
): Promise<SubmittedGame> {
  requireEnglish(written, localisableOf(changes));
  await requireAgreement(app.db, caller);
  const pictures = await prepareGamePictures(app, images);
  const added = await attempt(ATTEMPTS_MAX, () =>
    writeAfterRemoval(app, async (transaction) => {
      await requireAgreement(transaction, caller);
      const claimed = await claimGamePictures(app, transaction, pictures);
      const { id, api_key } = await addSubmitted(app, transaction, caller, { ...changes, ...claimed });
      transaction.made?.(`${app.addresses.gameApi(id)}/games/${id}`);
      return { ...(await store.documentOf(transaction, id, answered, true))!, api_key };
    }),
  );
  await completePictures(app, pictures);
  return added;
}

async function addSubmitted(
  app: App,
  transaction: Transaction,
  caller: UserCaller,
  changes: NewGameFields,
): Promise<{ id: number; api_key: string }> {
  const { name, summary, instructions, ugc_name } = changes;
  const settings = { ...(instructions && { instructions }), ...(ugc_name && { ugc_name }) };
  const game = await addGame(app, transaction, { name, summary, ownerId: caller.userId, settings });
  requireMayChange(caller, game, ADMINISTRATOR, changes);
  await requireMaySell(transaction, game, changes);
  await applyGameChanges(app, transaction, game.id, changes, 'en');
  return game;
}

async function requireAgreement(reader: Pick<Database, 'first'>, { userId }: UserCaller): Promise<void> {
  if (!(await hasAccepted(reader, userId, AGREEMENT_TYPES.GAME))) throw new ApiError('GAME_CREATE_NO_AGREEMENT');
}

/** A game goes live only if its leader has accepted the agreement in force, no matter who accepts the game. */
async function requireLeaderAgreed(reader: Pick<Database, 'first'>, leaderId: number): Promise<void> {
  if (!(await hasAccepted(reader, leaderId, AGREEMENT_TYPES.GAME))) throw new ApiError('GAME_NO_AGREEMENT');
}

const ATTEMPTS_MAX = 5;

/**
 * When two requests take the same `name_id` at once, the second violates the unique index and derives another in its
 * next attempt.
 */
async function attempt<T>(attempts: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (attempts <= 1 || !isDuplicate(error)) throw error;
    return attempt(attempts - 1, work);
  }
}

/** Administrators may delete a game that is not accepted; only the site staff may delete an accepted one. */
export async function deleteGame(app: App, caller: UserCaller, id: number): Promise<void> {
  await app.db.write(async (transaction) => {
    const game = await requireGameForChange(transaction, caller, id);
    if ((await teamLevel(transaction, caller, 'games', id)) < ADMINISTRATOR)
      throw new ApiError('GAME_NO_DELETE_PERMISSION');
    if (game.status === GAME_ACCEPTED && !isSiteAdmin(caller)) throw new ApiError('GAME_CANT_BE_DELETED');
    const { total, sellable } = await store.countMods(transaction, id);
    if (sellable > 0) throw new ApiError('GAME_CANT_BE_DELETED_SELLABLE_MODS');
    if (total > 0) throw new ApiError('GAME_CANT_BE_DELETED_EXISTING_MODS');
    await removeGame(app, transaction, id);
    await audit(app, transaction, { ...auditedGame(caller, id), action: 'games.delete' });
  });
}
