import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { languageOf } from '../../platform/localisation/languages.ts';
import { localise } from '../../platform/localisation/texts.ts';
import * as store from './store.ts';

export const MAIL_THREAT = 'modfiles.mail-threat';

/** More than any team; of mods that very many others need, not all are written to. */
const CONCERNED_MAX = 1_000;

export interface Letter {
  readonly fileId: number;
  readonly userId: number;
  /** For the teams of the mod and its game; otherwise for one of a mod that needs it. */
  readonly own: boolean;
}

/** Lets all whom it concerns be written to, each by a job: what fails for one is tried again for that one. */
export async function tellOfThreat(app: App, transaction: Transaction, file: store.ModfileRow): Promise<void> {
  const concerned = await store.concernedBy(transaction, file.mod_id, file.game_id, CONCERNED_MAX);
  for (const { user_id, own } of concerned) {
    const letter = { fileId: file.id, userId: user_id, own: own === 1 };
    await app.jobs.enqueue(transaction, MAIL_THREAT, letter, { key: `${file.id}/${user_id}` });
  }
}

export async function mailThreat(app: App, { fileId, userId, own }: Letter): Promise<void> {
  const told = await store.threatFor(app.db, userId, fileId);
  if (!told || told.email === null) return;
  const language = languageOf(told.language) ?? 'en';
  const { filename: file, mod, game, threat } = told;
  await app.mail.send({
    to: told.email,
    subject: localise(own ? 'threat_mail_subject' : 'threat_dependant_mail_subject', language),
    text: localise(own ? 'threat_mail_text' : 'threat_dependant_mail_text', language, { file, mod, game, threat }),
  });
}
