import { z } from 'zod';
import { user } from '../../platform/access/caller.ts';
import { Id, Integer, MessageObject, UserPath, WebMessageObject } from '../../platform/http/objects.ts';
import { noContent, ok, operation } from '../../platform/http/operation.ts';
import { localise } from '../../platform/localisation/texts.ts';
import { closeAccount, deleteAccount, deleteUser, lockUser, reopenAccount } from './closing.ts';
import { confirmEmailChange, startEmailChange } from './email-change.ts';
import { contentsOf, mergeAccount, mergeByCode, mergeByStaff, sendMergeCode } from './merging.ts';
import { revokeToken } from './tokens.ts';

export const logout = operation({
  id: 'logout',
  tag: 'Authentication',
  method: 'POST',
  path: '/oauth/logout',
  says: 'Revokes the access token of the request.',
  access: user('read'),
  returns: ok(WebMessageObject),
  errors: [],
  handle: async (app, { caller, language }) => {
    await revokeToken(app, caller.tokenId);
    return { code: 200, success: true, message: localise('signed_out', language) };
  },
});

const Email = z.string().trim().max(254).pipe(z.email());
const Code = z.string().trim().min(1).max(10);

export const requestEmailChange = operation({
  id: 'request-email-change',
  tag: 'Me',
  method: 'POST',
  path: '/me/email',
  says: 'Mails codes to the old and the new email address of the user.',
  access: user('write', 'account'),
  limit: 10,
  body: z.object({ email: Email }),
  returns: ok(MessageObject),
  errors: [
    'OAUTH_TOKEN_DELETE_NO_PERMISSION',
    'EMAIL_UPDATE_CODE_REFRESH_RATE_LIMITED',
    'EMAIL_REQUEST_ERROR_SENDING_CODE',
  ],
  handle: async (app, { caller, body, language }) => {
    await startEmailChange(app, caller, body.email, language);
    return { code: 200, message: localise('email_change_asked', language) };
  },
});

export const changeEmail = operation({
  id: 'change-email',
  tag: 'Me',
  method: 'PUT',
  path: '/me/email',
  says: 'Changes the email address, with the codes from both addresses.',
  access: user('write', 'account'),
  limit: 10,
  ends: ['caller'],
  body: z.object({
    new_code: Code,
    old_code: Code.optional().meta({ description: 'Required unless the account has no address yet.' }),
  }),
  returns: noContent,
  errors: ['OAUTH_TOKEN_DELETE_NO_PERMISSION', 'EMAIL_UPDATE_CODE_NOT_FOUND', 'AUTH_LINK_EMAIL_ALREADY_USED'],
  handle: (app, { caller, body, language }) =>
    confirmEmailChange(app, caller, { old: body.old_code, new: body.new_code }, language),
});

export const closeOwnAccount = operation({
  id: 'close-account',
  tag: 'Me',
  method: 'POST',
  path: '/me/close',
  says: 'Closes the account: it is hidden from everyone else until its owner reopens or deletes it.',
  access: user('write', 'account'),
  returns: noContent,
  errors: ['OAUTH_TOKEN_DELETE_NO_PERMISSION', 'USER_CANNOT_CLOSE_ACCOUNT'],
  handle: (app, { caller }) => closeAccount(app, caller),
});

export const reopenOwnAccount = operation({
  id: 'reopen-account',
  tag: 'Me',
  method: 'DELETE',
  path: '/me/close',
  says: 'Reopens a closed account.',
  access: user('write', 'account'),
  returns: noContent,
  errors: ['OAUTH_TOKEN_DELETE_NO_PERMISSION'],
  handle: (app, { caller }) => reopenAccount(app, caller),
});

