import { type Database, statement } from '../../platform/database/database.ts';
import { IS_PUBLIC_FILE } from '../../platform/database/platforms.ts';

type Reader = Pick<Database, 'first'>;

/** Content that was found by its id: its game, its submitter, and the names in its URL. */
export interface Found {
  game_id: number;
  mod_id: number;
  submitted_by: number;
  game_name_id: string;
  mod_name_id: string;
  /** Of a file: 0 if only the teams of its mod and game see it. */
  offered?: number;
}

const GAME = statement(`select id as game_id, 0 as mod_id, submitted_by, name_id as game_name_id, '' as mod_name_id
  from games where id = ?`);
export const game = (reader: Reader, id: number) => reader.first<Found>(GAME, [id]);

const MOD =
  statement(`select m.game_id, m.id as mod_id, m.submitted_by, g.name_id as game_name_id, m.name_id as mod_name_id
  from mods m join games g on g.id = m.game_id where m.id = ?`);
export const mod = (reader: Reader, id: number) => reader.first<Found>(MOD, [id]);

/** A file that can be downloaded, by everyone or by its teams. */
const FILE =
  statement(`select m.game_id, m.id as mod_id, f.submitted_by, g.name_id as game_name_id, m.name_id as mod_name_id,
    case when ${IS_PUBLIC_FILE} then 1 else 0 end as offered
  from modfiles f join mods m on m.id = f.mod_id join games g on g.id = m.game_id
  where f.id = ? and f.kind = 'file' and f.status = 1 and f.withdrawn = 0`);
export const file = (reader: Reader, id: number) => reader.first<Found>(FILE, [id]);

const GUIDE = statement(`select r.game_id, g.name_id as game_name_id, r.name_id as guide_name_id
  from guides r join games g on g.id = r.game_id where r.id = ?`);
export const guide = (reader: Reader, id: number) =>
  reader.first<{ game_id: number; game_name_id: string; guide_name_id: string }>(GUIDE, [id]);

/** The game of a collection, and the names in its URL. */
export interface FoundCollection {
  game_id: number;
  game_name_id: string;
  name_id: string;
}

const COLLECTION = statement(`select c.game_id, c.name_id, g.name_id as game_name_id
  from collections c join games g on g.id = c.game_id where c.id = ?`);
export const collection = (reader: Reader, id: number) => reader.first<FoundCollection>(COLLECTION, [id]);

interface Id {
  readonly id: number;
}

const GAME_NAMED = statement('select id from games where name_id = ?');
export const gameNamed = (reader: Reader, nameId: string) => reader.first<Id>(GAME_NAMED, [nameId]);

const USER_NAMED = statement('select id from users where name_id = ?');
export const userNamed = (reader: Reader, nameId: string) => reader.first<Id>(USER_NAMED, [nameId]);

const IN_GAME = {
  mods: statement('select id from mods where game_id = ? and name_id = ? and status <> 3'),
  guides: statement('select id from guides where game_id = ? and name_id = ? and status <> 3'),
  collections: statement('select id from collections where game_id = ? and name_id = ? and status <> 3'),
};
export type NamedInGame = keyof typeof IN_GAME;
export const namedInGame = (reader: Reader, kind: NamedInGame, gameId: number, nameId: string) =>
  reader.first<Id>(IN_GAME[kind], [gameId, nameId]);

/** A line of a list of pages. */
export interface Line {
  readonly name_id: string;
  readonly name: string;
  readonly summary: string;
}

const GAMES = statement(
  'select name_id, name, summary from games where status = 1 order by date_live desc, id desc limit ?',
);
export const publicGames = (reader: Pick<Database, 'all'>, most: number) => reader.all<Line>(GAMES, [most]);

const MODS = statement(`select name_id, name, summary from mods where game_id = ? and status = 1 and visible = 1
  order by date_live desc, id desc limit ?`);
export const publicMods = (reader: Pick<Database, 'all'>, gameId: number, most: number) =>
  reader.all<Line>(MODS, [gameId, most]);
