import { z } from 'zod';
import { user } from '../../platform/access/caller.ts';
import { Id, Integer, ModPath, page, pageOf, pageOfAll, pagesOnly, Timestamp } from '../../platform/http/objects.ts';
import { noContent, ok, operation } from '../../platform/http/operation.ts';
import {
  listRevenueTeams,
  removeRevenueTeam,
  type ShareRow,
  setRevenueTeam,
  showRevenueTeam,
} from './revenue-teams.ts';

const REFUSALS = [
  'GAME_NOT_FOUND',
  'GAME_DELETED',
  'MOD_NOT_FOUND',
  'MOD_DELETED',
  'MONETIZATION_TEAM_NO_ADD_PERMISSION',
] as const;

const APPROVED = 16;

const AccountObject = z
  .object({
    id: Id,
    name_id: z.string(),
    username: z.string(),
    monetization_status: Integer,
    monetization_options: Integer.meta({ description: '1 if the earnings of the user can be paid out.' }),
    split: Integer.meta({ description: 'The share in percent.' }),
  })
  .meta({ id: 'MonetizationTeamAccounts' });

const toAccount = (row: ShareRow): z.output<typeof AccountObject> => ({
  id: row.user_id,
  name_id: row.name_id,
  username: row.username,
  monetization_status: row.monetization_status,
  monetization_options: Number((row.monetization_status & APPROVED) !== 0),
  split: row.split,
});

const allOf = (rows: readonly ShareRow[]) => pageOfAll(rows.map(toAccount), { limit: 100, offset: 0 });

export const getRevenueTeam = operation({
  id: 'get-users-in-mod-monetization-team',
  tag: 'Monetization',
  method: 'GET',
  path: '/games/{game_id}/mods/{mod_id}/monetization/team',
  says: 'Lists the users who earn with a mod, and their shares. Until a team is set the leader of the mod earns everything. For members of the mod’s team.',
  access: user('write', 'money'),
  params: ModPath,
  returns: ok(pageOf(AccountObject)),
  errors: [...REFUSALS, 'MONETIZATION_TEAM_NOT_FOUND'],
  handle: async (app, { caller, params }) => allOf(await showRevenueTeam(app, caller, params.game_id, params.mod_id)),
});

export const createRevenueTeam = operation({
  id: 'create-mod-monetization-team',
  tag: 'Monetization',
  method: 'POST',
  path: '/games/{game_id}/mods/{mod_id}/monetization/team',
  says: 'Sets who earns with a mod from now on: at most five users, who share 100 percent. For administrators of the mod; only its leader lowers the share of the leader.',
  access: user('write', 'money'),
  params: ModPath,
  under: ['users'],
  names: { users: ({ body: { users = [] } }) => users.map(({ id }) => id) },
  body: z.object({ users: z.array(z.object({ id: Id, split: z.int() })).max(100) }),
  returns: ok(pageOf(AccountObject)),
  errors: [
    ...REFUSALS,
    'MONETIZATION_SITE_MONETIZATION_DISABLED',
    'MONETIZATION_TEAM_NOT_FOUND',
    'MONETIZATION_ONBOARD_ERROR',
    'MONETIZATION_WALLET_ERROR',
    'MONETIZATION_TEAM_CREATE_ERROR',
    'MONETIZATION_TEAM_ADD_ERROR',
    'MONETIZATION_SPLIT_LIMITS',
    'MONETIZATION_DEFAULT_MIN_SPLIT',
    'MONETIZATION_TEAM_COUNT_LIMIT',
  ],
  handle: async (app, { caller, params, body }) =>
    allOf(await setRevenueTeam(app, caller, params.game_id, params.mod_id, body.users)),
});

export const deleteRevenueTeam = operation({
  id: 'delete-mod-monetization-team',
  tag: 'Monetization',
  method: 'DELETE',
  path: '/games/{game_id}/mods/{mod_id}/monetization/team',
  says: 'Gives everything that a mod earns from now on to its leader. For administrators of the mod.',
  access: user('write', 'money'),
  params: ModPath,
  returns: noContent,
  errors: [...REFUSALS, 'MONETIZATION_TEAM_NOT_CREATED'],
  handle: (app, { caller, params }) => removeRevenueTeam(app, caller, params.game_id, params.mod_id),
});

const PastTeamObject = z
  .object({
    id: Id,
    changed_by: Id,
    date_added: Timestamp,
    users: z.array(z.object({ id: Id, username: z.string(), split: Integer })),
  })
  .meta({ id: 'PastMonetizationTeam' });

export const getRevenueTeamHistory = operation({
  id: 'get-mod-monetization-team-history',
  tag: 'Monetization',
  method: 'GET',
  path: '/games/{game_id}/mods/{mod_id}/monetization/team/history',
  says: 'Lists who has earned with a mod since when, the newest first. Without users, its leader. For members of the mod’s team.',
  access: user('read', 'money'),
  params: ModPath,
  list: pagesOnly,
  returns: ok(pageOf(PastTeamObject)),
  errors: REFUSALS,
  handle: async (app, { caller, params, list }) => {
    const { rows, total } = await listRevenueTeams(app, caller, params.game_id, params.mod_id, list);
    const teams = rows.map(({ id, changed_by, date_added, shares }) => ({
      id,
      changed_by,
      date_added,
      users: shares.map(({ user_id, username, split }) => ({ id: user_id, username, split })),
    }));
    return page(teams, total, list);
  },
});

export const revenueTeamOperations = [getRevenueTeam, createRevenueTeam, deleteRevenueTeam, getRevenueTeamHistory];