export const deleteOwnAccount = operation({
  id: 'delete-account',
  tag: 'Me',
  method: 'DELETE',
  path: '/me',
  says: 'Deletes a closed account permanently. Owners of games or mods transfer them first, and users who confirm releases by mail turn that off first.',
  access: user('write', 'account'),
  ends: ['caller'],
  body: z.object({
    email: z
      .string()
      .trim()
      .max(254)
      .meta({ description: 'Confirmation: the email address of the account, or its username if it has no address.' }),
  }),
  returns: noContent,
  errors: [
    'OAUTH_TOKEN_DELETE_NO_PERMISSION',
    'USER_CANT_BE_DELETED_SITE_ADMIN',
    'USER_CANT_BE_DELETED_MUST_CLOSE_FIRST',
    'USER_CANT_BE_DELETED_EXISTING_TEAMS',
    'USER_CANT_BE_DELETED_INCORRECT_CONFIRMATION_EMAIL',
    'USER_CANNOT_DELETE_ACCOUNT',
    'MONETIZATION_USER_HAS_FUNDS',
  ],
  handle: (app, { caller, body }) => deleteAccount(app, caller, body.email),
});

const MergeBody = z
  .object({
    access_token: z.string().max(200).meta({ description: 'A token of the account that is merged.' }),
    email: Email.meta({ description: 'The address of the account that is merged, if there is no token of it.' }),
    code: Code.meta({ description: 'The code that was mailed to that address.' }),
  })
  .partial()
  .refine(({ access_token, email }) => access_token !== undefined || email !== undefined, {
    path: ['access_token'],
    params: { rule: 'required' },
  });

export const mergeOwnAccount = operation({
  id: 'merge-account',
  tag: 'Me',
  method: 'POST',
  path: '/me/merge',
  says: 'Merges another account of the user into this one, and ends it. The request needs a token of that account or its email address. With the address, a code is mailed (`17035`) and the request is repeated with the code; so it is with the token of an account that confirms its releases by mail.',
  access: user('write', 'account'),
  limit: 10,
  unlocked: 'it locks both accounts at once, in the order of their ids',
  body: MergeBody,
  returns: noContent,
  errors: [
    'OAUTH_TOKEN_DELETE_NO_PERMISSION',
    'USER_TOKEN_ISSUE_MISMATCH',
    'USER_SURRENDER_TO_CURRENT_ACCOUNT',
    'USER_CANNOT_MERGE_ADMIN_ACCOUNT',
    'USER_CANNOT_MERGE_MONETIZATION_ACCOUNTS',
    'USER_CANNOT_MERGE_ACCOUNT_WITH_GAMES',
    'USER_CANNOT_MERGE_ACCOUNT_WITH_MODS',
    'USER_SURRENDER_TO_CONNECTIONS_EXIST',
    'USER_MERGE_CODE_SENT',
    'USER_BANNED',
    'USER_LOCKED',
    'EMAIL_REQUEST_ERROR_SENDING_CODE',
    'EMAIL_EXCHANGE_INVALID_CODE',
    'EMAIL_EXCHANGE_CODE_EXPIRED',
    'EMAIL_EXCHANGE_CODE_ALREADY_REDEEMED',
    'EMAIL_EXCHANGE_DIFFERENT_API_KEY',
  ],
  handle: (app, { caller, body: { access_token, email, code }, language }) => {
    const person = caller;
    if (access_token !== undefined) return mergeAccount(app, person, access_token, language);
    return code === undefined ? sendMergeCode(app, person, email!, language) : mergeByCode(app, person, email!, code);
  },
});

const MODERATION = [
  'USER_NOT_FOUND',
  'USER_CANT_VIEW_ADMIN_ONLY',
  'USER_ADMIN_CANT_MODERATE_SELF',
  'USER_CANT_ADD_MODIFY_ABOVE_OWN_LEVEL',
] as const;
const moderated = { tag: 'Users', access: user('write', 'staff'), params: UserPath, returns: noContent } as const;

export const lockAUser = operation({
  ...moderated,
  ends: ['users'],
  id: 'lock-a-user',
  method: 'POST',
  path: '/users/{user_id}/lock',
  says: 'Signs a user out everywhere and refuses new sign-ins. Staff only.',
  errors: MODERATION,
  handle: (app, { caller, params }) => lockUser(app, caller, params.user_id, true),
});

