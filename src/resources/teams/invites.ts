import type { UserCaller } from '../../access/caller.ts';
import type { App } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import { ApiError } from '../../errors/catalogue.ts';
import type { Language } from '../../localisation/languages.ts';
import { say } from '../../localisation/texts.ts';
import { recordUserEvent } from '../events/events.ts';
import { findUserByEmailIn, normalisedEmail, requireUser, requireUserIn } from '../users/users.ts';
import { actingIn, announceTeam, teamChanged } from './members.ts';
import * as store from './store.ts';
import { joinTeam, MANAGER } from './teams.ts';

export type { OpenInvite } from './store.ts';

/** Open invitations of one mod, and of one person over all mods. */
export const OPEN_PER_MOD_MAX = 20;
export const OPEN_PER_PERSON_MAX = 40;
/** What one person sends, however it ends: each is a mail to someone who did not ask for it. */
export const PER_HOUR_MAX = 30;
const HOUR = 3_600;
const SHOWN_MAX = 1_000;

export const MAIL_JOB = 'teams.mail-invite';

export interface NewInvite {
  readonly email: string;
  readonly level: number;
  readonly position: string;
}

/**
 * Invites whoever reads mails at this address. Whether it has an account makes no difference, neither in what is
 * stored nor in what is answered, except to those who are in the team already.
 */
export async function inviteMember(
  app: App,
  caller: UserCaller,
  { gameId, modId }: { gameId: number; modId: number },
  { email, level, position }: NewInvite,
  language: Language,
): Promise<store.SeatRow> {
  const address = normalisedEmail(email);
  return app.db.write(async (transaction) => {
    const { mod, ...acting } = await actingIn(transaction, caller, gameId, modId);
    if (acting.level < MANAGER) throw new ApiError('MOD_TEAM_NO_ADD_PERMISSION');
    if (level > acting.level) throw new ApiError('USER_CANT_ADD_MODIFY_ABOVE_OWN_LEVEL');
    await requireNewcomer(transaction, modId, address);
    await requireWithinLimits(app, transaction, modId, caller.userId);
    const { id } = await store.addInvite(transaction.query, {
      resource: 'mods',
      resource_id: modId,
      email: address,
      level,
      position,
      invited_by: caller.userId,
      date_added: app.clock.now(),
      date_actioned: null,
    });
    await app.jobs.enqueue(transaction, MAIL_JOB, { id, language });
    announceTeam(transaction, mod);
    return (await store.seatOf(transaction.query, modId, id))!;
  });
}

async function requireNewcomer(transaction: Transaction, modId: number, email: string): Promise<void> {
  const known = await findUserByEmailIn(transaction, email);
  if (known && (await store.levelOf(transaction, 'mods', modId, known.id)) > 0)
    throw new ApiError('MOD_TEAM_ALREADY_HAS_USER');
  if ((await store.openInvitesTo(transaction, modId, email)) > 0) throw new ApiError('MOD_USER_ALREADY_INVITED');
}

async function requireWithinLimits(app: App, transaction: Transaction, modId: number, userId: number): Promise<void> {
  await store.lockUser(transaction, userId);
  if ((await store.openInvitesOf(transaction, modId)) >= OPEN_PER_MOD_MAX)
    throw new ApiError('MOD_INVITE_LIMIT_REACHED');
  if ((await store.openInvitesBy(transaction, userId)) >= OPEN_PER_PERSON_MAX)
    throw new ApiError('TEAM_INVITE_TOO_MANY_PENDING');
  if ((await store.invitesBySince(transaction, userId, app.clock.now() - HOUR)) >= PER_HOUR_MAX)
    throw new ApiError('TEAM_INVITE_FAILURE_RATE_LIMIT', { retryAfterSeconds: HOUR });
}

/** Tells the address of its invitation, if that is still open. */
export async function mailInvite(app: App, id: number, language: Language): Promise<void> {
  const invite = await store.openInvite(app.db.query, id);
  if (!invite) return;
  const values = { mod: invite.mod_name, game: invite.game_name, site: app.addresses.site };
  await app.mail.send({
    to: invite.email,
    subject: say('team_invite_mail_subject', language),
    text: say('team_invite_mail_text', language, values),
  });
}

export async function invitesOf(app: App, { userId }: UserCaller): Promise<store.OpenInvite[]> {
  const { email } = await requireUser(app, userId);
  return email === null ? [] : store.openInvitesFor(app.db.query, email, SHOWN_MAX);
}

export async function acceptInvite(app: App, { userId }: UserCaller, id: number): Promise<store.SeatRow> {
  return app.db.write(async (transaction) => {
    const { mod_id, game_id, level, position, ...invite } = await requireOwnInvite(transaction, userId, id);
    if ((await store.levelOf(transaction, 'mods', mod_id, userId)) > 0) throw new ApiError('MOD_TEAM_ALREADY_HAS_USER');
    await store.closeInvite(transaction.query, id, app.clock.now());
    await joinTeam(app, transaction, { resource: 'mods', resourceId: mod_id, userId, level, position });
    await recordUserEvent(app, transaction, { gameId: game_id, modId: mod_id, userId, type: 'USER_TEAM_JOIN' });
    const mod = { id: mod_id, game_id, status: invite.mod_status, visible: invite.mod_visible };
    await teamChanged(app, transaction, mod, userId);
    return (await store.memberSeat(transaction.query, mod_id, userId))!;
  });
}

export async function declineInvite(app: App, { userId }: UserCaller, id: number): Promise<void> {
  await app.db.write(async (transaction) => {
    const { mod_id, game_id } = await requireOwnInvite(transaction, userId, id);
    await store.closeInvite(transaction.query, id, app.clock.now());
    announceTeam(transaction, { id: mod_id, game_id });
  });
}

/** An invitation to another address is answered as one that does not exist. */
async function requireOwnInvite(transaction: Transaction, userId: number, id: number): Promise<store.OpenInvite> {
  const { email } = await requireUserIn(transaction, userId);
  const found = await store.inviteById(transaction.query, id);
  if (!found || found.email !== email) throw new ApiError('TEAM_NO_DATA_FOUND');
  await store.lockMod(transaction, found.resource_id);
  // Read again: it may have been answered or withdrawn while this waited.
  const current = await store.inviteById(transaction.query, id);
  if (current!.date_actioned !== null) throw new ApiError('TEAM_INVITE_ALREADY_ACTIONED');
  const invite = await store.openInvite(transaction.query, id);
  if (!invite) throw new ApiError('TEAM_NO_DATA_FOUND');
  return invite;
}
