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

export type { ReleaseRow, ToldRelease } from './store.ts';

/** Where the link of a mail leads. */
export const CONFIRM_PATH = '/release';

/** What waits for the person, and what of theirs waits for somebody else. */
export const releasesOf = (app: App, userId: number): Promise<store.ReleaseRow[]> =>
  store.openOf(app.db.query, userId, app.clock.now());

/** The moment as mails tell it: alike in every language and at every place. */
const moment = (seconds: number): string =>
  `${new Date(seconds * 1_000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** What of a release tells its person whether it was them. */
export function circumstancesOf(
  release: store.ToldRelease,
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

/** The secret is drawn where it is mailed, so that nothing but its digest is ever stored. A mail that is sent again has another. */
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

/** Released by someone whom the reader let into a team. */
export const isOfNewcomer = ({ user_id, actor_id }: store.ReleaseRow): boolean => user_id !== actor_id;

/** The release that a link is about. Whoever is signed in as somebody else is shown none. */
export async function findRelease(
  app: App,
  secret: string,
  readerId: number | undefined,
): Promise<store.ToldRelease | undefined> {
  const release = await store.toldByDigest(app.db, app.secrets.digest(secret), app.clock.now());
  return release && (readerId === undefined || readerId === release.user_id) ? release : undefined;
}

/** Makes the file live, if whoever released it still may; false where the link is not good, or no longer. */
export const confirmRelease = (app: App, secret: string, readerId: number | undefined): Promise<boolean> =>
  decide(app, secret, readerId, async (transaction, release) => {
    refuseSignIn(await requireUserIn(transaction, release.user_id));
    const caller = await callerOf(transaction, release);
    const which = { gameId: release.game_id, modId: release.mod_id };
    const { mod, file, levels } = await requireFileForChange(transaction, caller, which, release.modfile_id);
    if (!mayEdit(levels) || file.withdrawn === 1) throw new ApiError('MODFILE_NO_UPDATE_PERMISSION');
    // Whoever of two came second waited for the mod.
    if (!(await store.remove(transaction, release.id))) return false;
    if (isOfNewcomer(release)) await trust(transaction, release);
    await makeLive(app, transaction, mod, file, { userId: release.actor_id, shown: release.shown === 1 });
    invalidateMod(transaction, mod.game_id, mod.id);
    await auditByGame(app, transaction, caller, mod, { action: 'mods.files-release', data: { file: file.id } });
    return true;
  });

/** It was somebody else: nobody acts for the account any more, and nothing of what was released for it goes live. */
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
  work: (transaction: Transaction, release: store.ToldRelease) => Promise<boolean>,
): Promise<boolean> {
  const found = await findRelease(app, secret, readerId);
  return found !== undefined && app.db.write((transaction) => work(transaction, found));
}

/** What the new member releases from now on is theirs alone. */
async function trust(transaction: Transaction, { mod_id, game_id, actor_id }: store.ReleaseRow): Promise<void> {
  await removeNewcomer(transaction, { resource: 'mods', id: mod_id }, actor_id);
  await removeNewcomer(transaction, { resource: 'games', id: game_id }, actor_id);
}

/** Whoever released the file as they stand now, whatever they were then. */
async function callerOf(transaction: Transaction, release: store.ToldRelease): Promise<UserCaller> {
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

/** Releases that nobody confirmed in time. Their files stay as they are. */
export async function forgetReleases(app: App): Promise<void> {
  await app.db.write(({ query }) => store.forget(query, app.clock.now()));
}
