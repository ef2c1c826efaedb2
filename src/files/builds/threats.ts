import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { languageOf } from '../../platform/localisation/languages.ts';
import { localise } from '../../platform/localisation/texts.ts';
import * as store from './store.ts';

export const MAIL_THREAT = 'cook-builds.mail-threat';

export interface Letter {
  readonly uuid: string;
  readonly userId: number;
}

/** Lets the team of the game be written to, each by a job: what fails for one is tried again for that one. */
export async function tellOfThreat(app: App, transaction: Transaction, build: store.BuildRow): Promise<void> {
  for (const { user_id: userId } of await store.mailedTeamOf(transaction, build.game_id)) {
    const letter: Letter = { uuid: build.build_uuid, userId };
    await app.jobs.enqueue(transaction, MAIL_THREAT, { ...letter }, { key: `${build.build_uuid}/${userId}` });
  }
}

export async function mailThreat(app: App, { uuid, userId }: Letter): Promise<void> {
  const told = await store.threatFor(app.db, userId, uuid);
  if (!told || told.email === null) return;
  const language = languageOf(told.language) ?? 'en';
  const { values } = JSON.parse(told.problem) as { values: { entry: string; threat: string } };
  await app.mail.send({
    to: told.email,
    subject: localise('threat_build_mail_subject', language),
    text: localise('threat_build_mail_text', language, { game: told.game, file: values.entry, threat: values.threat }),
  });
}
