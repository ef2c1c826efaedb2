import type { JWTPayload } from 'jose';
import { SKEW_SECONDS } from '../jwt.ts';

/** The address in a token if the issuer has verified it. Apple sends the flag as text. */
export function confirmedEmail({ email, email_verified }: JWTPayload): string | undefined {
  const isConfirmed = email_verified === true || email_verified === 'true';
  return isConfirmed && typeof email === 'string' ? email : undefined;
}

/** A used token is stored until it expires. Only its signed part identifies it. */
export const onceUntil = (token: string, { exp = 0 }: JWTPayload): { text: string; until: number } => ({
  text: token.slice(0, token.lastIndexOf('.')),
  until: exp + SKEW_SECONDS,
});
