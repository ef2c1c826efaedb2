import { z } from 'zod';
import { authentication, type KeyCaller, type UserCaller, user } from '../../access/caller.ts';
import { Integer, MessageObject, WebMessageObject } from '../../http/objects.ts';
import { ok, operation } from '../../http/operation.ts';
import { say } from '../../localisation/texts.ts';
import { exchangeEmailCode, requestEmailCode, signOut } from './accounts.ts';

export const AccessTokenObject = z
  .object({ code: Integer, access_token: z.string(), date_expires: Integer })
  .meta({ id: 'AccessToken' });

export const requestEmailSecurityCode = operation({
  id: 'request-email-security-code',
  tag: 'Authentication',
  method: 'POST',
  path: '/oauth/emailrequest',
  says: 'Sends a five-character sign-in code to an email address.',
  access: authentication(),
  limit: 10,
  body: z.object({ email: z.string().trim().max(254).pipe(z.email()) }),
  returns: ok(MessageObject),
  errors: ['ACTION_RESTRICTED_NO_TEST_KEY', 'EMAIL_REQUEST_ERROR_SENDING_CODE'],
  handle: async (app, { caller, body, ip, language }) => {
    await requestEmailCode(app, caller as KeyCaller, body.email, ip, language);
    return { code: 200, message: say('email_code_sent', language) };
  },
});

export const exchangeEmailSecurityCode = operation({
  id: 'exchange-email-security-code',
  tag: 'Authentication',
  method: 'POST',
  path: '/oauth/emailexchange',
  says: 'Exchanges the code from the mail for an access token.',
  access: authentication(),
  limit: 10,
  body: z.object({
    security_code: z.string().trim().min(1).max(10),
    date_expires: z
      .int()
      .optional()
      .meta({ description: 'Unix seconds of a shorter life; past or too late, it is ignored.' }),
  }),
  returns: ok(AccessTokenObject),
  errors: [
    'ACTION_RESTRICTED_NO_TEST_KEY',
    'EMAIL_EXCHANGE_CODE_ALREADY_REDEEMED',
    'EMAIL_EXCHANGE_CODE_EXPIRED',
    'EMAIL_EXCHANGE_DIFFERENT_API_KEY',
    'EMAIL_EXCHANGE_INVALID_CODE',
  ],
  handle: async (app, { caller, body, ip }) => {
    const token = await exchangeEmailCode(app, caller as KeyCaller, {
      code: body.security_code,
      ip,
      dateExpires: body.date_expires,
    });
    return { code: 200, ...token };
  },
});

export const logout = operation({
  id: 'logout',
  tag: 'Authentication',
  method: 'POST',
  path: '/oauth/logout',
  says: 'Ends the access token that is sent with it.',
  access: user('read'),
  returns: ok(WebMessageObject),
  errors: [],
  handle: async (app, { caller, language }) => {
    await signOut(app, (caller as UserCaller).tokenId);
    return { code: 200, success: true, message: say('signed_out', language) };
  },
});

export const accountOperations = [requestEmailSecurityCode, exchangeEmailSecurityCode, logout];
