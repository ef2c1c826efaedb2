import { updateMany } from '../../platform/database/bulk.ts';
import {
  type Database,
  type Query,
  type Statement,
  statement,
  type Transaction,
} from '../../platform/database/database.ts';
import { withUpdateLock } from '../../platform/database/locks.ts';
import { takeFrom } from '../../platform/database/removal.ts';
import type { ModRow, ModStats, Ranked } from './store.ts';
import { type ModStatsTable, STATS_COLUMNS } from './table.ts';

const PUT_TEXTS = statement('update mod_stats set ranked = ?, counted = ? where mod_id = ?');

export async function putStats(transaction: Transaction, modId: number, stats: Partial<Omit<ModStats, 'mod_id'>>) {
  const changed = transaction.query.updateTable('mod_stats').set(stats).where('mod_id', '=', modId).returningAll();
  const row = await changed.executeTakeFirst();
  if (!row) return;
  const { ranked, counted } = withTexts(row);
  await transaction.run(PUT_TEXTS, [ranked, counted, modId]);
}

type StatsColumns = readonly (keyof ModStats)[];
const IN_RANKED = ['popularity_rank_position', 'popularity_rank_total_mods', 'date_expires'] as const;
const IN_COUNTED: StatsColumns = [
  'mod_id',
  ...STATS_COLUMNS.filter((name) => !(IN_RANKED as StatsColumns).includes(name)),
];

export const withTexts = (stats: ModStats): ModStatsTable => ({
  ...stats,
  ranked: textOf(stats, IN_RANKED),
  counted: textOf(stats, IN_COUNTED),
});

const textOf = (stats: Partial<ModStats>, columns: StatsColumns) =>
  columns.map((name) => `"${name}":${JSON.stringify(stats[name])}`).join(',');

/** The counts that changes are appended for. */
const CHANGED = [
  'downloads_today',
  'downloads_total',
  'subscribers_total',
  'ratings_positive',
  'ratings_negative',
] as const;
export type ModCountChange = Record<(typeof CHANGED)[number], number>;
/** The counted stats; all others are derived from them. */
export type ModCounts = ModCountChange & Pick<ModStats, 'ratings_total'>;

const APPEND = statement(`insert into mod_stat_changes (mod_id, game_id, ${CHANGED.join(', ')})
  values (?, ?, ${CHANGED.map(() => '?').join(', ')})`);
export const appendChange = (
  transaction: Transaction,
  { id, game_id }: Pick<ModRow, 'id' | 'game_id'>,
  change: Partial<ModCountChange>,
) => transaction.run(APPEND, [id, game_id, ...CHANGED.map((name) => change[name] ?? 0)]);

/** 1 if the mod has changes that are not folded in yet. */
export const hasPending = (modId: string) =>
  `case when exists (select 1 from mod_stat_changes x where x.mod_id = ${modId}) then 1 else 0 end`;

const PENDING = statement('select id from mod_stat_changes limit 1');
export const hasChanges = async (reader: Pick<Database, 'first'>): Promise<boolean> =>
  (await reader.first(PENDING, [])) !== undefined;

const SUMS = CHANGED.map((name) => `coalesce(sum(${name}), 0) as pending_${name}`).join(', ');
/** The sums of a mod's changes that are not folded in yet, and how many there are. */
export const pendingOf = (modId: string) =>
  `select ${SUMS}, count(*) as pending from mod_stat_changes x where x.mod_id = ${modId}`;

/** A row with the columns of `pendingOf`. */
export type PendingRow = { readonly pending: number } & {
  readonly [name in `pending_${(typeof CHANGED)[number]}`]: number;
};

const OF_MOD = statement(`select s.mod_id, ${STATS_COLUMNS.map((name) => `s.${name}`).join(', ')}, p.*
  from (${pendingOf('?')}) p cross join mod_stats s where s.mod_id = ?`);
/** By one statement, because changes may be folded in between two. */
export const statsWithPending = (reader: Pick<Database, 'first'>, modId: number) =>
  reader.first<ModStats & PendingRow>(OF_MOD, [modId, modId]);

export const changeIn = (row: PendingRow): ModCountChange => ({
  downloads_today: row.pending_downloads_today,
  downloads_total: row.pending_downloads_total,
  subscribers_total: row.pending_subscribers_total,
  ratings_positive: row.pending_ratings_positive,
  ratings_negative: row.pending_ratings_negative,
});

export type TakenChange = ModCountChange & { readonly mod_id: number; readonly game_id: number };

const TAKE = takeFrom(
  'mod_stat_changes',
  'select id from mod_stat_changes where mod_id >= ? order by mod_id limit ?',
  `mod_id, game_id, ${CHANGED.join(', ')}`,
);
/** Removes changes from this mod on and returns them. Those of a mod come together, because a mod costs most. */
export const takeChanges = (transaction: Transaction, fromMod: number, most: number) =>
  transaction.all<TakenChange>(TAKE, [fromMod, most]);

