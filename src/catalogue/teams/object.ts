import { z } from 'zod';
import { toUserObject, UserObject } from '../../people/users/object.ts';
import type { App } from '../../platform/app.ts';
import { Id, Integer, Timestamp } from '../../platform/http/objects.ts';
import type { Portal } from '../../platform/vocabulary/game-platforms.ts';
import type { OpenInvite } from './invites.ts';
import type { SeatRow } from './members.ts';

const TeamUserObject = UserObject.extend({ id: z.int().min(0) }).meta({
  id: 'TeamUser',
  description: 'The user. In an invitation that is not accepted yet, `id` is 0 and `username` is the invited address.',
});

export const TeamMemberObject = z
  .object({
    id: Id,
    user: TeamUserObject,
    level: Integer.meta({ description: '1 moderator, 4 manager, 8 administrator' }),
    date_added: Timestamp,
    position: z.string(),
    invite_pending: Integer.meta({ description: '0 accepted, 1 invited' }),
  })
  .meta({ id: 'TeamMember' });

/** The Python client reads `code` and `message` of an invitation (docs/API-QUIRKS.md, 41). */
export const InvitedMemberObject = TeamMemberObject.extend({ code: Integer, message: z.string() }).meta({
  id: 'InvitedMember',
});

export const TeamInviteObject = z
  .object({
    id: Id,
    game_id: Id,
    game_name: z.string(),
    mod_id: z.int().min(0).meta({ description: '0 for the team of a game' }),
    mod_name: z.string(),
    level: Integer.meta({ description: '1 moderator, 4 manager, 8 administrator' }),
    position: z.string(),
    date_added: Timestamp,
    invited_by: UserObject,
  })
  .meta({ id: 'TeamInvite' });

/** The fields that members have and invitations lack. */
type Person = Pick<
  OpenInvite,
  'name_id' | 'username' | 'date_online' | 'date_joined' | 'timezone' | 'language' | 'portal_names'
>;

const NOBODY_YET = {
  id: 0,
  name_id: '',
  date_online: 0,
  date_joined: 0,
  avatar: null,
  timezone: '',
  language: '',
  portal_names: '{}',
};

export function toTeamMember(app: App, seat: SeatRow, portal: Portal | undefined): z.input<typeof TeamMemberObject> {
  const { id, level, date_added, position } = seat;
  return { id, user: toTeamUser(app, seat, portal), level, date_added, position, invite_pending: Number(seat.pending) };
}

function toTeamUser(app: App, seat: SeatRow, portal: Portal | undefined): z.input<typeof TeamUserObject> {
  if (seat.user_id === null)
    return { ...toUserObject(app, { ...NOBODY_YET, username: seat.email ?? '' }, portal), profile_url: '' };
  return toUserObject(app, { ...(seat as SeatRow & Person), id: seat.user_id }, portal);
}

export function toTeamInvite(
  app: App,
  invite: OpenInvite,
  portal: Portal | undefined,
): z.input<typeof TeamInviteObject> {
  const { id, game_id, game_name, mod_id, mod_name, level, position, date_added } = invite;
  const invited_by = toUserObject(app, { ...invite, id: invite.user_id }, portal);
  return { id, game_id, game_name, mod_id, mod_name, level, position, date_added, invited_by };
}
