import type { App } from '../../platform/app.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';

/** 40 bits, out of 32 characters that do not look alike. */
export const CODE_LENGTH = 8;
export const CODE_MINUTES = 15;
export const ATTEMPTS_MAX = 5;
const AGAIN_SECONDS = 60;

/** The next mail comes after a minute at the earliest. */
export function refuseSoon(app: App, dateAsked: number | null | undefined): void {
  const waited = app.clock.now() - (dateAsked ?? Number.NEGATIVE_INFINITY);
  if (waited < AGAIN_SECONDS)
    throw new ApiError('EMAIL_UPDATE_CODE_REFRESH_RATE_LIMITED', { retryAfterSeconds: AGAIN_SECONDS - waited });
}

/** Whoever waits for a code is told at once that it could not be mailed. */
export const mailed = (sending: Promise<void>): Promise<void> =>
  sending.catch((cause) => {
    throw new ApiError('EMAIL_REQUEST_ERROR_SENDING_CODE', { cause });
  });

/** Whether a code may still be tried. */
export const isOpenCode = (app: App, code: { readonly date_expires: number | null; readonly attempts: number }) =>
  (code.date_expires ?? 0) > app.clock.now() && code.attempts < ATTEMPTS_MAX;

/** People type codes in any case, and in groups. */
const normalisedCode = (typed: string): string => typed.replace(/[\s-]/g, '').toUpperCase();

export const digestOfCode = (app: App, typed: string): string => app.secrets.digest(normalisedCode(typed));

export const isCode = (app: App, digest: string, typed = ''): boolean =>
  app.secrets.isDigestOf(digest, normalisedCode(typed));
