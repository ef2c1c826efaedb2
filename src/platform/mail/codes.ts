import type { Secrets } from '../config/secrets.ts';
import { ApiError } from '../errors/catalogue.ts';
import type { Clock } from '../runtime/clock.ts';

/** 40 bits, from 32 characters that do not look alike. */
export const CODE_LENGTH = 8;
export const CODE_MINUTES = 15;
export const ATTEMPTS_MAX = 5;
const RESEND_SECONDS = 60;

type WithClock = { readonly clock: Clock };
type WithSecrets = { readonly secrets: Secrets };

/** At most one mail a minute. */
export function limitResending({ clock }: WithClock, dateSent: number | null | undefined): void {
  const waited = clock.now() - (dateSent ?? Number.NEGATIVE_INFINITY);
  if (waited < RESEND_SECONDS)
    throw new ApiError('EMAIL_UPDATE_CODE_REFRESH_RATE_LIMITED', { retryAfterSeconds: RESEND_SECONDS - waited });
}

/** True while a code has not expired and has attempts left. */
export const isOpenCode = (
  { clock }: WithClock,
  code: { readonly date_expires: number | null; readonly attempts: number },
): boolean => (code.date_expires ?? 0) > clock.now() && code.attempts < ATTEMPTS_MAX;

/** Users type codes in any case, and in groups. */
const normalisedCode = (typed: string): string => typed.replace(/[\s-]/g, '').toUpperCase();

export const digestOfCode = ({ secrets }: WithSecrets, typed: string): string => secrets.digest(normalisedCode(typed));

export const isCode = ({ secrets }: WithSecrets, digest: string, typed = ''): boolean =>
  secrets.isDigestOf(digest, normalisedCode(typed));
