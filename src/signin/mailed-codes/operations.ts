import { z } from 'zod';
import { authentication } from '../../platform/access/caller.ts';
import { AccessTokenObject, MessageObject, TokenExpiry } from '../../platform/http/objects.ts';
import { ok, operation } from '../../platform/http/operation.ts';
import { localise } from '../../platform/localisation/texts.ts';
import { exchangeEmailCode, requestEmailCode } from './signing-in.ts';

const Handle = z.string().trim().min(1).max(100);

const CodeRequestObject = MessageObject.extend({
  handle: z.string().meta({ description: 'Identifies this request when the code is exchanged. Keep it secret.' }),
}).meta({ id: 'CodeRequest' });

export const requestEmailSecurityCode = operation({
  id: 'request-email-security-code',
  tag: 'Authentication',
  method: 'POST',
  path: '/oauth/emailrequest',
  says: 'Mails a sign-in code. The code is valid in the network that requested it, or anywhere with the `handle` of the answer or the email address.',
  access: authentication(),
  unlocked: 'a code belongs to an address, which may have no account yet',
  limit: 10,
  body: z.object({
    email: z.string().trim().max(254).pipe(z.email()),
    handle: Handle.optional().meta({
      description:
        'The handle of a code that was redeemed on this device. It gives the request a rate limit that others cannot use up.',
    }),
    code_length: z
      .int()
      .min(5)
      .max(8)
      .optional()
      .meta({ description: 'Clients that accept more than 5 characters send 8.' }),
  }),
  returns: ok(CodeRequestObject),
  errors: ['ACTION_RESTRICTED_NO_TEST_KEY', 'EMAIL_REQUEST_ERROR_SENDING_CODE'],
  handle: async (app, { caller, body, ip, language }) => {
    const { email, handle: earlier, code_length: codeLength } = body;
    const request = { email, ip, language, handle: earlier, codeLength };
    const handle = await requestEmailCode(app, caller, request);
    return { code: 200, message: localise('email_code_sent', language), handle };
  },
});

export const exchangeEmailSecurityCode = operation({
  id: 'exchange-email-security-code',
  tag: 'Authentication',
  method: 'POST',
  path: '/oauth/emailexchange',
  says: 'Exchanges the mailed code for an access token.',
  access: authentication(),
  unlocked: 'the account is locked once it is known',
  limit: 10,
  body: z.object({
    security_code: z.string().trim().min(1).max(10),
    handle: Handle.optional().meta({ description: 'The handle from the answer to the code request.' }),
    email: z.string().trim().max(254).optional().meta({ description: 'The address that the code was mailed to.' }),
    date_expires: TokenExpiry,
  }),
  returns: ok(AccessTokenObject),
  errors: [
    'ACTION_RESTRICTED_NO_TEST_KEY',
    'EMAIL_EXCHANGE_CODE_ALREADY_REDEEMED',
    'EMAIL_EXCHANGE_CODE_EXPIRED',
    'EMAIL_EXCHANGE_DIFFERENT_API_KEY',
    'EMAIL_EXCHANGE_INVALID_CODE',
    'USER_LOCKED',
  ],
  handle: async (app, { caller, body, ip, language }) => {
    const token = await exchangeEmailCode(app, caller, {
      code: body.security_code,
      handle: body.handle,
      email: body.email,
      ip,
      dateExpires: body.date_expires,
      language,
    });
    return { code: 200, ...token };
  },
});

export const mailedCodeOperations = [requestEmailSecurityCode, exchangeEmailSecurityCode];
