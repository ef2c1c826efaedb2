import { requireUserIn } from '../../people/users/users.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import { localise } from '../../platform/localisation/texts.ts';
import { mailCode } from '../../platform/mail/code-mails.ts';
import { CODE_LENGTH, CODE_MINUTES, isCode, isOpenCode, limitResending } from '../../platform/mail/codes.ts';
import { isGuarded } from './confirmation.ts';
import * as store from './store.ts';

/** Whether the user confirms their releases by mail. */
export const confirmsReleases = (app: App, userId: number): Promise<boolean> => isGuarded(app.db, userId);

/** Requires a confirmation by mail for every release of the user, who needs a confirmed email address. */
export async function guardReleases(app: App, userId: number): Promise<void> {
  await app.db.write(async (transaction) => {
    if ((await requireUserIn(transaction, userId)).email === null)
      throw new ApiError('USER_UNVERIFIED_ACCOUNTS', { fields: [{ field: 'email', rule: 'email_unconfirmed' }] });
    const none = { code_digest: null, attempts: 0, date_asked: null, date_expires: null };
    await store.addGuard(transaction.query, { user_id: userId, date_added: app.clock.now(), ...none });
  });
}

/** Mails the code that ends the confirmation, because a stolen token must not be enough to end it. */
export async function askToUnguard(app: App, userId: number, language: Language): Promise<void> {
  const code = app.random.code(CODE_LENGTH);
  const now = app.clock.now();
  const to = await app.db.write(async (transaction) => {
    const guard = await store.guardForChange(transaction, userId);
    if (!guard) return null;
    limitResending(app, guard.date_asked);
    await store.changeGuard(transaction.query, userId, {
      code_digest: app.secrets.digest(code),
      attempts: 0,
      date_asked: now,
      date_expires: now + CODE_MINUTES * 60,
    });
    return (await requireUserIn(transaction, userId)).email;
  });
  if (to === null) return;
  const subject = localise('unguard_mail_subject', language, { code });
  const text = localise('unguard_mail_text', language, { code, minutes: CODE_MINUTES });
  await mailCode(app, { to, subject, text });
}

/** Ends the confirmation with the code from the mail. Releases that are already waiting keep waiting. */
export async function unguardReleases(app: App, userId: number, code: string): Promise<void> {
  const isEnded = await app.db.write(async (transaction) => {
    const guard = await store.guardForChange(transaction, userId);
    if (!guard?.code_digest || !isOpenCode(app, guard)) return false;
    const isRight = isCode(app, guard.code_digest, code);
    if (isRight) await store.removeGuard(transaction.query, userId);
    else await store.changeGuard(transaction.query, userId, { attempts: guard.attempts + 1 });
    return isRight;
  });
  // Thrown after the transaction, because a rollback would undo the counted attempt.
  if (!isEnded) throw new ApiError('EMAIL_EXCHANGE_INVALID_CODE');
}

/** Ends the confirmation for a user that cannot read the mail. Returns false if there was none. */
export async function endGuard(transaction: Transaction, userId: number): Promise<boolean> {
  const guard = await store.guardForChange(transaction, userId);
  if (guard) await store.removeGuard(transaction.query, userId);
  return guard !== undefined;
}
