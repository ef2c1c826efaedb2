import { requireModForChange } from '../../catalogue/mods/mods.ts';
import { requireMayReport } from '../../catalogue/restrictions/restrictions.ts';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { lock } from '../../platform/database/locks.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { reportExtensions } from './extensions.ts';
import { platformsNamed } from './platforms.ts';
import * as store from './store.ts';
import { findSubject, gameOfMeeting, type Named, type Subject } from './subjects.ts';

/** Values of `type`. */
const TYPES_MAX = 7;
const NOT_WORKING = 2;
export const REASONS_MAX = 8;

/** Values of `status`. */
const REPORT_OPEN = 0;

export interface NewReport extends Named {
  readonly type: number;
  readonly reason: number;
  readonly platforms: string;
  readonly summary: string;
  readonly name: string;
  readonly contact: string;
}

/**
 * Adds a report and returns the URL of the reported content, because only moderators see reports. A second report about
 * a mod is refused while the first is open; about other content the newer text replaces the older one.
 */
export async function submitReport(app: App, caller: Caller, report: NewReport): Promise<string> {
  return app.db.write(async (transaction) => {
    const subject = await lockedSubject(app, transaction, caller, report);
    const isUser = subject.resource === 'users';
    const gameId = isUser ? await gameOfMeeting(transaction, caller, report.gameNameId) : subject.gameId;
    await requireMayReport(transaction, caller, gameId);
    const platforms = await platformsOf(app, transaction, caller, subject, report);
    await put(app, transaction, caller, { ...subject, gameId }, { ...report, platforms });
    const address = pageOf(app, subject);
    transaction.made?.(address);
    return address;
  });
}

/**
 * Locks the subject and its author, then reads it again: a merge or deletion that ran meanwhile would otherwise leave a
 * report about an account that no longer exists.
 */
async function lockedSubject(app: App, transaction: Transaction, caller: Caller, report: NewReport): Promise<Subject> {
  const { resource, id, authorId } = await findSubject(app, transaction, caller, report);
  await lock(transaction, [
    { kind: resource, id, mode: 'under' },
    { kind: 'users', id: authorId, mode: 'under' },
  ]);
  return findSubject(app, transaction, caller, report);
}

/** A comment has no page of its own, so the page of its game is used. */
const pageOf = ({ addresses }: App, { resource, id, gameId }: Subject): string =>
  `${addresses.site}/search/${resource === 'comments' ? `games/${gameId}` : `${resource}/${id}`}`;

async function put(app: App, transaction: Transaction, caller: Caller, subject: Subject, report: NewReport) {
  const { type, reason, platforms, summary, name, contact } = report;
  const user_id = caller.kind === 'user' ? caller.userId : 0;
  const telling = { user_id, resource: subject.resource, resource_id: subject.id, type };
  const said = { reason, platforms, summary, name, contact };
  const added = await store.add(transaction, {
    ...telling,
    ...said,
    game_id: subject.gameId,
    author_id: subject.authorId,
    status: REPORT_OPEN,
    date_added: app.clock.now(),
    date_resolved: 0,
    resolved_by: 0,
    resolution: '',
  });
  if (added) return announce(app, transaction, subject);
  if (subject.resource === 'mods') throw new ApiError('MOD_REPORT_EXISTING_UNRESOLVED');
  await store.replaceText(transaction, telling, said);
}

async function announce(app: App, transaction: Transaction, subject: Subject): Promise<void> {
  for (const { onReport } of app.extensions.of(reportExtensions)) await onReport(app, transaction, subject);
}

/** The platforms on which the mod does not work, as stored. Also validates the other fields of a report about a mod. */
async function platformsOf(
  app: App,
  transaction: Transaction,
  caller: Caller,
  { resource, id, gameId }: Subject,
  { type, reason, platforms: text }: NewReport,
): Promise<string> {
  const isMod = resource === 'mods';
  if (type > TYPES_MAX || (reason > 0 && type !== NOT_WORKING)) throw wrongType(isMod, type);
  const offered = isMod ? await store.platformsOfGame(transaction, gameId) : [];
  const platforms = platformsNamed(text, offered);
  if (!platforms) {
    if (isMod) throw new ApiError('MOD_REPORT_INVALID_PLATFORM');
    throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'platforms', rule: 'invalid' }] });
  }
  // Shipped clients send no reason. More fields are required only with one.
  if (!isMod || reason === 0) return platforms.join(',');
  if (offered.length > 0 && platforms.length === 0) throw new ApiError('MOD_REPORT_PLATFORM_REQUIRED');
  if (caller.kind === 'user') await requireTried(app, transaction, caller, gameId, id);
  return platforms.join(',');
}

function wrongType(isMod: boolean, type: number): ApiError {
  if (isMod) return new ApiError('MOD_REPORT_INVALID_TYPE');
  const field = type > TYPES_MAX ? 'type' : 'reason';
  return new ApiError('VALIDATION_GENERIC', { fields: [{ field, rule: 'invalid' }] });
}

/** A user who has had a mod for less time can hardly know why it does not work. */
const TRIED_SECONDS = 300;

async function requireTried(app: App, transaction: Transaction, caller: UserCaller, gameId: number, modId: number) {
  const since = await store.subscribedSince(transaction, caller.userId, modId);
  if (since !== undefined && app.clock.now() - since < TRIED_SECONDS) throw new ApiError('MOD_REPORT_TOO_EARLY');
  if (since === undefined && !(await isOwn(transaction, caller, gameId, modId)))
    throw new ApiError('MOD_NOT_SUBSCRIBED');
}

/** Authors have their mod without a subscription. */
async function isOwn(transaction: Transaction, caller: UserCaller, gameId: number, modId: number): Promise<boolean> {
  return (await requireModForChange(transaction, caller, gameId, modId)).submitted_by === caller.userId;
}
