import { type Query, type Statement, statement, type Transaction } from '../../platform/database/database.ts';
import { withUpdateLock } from '../../platform/database/locks.ts';
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

const textOf = (stats: ModStats, columns: StatsColumns) =>
  columns.map((name) => `"${name}":${JSON.stringify(stats[name])}`).join(',');

/** The counted stats; all others are derived from them. */
const COUNTED = [
  'downloads_today',
  'downloads_total',
  'subscribers_total',
  'ratings_total',
  'ratings_positive',
  'ratings_negative',
] as const;
export type ModCounts = Pick<ModStats, (typeof COUNTED)[number]>;

const LOCK = withUpdateLock(statement('select id from mods where id = ?'));
const ADD_TO_STATS = statement(`update mod_stats set ${COUNTED.map((name) => `${name} = ${name} + ?`).join(', ')}
  where mod_id = ? returning ${COUNTED.join(', ')}`);

/** Locks the mod before its stats, as every transaction does, so that none of them deadlock. */
export async function addToStats(
  transaction: Transaction,
  modId: number,
  difference: Partial<ModCounts>,
): Promise<ModCounts | undefined> {
  await transaction.first(LOCK, [modId]);
  const values = [...COUNTED.map((name) => difference[name] ?? 0), modId];
  return transaction.first<ModCounts>(ADD_TO_STATS, values);
}

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
