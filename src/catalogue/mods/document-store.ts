import type { Selectable } from 'kysely';
import { sql } from 'kysely';
import {
  type Database,
  type Query,
  statement,
  type Tables,
  type Transaction,
} from '../../platform/database/database.ts';
import { USER, type USER_COLUMNS } from '../../platform/database/people.ts';
import { FILE_LINK, livePlatformOf } from '../../platform/database/platforms.ts';
import { hasPending, type PendingRow, pendingOf } from './stats-store.ts';
import type { ModStats } from './store.ts';
import { type ModDocumentsTable, STATS_COLUMNS } from './table.ts';

/** The database, or a transaction that must see its own writes. */
type Reader = Pick<Database, 'first'>;

type ShownUser = Pick<Selectable<Tables['users']>, (typeof USER_COLUMNS)[number]>;

/** A mod's document with the columns that are appended to it. The submitter's columns keep their names. */
export interface StoredMod extends Omit<ModStats, 'mod_id'>, ShownUser {
  mod_id: number;
  game_id: number;
  mod_status: number;
  mod_visible: number;
  mod_name_id: string;
  game_status: number;
  game_name_id: string;
  api_access_options: number;
  body: string;
  /** 1 or 0; always 0 where the game disables dependencies. */
  has_dependencies: number;
  /** The live file, or null. */
  file_id: number | null;
  /** Ends in the digits of its hash. */
  file_link: string | null;
  file_body: string | null;
}

/** The versions of the rows of a mod, as SQL: the server gives every new version of a row another `xmin`. */
export const versionsOf = (translated: boolean): string =>
  ['c', 's', 'u', ...(translated ? ['t'] : [])]
    .map((row) => (row === 't' ? `coalesce(cast(t.xmin as text), '')` : `cast(${row}.xmin as text)`))
    .join(` || '.' || `);

interface Source {
  readonly columns: string;
  readonly join: string;
}
const FILE_OF_CARD: Source = { columns: 'c.file_id, c.file_link, c.file_body', join: '' };
const FILE_ON_PLATFORM: Source = {
  columns: `l.modfile_id as file_id, case when b.body is not null then ${FILE_LINK} end as file_link, b.body as file_body`,
  join: `left join mod_live_files l on l.mod_id = c.mod_id
      and l.platform = ${livePlatformOf({ mod: 'c.mod_id', game: 'c.game_id', platform: 'cast(? as text)' })}
    left join modfile_documents b on b.modfile_id = l.modfile_id`,
};
const IN_ENGLISH: Source = { columns: 'c.body', join: '' };
const TRANSLATED: Source = {
  columns: 'coalesce(t.body, c.body) as body',
  join: 'left join mod_documents t on t.mod_id = c.mod_id and t.language = ?',
};

/** How documents are read: with few joins in English and without a platform, as with nearly every subscription. */
function reading(body: Source, file: Source) {
  const columns = `${USER.join(', ')}, ${STATS_COLUMNS.map((name) => `s.${name}`).join(', ')},
    c.mod_id, c.game_id, c.status as mod_status, c.visible as mod_visible, c.name_id as mod_name_id,
    g.status as game_status, g.name_id as game_name_id, g.api_access_options, ${body.columns}, ${file.columns},
    case when g.dependency_option = 0 then 0 else c.needs end as has_dependencies`;
  const joined = `from mod_cards c join mod_stats s on s.mod_id = c.mod_id join games g on g.id = c.game_id
    join users u on u.id = c.submitted_by ${body.join} ${file.join}`;
  const repeated = ({ join }: Source, value: string) => (join.match(/\?/g) ?? []).map(() => value);
  return {
    columns,
    joined,
    valuesFor: (language: string, platform: string) => [...repeated(body, language), ...repeated(file, platform)],
    /**
     * PostgreSQL reads counts that are not folded in by the same statement; on SQLite a second one is cheaper than their
     * sums for every mod.
     */
    single: statement(
      `select ${columns}, ${hasPending('c.mod_id')} as pending ${joined} where c.mod_id = ?`,
      `select ${columns}, p.* ${joined} cross join lateral (${pendingOf('c.mod_id')}) p where c.mod_id = ?`,
    ),
  };
}

