import { LRUCache } from 'lru-cache';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Database } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { createFilter, type FilterLevel, type TextFilter } from '../../platform/filters/filter.ts';
import { plainText } from '../../platform/text/markup.ts';
import { auditGame } from '../../records/audit/audit.ts';
import { requireGame } from '../games/games.ts';
import { MANAGER, MODERATOR, teamLevel } from '../teams/teams.ts';
import * as store from './store.ts';

type Reader = Pick<Database, 'first'>;

export interface Wordlists {
  readonly allowed: string[];
  readonly denied: string[];
  readonly date_updated: number;
}

export const WORDS_MAX = 1_000;

async function requireLevel(reader: Reader, caller: Caller, gameId: number, level: number): Promise<void> {
  await requireGame(reader, caller, gameId);
  if ((await teamLevel(reader, caller, 'games', gameId)) < level) throw new ApiError('RESOURCE_NO_MODERATE_PERMISSION');
}

export async function showWordlists(app: App, caller: Caller, gameId: number): Promise<Wordlists> {
  await requireLevel(app.db, caller, gameId, MODERATOR);
  const row = await store.listsOf(app.db, gameId);
  return {
    allowed: JSON.parse(row?.allowed ?? '[]'),
    denied: JSON.parse(row?.denied ?? '[]'),
    date_updated: row?.date_updated ?? 0,
  };
}

/** Replaces the lists that are given; an omitted list stays. */
export async function changeWordlists(
  app: App,
  caller: UserCaller,
  gameId: number,
  sent: { readonly allowed?: readonly string[] | undefined; readonly denied?: readonly string[] | undefined },
): Promise<Wordlists> {
  await app.db.write(async (transaction) => {
    await requireLevel(transaction, caller, gameId, MANAGER);
    const before = await store.listsOf(transaction, gameId);
    const listed = (words: readonly string[] | undefined, unchanged = '[]') =>
      words ? JSON.stringify([...new Set(words)].filter((word) => word !== '')) : unchanged;
    await store.put(transaction.query, {
      game_id: gameId,
      allowed: listed(sent.allowed, before?.allowed),
      denied: listed(sent.denied, before?.denied),
      date_updated: app.clock.now(),
    });
    const data = { allowed: sent.allowed?.length, denied: sent.denied?.length };
    await auditGame(app, transaction, caller, gameId, { action: 'wordlists', data });
  });
  return showWordlists(app, caller, gameId);
}

/** Built once for all games with equal filter settings. */
const filters = new LRUCache<string, TextFilter>({ max: 100 });

function filterFor({ profanity_option, allowed, denied }: store.FilterOfGame): TextFilter {
  const key = JSON.stringify([profanity_option, allowed, denied]);
  const known = filters.get(key);
  if (known) return known;
  const own = { allowed: JSON.parse(allowed ?? '[]'), denied: JSON.parse(denied ?? '[]') };
  const filter = createFilter(profanity_option as FilterLevel, own);
  filters.set(key, filter);
  return filter;
}

/** Texts shown to users, by the name of their field. */
const FILTERED = ['name', 'name_id', 'summary', 'description', 'content', 'changelog', 'version'];

type Fields = Readonly<Record<string, unknown>>;

function textsIn(fields: Fields): { field: string; text: string }[] {
  return FILTERED.flatMap((field) => {
    const text = fields[field];
    return typeof text === 'string' && text !== '' ? [{ field, text }] : [];
  });
}

async function filterOf(reader: Reader, gameId: number): Promise<TextFilter | undefined> {
  const settings = await store.filterOf(reader, gameId);
  const isOff = !settings || (settings.profanity_option === 0 && (settings.denied ?? '[]') === '[]');
  return isOff ? undefined : filterFor(settings);
}

/** Checks texts ahead of `requireCleanTexts`, which runs in a transaction and must not yield. */
export async function prepareTexts(reader: Reader, gameId: number, fields: Fields): Promise<void> {
  const texts = textsIn(fields);
  const filter = texts.length > 0 ? await filterOf(reader, gameId) : undefined;
  if (!filter) return;
  for (const { text } of texts) {
    await filter.prepare(text);
    await filter.prepare(plainText(text));
  }
}

/** Refuses texts with words that the game denies, including words split by markup. */
export async function requireCleanTexts(reader: Reader, gameId: number, fields: Fields): Promise<void> {
  const texts = textsIn(fields);
  const filter = texts.length > 0 ? await filterOf(reader, gameId) : undefined;
  if (!filter) return;
  const refused = texts.filter(({ text }) => (filter.refused(text) ?? filter.refused(plainText(text))) !== undefined);
  if (refused.length > 0)
    throw new ApiError('VALIDATION_GENERIC', {
      fields: refused.map(({ field }) => ({ field, rule: 'profanity' as const })),
    });
}
