import { updateLastVisit } from '../../people/users/users.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import { STAFF_LEVELS } from '../../platform/access/staff.ts';
import { standingOf } from '../../platform/access/validity.ts';
import type { App } from '../../platform/app.ts';
import { findSession } from './sessions.ts';

/** A visit is stored again after this time. */
const SEEN_SECONDS = 600;

/** The user behind a session cookie, as the caller of what the site's pages request inside the process. */
export async function findVisitor(app: App, secret: string | undefined): Promise<UserCaller | undefined> {
  const session = await findSession(app, secret);
  const standing = session && (await standingOf(app.db, session.user_id));
  if (!standing) return undefined;
  if (standing.date_online <= app.clock.now() - SEEN_SECONDS) updateLastVisit(app, session.user_id);
  const staff = standing.staff ?? 0;
  return {
    kind: 'user',
    userId: session.user_id,
    // A session is no token, and none can be revoked or exchanged through it.
    tokenId: 0,
    scopes: ['read', 'write'],
    gameId: undefined,
    admin: staff >= STAFF_LEVELS.administrator,
    staff,
    language: session.language,
    dateExpires: session.date_expires,
    inTeams: standing.teams > 0,
    mutes: standing.mutes === 1,
    epoch: session.epoch,
  };
}
