import { requireGame, requireGameForChange } from '../../catalogue/games/games.ts';
import { CURATION } from '../../catalogue/games/settings.ts';
import { withPicture } from '../../catalogue/mods/editing.ts';
import { isRestrictedFromGuides } from '../../catalogue/restrictions/restrictions.ts';
import { checkRules, recordOutcome } from '../../catalogue/rules/evaluation.ts';
import { MANAGER, MODERATOR, teamLevel } from '../../catalogue/teams/teams.ts';
import { notifyDecision } from '../../people/notifications/notifications.ts';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import { fold } from '../../platform/database/listing.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import { reviewPicture, type UploadedPicture } from '../../platform/images/pictures.ts';
import { audit } from '../../records/audit/audit.ts';
import {
  addGuide,
  applyGuideChanges,
  GUIDE_ACCEPTED,
  GUIDE_DELETED,
  GUIDE_NOT_ACCEPTED,
  type GuideChanges,
  guideIn,
  hasGuides,
  isAuthor,
  type NewGuide,
  removeGuide,
  requireGuide,
  requireGuideForChange,
} from './guides.ts';
import * as store from './store.ts';

const isCurated = async (transaction: Transaction, gameId: number): Promise<boolean> =>
  (await store.curationOf(transaction, gameId)) === CURATION.everything;

type Reader = Pick<Database, 'first'>;
type Sent = Omit<NewGuide, 'gameId' | 'ownerId' | 'withheld' | 'logo'>;

/** Adds a guide; with status 0 as a draft. If the game curates its content, the guide waits for the game’s team. */
export async function submitGuide(
  app: App,
  caller: UserCaller,
  gameId: number,
  sent: Sent,
  logo: UploadedPicture | undefined,
): Promise<store.StoredGuide> {
  await requireMayAdd(app.db, caller, gameId);
  return withPicture(app, logo, async (transaction, picture) => {
    // The lock prevents that the game is deleted meanwhile.
    await requireGameForChange(transaction, caller, gameId);
    await requireMayAdd(transaction, caller, gameId);
    const level = await teamLevel(transaction, caller, 'games', gameId);
    await requireNoReservedTags(transaction, level, gameId, sent.tags);
    const verdict = await checkRules(app, transaction, caller, gameId);
    const { held } = verdict;
    const waits = held !== undefined || (level < MODERATOR && (await isCurated(transaction, gameId)));
    const status = sent.status === GUIDE_NOT_ACCEPTED || waits ? GUIDE_NOT_ACCEPTED : GUIDE_ACCEPTED;
    const ownerId = caller.userId;
    const guide = await addGuide(app, transaction, {
      ...sent,
      ...picture,
      status,
      gameId,
      ownerId,
      withheld: Number(held !== undefined),
    });
    transaction.made?.(guide.id);
    await recordOutcome(app, transaction, verdict, { resource: 'guides', id: guide.id, gameId, authorId: ownerId });
    return guideIn(app, transaction, gameId, guide.id);
  });
}

async function requireMayAdd(reader: Reader, caller: UserCaller, gameId: number): Promise<void> {
  const game = await requireGame(reader, caller, gameId);
  if (!hasGuides(game) || (await isRestrictedFromGuides(reader, caller, gameId)))
    throw new ApiError('GUIDE_NO_ADD_PERMISSION');
}

/** Only the game’s team uses tags of locked or hidden groups. */
async function requireNoReservedTags(
  { query }: Transaction,
  level: number,
  gameId: number,
  tags: readonly string[] | undefined,
): Promise<void> {
  if (!tags || tags.length === 0 || level >= MODERATOR) return;
  const reserved = new Set((await store.reservedTags(query, gameId)).map(fold));
  if (tags.some((tag) => reserved.has(fold(tag)))) throw new ApiError('GUIDE_CONTAINS_RESERVED_TAGS');
}

export async function editGuide(
  app: App,
  caller: UserCaller,
  gameId: number,
  id: number,
  sent: GuideChanges,
  logo: UploadedPicture | undefined,
): Promise<store.StoredGuide> {
  // Checked before pictures are rendered.
  if (logo) await requireEditor(app.db, caller, await requireGuide(app, app.db, caller, gameId, id));
  return withPicture(app, logo, async (transaction, picture) => {
    const before = await requireGuideForChange(app, transaction, caller, gameId, id);
    const changes = { ...sent, ...picture };
    const isDeletion = changes.status === GUIDE_DELETED;
    if (isDeletion) await requireMayDelete(transaction, caller, before, 'GUIDE_NO_DELETE_PERMISSION_DMCA');
    else await requireMayChange(transaction, caller, before, changes);
    const verdict = await checkRules(app, transaction, caller, gameId);
    await recordOutcome(app, transaction, verdict, { resource: 'guides', id, gameId, authorId: before.submitted_by });
    const { held } = verdict;
    const waiting = held ? { status: GUIDE_NOT_ACCEPTED } : {};
    const withheld = held ? 1 : await withholds(transaction, caller, before, changes);
    await applyGuideChanges(
      app,
      transaction,
      before,
      isDeletion ? { status: GUIDE_DELETED } : { ...changes, ...waiting, withheld },
    );
    if (changes.status !== undefined && changes.status !== before.status)
      await notifyAuthor(app, transaction, caller, before, changes.status);
    if (before.logo && picture.logo && before.logo !== picture.logo) await reviewPicture(app, transaction, before.logo);
    await auditByTeam(app, transaction, caller, before, isDeletion ? 'delete' : 'edit', sent);
    return guideIn(app, transaction, gameId, id);
  });
}