/** Games without platforms show the same file on all of them. */
const READINGS = {
  english: { ofCard: reading(IN_ENGLISH, FILE_OF_CARD), onPlatform: reading(IN_ENGLISH, FILE_ON_PLATFORM) },
  translated: { ofCard: reading(TRANSLATED, FILE_OF_CARD), onPlatform: reading(TRANSLATED, FILE_ON_PLATFORM) },
};
const readingFor = (language: string, platform: string) =>
  READINGS[language === 'en' ? 'english' : 'translated'][platform === '' ? 'ofCard' : 'onPlatform'];

/** The live file is that of the platform or, without a platform, the default one. */
export function documentOf(reader: Reader, id: number, language: string, platform = '') {
  const { single, valuesFor } = readingFor(language, platform);
  const values = [...valuesFor(language, platform), id];
  return reader.first<StoredMod & (PendingRow | { readonly pending: 0 | 1 })>(single, values);
}

/** The documents of these mods in the given language, in English where there is no translation. */
export async function documentsOf(
  query: Query,
  ids: readonly number[],
  language: string,
  platform = '',
): Promise<Map<number, StoredMod>> {
  if (ids.length === 0) return new Map();
  const { columns, joined, valuesFor } = readingFor(language, platform);
  const values = valuesFor(language, platform);
  const joins = joined.split('?').flatMap((part, i) => (i === 0 ? [] : [sql`${values[i - 1]}`]).concat(sql.raw(part)));
  const { rows } = await sql<StoredMod>`select ${sql.raw(columns)} ${sql.join(joins, sql``)}
    where c.mod_id in (${sql.join(ids)})`.execute(query);
  return new Map(rows.map((row) => [row.mod_id, row]));
}

const OF_CARD = [
  'game_id',
  'status',
  'visible',
  'submitted_by',
  'needs',
  'file_id',
  'name_id',
  'file_link',
  'file_body',
  'body',
] as const;
const PUT_CARD = statement(`insert into mod_cards (mod_id, ${OF_CARD.join(', ')})
  select m.id, m.game_id, m.status, m.visible, m.submitted_by,
    case when exists (select 1 from mod_dependencies x where x.mod_id = m.id) then 1 else 0 end,
    l.modfile_id, m.name_id, case when b.body is not null then ${FILE_LINK} end, b.body, cast(? as text)
  from mods m left join mod_live_files l on l.mod_id = m.id and l.platform = ''
    left join modfile_documents b on b.modfile_id = l.modfile_id
  where m.id = ?
  on conflict (mod_id) do update set ${OF_CARD.map((name) => `${name} = excluded.${name}`).join(', ')}`);
/** The values that a card repeats are read from their tables again with every new body. */
export const putCard = (transaction: Transaction, modId: number, body: string) =>
  transaction.run(PUT_CARD, [body, modId]);

const SHOW_FILE = statement(`update mod_cards set (file_id, file_link, file_body) =
    (select l.modfile_id, ${FILE_LINK}, b.body from mod_live_files l join modfile_documents b on b.modfile_id = l.modfile_id
      where l.mod_id = mod_cards.mod_id and l.platform = '')
  where mod_id = ?`);
export const showFile = (transaction: Transaction, modId: number) => transaction.run(SHOW_FILE, [modId]);

const NEED_NOTHING = statement(`update mod_cards set needs = 0
  where mod_id = ? and not exists (select 1 from mod_dependencies x where x.mod_id = mod_cards.mod_id)`);
/** The mod has lost a dependency, perhaps its last. */
export const loseDependency = (transaction: Transaction, modId: number) => transaction.run(NEED_NOTHING, [modId]);

const PUT_DOCUMENT = statement(`insert into mod_documents (mod_id, language, body) values (?, ?, ?)
  on conflict (mod_id, language) do update set body = excluded.body`);
export const putDocument = (transaction: Transaction, { mod_id, language, body }: ModDocumentsTable) =>
  transaction.run(PUT_DOCUMENT, [mod_id, language, body]);

const DOCUMENT_LANGUAGES = statement('select language from mod_documents where mod_id = ?');
export async function documentLanguages(transaction: Transaction, modId: number): Promise<string[]> {
  return (await transaction.all<{ language: string }>(DOCUMENT_LANGUAGES, [modId])).map((row) => row.language);
}

const REMOVE_DOCUMENT = statement('delete from mod_documents where mod_id = ? and language = ?');
export const removeDocument = (transaction: Transaction, modId: number, language: string) =>
  transaction.run(REMOVE_DOCUMENT, [modId, language]);
