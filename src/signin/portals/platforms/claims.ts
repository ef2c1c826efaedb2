import type { JWTPayload } from 'jose';
import { SKEW_SECONDS } from '../jwt.ts';

/** The address in a token, where the issuer says that it is the person's own. Apple says so as text. */
export function confirmedEmail({ email, email_verified }: JWTPayload): string | undefined {
  const isConfirmed = email_verified === true || email_verified === 'true';
  return isConfirmed && typeof email === 'string' ? email : undefined;
}

/** A token is remembered for as long as it would be taken. What is not signed of it does not make it another one. */
export const onceUntil = (token: string, { exp = 0 }: JWTPayload): { text: string; until: number } => ({
  text: token.slice(0, token.lastIndexOf('.')),
  until: exp + SKEW_SECONDS,
});