const COUNTS = [...['mod_id', ...CHANGED, 'ratings_total'].map((name) => `s.${name}`), 'm.popularity'].join(', ');
const LOCK: Statement = withUpdateLock({
  text: 'select id from mods where id in (select value from json_each(?)) order by id',
  postgres: `select id from mods where id = any(array(select json_array_elements_text($1::json)::bigint)) order by id`,
});
const READ: Statement = {
  text: `select ${COUNTS} from json_each(?) j join mod_stats s on s.mod_id = j.value join mods m on m.id = s.mod_id`,
  postgres: `select ${COUNTS} from mod_stats s join mods m on m.id = s.mod_id
    where s.mod_id = any(array(select json_array_elements_text($1::json)::bigint))`,
};

/** Locks the mods before their stats, as every transaction does, so that none of them deadlock. */
export async function lockCounts(transaction: Transaction, ids: readonly number[]) {
  const all = JSON.stringify(ids);
  await transaction.run(LOCK, [all]);
  return transaction.all<ModCounts & { mod_id: number; popularity: number }>(READ, [all]);
}

const STORED = [...CHANGED, 'ratings_total', 'ratings_percentage_positive'] as const;
const bigints = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, 'bigint' as const]));
const PUT_STATS = updateMany('mod_stats', {
  key: 'mod_id',
  columns: {
    ...bigints(STORED),
    ratings_weighted_aggregate: 'double precision',
    ratings_display_text: 'text',
    counted: 'text',
  },
});
const PUT_SORTED = updateMany('mods', {
  columns: {
    ...bigints(['downloads_today', 'downloads_total', 'subscribers_total']),
    ratings_weighted_aggregate: 'double precision',
    popularity: 'double precision',
  },
});

export type FoldedStats = Record<(typeof STORED)[number], number> & {
  readonly mod_id: number;
  readonly popularity: number;
  readonly ratings_weighted_aggregate: number;
  readonly ratings_display_text: string;
};

/** Stores new counts, what is derived from them, and the mods' copies that lists are sorted by. */
export async function putFolded(transaction: Transaction, stats: readonly FoldedStats[]): Promise<void> {
  const rows = stats.map((each) => ({
    ...each,
    id: each.mod_id,
    counted: textOf(each, IN_COUNTED),
  }));
  const all = JSON.stringify(rows);
  await transaction.run(PUT_STATS, [all]);
  await transaction.run(PUT_SORTED, [all]);
}

/** As `popularity` computes it. */
const BY_COUNTS = 's.downloads_today * 10 + s.subscribers_total + s.ratings_weighted_aggregate * 10';
const POPULARITY = statement(`select m.id, m.popularity, ${BY_COUNTS} as by_counts
  from mods m join mod_stats s on s.mod_id = m.id
  where m.game_id = ? and m.status = 1 and m.visible = 1 and m.id > ? order by m.id limit ?`);
/** The popularity of public mods of a game after this one, as lists sort by it and as their counts have it. */
export const popularityAfter = (reader: Pick<Database, 'all'>, gameId: number, id: number, most: number) =>
  reader.all<Ranked & { by_counts: number }>(POPULARITY, [gameId, id, most]);

/** The public mods of a game after this one, the most popular first. */
export function popularAfter(query: Query, gameId: number, after: Ranked | undefined, most: number): Promise<Ranked[]> {
  let mods = query.selectFrom('mods').select(['id', 'popularity']);
  mods = mods.where('game_id', '=', gameId).where('status', '=', 1).where('visible', '=', 1);
  if (after)
    mods = mods
      .where('popularity', '<=', after.popularity)
      .where((eb) => eb.or([eb('popularity', '<', after.popularity), eb('id', '>', after.id)]));
  return mods.orderBy('popularity', 'desc').orderBy('id').limit(most).execute();
}

/** Sets new ranks, given as SQL: the columns, and the JSON text that repeats them. */
const rankedAs = (...values: readonly [position: string, total: string, expires: string]) =>
  `${IN_RANKED.map((name, i) => `${name} = ${values[i]}`).join(', ')},
    ranked = concat(${IN_RANKED.map((name, i) => `'${i > 0 ? ',' : ''}"${name}":', ${values[i]}`).join(', ')})`;
const int = (parameter: string) => `cast(${parameter} as bigint)`;

const PUT_RANKS: Statement = {
  text: `update mod_stats set ${rankedAs(`${int('?1')} + r.place`, int('?2'), int('?3'))}
    from (select key as place, value as id from json_each(?4)) r where mod_stats.mod_id = r.id`,
  postgres: `update mod_stats set ${rankedAs(`${int('$1')} + r.place - 1`, int('$2'), int('$3'))}
    from json_array_elements_text($4::json) with ordinality as r (id, place) where mod_stats.mod_id = r.id::bigint`,
};

/** Ranks these mods from `first` on. */
export const putRanks = (
  transaction: Transaction,
  ids: readonly number[],
  { first, total, dateExpires }: { first: number; total: number; dateExpires: number },
) => transaction.run(PUT_RANKS, [first, total, dateExpires, JSON.stringify(ids)]);

export async function addStats(query: Query, { id, date_added }: Pick<ModRow, 'id' | 'date_added'>): Promise<void> {
  const counts = Object.fromEntries(STATS_COLUMNS.map((name) => [name, 0])) as unknown as Omit<ModStats, 'mod_id'>;
  await query
    .insertInto('mod_stats')
    .values(withTexts({ ...counts, mod_id: id, ratings_display_text: 'Unrated', date_expires: date_added }))
    .execute();
}
