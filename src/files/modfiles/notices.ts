import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { languageOf } from '../../platform/localisation/languages.ts';
import { localise } from '../../platform/localisation/texts.ts';
import type { LiveFiles } from './live.ts';
import * as store from './store.ts';

export const MAIL_RELEASE = 'modfiles.mail-release';

export interface Notice {
  readonly fileId: number;
  /** Who is told. */
  readonly userId: number;
  /** Who did it. */
  readonly actorId: number;
}

/**
 * Tells the whole team which file went live, and also whoever did it: if somebody else did so in their name, this mail
 * is how they learn of it.
 */
export async function tellOfRelease(
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

export async function mailRelease(app: App, { fileId, userId, actorId }: Notice): Promise<void> {
  const told = await store.releaseFor(app.db, fileId, userId, actorId);
  if (!told || told.email === null) return;
  const language = languageOf(told.language) ?? 'en';
  const { filename: file, mod, game, actor } = told;
  await app.mail.send({
    to: told.email,
    subject: localise('release_mail_subject', language, { mod }),
    text: localise('release_mail_text', language, { file, mod, game, actor }),
  });
}
