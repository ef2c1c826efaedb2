import { withdrawDecision } from '../../people/notifications/notifications.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { audit } from '../../records/audit/audit.ts';
import { reopenAll } from '../reports/resolving.ts';
import { lockContent, type Moderated } from './content.ts';
import { NOTIFICATION, UNDO_SECONDS, type Verdict } from './decisions.ts';
import { requireModerator } from './moderators.ts';
import * as store from './store.ts';

/**
 * Undoes the caller's own decision within a minute, if nothing has happened since. Mails about a decision wait that long;
 * subscriptions that a deletion ended stay ended.
 */
export const undoDecision = (
  app: App,
  caller: UserCaller,
  gameId: number,
  { resource, id }: { readonly resource: Moderated; readonly id: number },
): Promise<void> =>
  app.db.write(async (transaction) => {
    await requireModerator(transaction, caller, gameId);
    const content = await lockContent(app, transaction, caller, { resource, gameId, id });
    const last = await store.lastDecision(transaction, resource, id);
    if (last?.user_id !== caller.userId || last.status_before < 0) throw new ApiError('MODERATION_NOT_FOUND');
    const isLate = app.clock.now() - last.date_added >= UNDO_SECONDS;
    if (isLate || last.date_appealed > 0 || content.status !== last.status_after)
      throw new ApiError('MODERATION_ALREADY_ACTIONED');
    if (last.status_before !== content.status)
      await content.set(last.status_before, { by: caller.userId, reason: last.reason });
    const decided = { by: caller.userId, at: last.date_added };
    await reopenAll(transaction, content, decided);
    await withdrawDecision(transaction, NOTIFICATION[last.action as Verdict], content, content.authorId);
    await store.removeDecision(transaction, last);
    const subject = { resource, id, gameId };
    const data = { decision: last.action };
    await audit(app, transaction, { actor: caller.userId, action: `${resource}.undo`, subject, data });
  });
