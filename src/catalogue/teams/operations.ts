import { z } from 'zod';
import { reader, user } from '../../platform/access/caller.ts';
import { GamePath, ModPath, PathId, page, pageOf, pageOfAll, pagesOnly } from '../../platform/http/objects.ts';
import { Created, created, noContent, ok, operation } from '../../platform/http/operation.ts';
import { localise } from '../../platform/localisation/texts.ts';
import { acceptInvite, declineInvite, inviteMember, invitesOf } from './invites.ts';
import { changeMember, listSeats, removeMember, seatListing } from './members.ts';
import { InvitedMemberObject, TeamInviteObject, TeamMemberObject, toTeamInvite, toTeamMember } from './object.ts';
import { isVisibleToClass, ofGame, ofMod } from './places.ts';

const GAME_NOT_FOUND = ['GAME_NOT_FOUND', 'GAME_DELETED'] as const;
const NOT_FOUND = [...GAME_NOT_FOUND, 'MOD_NOT_FOUND', 'MOD_DELETED'] as const;
const MemberPath = ModPath.extend({ team_member_id: PathId });
const GameMemberPath = GamePath.extend({ team_member_id: PathId });
const InvitePath = z.object({ invite_id: PathId });

const level = z.literal([1, 4, 8]).meta({ description: '1 moderator, 4 manager, 8 administrator' });
const position = z.string().trim().max(100).meta({ description: 'The title of the member, such as `Level designer`.' });

const invitation = z.object({
  email: z.string().trim().max(254).pipe(z.email()),
  level,
  position: position.default(''),
});

const memberChanges = (place: 'game' | 'mod') =>
  z
    .object({
      level,
      position,
      leader: z.boolean().meta({
        description: `True transfers the ${place} to this administrator, who becomes its submitter. Only for the leader.`,
      }),
    })
    .partial();

const TEAM_RULES = [
  'TEAM_NO_ACCESS_UPDATE_LEADER',
  'TEAM_NO_ACCESS_MODIFY_GTE_LEVEL',
  'USER_CANT_ADD_MODIFY_ABOVE_OWN_LEVEL',
  'TEAM_NO_DATA_CHANGE',
  'TEAM_NEEDS_ONE_ADMIN',
  'TEAM_LEADER_MUST_BE_ADMIN',
  'TEAM_MUST_HAVE_LEADER',
  'TEAM_LEADER_CANT_BE_PENDING',
] as const;

export const getModTeamMembers = operation({
  id: 'get-mod-team-members',
  tag: 'Teams',
  method: 'GET',
  path: '/games/{game_id}/mods/{mod_id}/team',
  says: 'Lists the team of a mod. With `pending=1` its managers and administrators also get open invitations.',
  access: reader(),
  params: ModPath,
  list: seatListing,
  returns: ok(pageOf(TeamMemberObject)),
  errors: NOT_FOUND,
  handle: async (app, { caller, params, list, portal, cache }) => {
    const { rows, total } = await listSeats(app, caller, ofMod(params), list);
    if (await isVisibleToClass(app, caller, ofMod(params)))
      cache(`mods/${params.mod_id}`, `games/${params.game_id}`, 'users');
    return page(
      rows.map((row) => toTeamMember(app, row, portal)),
      total,
      list,
    );
  },
});

export const addModTeamMember = operation({
  id: 'add-mod-team-member',
  tag: 'Teams',
  method: 'POST',
  path: '/games/{game_id}/mods/{mod_id}/team',
  says: 'Invites a user to the team of a mod, at most at the caller’s own level. The user gets a mail and becomes a member by accepting. For managers and administrators of the team.',
  access: user('write', 'team'),
  params: ModPath,
  body: invitation,
  returns: created(InvitedMemberObject),
  errors: [
    ...NOT_FOUND,
    'MOD_TEAM_NO_ADD_PERMISSION',
    'USER_CANT_ADD_MODIFY_ABOVE_OWN_LEVEL',
    'MOD_TEAM_ALREADY_HAS_USER',
    'MOD_USER_ALREADY_INVITED',
    'MOD_INVITE_LIMIT_REACHED',
    'TEAM_INVITE_TOO_MANY_PENDING',
    'TEAM_INVITE_FAILURE_RATE_LIMIT',
  ],
  handle: async (app, { caller, params, body, language, portal }) => {
    const { game_id: gameId, mod_id: modId } = params;
    const seat = await inviteMember(app, caller, ofMod(params), body, language);
    const address = `${app.addresses.gameApi(gameId)}/games/${gameId}/mods/${modId}/team`;
    const said = { code: 201, message: localise('team_invited', language) };
    return new Created({ ...said, ...toTeamMember(app, seat, portal) }, address);
  },
});

