import type { App } from '../../context.ts';
import { ApiError } from '../../errors/catalogue.ts';

/** Codes with which someone who is signed in shows that they read the mails of the account, too. */
export const CODE_LENGTH = 5;
export const CODE_MINUTES = 15;
const AGAIN_SECONDS = 60;
const ATTEMPTS_MAX = 5;

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

/** Codes are typed in any case. */
export const isCode = (app: App, digest: string, typed = ''): boolean =>
  app.secrets.isDigestOf(digest, typed.trim().toUpperCase());
