import type { Selectable } from 'kysely';
import { type Database, type Query, statement } from '../../platform/database/database.ts';
import type { PartnersTable, SellerAccountsTable, SellerStatus } from './table.ts';

export type { PartnerStatus, SellerStatus } from './table.ts';
export type SellerAccountRow = Selectable<SellerAccountsTable>;
export type PartnerRow = Selectable<PartnersTable>;
type Reader = Pick<Database, 'first'>;
type Page = { readonly limit: number; readonly offset: number };

const ACCOUNT = statement('select * from seller_accounts where user_id = ?');
export const accountOf = (reader: Reader, userId: number) => reader.first<SellerAccountRow>(ACCOUNT, [userId]);

export const putAccount = (query: Query, row: SellerAccountRow): Promise<SellerAccountRow> =>
  query
    .insertInto('seller_accounts')
    .values(row)
    .onConflict((key) => key.column('user_id').doUpdateSet(row))
    .returningAll()
    .executeTakeFirstOrThrow();

export async function accounts(query: Query, status: SellerStatus | undefined, { limit, offset }: Page) {
  const own = query
    .selectFrom('seller_accounts as a')
    .innerJoin('users as u', 'u.id', 'a.user_id')
    .$if(status !== undefined, (some) => some.where('a.status', '=', status!));
  const { total } = await own.select((eb) => eb.fn.countAll().as('total')).executeTakeFirstOrThrow();
  const rows = await own
    .selectAll('a')
    .select('u.username')
    .orderBy('a.date_added')
    .orderBy('a.user_id')
    .limit(limit)
    .offset(offset)
    .execute();
  return { rows, total: Number(total) };
}

const PARTNER = statement('select * from partners where game_id = ? and user_id = ?');
export const partnerOf = (reader: Reader, gameId: number, userId: number) =>
  reader.first<PartnerRow>(PARTNER, [gameId, userId]);

export const putPartner = (query: Query, row: PartnerRow): Promise<PartnerRow> =>
  query
    .insertInto('partners')
    .values(row)
    .onConflict((key) => key.columns(['game_id', 'user_id']).doUpdateSet(row))
    .returningAll()
    .executeTakeFirstOrThrow();

const MEMBERSHIP = statement("select 1 as member from partners where user_id = ? and status = 'approved' limit 1");
export const isMember = async (reader: Reader, userId: number): Promise<boolean> =>
  (await reader.first(MEMBERSHIP, [userId])) !== undefined;

export async function partnersOf(query: Query, gameId: number, { limit, offset }: Page) {
  const own = query
    .selectFrom('partners as p')
    .innerJoin('users as u', 'u.id', 'p.user_id')
    .where('p.game_id', '=', gameId);
  const { total } = await own.select((eb) => eb.fn.countAll().as('total')).executeTakeFirstOrThrow();
  const page = own.selectAll('p').select('u.username').orderBy('p.user_id').limit(limit).offset(offset);
  return { rows: await page.execute(), total: Number(total) };
}

export interface Achievements {
  readonly mods: number;
  readonly subscribers: number;
  /** The best weighted rating of a mod, between 0 and 1. */
  readonly rating: number;
}

// Public mods only: what nobody sees proves nothing.
const ACHIEVED = statement(`select count(*) as mods, coalesce(sum(s.subscribers_total), 0) as subscribers,
  coalesce(max(s.ratings_weighted_aggregate), 0) as rating from mods m join mod_stats s on s.mod_id = m.id
  where m.game_id = ? and m.submitted_by = ? and m.status = 1 and m.visible = 1`);
export async function achievementsOf(reader: Reader, gameId: number, userId: number): Promise<Achievements> {
  const { mods, subscribers, rating } = (await reader.first<Achievements>(ACHIEVED, [gameId, userId]))!;
  return { mods: Number(mods), subscribers: Number(subscribers), rating: Number(rating) };
}
