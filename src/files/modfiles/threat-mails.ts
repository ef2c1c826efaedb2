import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { languageOf } from '../../platform/localisation/languages.ts';
import { localise } from '../../platform/localisation/texts.ts';
import * as store from './store.ts';

export const MAIL_THREAT = 'modfiles.mail-threat';

/** Larger than any team. A mod with very many dependants warns only some of their teams. */
const RECIPIENTS_MAX = 1_000;

export interface ThreatMail {
  readonly fileId: number;
  readonly userId: number;
  /** True for the teams of the mod and its game, false for the team of a dependant. */
  readonly own: boolean;
}

/** Enqueues one job per recipient, so that a failed mail is retried for that recipient only. */
export async function enqueueThreatMails(app: App, transaction: Transaction, file: store.ModfileRow): Promise<void> {
  const recipients = await store.usersToWarn(transaction, file.mod_id, file.game_id, RECIPIENTS_MAX);
  for (const { user_id, own } of recipients) {
    const mail = { fileId: file.id, userId: user_id, own: own === 1 };
    await app.jobs.enqueue(transaction, MAIL_THREAT, mail, { key: `${file.id}/${user_id}` });
  }
}

export async function mailThreat(app: App, { fileId, userId, own }: ThreatMail): Promise<void> {
  const mail = await store.threatFor(app.db, userId, fileId);
  if (!mail || mail.email === null) return;
  const language = languageOf(mail.language) ?? 'en';
  const { filename: file, mod, game, threat } = mail;
  await app.mail.send({
    to: mail.email,
    subject: localise(own ? 'threat_mail_subject' : 'threat_dependant_mail_subject', language),
    text: localise(own ? 'threat_mail_text' : 'threat_dependant_mail_text', language, { file, mod, game, threat }),
  });
}