export const updateModTeamMember = operation({
  id: 'update-mod-team-member',
  tag: 'Teams',
  method: 'PUT',
  path: '/games/{game_id}/mods/{mod_id}/team/{team_member_id}',
  says: 'Changes level and position of a member or of an invitation. Managers and administrators change members below them, members change themselves, and the leader changes everyone.',
  access: user('write', 'team'),
  ends: ['mods'],
  params: MemberPath,
  body: memberChanges('mod'),
  returns: ok(TeamMemberObject),
  errors: [...NOT_FOUND, 'TEAM_NO_DATA_FOUND', 'MOD_TEAM_NO_ADD_PERMISSION', ...TEAM_RULES],
  handle: async (app, { caller, params, body, portal }) =>
    toTeamMember(app, await changeMember(app, caller, ofMod(params), params.team_member_id, body), portal),
});

export const deleteModTeamMember = operation({
  id: 'delete-mod-team-member',
  tag: 'Teams',
  method: 'DELETE',
  path: '/games/{game_id}/mods/{mod_id}/team/{team_member_id}',
  says: 'Removes a member from the team of a mod, or withdraws an invitation. Managers and administrators remove members below them, and every member may leave.',
  access: user('write', 'team'),
  ends: ['mods'],
  params: MemberPath,
  returns: noContent,
  errors: [
    'MOD_TEAM_DELETE_MONETIZATION_TEAM_MEMBER',
    ...NOT_FOUND,
    'TEAM_NO_DATA_FOUND',
    'MOD_TEAM_NO_DELETE_PERMISSION',
    'TEAM_NO_ACCESS_UPDATE_LEADER',
    'TEAM_NO_ACCESS_MODIFY_GTE_LEVEL',
    'TEAM_NEEDS_ONE_ADMIN',
    'TEAM_MUST_HAVE_LEADER',
  ],
  handle: (app, { caller, params }) => removeMember(app, caller, ofMod(params), params.team_member_id),
});

export const getGameTeamMembers = operation({
  id: 'get-game-team-members',
  tag: 'Teams',
  method: 'GET',
  path: '/games/{game_id}/team',
  says: 'Lists the team of a game. With `pending=1` its managers and administrators also get open invitations.',
  access: reader(),
  params: GamePath,
  list: seatListing,
  returns: ok(pageOf(TeamMemberObject)),
  errors: GAME_NOT_FOUND,
  handle: async (app, { caller, params, list, portal, cache }) => {
    const { rows, total } = await listSeats(app, caller, ofGame(params), list);
    cache(`games/${params.game_id}`, 'users');
    return page(
      rows.map((row) => toTeamMember(app, row, portal)),
      total,
      list,
    );
  },
});

export const addGameTeamMember = operation({
  id: 'add-game-team-member',
  tag: 'Teams',
  method: 'POST',
  path: '/games/{game_id}/team',
  says: 'Invites a user to the team of a game, at most at the caller’s own level. The user gets a mail and becomes a member by accepting. For managers and administrators of the team.',
  access: user('write', 'team'),
  params: GamePath,
  body: invitation,
  returns: created(InvitedMemberObject),
  errors: [
    'PERMISSION_CHANGE_PENDING_REVIEW',
    ...GAME_NOT_FOUND,
    'GAME_NO_UPDATE_PERMISSION',
    'USER_CANT_ADD_MODIFY_ABOVE_OWN_LEVEL',
    'GAME_TEAM_ALREADY_HAS_USER',
    'GAME_USER_ALREADY_INVITED',
    'GAME_INVITE_LIMIT_REACHED',
    'TEAM_INVITE_TOO_MANY_PENDING',
    'TEAM_INVITE_FAILURE_RATE_LIMIT',
  ],
  handle: async (app, { caller, params, body, language, portal }) => {
    const seat = await inviteMember(app, caller, ofGame(params), body, language);
    const address = `${app.addresses.gameApi(params.game_id)}/games/${params.game_id}/team`;
    const said = { code: 201, message: localise('team_invited', language) };
    return new Created({ ...said, ...toTeamMember(app, seat, portal) }, address);
  },
});

