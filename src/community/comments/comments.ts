import { type CommentKeeper, commentRestriction } from '../../catalogue/restrictions/restrictions.ts';
import { checkRules, recordOutcome } from '../../catalogue/rules/evaluation.ts';
import { MODERATOR, teamLevel } from '../../catalogue/teams/teams.ts';
import { requireNotBlocked } from '../../people/blocks/blocks.ts';
import { type NotificationKind, notify } from '../../people/notifications/notifications.ts';
import { type Caller, muterOf, type UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { fold, type Listing, type ListRequest } from '../../platform/database/listing.ts';
import { answersTo } from '../../platform/database/pipelining.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { plainText, sanitised } from '../../platform/text/markup.ts';
import { audit } from '../../records/audit/audit.ts';
import { type Commented, commentableOf } from './extensions.ts';
import type { CommentedKind } from './kinds.ts';
import { mentionedIn, namesIn } from './mentions.ts';
import { recentOf, requireFewLinks, requireNoFlood } from './spam.ts';
import * as store from './store.ts';

export { mentionedIn } from './mentions.ts';

/** Bits of `options`. */
export const PINNED = 1;
export const LOCKED = 2;

const LEVELS_MAX = 3;
/** The bit of a game’s `community_options` that allows negative votes. */
const NEGATIVE_VOTES = 256;

/** Identifies a comment, or the content to add one to. */
export interface Place {
  readonly gameId: number;
  readonly id: number;
}
export interface CommentPlace extends Place {
  readonly commentId: number;
}

/** A comment and its content. */
export interface ShownComment {
  readonly thing: Commented;
  readonly comment: store.StoredComment;
}

const subjectOf = ({ resource }: CommentedKind, { id }: Place): store.Subject => ({ resource, id });

/** The scope of cached responses with comments on the content. */
export const commentsScope = ({ resource, id }: store.Subject) => `${resource}/${id}/comments`;

const PINNED_FIRST = { sql: '(c.options & 1)', descending: true };

export async function listComments(
  app: App,
  caller: Caller,
  on: CommentedKind,
  place: Place,
  listing: Listing,
  request: ListRequest,
) {
  const thing = await commentableOf(app, on).find(app, app.db, caller, place.gameId, place.id);
  const ordered = { ...request, sort: request.sort ?? PINNED_FIRST };
  return { thing, ...(await store.list(app.db.query, subjectOf(on, place), muterOf(caller), listing, ordered)) };
}

export async function showComment(
  app: App,
  caller: Caller,
  on: CommentedKind,
  place: CommentPlace,
): Promise<ShownComment> {
  const thing = await commentableOf(app, on).find(app, app.db, caller, place.gameId, place.id);
  return tell(app.db, on, place, thing);
}

async function tell(
  reader: Pick<Transaction, 'first'>,
  on: CommentedKind,
  place: CommentPlace,
  thing: Commented,
): Promise<ShownComment> {
  const comment = await store.find(reader, subjectOf(on, place), place.commentId);
  if (!comment) throw new ApiError('COMMENT_NOT_FOUND');
  return { thing, comment };
}

interface NewComment {
  readonly content: string;
  /** The parent comment; 0 for none. */
  readonly replyId: number;
}

/** A new comment and whom it may concern besides the owner of the content. */
interface Concerned {
  readonly commentId: number;
  readonly userId: number;
  readonly repliedTo: number | undefined;
  readonly mentions: boolean;
}

export async function addComment(
  app: App,
  caller: UserCaller,
  on: CommentedKind,
  place: Place,
  { content, replyId }: NewComment,
): Promise<ShownComment> {
  return app.db.write(async (transaction) => {
    const { thing, above, number, text } = await admitted(app, transaction, caller, on, place, { content, replyId });
    const verdict = await checkRules(app, transaction, caller, thing.gameId);
    const commentId = await store.add(transaction, {
      ...text,
      resource: on.resource,
      resource_id: thing.id,
      game_id: thing.gameId,
      submitted_by: caller.userId,
      date_added: app.clock.now(),
      date_deleted: 0,
      deleted_by: 0,
      reply_id: replyId,
      karma: 0,
      options: 0,
      thread_position: below(above?.thread_position, String(number).padStart(2, '0')),
      thread_order: below(above?.thread_order, String(number).padStart(8, '0')),
    });
    transaction.made?.(commentId);
    const names = namesIn(text.markup);
    await store.addMentions(transaction.query, commentId, names, caller.userId);
    const handedIn = { resource: 'comments', id: commentId, gameId: thing.gameId, authorId: caller.userId } as const;
    await recordOutcome(app, transaction, verdict, handedIn);
    transaction.changed(commentsScope(subjectOf(on, place)));
    const { userId, address, platform } = caller;
    const concerned: Concerned = { commentId, userId, repliedTo: above?.submitted_by, mentions: names.length > 0 };
    const [told] = await answersTo([
      tell(transaction, on, { ...place, commentId }, thing),
      notifyUsers(app, transaction, on, thing, concerned),
    ]);
    await commentableOf(app, on).onChange(app, transaction, thing, {
      type: 'added',
      userId,
      address,
      platform,
      difference: 1,
    });
    return told;
  });
}

/** Locks the content of a new comment, and refuses whoever may not comment on it, or not with this text. */
async function admitted(
  app: App,
  transaction: Transaction,
  caller: UserCaller,
  on: CommentedKind,
  place: Place,
  { content, replyId }: NewComment,
) {
  const subject = subjectOf(on, place);
  const [, thing, keeper, recent] = await answersTo([
    store.takeTurn(transaction, caller.userId),
    commentableOf(app, on).lock(app, transaction, caller, place.gameId, place.id),
    commentRestriction(transaction, caller, place.gameId),
    recentOf(app, transaction, caller.userId),
  ]);
  requireMayAdd(on, thing, keeper);
  const above = replyId === 0 ? undefined : await requireAbove(transaction, on, thing, replyId);
  const [, last] = await answersTo([
    requireHeard(transaction, caller, thing, above),
    store.lastPosition(transaction, subject, replyId),
  ]);
  const text = textOf(content);
  if (!thing.isTeam) {
    requireFewLinks(content);
    requireNoFlood(app, recent, subject, content);
  }
  return { thing, above, number: last + 1, text };
}

/** Notifies each user once: mentioned users, the author of the parent comment, and the owner of the content. */
async function notifyUsers(
  app: App,
  transaction: Transaction,
  on: CommentedKind,
  thing: Commented,
  { commentId, userId, repliedTo, mentions }: Concerned,
): Promise<void> {
  const told = new Map<number, NotificationKind>([[thing.ownerId, 'comment']]);
  if (repliedTo !== undefined) told.set(repliedTo, 'reply');
  for (const id of mentions ? await mentionedIn(transaction, commentId) : []) told.set(id, 'mention');
  const about = { resource: on.resource, resourceId: thing.id, gameId: thing.gameId, commentId } as const;
  for (const [id, kind] of told) await notify(app, transaction, { ...about, userId: id, kind, actorId: userId });
}

const below = (above: string | undefined, number: string) => (above === undefined ? number : `${above}.${number}`);

/** The text as written and as shown. A text that shows nothing is refused. */
function textOf(content: string): Pick<store.CommentRow, 'content' | 'markup' | 'markup_folded'> {
  const markup = sanitised(content);
  if (plainText(markup) === '' && !markup.includes('<img '))
    throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'content', rule: 'required' }] });
  return { content, markup, markup_folded: fold(markup) };
}

