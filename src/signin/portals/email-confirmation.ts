import {
  claimEmail,
  findUserByEmailIn,
  findUserIn,
  normalisedEmail,
  requireUserForChange,
  requireUserIn,
  type UserRow,
} from '../../people/users/users.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { isDuplicate, type Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import { localise } from '../../platform/localisation/texts.ts';
import { mailCode } from '../../platform/mail/code-mails.ts';
import { ATTEMPTS_MAX, CODE_LENGTH, CODE_MINUTES, isCode } from '../../platform/mail/codes.ts';
import type { MailMessage } from '../../platform/mail/mail.ts';
import { takeAll, tryTake, userMailBudgets } from '../mailed-codes/budgets.ts';
import * as store from './store.ts';

/** Stores the claimed address and returns the code to mail to it. */
async function beginConfirmation(app: App, { query }: Transaction, userId: number, email: string): Promise<string> {
  const code = app.random.code(CODE_LENGTH);
  await store.putConfirmation(query, {
    user_id: userId,
    email: normalisedEmail(email),
    digest: app.secrets.digest(code),
    attempts: 0,
    date_expires: app.clock.now() + CODE_MINUTES * 60,
  });
  return code;
}

const confirmationMail = (email: string, code: string, language: Language): MailMessage => ({
  to: normalisedEmail(email),
  subject: localise('confirm_mail_subject', language, { code }),
  text: localise('confirm_mail_text', language, { code, minutes: CODE_MINUTES }),
});

export const CONFIRMATION_MAIL_JOB = 'portals.mail-confirmation';

interface WantedConfirmation {
  readonly userId: number;
  readonly email: string;
  readonly language: Language;
}

/** Sign-in does not wait for the mail server: the job creates the code, mails it and retries. */
export const mailConfirmationLater = (app: App, transaction: Transaction, wanted: WantedConfirmation) =>
  app.jobs.enqueue(transaction, CONFIRMATION_MAIL_JOB, { ...wanted });

export async function mailWantedConfirmation(app: App, { userId, email, language }: WantedConfirmation): Promise<void> {
  const code = await app.db.write(async (transaction) => {
    if ((await findUserIn(transaction, userId))?.email !== null) return undefined;
    const budgets = userMailBudgets(app, normalisedEmail(email), userId);
    if ((await tryTake(app, transaction.query, budgets)) !== true) return undefined;
    return beginConfirmation(app, transaction, userId, email);
  });
  if (code !== undefined) await app.mail.send(confirmationMail(email, code, language));
}

/** Adds an email address to an account that came from a portal, so that its user can also sign in on the web. */
export async function register(app: App, caller: UserCaller, email: string, language: Language): Promise<void> {
  const code = await app.db.write(async (transaction) => {
    requireUnverified(await requireUserIn(transaction, caller.userId));
    if (await findUserByEmailIn(transaction, email)) throw new ApiError('AUTH_LINK_EMAIL_ALREADY_USED');
    await takeAll(app, transaction.query, userMailBudgets(app, normalisedEmail(email), caller.userId));
    return beginConfirmation(app, transaction, caller.userId, email);
  });
  await mailCode(app, confirmationMail(email, code, language));
}

/** The mailed code proves that the address belongs to the user. */
export async function confirm(app: App, caller: UserCaller, code: string): Promise<UserRow> {
  const outcome = await app.db
    .write((transaction) => redeem(app, transaction, caller, code))
    .catch((error) => {
      // Another request confirmed the same address concurrently.
      if (isDuplicate(error)) throw new ApiError('AUTH_LINK_EMAIL_ALREADY_USED');
      throw error;
    });
  // Throwing inside the transaction would roll back the counted attempt.
  if (outcome instanceof ApiError) throw outcome;
  return outcome;
}

async function redeem(
  app: App,
  transaction: Transaction,
  { userId }: UserCaller,
  code: string,
): Promise<UserRow | ApiError> {
  const { query } = transaction;
  requireUnverified(await requireUserForChange(transaction, userId));
  const row = await store.confirmationOf(query, userId);
  if (!row || row.attempts >= ATTEMPTS_MAX) return new ApiError('EMAIL_EXCHANGE_INVALID_CODE');
  if (row.date_expires <= app.clock.now()) return new ApiError('EMAIL_EXCHANGE_CODE_EXPIRED');
  await store.countAttempt(query, userId);
  if (!isCode(app, row.digest, code)) return new ApiError('EMAIL_EXCHANGE_INVALID_CODE');
  if (!(await claimEmail(transaction, userId, row.email))) return new ApiError('AUTH_LINK_EMAIL_ALREADY_USED');
  await store.removeConfirmation(query, userId);
  return requireUserIn(transaction, userId);
}

function requireUnverified({ email }: UserRow): void {
  if (email !== null) throw new ApiError('USER_ALREADY_VERIFIED');
}
