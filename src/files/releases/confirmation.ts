import type { App } from '../../platform/app.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import type { ReleaseExtension } from '../modfiles/extensions.ts';
import * as store from './store.ts';

export const MAIL_CONFIRMATION = 'releases.mail-confirmation';

type Reader = Pick<Database, 'first'>;

export const CONFIRM_SECONDS = 86_400;
const AGAIN_SECONDS = 60;

/** Whether a person confirms by mail what they release. */
export const isGuarded = async (reader: Reader, userId: number): Promise<boolean> =>
  (await store.guardOf(reader, userId)) !== undefined;

/** What someone may release files of by their seat in its team: a mod, or all mods of a game. */
export interface Team {
  readonly resource: 'games' | 'mods';
  readonly id: number;
  readonly gameId: number;
}

/** Who has to confirm what a person releases, if anyone: they themselves, or who let them into the team. */
async function guardianOf(reader: Reader, userId: number, modId: number, gameId: number): Promise<number | undefined> {
  return (await isGuarded(reader, userId)) ? userId : store.guardianOf(reader, userId, modId, gameId);
}

/**
 * Someone was given a seat that lets them release files. Where its giver confirms releases, they confirm the first of
 * the new member as well: otherwise whoever took their session over would let in an account of their own.
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

/** Someone is new in a team, whatever they were in it before. */
export const removeNewcomer = ({ query }: Transaction, { resource, id }: Omit<Team, 'gameId'>, userId: number) =>
  store.removeNewcomer(query, resource, id, userId);

/** Postpones the release until its guardian has confirmed it by mail; false where there is no guardian. */
const postpone: ReleaseExtension['postpone'] = async (app, transaction, file, { userId: actorId, shown, by = {} }) => {
  const userId = await guardianOf(transaction, actorId, file.mod_id, file.game_id);
  if (userId === undefined) return false;
  const now = app.clock.now();
  const waiting = await store.releaseOf(transaction, { userId, actorId, fileId: file.id });
  // Tools send the same edit more than once, and each would be a mail.
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