function requireMayAdd(on: CommentedKind, thing: Commented, keeper: CommentKeeper | undefined): void {
  if (!thing.allowsComments) throw new ApiError('COMMENTS_DISABLED_CAN_NOT_ADD');
  if (keeper === 'operator') throw new ApiError('USER_COMMENTS_RESTRICTED');
  if (keeper === 'team') throw new ApiError(on.errors.keptByTeam);
}

/**
 * Users cannot reply to a user whom they have blocked, or who has blocked them. The team of the content stays
 * reachable.
 */
async function requireHeard(
  transaction: Transaction,
  { userId }: UserCaller,
  thing: Commented,
  above: store.CommentRow | undefined,
): Promise<void> {
  const others = new Set([...(thing.isTeam ? [] : [thing.ownerId]), ...(above ? [above.submitted_by] : [])]);
  others.delete(userId);
  // Sorted, so that concurrent writers lock in the same order.
  for (const other of [...others].sort((one, two) => one - two)) await requireNotBlocked(transaction, userId, other);
}

const isShown = ({ date_deleted, withheld }: store.CommentRow) => date_deleted === 0 && withheld === 0;

/** The parent comment. Only the team can reply to a locked one. */
async function requireAbove(
  transaction: Transaction,
  on: CommentedKind,
  thing: Commented,
  id: number,
): Promise<store.CommentRow> {
  const above = await store.byId(transaction, id);
  const isHere = above?.resource === on.resource && above.resource_id === thing.id && isShown(above);
  if (!isHere) throw new ApiError('COMMENT_NOT_FOUND');
  if (above.thread_position.split('.').length >= LEVELS_MAX) throw new ApiError(on.errors.tooDeep);
  if (!thing.isTeam && (await isLocked(transaction, above))) throw new ApiError('COMMENTS_DISABLED_CAN_NOT_ADD');
  return above;
}

