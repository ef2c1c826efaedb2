import type { App } from '../../context.ts';
import type { Database, Transaction } from '../../database/database.ts';
import * as store from './store.ts';

export const MAIL_CONFIRMATION = 'releases.mail-confirmation';

export const CONFIRM_SECONDS = 86_400;
const AGAIN_SECONDS = 60;

/** With what someone released a file; nothing is known of it where no request did. */
export interface Means {
  readonly tokenId?: number | undefined;
  readonly address?: string | undefined;
}

interface ReleasedFile {
  readonly id: number;
  readonly mod_id: number;
  readonly game_id: number;
}

/** Whether a person confirms by mail what they release. */
export const isGuarded = async (reader: Pick<Database, 'first'>, userId: number): Promise<boolean> =>
  (await store.guardOf(reader, userId)) !== undefined;

/** Lets a release wait for its person, if they want to confirm what they release; false where they do not. */
export async function heldRelease(
  app: App,
  transaction: Transaction,
  file: ReleasedFile,
  { userId, shown, by = {} }: { readonly userId: number; readonly shown: boolean; readonly by?: Means | undefined },
): Promise<boolean> {
  if (!(await isGuarded(transaction, userId))) return false;
  const now = app.clock.now();
  const waiting = await store.releaseOf(transaction, userId, file.id);
  // Tools send the same edit more than once, and each would be a mail.
  if (waiting && now - waiting.date_added < AGAIN_SECONDS) return true;
  if (waiting) await store.remove(transaction, waiting.id);
  const { id } = await store.add(transaction.query, {
    user_id: userId,
    game_id: file.game_id,
    mod_id: file.mod_id,
    modfile_id: file.id,
    shown: Number(shown),
    ip: by.address ?? '',
    token_id: by.tokenId ?? null,
    digest: null,
    date_added: now,
    date_expires: now + CONFIRM_SECONDS,
  });
  await app.jobs.enqueue(transaction, MAIL_CONFIRMATION, { id }, { key: String(id) });
  return true;
}

/** Nobody's release of the file waits any more. */
export const dropReleases = (transaction: Transaction, fileId: number) => store.removeOfFile(transaction, fileId);
