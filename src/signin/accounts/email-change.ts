import { changeUser, findUserByEmailIn, normalisedEmail, requireUserIn } from '../../people/users/users.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import { localise } from '../../platform/localisation/texts.ts';
import { mailCode } from '../../platform/mail/code-mails.ts';
import { CODE_LENGTH, CODE_MINUTES, isCode, isOpenCode, limitResending } from '../../platform/mail/codes.ts';
import { takeAll, userMailBudgets } from '../mailed-codes/budgets.ts';
import * as store from './store.ts';

export const CHANGED_MAIL_JOB = 'accounts.mail-email-changed';

/**
 * Sends one code to the old address, which proves that the request comes from the owner, and one to the new address.
 * Only the new address learns whether it already has an account.
 */
export async function startEmailChange(app: App, caller: UserCaller, email: string, language: Language): Promise<void> {
  const address = normalisedEmail(email);
  const now = app.clock.now();
  const codes = { before: app.random.code(CODE_LENGTH), after: app.random.code(CODE_LENGTH) };
  const { before, isTaken } = await app.db.write(async (transaction) => {
    const { query } = transaction;
    const user = await requireUserIn(transaction, caller.userId);
    limitResending(app, (await store.emailChangeOf(query, user.id))?.date_added);
    await takeAll(app, query, userMailBudgets(app, address, user.id));
    await store.putEmailChange(query, {
      user_id: user.id,
      email: address,
      old_digest: user.email === null ? null : app.secrets.digest(codes.before),
      new_digest: app.secrets.digest(codes.after),
      attempts: 0,
      date_added: now,
      date_expires: now + CODE_MINUTES * 60,
    });
    return { before: user.email, isTaken: (await findUserByEmailIn(transaction, address)) !== undefined };
  });
  const codeMail = (to: string, code: string, text: 'email_change_old_mail_text' | 'email_change_new_mail_text') => ({
    to,
    subject: localise('email_change_mail_subject', language, { code }),
    text: localise(text, language, { code, minutes: CODE_MINUTES }),
  });
  const taken = {
    to: address,
    subject: localise('email_taken_mail_subject', language),
    text: localise('email_taken_mail_text', language),
  };
  if (before !== null) await mailCode(app, codeMail(before, codes.before, 'email_change_old_mail_text'));
  await mailCode(app, isTaken ? taken : codeMail(address, codes.after, 'email_change_new_mail_text'));
}

/** Stores the new address once both codes are correct, and notifies the old address. */
export async function confirmEmailChange(
  app: App,
  caller: UserCaller,
  codes: { readonly old: string | undefined; readonly new: string },
  language: Language,
): Promise<void> {
  const isChanged = await app.db.write(async (transaction) => {
    const { query } = transaction;
    const user = await requireUserIn(transaction, caller.userId);
    const open = await store.emailChangeOf(query, user.id);
    if (!open || !isOpenCode(app, open)) return false;
    // Both codes are compared, so that the caller cannot learn which one was wrong.
    const isOld = open.old_digest === null || isCode(app, open.old_digest, codes.old);
    const isNew = isCode(app, open.new_digest, codes.new);
    if (!isOld || !isNew) {
      await store.countChangeAttempt(query, user.id);
      return false;
    }
    if (await findUserByEmailIn(transaction, open.email)) throw new ApiError('AUTH_LINK_EMAIL_ALREADY_USED');
    await store.removeEmailChange(query, user.id);
    await changeUser(transaction, user.id, { email: open.email });
    if (user.email !== null) await app.jobs.enqueue(transaction, CHANGED_MAIL_JOB, { to: user.email, language });
    return true;
  });
  // Throwing inside the transaction would roll back the counted attempt.
  if (!isChanged) throw new ApiError('EMAIL_UPDATE_CODE_NOT_FOUND');
}

/** A job sends this mail, so that an outage of the mail server does not lose it. */
export async function mailChanged(app: App, { to, language }: { to: string; language: Language }): Promise<void> {
  const subject = localise('email_changed_mail_subject', language);
  await app.mail.send({ to, subject, text: localise('email_changed_mail_text', language) });
}
