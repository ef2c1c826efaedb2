import type { CallOptions, Client } from '../calls/client.ts';
import { type SignIn, toSignIn } from './tokens.ts';

/** A code that was mailed. Store it until the user has typed the code. */
export interface EmailRequest {
  readonly email: string;
  readonly handle: string;
}

/** Mails a code to the user. The client needs the key of a game. */
export async function requestEmailCode(
  client: Client,
  { email, codeLength }: { email: string; codeLength?: 5 | 8 },
  options?: CallOptions,
): Promise<EmailRequest> {
  const { handle } = await client.call(
    'POST /oauth/emailrequest',
    { email, ...(codeLength && { code_length: codeLength }) },
    options,
  );
  return { email, handle };
}

/** Exchanges the code that the user has typed. */
export async function exchangeEmailCode(
  client: Client,
  { email, handle }: EmailRequest,
  code: string,
  options?: CallOptions,
): Promise<SignIn> {
  const input = { security_code: code.trim(), email, handle };
  return toSignIn(await client.call('POST /oauth/emailexchange', input, options));
}
