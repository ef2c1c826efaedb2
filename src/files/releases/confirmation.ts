import type { App } from '../../platform/app.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import type { ReleaseExtension } from '../modfiles/extensions.ts';
import * as store from './store.ts';

export const MAIL_CONFIRMATION = 'releases.mail-confirmation';

type Reader = Pick<Database, 'first'>;

export const CONFIRM_SECONDS = 86_400;
const AGAIN_SECONDS = 60;

/** Whether the user confirms their releases by mail. */
export const isGuarded = async (reader: Reader, userId: number): Promise<boolean> =>
  (await store.guardOf(reader, userId)) !== undefined;

/** The team through which a user may release files: of a mod, or of a game with all its mods. */
export interface Team {
  readonly resource: 'games' | 'mods';
  readonly id: number;
  readonly gameId: number;
}

/** The user that has to confirm a release: the one that releases it, or the one that added them to the team. */
async function guardianOf(reader: Reader, userId: number, modId: number, gameId: number): Promise<number | undefined> {
  return (await isGuarded(reader, userId)) ? userId : store.guardianOf(reader, userId, modId, gameId);
}

/**
 * Records a new team member that may release files. If the user that added them confirms releases, they also confirm
 * the member’s first one: otherwise a stolen session could add an account of its own.
 */
export async function recordNewcomer(
  app: App,
  transaction: Transaction,
  { resource, id, gameId }: Team,
  { userId, by }: { readonly userId: number; readonly by: number },
): Promise<void> {
  const guardianId = await guardianOf(transaction, by, resource === 'mods' ? id : 0, gameId);
  if (guardianId === undefined || guardianId === userId) return;
  const row = { resource, resource_id: id, user_id: userId, guardian_id: guardianId, date_added: app.clock.now() };
  await store.putNewcomer(transaction.query, row);
}

export const removeNewcomer = ({ query }: Transaction, { resource, id }: Omit<Team, 'gameId'>, userId: number) =>
  store.removeNewcomer(query, resource, id, userId);

/** Postpones the release until its guardian confirms it by mail. Returns false if there is no guardian. */
const postpone: ReleaseExtension['postpone'] = async (app, transaction, file, { userId: actorId, shown, by = {} }) => {
  const userId = await guardianOf(transaction, actorId, file.mod_id, file.game_id);
  if (userId === undefined) return false;
  const now = app.clock.now();
  const waiting = await store.releaseOf(transaction, { userId, actorId, fileId: file.id });
  // Tools repeat the same edit, and each would send a mail.
  if (waiting && now - waiting.date_added < AGAIN_SECONDS) return true;
  if (waiting) await store.remove(transaction, waiting.id);
  const { id } = await store.add(transaction.query, {
    user_id: userId,
    actor_id: actorId,
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
};

export const confirmedReleases: ReleaseExtension = {
  postpone,
  onRecall: async (transaction, fileId) => void (await store.removeOfFile(transaction, fileId)),
};
