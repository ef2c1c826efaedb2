import { sendMailing } from '../../people/mailings/mailings.ts';
import { notify } from '../../people/notifications/notifications.ts';
import { findUserByEmailIn, normalisedEmail, requireUser, requireUserIn } from '../../people/users/users.ts';
import { teamRoleCounts } from '../../platform/access/admission.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import { localise, type TextName } from '../../platform/localisation/texts.ts';
import { changeTeam, checkSensitiveChange } from './changing.ts';
import { type NewMember, type Place, teamExtensions } from './extensions.ts';
import { actingIn, auditTeam } from './members.ts';
import { invalidateTeam, ofGame, ofMod, REFUSALS, recordMembership, teamChanged } from './places.ts';
import * as store from './store.ts';
import { ADMINISTRATOR, joinTeam, MANAGER, type TeamResource } from './teams.ts';

export type { OpenInvite } from './store.ts';

/** Limits of open invitations: of one team, and of one inviter over all teams. */
export const OPEN_PER_TEAM_MAX = 20;
export const OPEN_PER_PERSON_MAX = 40;
/** Counts answered invitations too, because each was a mail that the recipient did not ask for. */
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
 * Invites an email address. Row and response are the same whether or not it has an account, so that invitations do not
 * reveal accounts; only members of the team are refused.
 */
export async function inviteMember(
  app: App,
  caller: UserCaller,
  place: Place,
  { email, level, position }: NewInvite,
  language: Language,
): Promise<store.SeatRow> {
  const address = normalisedEmail(email);
  return changeTeam(app, caller, place.gameId, async (transaction) => {
    const acting = await actingIn(app, transaction, caller, place);
    if (acting.level < MANAGER) throw new ApiError(REFUSALS[place.resource].add);
    if (level > acting.level) throw new ApiError('USER_CANT_ADD_MODIFY_ABOVE_OWN_LEVEL');
    await requireNewcomer(transaction, place, address);
    await requireWithinLimits(app, transaction, place, caller.userId);
    if (place.resource === 'games' && level >= ADMINISTRATOR)
      await checkSensitiveChange(app, transaction, caller, place.id, { kind: 'invite', email: address, level });
    const { id } = await store.addInvite(transaction.query, {
      resource: place.resource,
      resource_id: place.id,
      email: address,
      level,
      position,
      invited_by: caller.userId,
      date_added: app.clock.now(),
      date_actioned: null,
    });
    await app.jobs.enqueue(transaction, MAIL_JOB, { id, language });
    await notifyInvited(app, transaction, place, address, caller.userId);
    invalidateTeam(app, transaction, place);
    await auditTeam(app, transaction, acting, 'invite', { invite: id, level });
    return (await store.seatOf(transaction.query, place, id))!;
  });
}

/** Users with an account also get a notification. */
async function notifyInvited(app: App, transaction: Transaction, place: Place, email: string, actorId: number) {
  const known = await findUserByEmailIn(transaction, email);
  const { resource, id: resourceId, gameId } = place;
  if (known)
    await notify(app, transaction, { userId: known.id, kind: 'team_invite', actorId, resource, resourceId, gameId });
}

async function requireNewcomer(transaction: Transaction, place: Place, email: string): Promise<void> {
  const { member, invited } = REFUSALS[place.resource];
  const known = await findUserByEmailIn(transaction, email);
  if (known && (await store.levelOf(transaction, place.resource, place.id, known.id)) > 0) throw new ApiError(member);
  if ((await store.openInvitesTo(transaction, place, email)) > 0) throw new ApiError(invited);
}

async function requireWithinLimits(app: App, transaction: Transaction, place: Place, userId: number): Promise<void> {
  await store.lockUser(transaction, userId);
  if ((await store.openInvitesOf(transaction, place)) >= OPEN_PER_TEAM_MAX)
    throw new ApiError(REFUSALS[place.resource].limit);
  if ((await store.openInvitesBy(transaction, userId)) >= OPEN_PER_PERSON_MAX)
    throw new ApiError('TEAM_INVITE_TOO_MANY_PENDING');
  if ((await store.invitesBySince(transaction, userId, app.clock.now() - HOUR)) >= PER_HOUR_MAX)
    throw new ApiError('TEAM_INVITE_FAILURE_RATE_LIMIT', { retryAfterSeconds: HOUR });
}

