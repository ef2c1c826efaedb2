import { type Database, type Query, statement } from '../../platform/database/database.ts';
import type { GameWordlistsTable } from './table.ts';

export interface FilterOfGame {
  readonly profanity_option: number;
  readonly allowed: string | null;
  readonly denied: string | null;
}

const FILTER = statement(`select g.profanity_option, w.allowed, w.denied from games g
  left join game_wordlists w on w.game_id = g.id where g.id = ?`);
export const filterOf = (reader: Pick<Database, 'first'>, gameId: number) =>
  reader.first<FilterOfGame>(FILTER, [gameId]);

const LISTS = statement('select * from game_wordlists where game_id = ?');
export const listsOf = (reader: Pick<Database, 'first'>, gameId: number) =>
  reader.first<GameWordlistsTable>(LISTS, [gameId]);

export const put = (query: Query, row: GameWordlistsTable) =>
  query
    .insertInto('game_wordlists')
    .values(row)
    .onConflict((key) => key.column('game_id').doUpdateSet(row))
    .execute();
