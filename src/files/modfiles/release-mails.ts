import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { languageOf } from '../../platform/localisation/languages.ts';
import { localise } from '../../platform/localisation/texts.ts';
import type { LiveFiles } from './live.ts';
import * as store from './store.ts';

export const MAIL_RELEASE = 'modfiles.mail-release';

export interface ReleaseMail {
  readonly fileId: number;
  /** The recipient. */
  readonly userId: number;
  /** The user that released the file. */
  readonly actorId: number;
}

/**
 * Mails the whole team which file went live, including the user that released it: if an attacker used their session,
 * this mail reveals it.
 */
export async function enqueueReleaseMails(
  app: App,
  transaction: Transaction,
  modId: number,
  actorId: number,
  { before, after }: { readonly before: LiveFiles; readonly after: LiveFiles },
): Promise<void> {
  const known = new Set(before.values());
  const added = [...new Set(after.values())].filter((fileId) => !known.has(fileId));
  if (added.length === 0) return;
  const team = await store.mailedTeamOf(transaction, modId);
  for (const fileId of added)
    for (const { user_id: userId } of team)
      await app.jobs.enqueue(transaction, MAIL_RELEASE, { fileId, userId, actorId }, { key: `${fileId}/${userId}` });
}

export async function mailRelease(app: App, { fileId, userId, actorId }: ReleaseMail): Promise<void> {
  const mail = await store.releaseFor(app.db, fileId, userId, actorId);
  if (!mail || mail.email === null) return;
  const language = languageOf(mail.language) ?? 'en';
  const { filename: file, mod, game, actor } = mail;
  await app.mail.send({
    to: mail.email,
    subject: localise('release_mail_subject', language, { mod }),
    text: localise('release_mail_text', language, { file, mod, game, actor }),
  });
}