/** Allowed for the author and managers of the game. Moderators change only the status. */
async function requireMayChange(
  transaction: Transaction,
  caller: Caller,
  before: store.GuideRow,
  changes: GuideChanges,
): Promise<void> {
  const { status, ...others } = changes;
  const level = await teamLevel(transaction, caller, 'games', before.game_id);
  const isEditing = status === undefined || Object.values(others).some((value) => value !== undefined);
  if (isEditing || level < MODERATOR) await requireEditor(transaction, caller, before);
  await requireNoReservedTags(transaction, level, before.game_id, await newTags(transaction, before, changes));
  if (status === GUIDE_ACCEPTED && before.status !== GUIDE_ACCEPTED && level < MODERATOR)
    await requireMayPublish(transaction, before);
}

async function requireEditor(reader: Reader, caller: Caller, guide: store.GuideRow): Promise<void> {
  if ((await teamLevel(reader, caller, 'games', guide.game_id)) >= MANAGER) return;
  if (!isAuthor(caller, guide)) throw new ApiError('GUIDE_NO_UPDATE_PERMISSION');
  if (guide.dmca === 1) throw new ApiError('GUIDE_NO_UPDATE_PERMISSION_DMCA');
}

/** The author cannot publish a guide that the game’s team has rejected or has yet to accept. */
async function requireMayPublish(transaction: Transaction, guide: store.GuideRow): Promise<void> {
  if (guide.withheld === 1 || (await isCurated(transaction, guide.game_id)))
    throw new ApiError('GUIDE_NO_UPDATE_PERMISSION');
}

/** Tags from the game’s team stay when the author sends them back. */
async function newTags({ query }: Transaction, guide: store.GuideRow, { tags }: GuideChanges) {
  if (!tags) return undefined;
  const present = new Set(await store.tagNames(query, guide.id));
  return tags.filter((tag) => !present.has(fold(tag)));
}

/** Undefined if it does not change. */
async function withholds(
  transaction: Transaction,
  caller: Caller,
  before: store.GuideRow,
  { status }: GuideChanges,
): Promise<number | undefined> {
  if (status === undefined || isAuthor(caller, before)) return undefined;
  const level = await teamLevel(transaction, caller, 'games', before.game_id);
  return level >= MODERATOR ? Number(status === GUIDE_NOT_ACCEPTED) : undefined;
}

/** Allowed for the team of the game, and for the author unless a copyright complaint is open. */
async function requireMayDelete(
  transaction: Transaction,
  caller: UserCaller,
  guide: store.GuideRow,
  whileComplaint: ErrorName,
): Promise<void> {
  if ((await teamLevel(transaction, caller, 'games', guide.game_id)) >= MODERATOR) return;
  if (!isAuthor(caller, guide)) throw new ApiError('GUIDE_NO_DELETE_PERMISSION');
  if (guide.dmca === 1) throw new ApiError(whileComplaint);
}

export async function deleteGuide(app: App, caller: UserCaller, gameId: number, id: number): Promise<void> {
  await app.db.write(async (transaction) => {
    const guide = await requireGuideForChange(app, transaction, caller, gameId, id);
    await requireMayDelete(transaction, caller, guide, 'GUIDE_NO_UPDATE_PERMISSION_DMCA');
    await removeGuide(app, transaction, guide);
    await notifyAuthor(app, transaction, caller, guide, GUIDE_DELETED);
    await auditByTeam(app, transaction, caller, guide, 'delete');
  });
}

/** Changes by the author are not audited. */
async function auditByTeam(
  app: App,
  transaction: Transaction,
  caller: UserCaller,
  guide: store.GuideRow,
  done: 'edit' | 'delete',
  { status, ...others }: GuideChanges = {},
): Promise<void> {
  if (isAuthor(caller, guide)) return;
  const fields = Object.entries(others).filter(([, value]) => value !== undefined);
  await audit(app, transaction, {
    actor: caller.userId,
    action: `guides.${done}`,
    subject: { resource: 'guides', id: guide.id, gameId: guide.game_id },
    data: {
      ...Object.fromEntries(fields.map(([field]) => [field, true])),
      ...(status !== undefined && { status: [guide.status, status] }),
    },
  });
}

const TOLD = {
  [GUIDE_ACCEPTED]: 'accepted',
  [GUIDE_NOT_ACCEPTED]: 'denied',
  [GUIDE_DELETED]: 'taken_down',
} as const;

/** Authors are not notified of their own changes. */
const notifyAuthor = (
  app: App,
  transaction: Transaction,
  caller: UserCaller,
  { id, game_id, submitted_by }: store.GuideRow,
  status: number,
) =>
  notifyDecision(
    app,
    transaction,
    TOLD[status as keyof typeof TOLD],
    { resource: 'guides', id, gameId: game_id },
    { userId: submitted_by, by: caller.userId },
  );
