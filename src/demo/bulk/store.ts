import type { Insertable, Selectable } from 'kysely';
import { withTexts } from '../../catalogue/mods/stats-store.ts';
import type { ModRow, ModStats } from '../../catalogue/mods/store.ts';
import type { ModCardsTable, ModDocumentsTable, ModWordsTable } from '../../catalogue/mods/table.ts';
import type { ModfilesTable } from '../../files/modfiles/table.ts';
import { type Bulk, insertMany } from '../../platform/database/bulk.ts';
import type { Query, Tables } from '../../platform/database/database.ts';

export async function nextId(query: Query, table: 'mods' | 'modfiles'): Promise<number> {
  const last = await query.selectFrom(table).select('id').orderBy('id', 'desc').limit(1).executeTakeFirst();
  return (last?.id ?? 0) + 1;
}

export interface ModRows {
  readonly mods: readonly ModRow[];
  readonly stats: readonly ModStats[];
  readonly cards: readonly ModCardsTable[];
  readonly documents: readonly ModDocumentsTable[];
}

export async function addMods(bulk: Bulk, { mods, stats, cards, documents }: ModRows): Promise<void> {
  await insertMany(bulk, 'mods', mods);
  await insertMany(bulk, 'mod_stats', stats.map(withTexts));
  await insertMany(bulk, 'mod_cards', cards);
  await insertMany(bulk, 'mod_documents', documents);
}

export const addWords = (bulk: Bulk, words: readonly ModWordsTable[]) => insertMany(bulk, 'mod_words', words);

export interface FileRows {
  readonly files: readonly Selectable<ModfilesTable>[];
  readonly documents: readonly Tables['modfile_documents'][];
  readonly platforms: readonly Tables['modfile_platforms'][];
  readonly live: readonly Tables['mod_live_files'][];
}

export async function addFiles(bulk: Bulk, { files, documents, platforms, live }: FileRows): Promise<void> {
  await insertMany(bulk, 'modfiles', files);
  await insertMany(bulk, 'modfile_documents', documents);
  await insertMany(bulk, 'modfile_platforms', platforms);
  await insertMany(bulk, 'mod_live_files', live);
}

export const addTags = (bulk: Bulk, rows: readonly Tables['mod_tags'][]) => insertMany(bulk, 'mod_tags', rows);

export const addMetadata = (bulk: Bulk, rows: readonly Omit<Tables['mod_metadata'], 'id'>[]) =>
  insertMany(bulk, 'mod_metadata', rows);

export const addMedia = (bulk: Bulk, rows: readonly Omit<Tables['mod_media'], 'id'>[]) =>
  insertMany(bulk, 'mod_media', rows);

export const addDownloadHours = (bulk: Bulk, rows: readonly Tables['mod_download_hours'][]) =>
  insertMany(bulk, 'mod_download_hours', rows);

export const addTeamMembers = (bulk: Bulk, rows: readonly Insertable<Tables['team_members']>[]) =>
  insertMany(bulk, 'team_members', rows);

export const addModEvents = (bulk: Bulk, rows: readonly Omit<Tables['mod_events'], 'id'>[]) =>
  insertMany(bulk, 'mod_events', rows);

export const addUserEvents = (bulk: Bulk, rows: readonly Omit<Tables['user_events'], 'id'>[]) =>
  insertMany(bulk, 'user_events', rows);

export const addTranslations = (bulk: Bulk, rows: readonly Tables['translations'][]) =>
  insertMany(bulk, 'translations', rows);