async function isLocked(transaction: Transaction, comment: store.CommentRow): Promise<boolean> {
  if ((comment.options & LOCKED) !== 0) return true;
  const above = comment.reply_id === 0 ? undefined : await store.byId(transaction, comment.reply_id);
  return above !== undefined && isLocked(transaction, above);
}

export interface CommentChanges {
  readonly content?: string | undefined;
  readonly options?: number | undefined;
  readonly karma?: number | undefined;
}

/** The author changes the text, the team pins and locks, and everyone else votes. */
export async function changeComment(
  app: App,
  caller: UserCaller,
  on: CommentedKind,
  place: CommentPlace,
  { content, options, karma }: CommentChanges,
): Promise<ShownComment> {
  return app.db.write(async (transaction) => {
    const thing = await commentableOf(app, on).find(app, transaction, caller, place.gameId, place.id);
    const comment = await store.rowForChange(transaction, subjectOf(on, place), place.commentId);
    if (comment === undefined || !isShown(comment)) throw new ApiError('COMMENT_NOT_FOUND');
    if (content !== undefined) await write(transaction, caller, thing, comment, content);
    if (options !== undefined) await pinOrLock(transaction, thing, comment, options);
    if (karma !== undefined) await vote(transaction, caller, on, thing, comment, karma);
    const verdict = await checkRules(app, transaction, caller, thing.gameId);
    const changed = { resource: 'comments', id: comment.id, gameId: thing.gameId } as const;
    await recordOutcome(app, transaction, verdict, { ...changed, authorId: comment.submitted_by });
    transaction.changed(commentsScope(subjectOf(on, place)));
    if (options !== undefined)
      await auditByTeam(app, transaction, caller, comment, 'pin-or-lock', { options: [comment.options, options] });
    return tell(transaction, on, place, thing);
  });
}

/** Decisions of a game’s team are audited; those of the content’s owners are not. */
async function auditByTeam(
  app: App,
  transaction: Transaction,
  caller: UserCaller,
  { id, game_id: gameId, submitted_by }: store.CommentRow,
  done: 'delete' | 'pin-or-lock',
  data: Record<string, unknown>,
): Promise<void> {
  const isOwn = submitted_by === caller.userId && done === 'delete';
  if (isOwn || (await teamLevel(transaction, caller, 'games', gameId)) < MODERATOR) return;
  const subject = { resource: 'comments', id, gameId };
  await audit(app, transaction, { actor: caller.userId, action: `comments.${done}`, subject, data });
}

