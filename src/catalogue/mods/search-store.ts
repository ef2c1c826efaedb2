import { sql } from 'kysely';
import { updateMany } from '../../platform/database/bulk.ts';
import type { Query, Transaction } from '../../platform/database/database.ts';
import { MAY_SCAN } from '../../platform/database/may-scan.ts';
import type { Ranked } from './store.ts';
import type { ModWordsTable } from './table.ts';

export interface KnownWord {
  readonly word: string;
  /** The number of public mods that have it. */
  readonly mods: number;
}

const KNOWN = sql`select word, mods_count as mods from mod_vocabulary`;

/** The words of a game's public mods within a range, up to a limit. */
export async function wordsBetween(query: Query, gameId: number, from: string, to: string, most: number) {
  const { rows } = await sql<KnownWord>`${KNOWN} where game_id = ${gameId} and word >= ${from} and word < ${to}
    and mods_count > 0 order by word limit ${most}`.execute(query);
  return rows;
}

export async function knownWords(query: Query, gameId: number, words: readonly string[]): Promise<KnownWord[]> {
  if (words.length === 0) return [];
  const { rows } = await sql<KnownWord>`${KNOWN} where game_id = ${gameId} and word in (${sql.join(words)})
    and mods_count > 0`.execute(query);
  return rows;
}

interface Range {
  readonly from: string;
  readonly to: string;
}

const between = (ranges: readonly Range[]) =>
  sql.join(
    ranges.map(({ from, to }) => sql`(w.word >= ${from} and w.word < ${to})`),
    sql` or `,
  );

/** Counts the words of public mods in these ranges, each once per mod that has it. */
export async function modsBetween(query: Query, gameId: number, ranges: readonly Range[]): Promise<number> {
  const { rows } = await sql<{ mods: number | null }>`select sum(w.mods_count) as mods from mod_vocabulary w
    where w.game_id = ${gameId} and (${between(ranges)}) and ${sql.raw(MAY_SCAN)}`.execute(query);
  return Number(rows[0]?.mods ?? 0);
}

/** The most popular mods of each term; a mod with several terms comes several times. */
export async function mostPopularOf(query: Query, gameId: number, terms: readonly string[], most: number) {
  const lists = terms.map(
    (term, index) => sql`select * from (select mod_id as id, popularity from mod_words
      where game_id = ${gameId} and shown = 1 and word = ${term}
      order by popularity desc, mod_id limit ${most}) as ${sql.raw(`t${index}`)}`,
  );
  return (await sql<Ranked>`${sql.join(lists, sql` union all `)}`.execute(query)).rows;
}

/** Public mods with a word in these ranges: scans mods in order, the most popular first. */
export async function probedBetween(query: Query, gameId: number, ranges: readonly Range[], most: number) {
  const { rows } = await sql<Ranked>`select m.id, m.popularity from mods m
    where m.game_id = ${gameId} and m.status = 1 and m.visible = 1
      and exists (select 1 from mod_words w where w.mod_id = m.id and (${between(ranges)}))
      and ${sql.raw(MAY_SCAN)}
    order by m.popularity desc, m.id limit ${most}`.execute(query);
  return rows;
}

/** As `probedBetween`, but finds mods by their words and sorts them afterwards. */
export async function sortedBetween(query: Query, gameId: number, ranges: readonly Range[], most: number) {
  const { rows } = await sql<Ranked>`select w.mod_id as id, max(w.popularity) as popularity from mod_words w
    where w.game_id = ${gameId} and w.shown = 1 and (${between(ranges)}) and ${sql.raw(MAY_SCAN)}
    group by w.mod_id order by 2 desc, 1 limit ${most}`.execute(query);
  return rows;
}

/** Counts the public mods with at least one of these words or a word in these ranges. */
export async function modsWithAny(query: Query, gameId: number, words: readonly string[], ranges: readonly Range[]) {
  const parts = [
    ...(words.length > 0 ? [sql`w.word in (${sql.join(words)})`] : []),
    ...ranges.map((each) => between([each])),
  ];
  const { rows } = await sql<{ total: number }>`select count(*) as total from (select distinct w.mod_id from mod_words w
    where w.game_id = ${gameId} and w.shown = 1 and (${sql.join(parts, sql` or `)})
      and ${sql.raw(MAY_SCAN)}) as found`.execute(query);
  return Number(rows[0]!.total);
}

export async function putWords(query: Query, modId: number, rows: readonly ModWordsTable[]): Promise<void> {
  await query.deleteFrom('mod_words').where('mod_id', '=', modId).execute();
  if (rows.length > 0) await query.insertInto('mod_words').values(rows).execute();
}

/**
 * Adjusts the word counts of a game's public mods. Rows are locked in one order, so that transactions do not deadlock.
 */
export async function countWords(query: Query, gameId: number, words: readonly string[], difference: number) {
  if (words.length === 0) return;
  const rows = [...words].sort().map((word) => ({ game_id: gameId, word, mods_count: difference }));
  await query
    .insertInto('mod_vocabulary')
    .values(rows)
    .onConflict((key) =>
      key
        .columns(['game_id', 'word'])
        .doUpdateSet((eb) => ({ mods_count: eb('mod_vocabulary.mods_count', '+', eb.ref('excluded.mods_count')) })),
    )
    .execute();
}

const RANK_WORDS = updateMany('mod_words', { key: 'mod_id', columns: { popularity: 'double precision' } });
export const rankWords = (transaction: Transaction, mods: readonly Ranked[]) =>
  transaction.run(RANK_WORDS, [JSON.stringify(mods)]);

export const namedAfter = (query: Query, id: number, most: number) =>
  query
    .selectFrom('mods')
    .select(['id', 'game_id', 'name', 'status', 'visible', 'popularity'])
    .where('id', '>', id)
    .orderBy('id')
    .limit(most)
    .execute();

export async function removeAllWords(query: Query): Promise<void> {
  await query.deleteFrom('mod_words').execute();
  await query.deleteFrom('mod_vocabulary').execute();
}