export const unlockAUser = operation({
  ...moderated,
  under: ['users'],
  id: 'unlock-a-user',
  method: 'DELETE',
  path: '/users/{user_id}/lock',
  says: 'Allows a locked user to sign in again. Staff only.',
  errors: MODERATION,
  handle: (app, { caller, params }) => lockUser(app, caller, params.user_id, false),
});

export const deleteAUser = operation({
  ...moderated,
  ends: ['users'],
  id: 'delete-a-user',
  method: 'DELETE',
  path: '/users/{user_id}',
  says: 'Deletes the account of a user permanently. Staff only.',
  errors: [
    ...MODERATION,
    'USER_ALREADY_DELETED',
    'USER_CANT_BE_DELETED_SITE_ADMIN',
    'USER_CANT_BE_DELETED_EXISTING_TEAMS',
    'MONETIZATION_USER_HAS_FUNDS',
  ],
  handle: (app, { caller, params }) => deleteUser(app, caller, params.user_id),
});

export const mergeAUser = operation({
  ...moderated,
  id: 'merge-a-user',
  method: 'POST',
  path: '/users/{user_id}/merge',
  says: 'Merges the account of a user into another one, and ends it, for people who lost access to one of their accounts. Both get a mail. Administrators of the site only.',
  limit: 10,
  unlocked: 'it locks both accounts at once, in the order of their ids',
  body: z.object({
    into: Id.meta({ description: 'The account that stays.' }),
    reason: z.string().trim().min(1).max(500).meta({
      description: 'How the staff know that both accounts are of one person, for the audit log.',
    }),
  }),
  errors: [
    'USER_NOT_FOUND',
    'USER_CANNOT_DELETE_ACCOUNT',
    'USER_CANT_VIEW_ADMIN_ONLY',
    'USER_SURRENDER_TO_CURRENT_ACCOUNT',
    'USER_CANNOT_MERGE_ADMIN_ACCOUNT',
    'USER_CANNOT_MERGE_MONETIZATION_ACCOUNTS',
    'USER_CANNOT_MERGE_ACCOUNT_WITH_GAMES',
    'USER_CANNOT_MERGE_ACCOUNT_WITH_MODS',
    'USER_SURRENDER_TO_CONNECTIONS_EXIST',
    'USER_BANNED',
    'USER_LOCKED',
  ],
  handle: (app, { caller, params, body }) =>
    mergeByStaff(app, caller, { fromId: params.user_id, toId: body.into, reason: body.reason }),
});

const AccountContentsObject = z
  .object({
    connections: Integer.meta({ description: 'Accounts of portals that sign in to it' }),
    teams: Integer.meta({ description: 'Games and mods whose team it belongs to' }),
    subscriptions: Integer,
    ratings: Integer,
    comments: Integer,
    collections: Integer,
    messages: Integer,
    purchases: Integer,
  })
  .meta({ id: 'AccountContents' });

export const getAccountContents = operation({
  id: 'get-account-contents',
  tag: 'Staff',
  method: 'GET',
  path: '/staff/users/{user_id}/contents',
  says: 'Counts what an account contains, before it is merged or deleted. For administrators of the site.',
  access: user('read', 'staff'),
  params: UserPath,
  returns: ok(AccountContentsObject),
  errors: ['USER_NOT_FOUND', 'USER_CANT_VIEW_ADMIN_ONLY'],
  handle: (app, { caller, params }) => contentsOf(app, caller, params.user_id),
});

export const accountOperations = [
  logout,
  requestEmailChange,
  changeEmail,
  closeOwnAccount,
  reopenOwnAccount,
  deleteOwnAccount,
  mergeOwnAccount,
  lockAUser,
  unlockAUser,
  deleteAUser,
  mergeAUser,
  getAccountContents,
];