async function write(
  transaction: Transaction,
  caller: UserCaller,
  thing: Commented,
  comment: store.CommentRow,
  content: string,
): Promise<void> {
  if (comment.submitted_by !== caller.userId) throw new ApiError('MOD_COMMENT_KARMA_NO_PERMISSION');
  if (await commentRestriction(transaction, caller, thing.gameId)) throw new ApiError('USER_COMMENTS_RESTRICTED');
  const above = comment.reply_id === 0 ? undefined : await store.byId(transaction, comment.reply_id);
  await requireHeard(transaction, caller, thing, above);
  if (!thing.isTeam) requireFewLinks(content);
  const text = textOf(content);
  await store.setContent(transaction, comment.id, text);
  await store.removeMentions(transaction, comment.id);
  await store.addMentions(transaction.query, comment.id, namesIn(text.markup), caller.userId);
}

async function pinOrLock(transaction: Transaction, thing: Commented, comment: store.CommentRow, options: number) {
  if (!thing.isTeam) throw new ApiError('RESOURCE_NO_MODERATE_PERMISSION');
  // Only top-level comments can be pinned.
  if (comment.reply_id !== 0 && (options & PINNED) !== 0)
    throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'options', rule: 'invalid' }] });
  await store.setOptions(transaction, comment.id, options);
}

/**
 * A repeated vote is refused, and the opposite one replaces it. Authors can vote too, because shipped clients do (41).
 */
async function vote(
  transaction: Transaction,
  caller: UserCaller,
  on: CommentedKind,
  thing: Commented,
  comment: store.CommentRow,
  karma: number,
): Promise<void> {
  if (karma < 0 && (thing.gameOptions & NEGATIVE_VOTES) === 0) throw new ApiError(on.errors.noNegativeKarma);
  const before = await store.voteOf(transaction, comment.id, caller.userId);
  if (before === karma) throw new ApiError('MOD_COMMENT_KARMA_REPEATED_TWICE');
  await store.putVote(transaction, comment.id, caller.userId, { karma, before });
}

export async function voteOnComment(
  app: App,
  caller: UserCaller,
  on: CommentedKind,
  place: CommentPlace,
  karma: number,
): Promise<ShownComment> {
  return app.db.write(async (transaction) => {
    const thing = await commentableOf(app, on).find(app, transaction, caller, place.gameId, place.id);
    const comment = await store.rowForChange(transaction, subjectOf(on, place), place.commentId);
    if (!comment || comment.withheld > 0) throw new ApiError('COMMENT_NOT_FOUND');
    if (comment.date_deleted > 0) throw new ApiError('COMMENT_DELETED');
    await vote(transaction, caller, on, thing, comment, karma);
    transaction.changed(commentsScope(subjectOf(on, place)));
    return tell(transaction, on, place, thing);
  });
}

/** Allowed for the author and the team. Replies are deleted too. */
export async function deleteComment(
  app: App,
  caller: UserCaller,
  on: CommentedKind,
  place: CommentPlace,
): Promise<void> {
  const { userId } = caller;
  await app.db.write(async (transaction) => {
    const thing = await commentableOf(app, on).lock(app, transaction, caller, place.gameId, place.id);
    const comment = await store.rowForChange(transaction, subjectOf(on, place), place.commentId);
    if (comment === undefined || comment.date_deleted > 0) throw new ApiError('COMMENT_NOT_FOUND');
    if (comment.submitted_by !== userId && !thing.isTeam) throw new ApiError(on.errors.noDelete);
    const shown = await store.countShown(transaction, comment);
    await store.remove(transaction, comment, { userId, now: app.clock.now() });
    transaction.changed(commentsScope(subjectOf(on, place)));
    if (shown > 0)
      await commentableOf(app, on).onChange(app, transaction, thing, { type: 'deleted', userId, difference: -shown });
    await auditByTeam(app, transaction, caller, comment, 'delete', { [on.resource]: thing.id });
  });
}

const REMOVED_AT_ONCE = 500;

/** Removes the comments of permanently deleted content. */
export async function removeCommentsOf(app: App, subject: store.Subject, heartbeat: () => Promise<void>) {
  const step = () => app.db.write((transaction) => store.removeSome(transaction, subject, REMOVED_AT_ONCE));
  while ((await step()) === REMOVED_AT_ONCE) await heartbeat();
}
