import type { Selectable } from 'kysely';
import { type Database, type Query, statement, type Transaction } from '../../platform/database/database.ts';
import type { RevenueTeamsTable } from './table.ts';

export type RevenueTeamRow = Selectable<RevenueTeamsTable>;
type Reader = Pick<Database, 'first' | 'all'>;

const CURRENT = statement('select * from revenue_teams where mod_id = ? order by id desc limit 1');
export const current = (reader: Reader, modId: number) => reader.first<RevenueTeamRow>(CURRENT, [modId]);

export interface ShareRow {
  readonly user_id: number;
  readonly split: number;
  readonly status: number;
  readonly name_id: string;
  readonly username: string;
  readonly monetization_status: number;
}

// Accounts that were merged have two rows.
const SHARES =
  statement(`select s.user_id, sum(s.split) as split, u.status, u.name_id, u.username, u.monetization_status
  from revenue_shares s join users u on u.id = s.user_id where s.revenue_team_id = ?
  group by s.user_id, u.status, u.name_id, u.username, u.monetization_status order by sum(s.split) desc, s.user_id`);
export const sharesOf = async (reader: Reader, teamId: number): Promise<ShareRow[]> =>
  (await reader.all<ShareRow>(SHARES, [teamId])).map((row) => ({ ...row, split: Number(row.split) }));

/** Someone who earns with a mod. */
export interface SellerRow {
  readonly user_id: number;
  /** 0 in the row of the leader, which exists beside those of the team. */
  readonly split: number;
  readonly status: number;
}

const SELLERS = statement(`select s.user_id, sum(s.split) as split, u.status
  from revenue_shares s join users u on u.id = s.user_id
  where s.revenue_team_id = (select id from revenue_teams where mod_id = ? order by id desc limit 1)
  group by s.user_id, u.status
  union all select u.id, 0, u.status from mods m join users u on u.id = m.submitted_by where m.id = ?`);
/** The team of a mod that was set, and its leader, in one statement. */
export const sellersOf = async (reader: Reader, modId: number): Promise<SellerRow[]> =>
  (await reader.all<SellerRow>(SELLERS, [modId, modId])).map((row) => ({ ...row, split: Number(row.split) }));

const LEADER = statement(`select u.id as user_id, 100 as split, u.status, u.name_id, u.username, u.monetization_status,
  m.monetization_options from mods m join users u on u.id = m.submitted_by where m.id = ?`);
/** The leader of a mod, with all of what it earns. */
export const leaderOf = async (reader: Reader, modId: number) =>
  (await reader.first<ShareRow & { readonly monetization_options: number }>(LEADER, [modId]))!;

export async function add(
  { query }: Transaction,
  team: Omit<RevenueTeamRow, 'id'>,
  shares: readonly { readonly user_id: number; readonly split: number }[],
): Promise<RevenueTeamRow> {
  const row = await query.insertInto('revenue_teams').values(team).returningAll().executeTakeFirstOrThrow();
  if (shares.length > 0)
    await query
      .insertInto('revenue_shares')
      .values(shares.map((each) => ({ ...each, revenue_team_id: row.id })))
      .execute();
  return row;
}

export async function history(query: Query, modId: number, { limit, offset }: { limit: number; offset: number }) {
  const own = query.selectFrom('revenue_teams').where('mod_id', '=', modId);
  const { total } = await own.select((eb) => eb.fn.countAll().as('total')).executeTakeFirstOrThrow();
  const rows = await own.selectAll().orderBy('id', 'desc').limit(limit).offset(offset).execute();
  return { rows, total: Number(total) };
}

/** The shares of several teams at once. */
export const sharesAmong = (query: Query, teamIds: readonly number[]) =>
  query
    .selectFrom('revenue_shares as s')
    .innerJoin('users as u', 'u.id', 's.user_id')
    .select(['s.revenue_team_id', 's.user_id', 's.split', 'u.username'])
    .where('s.revenue_team_id', 'in', [...teamIds, 0])
    .orderBy('s.user_id')
    .execute();
