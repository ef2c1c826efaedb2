import type { Insertable, Selectable } from 'kysely';
import { type Database, statement, type Transaction } from '../../database/database.ts';
import type { ReportsTable } from './table.ts';

type Reader = Pick<Database, 'first'>;
export type ReportRow = Selectable<ReportsTable>;

/** Where something that can be reported belongs, and who made it. */
export interface Whereabouts {
  id: number;
  game_id: number;
  submitted_by: number;
}

const COLUMNS = 'r.id, r.game_id, r.submitted_by';
const BY_ID = {
  games: statement('select id, id as game_id, submitted_by from games where id = ?'),
  mods: statement(`select ${COLUMNS} from mods r where r.id = ?`),
  guides: statement(`select ${COLUMNS} from guides r where r.id = ?`),
  collections: statement(`select ${COLUMNS} from collections r where r.id = ?`),
  comments: statement(`select ${COLUMNS} from comments r where r.id = ? and r.date_deleted = 0`),
  users: statement('select id, 0 as game_id, id as submitted_by from users where id = ?'),
} as const;
export type Resource = keyof typeof BY_ID;

export const byId = (reader: Reader, resource: Resource, id: number) =>
  reader.first<Whereabouts>(BY_ID[resource], [id]);

const inGame = (table: string) =>
  statement(`select ${COLUMNS} from ${table} r join games g on g.id = r.game_id where g.name_id = ? and r.name_id = ?`);
const BY_NAME = { mods: inGame('mods'), guides: inGame('guides'), collections: inGame('collections') } as const;
export type NamedInGame = keyof typeof BY_NAME;

export const byNameInGame = (reader: Reader, resource: NamedInGame, gameName: string, name: string) =>
  reader.first<Whereabouts>(BY_NAME[resource], [gameName, name]);

const GAME_BY_NAME = statement('select id, id as game_id, submitted_by from games where name_id = ?');
export const gameByName = (reader: Reader, name: string) => reader.first<Whereabouts>(GAME_BY_NAME, [name]);

const USER_BY_NAME = statement('select id, 0 as game_id, id as submitted_by from users where name_id = ?');
export const userByName = (reader: Reader, name: string) => reader.first<Whereabouts>(USER_BY_NAME, [name]);

const GAME_NAME = statement('select name_id from games where id = ?');
export const gameName = async (reader: Reader, id: number) =>
  (await reader.first<{ name_id: string }>(GAME_NAME, [id]))?.name_id;

const COMMENTED = statement('select resource, resource_id from comments where id = ?');
/** What a comment is on. */
export const commented = (reader: Reader, id: number) =>
  reader.first<{ resource: Resource; resource_id: number }>(COMMENTED, [id]);

const SUBSCRIBED_SINCE = statement('select date_added from subscriptions where user_id = ? and mod_id = ?');
export const subscribedSince = async (reader: Reader, userId: number, modId: number) =>
  (await reader.first<{ date_added: number }>(SUBSCRIBED_SINCE, [userId, modId]))?.date_added;

const PLATFORMS_OF_GAME = statement('select platform from game_platforms where game_id = ?');
export const platformsOfGame = async (transaction: Pick<Transaction, 'all'>, gameId: number) =>
  (await transaction.all<{ platform: string }>(PLATFORMS_OF_GAME, [gameId])).map(({ platform }) => platform);

/** Returns nothing where the person has such a report open already. */
export const add = ({ query }: Transaction, row: Insertable<ReportsTable>) =>
  query
    .insertInto('reports')
    .values(row)
    .onConflict((key) => key.doNothing())
    .returning('id')
    .executeTakeFirst();

type Telling = Pick<ReportRow, 'user_id' | 'resource' | 'resource_id' | 'type'>;

/** What the person says now, in the report that is open already. */
export const retell = (
  { query }: Transaction,
  { user_id, resource, resource_id, type }: Telling,
  said: Pick<ReportRow, 'summary' | 'name' | 'contact' | 'platforms' | 'reason'>,
) =>
  query
    .updateTable('reports')
    .set(said)
    .where('status', '=', 0)
    .where('user_id', '=', user_id)
    .where('resource', '=', resource)
    .where('resource_id', '=', resource_id)
    .where('type', '=', type)
    .execute();