export const updateGameTeamMember = operation({
  id: 'update-game-team-member',
  tag: 'Teams',
  method: 'PUT',
  path: '/games/{game_id}/team/{team_member_id}',
  says: 'Changes level and position of a member or of an invitation. Managers and administrators change members below them, members change themselves, and the leader changes everyone.',
  access: user('write', 'team'),
  ends: ['games'],
  params: GameMemberPath,
  body: memberChanges('game'),
  returns: ok(TeamMemberObject),
  errors: [
    'PERMISSION_CHANGE_PENDING_REVIEW',
    ...GAME_NOT_FOUND,
    'TEAM_NO_DATA_FOUND',
    'GAME_NO_UPDATE_PERMISSION',
    ...TEAM_RULES,
  ],
  handle: async (app, { caller, params, body, portal }) =>
    toTeamMember(app, await changeMember(app, caller, ofGame(params), params.team_member_id, body), portal),
});

export const deleteGameTeamMember = operation({
  id: 'delete-game-team-member',
  tag: 'Teams',
  method: 'DELETE',
  path: '/games/{game_id}/team/{team_member_id}',
  says: 'Removes a member from the team of a game, or withdraws an invitation. Managers and administrators remove members below them, and every member may leave.',
  access: user('write', 'team'),
  ends: ['games'],
  params: GameMemberPath,
  returns: noContent,
  errors: [
    'PERMISSION_CHANGE_PENDING_REVIEW',
    ...GAME_NOT_FOUND,
    'TEAM_NO_DATA_FOUND',
    'GAME_NO_UPDATE_PERMISSION',
    'TEAM_NO_ACCESS_UPDATE_LEADER',
    'TEAM_NO_ACCESS_MODIFY_GTE_LEVEL',
    'TEAM_NEEDS_ONE_ADMIN',
    'TEAM_MUST_HAVE_LEADER',
  ],
  handle: (app, { caller, params }) => removeMember(app, caller, ofGame(params), params.team_member_id),
});

export const getTeamInvites = operation({
  id: 'get-team-invites',
  tag: 'Me',
  method: 'GET',
  path: '/me/team-invites',
  says: 'Lists the open invitations to teams that were sent to the user’s email address.',
  access: user('read', 'profile'),
  list: pagesOnly,
  returns: ok(pageOf(TeamInviteObject)),
  errors: [],
  handle: async (app, { caller, list, portal }) => {
    const invites = await invitesOf(app, caller);
    return pageOfAll(
      invites.map((invite) => toTeamInvite(app, invite, portal)),
      list,
    );
  },
});

export const acceptTeamInvite = operation({
  id: 'accept-team-invite',
  tag: 'Me',
  method: 'POST',
  path: '/me/team-invites/{invite_id}/accept',
  says: 'Accepts an invitation. The user becomes a member of the team.',
  access: user('write', 'profile'),
  params: InvitePath,
  returns: ok(TeamMemberObject),
  errors: [
    'OAUTH_UNEXPECTED_GAME_REFERENCE',
    'TEAM_NO_DATA_FOUND',
    'TEAM_INVITE_ALREADY_ACTIONED',
    'MOD_TEAM_ALREADY_HAS_USER',
    'GAME_TEAM_ALREADY_HAS_USER',
  ],
  handle: async (app, { caller, params, portal }) =>
    toTeamMember(app, await acceptInvite(app, caller, params.invite_id), portal),
});

export const declineTeamInvite = operation({
  id: 'decline-team-invite',
  tag: 'Me',
  method: 'POST',
  path: '/me/team-invites/{invite_id}/decline',
  says: 'Declines an invitation to a team.',
  access: user('write', 'profile'),
  params: InvitePath,
  returns: noContent,
  errors: ['TEAM_NO_DATA_FOUND', 'TEAM_INVITE_ALREADY_ACTIONED'],
  handle: (app, { caller, params }) => declineInvite(app, caller, params.invite_id),
});

export const teamOperations = [
  getModTeamMembers,
  addModTeamMember,
  updateModTeamMember,
  deleteModTeamMember,
  getGameTeamMembers,
  addGameTeamMember,
  updateGameTeamMember,
  deleteGameTeamMember,
  getTeamInvites,
  acceptTeamInvite,
  declineTeamInvite,
];
