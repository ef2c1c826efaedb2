import { hasLiveFile } from '../../catalogue/mods/mods.ts';
import { ADMINISTRATOR } from '../../catalogue/teams/teams.ts';
import { notifyDecision } from '../../people/notifications/notifications.ts';
import { OPERATOR, type UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { audit } from '../../records/audit/audit.ts';
import { requireAnyOpen, resolveAll } from '../reports/resolving.ts';
import { endClaim } from './claims.ts';
import {
  ACCEPTED,
  type Content,
  DELETED,
  type Deciding,
  lockContent,
  MODERATED,
  type Moderated,
  NOT_ACCEPTED,
} from './content.ts';
import { requireModerator } from './moderators.ts';
import { addSnapshot } from './snapshot-store.ts';
import * as store from './store.ts';

export const ACTIONS = ['approve', 'deny', 'delete', 'restore', 'resolve', 'open-dmca', 'close-dmca'] as const;
type Action = (typeof ACTIONS)[number];

/** For so long a moderator can undo a decision, and its author gets no mail about it. */
export const UNDO_SECONDS = 60;

export interface Decision {
  readonly resource: Moderated;
  readonly id: number;
  readonly action: Action;
  readonly reason: string;
}

/** Allowed for the game’s team. A decision on the content also resolves its open reports. */
export async function decide(app: App, caller: UserCaller, gameId: number, decision: Decision): Promise<void> {
  const { resource, id, action, reason } = decision;
  await app.db.write(async (transaction) => {
    const level = await requireModerator(transaction, caller, gameId);
    const content = await lockContent(app, transaction, caller, { resource, gameId, id });
    await endClaim(app, transaction, caller, content);
    const done = { by: caller.userId, reason };
    if (action === 'resolve') await requireAnyOpen(transaction, content);
    else if (action === 'open-dmca' || action === 'close-dmca') await putDmca(content, action === 'open-dmca');
    else await putStatus(app, transaction, content, action, level, done);
    if (!action.endsWith('dmca'))
      await resolveAll(app, transaction, content, {
        by: caller.userId,
        resolution: reason,
        mailDelaySeconds: UNDO_SECONDS,
      });
    const subject = { resource, id, gameId };
    await audit(app, transaction, { actor: caller.userId, action: `${resource}.${action}`, subject, reason });
  });
}

async function putDmca(content: Content, isOpen: boolean): Promise<void> {
  if (!content.setDmca) throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'decision', rule: 'invalid' }] });
  if (content.isDmca === isOpen) throw new ApiError('MODERATION_ALREADY_ACTIONED');
  await content.setDmca(isOpen);
}

export type Verdict = 'approve' | 'deny' | 'delete' | 'restore' | 'takedown';

async function putStatus(
  app: App,
  transaction: Transaction,
  content: Content,
  action: Verdict,
  level: number,
  done: Deciding,
): Promise<void> {
  await requireUndecided(transaction, content, action);
  if (action === 'restore' && level < ADMINISTRATOR) throw new ApiError('MOD_ADMIN_STATUS_UPDATE_USER_NOT_ADMIN');
  const status = await statusAfter(transaction, content, action);
  if (status !== content.status) await content.set(status, done);
  await record(app, transaction, content, action, { ...done, statusAfter: status });
}

/** The notification of the author, per decision. */
export const NOTIFICATION = {
  approve: 'accepted',
  restore: 'accepted',
  deny: 'denied',
  delete: 'taken_down',
  takedown: 'taken_down',
} as const satisfies Record<Verdict, string>;

async function record(
  app: App,
  transaction: Transaction,
  content: Content,
  action: Verdict,
  done: Deciding & { readonly statusAfter: number },
): Promise<void> {
  const { resource, id, gameId, authorId, status } = content;
  const recipient = { userId: authorId, by: done.by, mailDelaySeconds: UNDO_SECONDS };
  await notifyDecision(app, transaction, NOTIFICATION[action], content, recipient);
  const now = app.clock.now();
  const before = await store.lastDecision(transaction, resource, id);
  const since = Math.max(content.dateAdded, before?.date_added ?? 0, before?.date_appealed ?? 0);
  const decisionId = await store.add(transaction, {
    game_id: gameId,
    resource,
    resource_id: id,
    action,
    reason: done.reason,
    user_id: done.by,
    date_added: now,
    appeal: '',
    date_appealed: 0,
    status_before: status,
    status_after: done.statusAfter,
    waited: status === NOT_ACCEPTED ? now - since : -1,
  });
  await addSnapshot(transaction, decisionId, content);
}

/** When two moderators take the same decision, the second gets a conflict error. */
async function requireUndecided(transaction: Transaction, content: Content, action: Verdict): Promise<void> {
  const { status, resource, id } = content;
  const isDone =
    action === 'restore'
      ? status !== DELETED
      : status === DELETED ||
        (action === 'approve' && status === ACCEPTED) ||
        (await isDenied(transaction, content, action));
  if (isDone) throw new ApiError('MODERATION_ALREADY_ACTIONED');
  if (action === 'approve' && resource === 'mods' && !(await hasLiveFile(transaction, id)))
    throw new ApiError('MOD_CANNOT_BE_ACCEPTED_WITHOUT_MODFILE');
}

async function isDenied(transaction: Transaction, { resource, id, status }: Content, action: Verdict) {
  if (action !== 'deny' || status === ACCEPTED) return false;
  const last = await store.lastDecision(transaction, resource, id);
  return last?.action === 'deny' && last.date_appealed === 0;
}

/** Restored content is public again if possible. */
async function statusAfter(transaction: Transaction, { resource, id }: Content, action: Verdict): Promise<number> {
  if (action === 'delete') return DELETED;
  if (action === 'approve') return ACCEPTED;
  const returns = action === 'restore' && (resource !== 'mods' || (await hasLiveFile(transaction, id)));
  return returns ? ACCEPTED : NOT_ACCEPTED;
}

const isModerated = (resource: string): resource is Moderated => MODERATED.some((each) => each === resource);

/**
 * Hides content once as many users as the game has set have open reports about it, until the game’s team has decided.
 */
export async function takeDownIfReported(
  app: App,
  transaction: Transaction,
  { resource, id, gameId }: { resource: string; id: number; gameId: number },
): Promise<void> {
  if (!isModerated(resource)) return;
  const threshold = await store.takedownReports(transaction, gameId);
  if (threshold === 0) return;
  // Locked before counting, so that of concurrent reports the last one sees all.
  const content = await lockContent(app, transaction, OPERATOR, { resource, gameId, id });
  const reporters = await store.reportersOf(transaction, resource, id);
  if (content.status !== ACCEPTED || reporters < threshold) return;
  const reason = '';
  await content.set(NOT_ACCEPTED, { by: content.authorId, reason });
  await record(app, transaction, content, 'takedown', { by: 0, reason, statusAfter: NOT_ACCEPTED });
  const subject = { resource, id, gameId };
  await audit(app, transaction, { actor: 0, action: `${resource}.takedown`, subject, data: { reporters } });
}
