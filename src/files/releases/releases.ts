import { auditByGame } from '../../catalogue/mods/auditing.ts';
import { invalidateMod, mayEdit } from '../../catalogue/mods/mods.ts';
import { staffLevelOf } from '../../people/staff/staff.ts';
import { signOut } from '../../people/users/signing-out.ts';
import { refuseSignIn, requireUserIn } from '../../people/users/users.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import { STAFF_LEVELS } from '../../platform/access/staff.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { languageOf } from '../../platform/localisation/languages.ts';
import { localise } from '../../platform/localisation/texts.ts';
import { requireFileForChange } from '../modfiles/modfiles.ts';
import { makeLive } from '../modfiles/releasing.ts';
import { CONFIRM_SECONDS, removeNewcomer } from './confirmation.ts';
import * as store from './store.ts';

export type { ReleaseDetails, ReleaseRow } from './store.ts';

/** The path of the link in a mail. */
export const CONFIRM_PATH = '/release';

/** The releases that the user has to confirm, and those of theirs that others have to confirm. */
export const releasesOf = (app: App, userId: number): Promise<store.ReleaseRow[]> =>
  store.openOf(app.db.query, userId, app.clock.now());

/** The same in every language and time zone. */
const moment = (seconds: number): string =>
  `${new Date(seconds * 1_000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** The details by which a user recognises whether they released the file themselves. */
export function circumstancesOf(
  release: store.ReleaseDetails,
): Record<'file' | 'actor' | 'date' | 'address' | 'access', string> {
  const { filename, version, actor, date_added, ip, token_name, token_added } = release;
  const since = token_added === null ? '' : moment(token_added);
  return {
    // In one line, so that a version cannot imitate other lines of the mail.
    file: (version ? `${filename} (${version})` : filename).replace(/\s+/g, ' '),
    actor,
    date: moment(date_added),
    address: ip || '–',
    access: [token_name, since].filter(Boolean).join(', ') || '–',
  };
}

/** The secret is created when the mail is sent, and only its digest is stored. A repeated mail gets a new secret. */
export async function mailConfirmation(app: App, id: number): Promise<void> {
  const secret = app.random.token();
  const now = app.clock.now();
  const release = await app.db.write(async (transaction) => {
    const digest = app.secrets.digest(secret);
    await store.putDigest(transaction, id, { digest, dateExpires: now + CONFIRM_SECONDS, now });
    return store.toldById(transaction, id, now);
  });
  if (!release || release.email === null) return;
  const language = languageOf(release.language) ?? 'en';
  const { mod, game, email: to } = release;
  const link = `${app.addresses.site}${CONFIRM_PATH}?token=${secret}`;
  const values = { mod, game, ...circumstancesOf(release), link, hours: CONFIRM_SECONDS / 3_600 };
  const subject = localise('confirm_release_mail_subject', language, { mod });
  const text = localise('confirm_release_mail_text', language, values);
  const why = isOfNewcomer(release) ? `\n\n${localise('page_release_newcomer', language, values)}` : '';
  await app.mail.send({ to, subject, text: `${text}${why}` });
}

/** Whether the release is by a team member that the recipient added. */
export const isOfNewcomer = ({ user_id, actor_id }: store.ReleaseRow): boolean => user_id !== actor_id;

/** The release of a link. Undefined if another user is signed in. */
export async function findRelease(
  app: App,
  secret: string,
  readerId: number | undefined,
): Promise<store.ReleaseDetails | undefined> {
  const release = await store.toldByDigest(app.db, app.secrets.digest(secret), app.clock.now());
  return release && (readerId === undefined || readerId === release.user_id) ? release : undefined;
}

/** Makes the file live if the user that released it still may. Returns false if the link is not valid. */
export const confirmRelease = (app: App, secret: string, readerId: number | undefined): Promise<boolean> =>
  decide(app, secret, readerId, async (transaction, release) => {
    refuseSignIn(await requireUserIn(transaction, release.user_id));
    const caller = await callerOf(transaction, release);
    const which = { gameId: release.game_id, modId: release.mod_id };
    const { mod, file, levels } = await requireFileForChange(transaction, caller, which, release.modfile_id);
    if (!mayEdit(levels) || file.withdrawn === 1) throw new ApiError('MODFILE_NO_UPDATE_PERMISSION');
    // A second, concurrent request waited for the mod’s lock and finds no release.
    if (!(await store.remove(transaction, release.id))) return false;
    if (isOfNewcomer(release)) await trust(transaction, release);
    await makeLive(app, transaction, mod, file, { userId: release.actor_id, shown: release.shown === 1 });
    invalidateMod(transaction, mod.game_id, mod.id);
    await auditByGame(app, transaction, caller, mod, { action: 'mods.files-release', data: { file: file.id } });
    return true;
  });

/** Reports a stolen session: signs the account out everywhere, and drops all releases that it requested. */
export const refuseRelease = (app: App, secret: string, readerId: number | undefined): Promise<boolean> =>
  decide(app, secret, readerId, async (transaction, { user_id: userId }) => {
    await signOut(app, transaction, userId);
    await store.removeOfUser(transaction, userId);
    await store.changeGuard(transaction.query, userId, { code_digest: null });
    return true;
  });

async function decide(
  app: App,
  secret: string,
  readerId: number | undefined,
  work: (transaction: Transaction, release: store.ReleaseDetails) => Promise<boolean>,
): Promise<boolean> {
  const found = await findRelease(app, secret, readerId);
  return found !== undefined && app.db.write((transaction) => work(transaction, found));
}

/** After one confirmed release the new member releases without the guardian. */
async function trust(transaction: Transaction, { mod_id, game_id, actor_id }: store.ReleaseRow): Promise<void> {
  await removeNewcomer(transaction, { resource: 'mods', id: mod_id }, actor_id);
  await removeNewcomer(transaction, { resource: 'games', id: game_id }, actor_id);
}

/** The user that released the file, with their current permissions. */
async function callerOf(transaction: Transaction, release: store.ReleaseDetails): Promise<UserCaller> {
  const user = await requireUserIn(transaction, release.actor_id);
  refuseSignIn(user);
  const staff = await staffLevelOf(transaction, user.id);
  return {
    kind: 'user',
    userId: user.id,
    tokenId: 0,
    scopes: ['read', 'write'],
    gameId: release.game_id,
    admin: staff >= STAFF_LEVELS.administrator,
    staff,
    language: user.language,
    dateExpires: release.date_expires,
    inTeams: true,
  };
}

/** Removes releases that were not confirmed in time. Their files stay as they are. */
export async function removeExpiredReleases(app: App): Promise<void> {
  await app.db.write(({ query }) => store.forget(query, app.clock.now()));
}
