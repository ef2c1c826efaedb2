import { z } from 'zod';
import { user } from '../../platform/access/caller.ts';
import { MessageObject, pageOf, pageOfAll, pagesOnly } from '../../platform/http/objects.ts';
import { noContent, ok, operation } from '../../platform/http/operation.ts';
import { localise } from '../../platform/localisation/texts.ts';
import { askToUnguard, confirmsReleases, guardReleases, unguardReleases } from './guards.ts';
import { ReleaseGuardObject, ReleaseObject, toRelease } from './object.ts';
import { releasesOf } from './releases.ts';

export const getReleases = operation({
  id: 'get-releases',
  tag: 'Me',
  method: 'GET',
  path: '/me/releases',
  says: 'Lists the files that wait for a confirmation by mail: those that the user released, and those that the user has to confirm.',
  access: user('read', 'profile'),
  list: pagesOnly,
  returns: ok(pageOf(ReleaseObject)),
  errors: [],
  handle: async (app, { caller, list }) => pageOfAll((await releasesOf(app, caller.userId)).map(toRelease), list),
});

const confirmation = { tag: 'Me', path: '/me/releases/confirmation' } as const;

export const getReleaseConfirmation = operation({
  ...confirmation,
  id: 'get-release-confirmation',
  method: 'GET',
  says: 'Shows whether the user confirms their releases by mail.',
  access: user('read', 'profile'),
  returns: ok(ReleaseGuardObject),
  errors: [],
  handle: async (app, { caller }) => ({ wanted: await confirmsReleases(app, caller.userId) }),
});

export const addReleaseConfirmation = operation({
  ...confirmation,
  id: 'add-release-confirmation',
  method: 'PUT',
  says: 'Requires a confirmation for every release of the user: a file goes live when the user follows the link in a mail.',
  access: user('write', 'account'),
  returns: noContent,
  errors: ['OAUTH_TOKEN_DELETE_NO_PERMISSION', 'USER_UNVERIFIED_ACCOUNTS'],
  handle: (app, { caller }) => guardReleases(app, caller.userId),
});

export const requestReleaseConfirmationCode = operation({
  ...confirmation,
  id: 'request-release-confirmation-code',
  method: 'POST',
  says: 'Mails the code with which the user can end the confirmation of releases.',
  access: user('write', 'account'),
  limit: 10,
  returns: ok(MessageObject),
  errors: [
    'OAUTH_TOKEN_DELETE_NO_PERMISSION',
    'EMAIL_UPDATE_CODE_REFRESH_RATE_LIMITED',
    'EMAIL_REQUEST_ERROR_SENDING_CODE',
  ],
  handle: async (app, { caller, language }) => {
    await askToUnguard(app, caller.userId, language);
    return { code: 200, message: localise('unguard_asked', language) };
  },
});

export const deleteReleaseConfirmation = operation({
  ...confirmation,
  id: 'delete-release-confirmation',
  method: 'DELETE',
  says: 'Ends the confirmation of releases with the code from the mail. Files go live at once again.',
  access: user('write', 'account'),
  limit: 10,
  body: z.object({ code: z.string().trim().min(1).max(10) }),
  returns: noContent,
  errors: ['OAUTH_TOKEN_DELETE_NO_PERMISSION', 'EMAIL_EXCHANGE_INVALID_CODE'],
  handle: (app, { caller, body }) => unguardReleases(app, caller.userId, body.code),
});

export const releaseOperations = [
  getReleases,
  getReleaseConfirmation,
  addReleaseConfirmation,
  requestReleaseConfirmationCode,
  deleteReleaseConfirmation,
];
