import { z } from 'zod';
import { user, visitor } from '../../platform/access/caller.ts';
import { MessageObject } from '../../platform/http/objects.ts';
import { noContent, ok, operation } from '../../platform/http/operation.ts';
import { localise } from '../../platform/localisation/texts.ts';
import { callerId, optOut, setMailings, wantsMailings } from './mailings.ts';

export const optOutOfEmails = operation({
  id: 'opt-out-of-emails',
  tag: 'Users',
  method: 'POST',
  path: '/email/optout',
  says: 'Unsubscribes an address from unsolicited mails, by the link in one of them (RFC 8058).',
  access: visitor(),
  limit: 30,
  body: z.object({ hash: z.string().max(500) }),
  returns: ok(MessageObject),
  errors: [
    'USER_EMAIL_OPT_OUT_INVALID_HASH',
    'USER_EMAIL_OPT_OUT_EXPIRED_HASH',
    'USER_EMAIL_OPT_OUT_DIFFERENT_USER',
    'USER_NOT_FOUND',
  ],
  handle: async (app, { caller, body, language }) => {
    await optOut(app, callerId(caller), body.hash);
    return { code: 200, message: localise('email_opted_out', language) };
  },
});

export const getMailings = operation({
  id: 'get-mailings',
  tag: 'Me',
  method: 'GET',
  path: '/me/mailings',
  says: 'Shows whether the user gets unsolicited mails, such as invitations.',
  access: user('read', 'profile'),
  returns: ok(z.object({ wanted: z.boolean() }).meta({ id: 'Mailings' })),
  errors: [],
  handle: async (app, { caller }) => ({ wanted: await wantsMailings(app, caller) }),
});

export const editMailings = operation({
  id: 'edit-mailings',
  tag: 'Me',
  method: 'PUT',
  path: '/me/mailings',
  says: 'Sets whether the user gets unsolicited mails, such as invitations.',
  access: user('write', 'profile'),
  body: z.object({ wanted: z.boolean() }),
  returns: noContent,
  errors: ['USER_UNVERIFIED_ACCOUNTS'],
  handle: (app, { caller, body }) => setMailings(app, caller, body.wanted),
});

export const mailingOperations = [optOutOfEmails, getMailings, editMailings];
