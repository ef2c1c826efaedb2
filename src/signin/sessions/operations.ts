import { z } from 'zod';
import { user } from '../../platform/access/caller.ts';
import { Id, PathId, pageOf, pageOfAll, pagesOnly, Timestamp, UserPath } from '../../platform/http/objects.ts';
import { noContent, ok, operation } from '../../platform/http/operation.ts';
import { endSession, listSessionsOf, type SessionRow, sessionsOf, signOutEverywhere } from './sessions.ts';

const SessionObject = z
  .object({ id: Id, user_agent: z.string(), date_added: Timestamp, date_expires: Timestamp })
  .meta({ id: 'Session' });

const toSession = ({ id, user_agent, date_added, date_expires }: SessionRow): z.input<typeof SessionObject> => ({
  id,
  user_agent,
  date_added,
  date_expires,
});

export const getSessions = operation({
  id: 'get-sessions',
  tag: 'Me',
  method: 'GET',
  path: '/me/sessions',
  says: 'Lists the browsers in which the user is signed in.',
  access: user('read', 'account'),
  list: pagesOnly,
  returns: ok(pageOf(SessionObject)),
  errors: [],
  handle: async (app, { caller, list }) => pageOfAll((await sessionsOf(app, caller)).map(toSession), list),
});

export const deleteSession = operation({
  id: 'delete-session',
  tag: 'Me',
  method: 'DELETE',
  path: '/me/sessions/{session_id}',
  says: 'Signs the user out in one browser.',
  access: user('write', 'account'),
  params: z.object({ session_id: PathId }),
  returns: noContent,
  errors: ['OAUTH_TOKEN_DELETE_NO_PERMISSION'],
  handle: (app, { caller, params }) => endSession(app, caller, params.session_id),
});

export const deleteSessions = operation({
  id: 'delete-sessions',
  tag: 'Me',
  method: 'DELETE',
  path: '/me/sessions',
  says: 'Signs the user out everywhere: it ends all browser sessions, access tokens (including this one) and grants of applications.',
  access: user('write', 'account'),
  returns: noContent,
  errors: ['OAUTH_TOKEN_DELETE_NO_PERMISSION'],
  handle: (app, { caller }) => signOutEverywhere(app, caller),
});

export const getSessionsOfUser = operation({
  id: 'get-user-sessions',
  tag: 'Staff',
  method: 'GET',
  path: '/staff/users/{user_id}/sessions',
  says: 'Lists the browsers in which a user is signed in. Locking the account ends them. For administrators of the site.',
  access: user('read', 'staff'),
  params: UserPath,
  list: pagesOnly,
  returns: ok(pageOf(SessionObject)),
  errors: ['USER_CANT_VIEW_ADMIN_ONLY'],
  handle: async (app, { caller, params, list }) =>
    pageOfAll((await listSessionsOf(app, caller, params.user_id)).map(toSession), list),
});

export const sessionOperations = [getSessions, deleteSession, deleteSessions, getSessionsOfUser];
