import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { languageOf } from '../../platform/localisation/languages.ts';
import { localise } from '../../platform/localisation/texts.ts';
import * as store from './store.ts';

export const MAIL_THREAT = 'cook-builds.mail-threat';

export interface ThreatMail {
  readonly uuid: string;
  readonly userId: number;
}

/** Enqueues one job per team member, so that a failed mail is retried for that member only. */
export async function enqueueThreatMails(app: App, transaction: Transaction, build: store.BuildRow): Promise<void> {
  for (const { user_id: userId } of await store.mailedTeamOf(transaction, build.game_id)) {
    const mail: ThreatMail = { uuid: build.build_uuid, userId };
    await app.jobs.enqueue(transaction, MAIL_THREAT, { ...mail }, { key: `${build.build_uuid}/${userId}` });
  }
}

export async function mailThreat(app: App, { uuid, userId }: ThreatMail): Promise<void> {
  const mail = await store.threatFor(app.db, userId, uuid);
  if (!mail || mail.email === null) return;
  const language = languageOf(mail.language) ?? 'en';
  const { values } = JSON.parse(mail.problem) as { values: { entry: string; threat: string } };
  await app.mail.send({
    to: mail.email,
    subject: localise('threat_build_mail_subject', language),
    text: localise('threat_build_mail_text', language, { game: mail.game, file: values.entry, threat: values.threat }),
  });
}