const MAIL_TEXTS = {
  games: { subject: 'game_team_invite_mail_subject', text: 'game_team_invite_mail_text' },
  mods: { subject: 'team_invite_mail_subject', text: 'team_invite_mail_text' },
} as const satisfies Record<TeamResource, Record<string, TextName>>;

/** Mails an invitation, if it is still open. */
export async function mailInvite(app: App, id: number, language: Language): Promise<void> {
  const invite = await store.openInvite(app.db.query, id);
  if (!invite) return;
  const values = { mod: invite.mod_name, game: invite.game_name, site: app.addresses.site };
  const texts = MAIL_TEXTS[invite.resource as TeamResource];
  const message = {
    to: invite.email,
    subject: localise(texts.subject, language),
    text: localise(texts.text, language, values),
  };
  await sendMailing(app, message, language);
}

export async function invitesOf(app: App, { userId }: UserCaller): Promise<store.OpenInvite[]> {
  const { email } = await requireUser(app, userId);
  return email === null ? [] : store.openInvitesFor(app.db.query, email, SHOWN_MAX);
}

/** Accepts an invitation. A token of another game is refused, because the membership would not count there. */
export async function acceptInvite(app: App, caller: UserCaller, id: number): Promise<store.SeatRow> {
  const { userId } = caller;
  return app.db.write(async (transaction) => {
    const { level, position, ...invite } = await requireOwnInvite(transaction, userId, id);
    if (!teamRoleCounts(caller, invite.game_id)) throw new ApiError('OAUTH_UNEXPECTED_GAME_REFERENCE');
    const place = placeOf(invite);
    const { resource, id: resourceId } = place;
    if ((await store.levelOf(transaction, resource, resourceId, userId)) > 0)
      throw new ApiError(REFUSALS[resource].member);
    await store.closeInvite(transaction.query, id, app.clock.now());
    await joinTeam(app, transaction, { resource, resourceId, userId, level, position });
    await memberJoined(app, transaction, place, { userId, level, invitedBy: invite.user_id });
    await recordMembership(app, transaction, place, userId, 'USER_TEAM_JOIN');
    await teamChanged(app, transaction, place, userId);
    return (await store.memberSeat(transaction.query, place, userId))!;
  });
}

async function memberJoined(app: App, transaction: Transaction, place: Place, member: NewMember): Promise<void> {
  for (const { onJoin } of app.extensions.of(teamExtensions)) await onJoin?.(app, transaction, place, member);
}

const placeOf = (invite: Pick<store.OpenInvite, 'resource' | 'game_id' | 'mod_id'>): Place =>
  invite.resource === 'games' ? ofGame(invite) : ofMod(invite);

export async function declineInvite(app: App, { userId }: UserCaller, id: number): Promise<void> {
  await app.db.write(async (transaction) => {
    const invite = await requireOwnInvite(transaction, userId, id);
    await store.closeInvite(transaction.query, id, app.clock.now());
    invalidateTeam(app, transaction, placeOf(invite));
  });
}

/** An invitation to another address gets the same error as a missing one. */
async function requireOwnInvite(transaction: Transaction, userId: number, id: number): Promise<store.OpenInvite> {
  const { email } = await requireUserIn(transaction, userId);
  const found = await store.inviteById(transaction.query, id);
  if (!found || found.email !== email) throw new ApiError('TEAM_NO_DATA_FOUND');
  await store.lock(transaction, { resource: found.resource, id: found.resource_id });
  // Read again under the lock: it may have been answered or withdrawn in the meantime.
  const current = await store.inviteById(transaction.query, id);
  if (current!.date_actioned !== null) throw new ApiError('TEAM_INVITE_ALREADY_ACTIONED');
  const invite = await store.openInvite(transaction.query, id);
  if (!invite) throw new ApiError('TEAM_NO_DATA_FOUND');
  return invite;
}
