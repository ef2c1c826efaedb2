import { notifyDecision } from '../../people/notifications/notifications.ts';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { isDuplicate, type Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { logoImage } from '../../platform/images/images.ts';
import {
  claimPictures,
  completePictures,
  type Picture,
  pictureOf,
  preparePictures,
  reviewPicture,
  type UploadedPicture,
} from '../../platform/images/pictures.ts';
import { writeAfterRemoval } from '../../platform/jobs/removals.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import { requireEnglish } from '../../platform/text/translations.ts';
import { audit } from '../../records/audit/audit.ts';
import { requireGame, requireGameForChange } from '../games/games.ts';
import { enablesPreviews } from '../games/preview-options.ts';
import { requireMayAddMods } from '../restrictions/restrictions.ts';
import { checkRules, releaseHold } from '../rules/evaluation.ts';
import { ADMINISTRATOR, MANAGER } from '../teams/teams.ts';
import {
  isPublic,
  type Levels,
  levelsOf,
  MOD_ACCEPTED,
  MOD_DELETED,
  MOD_NOT_ACCEPTED,
  mayEdit,
  mayModerate,
  requireMod,
  requireModForChange,
  requireModInAnyState,
} from './access.ts';
import { auditByGame } from './auditing.ts';
import * as documentStore from './document-store.ts';
import { type ModEdit, modExtensions, type SentForOthers, type SentOffer } from './extensions.ts';
import {
  addMod,
  applyModChanges,
  localisableOf,
  type ModChanges,
  type NewMod,
  refreshMod,
  removeMod,
  removeModForEver,
} from './mods.ts';
import { holdModForReview, recordOutcomeForMod } from './rule-checks.ts';
import * as store from './store.ts';

export const MOD_LOGO = logoImage(512, 288);

export type SentFields = ModChanges & Omit<SentForOthers, 'offer'> & Omit<SentOffer, 'stock' | 'credit_options'>;

/** The sent fields, the language they are written in and the language of the response. */
export interface Sent<C> {
  readonly fields: C;
  readonly logo: UploadedPicture | undefined;
  readonly written: Language;
  readonly answered: Language;
}

/** Adds a mod for the caller. It waits for its first file and, where the game reviews mods, for the game's team. */
export async function submitMod(
  app: App,
  caller: UserCaller,
  gameId: number,
  { fields, logo, written, answered }: Sent<Pick<NewMod, 'name' | 'summary'> & SentFields>,
): Promise<documentStore.StoredMod> {
  const ownerId = caller.userId;
  requireEnglish(written, localisableOf(fields));
  const game = await requireGame(app.db, caller, gameId);
  await requireMayAddMods(app.db, caller, gameId);
  requireAllowedMaturity(game, fields);
  const { status: _, tags, metadata_kvp, ...settable } = withoutOffer(fields);
  const offer = offerOf(fields);
  return withPicture(app, logo, async (transaction, picture) => {
    // The lock keeps the game from being deleted meanwhile.
    await requireGameForChange(transaction, caller, gameId);
    await requireMayAddMods(transaction, caller, gameId);
    const verdict = await checkRules(app, transaction, caller, gameId);
    const mod = await addMod(app, transaction, { ...settable, ...picture, gameId, ownerId });
    transaction.made?.(mod.id);
    if (verdict.held) await holdModForReview(app, transaction, mod, verdict.held);
    await recordOutcomeForMod(app, transaction, verdict, mod);
    const levels = { mod: ADMINISTRATOR, game: (await levelsOf(transaction, caller, mod)).game };
    await putContributed(app, transaction, { mod, levels, sent: { tags, metadata_kvp, offer } });
    if (tags || metadata_kvp || offer) await refreshMod(app, transaction, mod);
    return (await documentStore.documentOf(transaction, mod.id, answered))!;
  });
}

export async function editMod(
  app: App,
  caller: UserCaller,
  gameId: number,
  id: number,
  { fields: sent, logo, written, answered }: Sent<SentFields>,
): Promise<documentStore.StoredMod> {
  const { tags, metadata_kvp, ...fields } = withoutOffer(sent);
  // Checked before rendering, so that only editors of the mod can make the service render pictures.
  if (logo) await requireEditor(app, caller, gameId, id);
  return withPicture(app, logo, async (transaction, picture) => {
    const changes = { ...fields, ...picture };
    const before = await modToEdit(transaction, caller, gameId, id, changes);
    await requireMayChange(transaction, caller, before, changes);
    requirePreviewable(before, changes);
    const verdict = await checkRules(app, transaction, caller, gameId);
    await recordOutcomeForMod(app, transaction, verdict, before);
    const { held } = verdict;
    if (held) await holdModForReview(app, transaction, before, held);
    else if (changes.status === MOD_ACCEPTED) await releaseHold(transaction, 'mods', id);
    const waiting = held && before.status === MOD_ACCEPTED ? { status: MOD_NOT_ACCEPTED } : {};
    const offer = offerOf(sent);
    if (tags || metadata_kvp || offer) {
      const levels = await levelsOf(transaction, caller, before);
      await putContributed(app, transaction, { mod: before, levels, sent: { tags, metadata_kvp, offer } });
    }
    await applyModChanges(app, transaction, before, { ...changes, ...waiting }, caller.userId, written);
    if (before.logo && picture.logo && before.logo !== picture.logo) await reviewPicture(app, transaction, before.logo);
    await auditByGame(app, transaction, caller, before, {
      action: 'mods.edit',
      needs: MANAGER,
      data: auditedChanges(before, fields),
    });
    if (changes.status !== undefined && changes.status !== before.status)
      await notifySubmitter(app, transaction, caller, before, changes.status === MOD_ACCEPTED ? 'accepted' : 'denied');
    return (await documentStore.documentOf(transaction, id, answered))!;
  });
}

/** Metadata and tags sent with the mod belong to other resources, which store them through `ModExtension`. */
async function putContributed(app: App, transaction: Transaction, edit: ModEdit): Promise<void> {
  for (const { onEdit } of app.extensions.of(modExtensions)) await onEdit?.(app, transaction, edit);
}

/** Administrators of the mod and moderators of its game may delete it. */
export async function deleteMod(app: App, caller: UserCaller, gameId: number, id: number): Promise<void> {
  await app.db.write(async (transaction) => {
    const mod = await requireModForChange(transaction, caller, gameId, id);
    const levels = await levelsOf(transaction, caller, mod);
    if (levels.mod < ADMINISTRATOR && !mayModerate(levels)) throw new ApiError('MOD_NO_DELETE_PERMISSION');
    await removeMod(app, transaction, mod, caller.userId);
    await auditByGame(app, transaction, caller, mod, { action: 'mods.delete', needs: ADMINISTRATOR });
    if (levels.mod < ADMINISTRATOR) await notifySubmitter(app, transaction, caller, mod, 'taken_down');
  });
}

const notifySubmitter = (
  app: App,
  transaction: Transaction,
  caller: UserCaller,
  { id, game_id, submitted_by }: store.ModRow,
  kind: 'accepted' | 'denied' | 'taken_down',
) =>
  notifyDecision(
    app,
    transaction,
    kind,
    { resource: 'mods', id, gameId: game_id },
    { userId: submitted_by, by: caller.userId },
  );

/** Only administrators of the mod and of its game: this cannot be undone, unlike a moderator's decision. */
export async function deleteModForEver(app: App, caller: UserCaller, gameId: number, id: number): Promise<void> {
  await app.db.write(async (transaction) => {
    const mod = await requireModInAnyState(transaction, caller, gameId, id);
    const levels = await levelsOf(transaction, caller, mod);
    if (levels.mod < ADMINISTRATOR && levels.game < ADMINISTRATOR) throw new ApiError('MOD_NO_DELETE_PERMISSION');
    await removeModForEver(app, transaction, mod);
    if (levels.mod < ADMINISTRATOR)
      await audit(app, transaction, { ...auditedMod(caller, mod), action: 'mods.delete-for-ever' });
  });
}

const auditedMod = (caller: UserCaller, { id, game_id }: store.ModRow) => ({
  actor: caller.userId,
  subject: { resource: 'mods', id, gameId: game_id },
});

/** The audited data: names of the changed fields, and both values of the status. */
function auditedChanges(before: store.ModRow, changes: ModChanges): Record<string, unknown> {
  const isChanged = ([field, value]: [string, unknown]) =>
    value !== undefined && value !== before[field as keyof store.ModRow];
  const entries = Object.entries(changes).filter(isChanged);
  return Object.fromEntries(
    entries.map(([field, value]) => [field, field === 'status' ? [before.status, value] : true]),
  );
}

/** A deleted mod can only be edited by restoring it, which only administrators of its game may do. */
async function modToEdit(
  transaction: Transaction,
  caller: Caller,
  gameId: number,
  id: number,
  { status = MOD_DELETED }: ModChanges,
): Promise<store.ModRow> {
  const mod = await requireModInAnyState(transaction, caller, gameId, id);
  if (mod.status !== MOD_DELETED) return mod;
  if (status === MOD_DELETED) throw new ApiError('MOD_DELETED');
  const { game } = await levelsOf(transaction, caller, mod);
  if (game < ADMINISTRATOR) throw new ApiError('MOD_ADMIN_STATUS_UPDATE_USER_NOT_ADMIN');
  return mod;
}

/** The resource of offers decides whether the mod is sold, and for what. */
function offerOf({
  price,
  monetization_options,
  tokenpack_id,
  stock,
  credit_options,
}: SentFields): SentOffer | undefined {
  const offer = { price, monetization_options, tokenpack_id, stock, credit_options };
  return Object.values(offer).some((value) => value !== undefined) ? offer : undefined;
}

const withoutOffer = <F extends SentFields>({ price: _, monetization_options: __, tokenpack_id: ___, ...fields }: F) =>
  fields;

/** A public mod needs no preview. */
function requirePreviewable(before: store.ModRow, { status, visible, community_options }: ModChanges): void {
  const after = { status: status ?? before.status, visible: visible ?? before.visible };
  if (enablesPreviews(before.community_options, community_options) && isPublic(after))
    throw new ApiError('PREVIEW_CANNOT_ENABLE_RESOURCE_IS_PUBLIC');
}

async function requireEditor(app: App, caller: Caller, gameId: number, id: number): Promise<void> {
  const mod = await requireMod(app.db, caller, gameId, id);
  if (!mayEdit(await levelsOf(app.db, caller, mod))) throw new ApiError('MOD_NO_UPDATE_PERMISSION');
}

/** Moderators of the game set status and maturity only; the mod's own team sets everything but the status. */
async function requireMayChange(
  transaction: Transaction,
  caller: Caller,
  before: store.ModRow,
  changes: ModChanges,
): Promise<void> {
  const { status, maturity_option, ...others } = changes;
  const levels = await levelsOf(transaction, caller, before);
  const isEditing = Object.values(others).some((value) => value !== undefined);
  const isModerating = status !== undefined || maturity_option !== undefined;
  if ((isEditing || !isModerating) && !mayEdit(levels)) throw new ApiError('MOD_NO_UPDATE_PERMISSION');
  if (maturity_option !== undefined && maturity_option !== before.maturity_option) {
    if (!mayEdit(levels) && !mayModerate(levels)) throw new ApiError('MOD_NO_MATURITY_EDIT_PERMISSION');
    requireAllowedMaturity(await requireGame(transaction, caller, before.game_id), changes);
  }
  if (status !== undefined) await requireStatusChange(transaction, levels, before, status);
}

async function requireStatusChange(
  transaction: Transaction,
  levels: Levels,
  before: store.ModRow,
  status: number,
): Promise<void> {
  // Clients send the whole mod back, so an unchanged status is no attempt to change it.
  if (status === before.status && mayEdit(levels)) return;
  if (!mayModerate(levels)) throw new ApiError('MOD_NO_MODERATION_PERMISSION');
  if (status === MOD_ACCEPTED && status !== before.status && !(await store.hasLiveFile(transaction, before.id)))
    throw new ApiError('MOD_CANNOT_BE_ACCEPTED_WITHOUT_MODFILE');
}

function requireAllowedMaturity(game: { maturity_options: number }, { maturity_option = 0 }: ModChanges): void {
  if (maturity_option !== 0 && game.maturity_options === 0) throw new ApiError('MOD_NO_MATURITY_ALLOWED_BY_GAME');
}

const ATTEMPTS_MAX = 5;

/**
 * Renders a sent picture, then runs the work in a transaction that claims its folder. The folder is removed later if no
 * row names it.
 */
export async function withPicture<T>(
  app: App,
  logo: UploadedPicture | undefined,
  work: (transaction: Transaction, picture: { logo?: string }) => Promise<T>,
): Promise<T> {
  const pictures = pictureOf('logo', MOD_LOGO, logo);
  await preparePictures(app, pictures);
  const done = await attempt(app, pictures, work, ATTEMPTS_MAX);
  await completePictures(app, pictures);
  return done;
}

/**
 * When two requests take the same `name_id` at once, the second violates the unique index and derives another in its
 * next attempt.
 */
async function attempt<T>(
  app: App,
  pictures: readonly Picture[],
  work: (transaction: Transaction, picture: { logo?: string }) => Promise<T>,
  attempts: number,
): Promise<T> {
  try {
    return await writeAfterRemoval(app, async (transaction) => {
      await claimPictures(app, transaction, pictures);
      return work(transaction, pictures[0] ? { logo: pictures[0].folder } : {});
    });
  } catch (error) {
    if (attempts <= 1 || !isDuplicate(error)) throw error;
    return attempt(app, pictures, work, attempts - 1);
  }
}
