import type { Updateable } from 'kysely';
import { requireUserIn } from '../../people/users/users.ts';
import { teamGamesOf } from '../../platform/access/admission.ts';
import type { Caller } from '../../platform/access/caller.ts';
import { issueKey } from '../../platform/access/credentials.ts';
import { isSiteStaff } from '../../platform/access/staff.ts';
import type { App } from '../../platform/app.ts';
import type { Database, Query, Transaction } from '../../platform/database/database.ts';
import { factOf, rememberFact } from '../../platform/database/facts.ts';
import { fold, type ListRequest } from '../../platform/database/listing.ts';
import { withLikelyWords } from '../../platform/database/search.ts';
import { totalOf } from '../../platform/database/totals.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import { isReservedForGames } from '../../platform/filters/reserved-names.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import { freeSlug } from '../../platform/text/slug.ts';
import { translate, translationsOf } from '../../platform/text/translations.ts';
import { optionsOn, tagCountsOn } from '../tag-options/platforms.ts';
import { addTagGroup, type NewTagGroup, tagGroupsOf } from '../tag-options/tag-options.ts';
import { ADMINISTRATOR, joinTeam, teamLevel } from '../teams/teams.ts';
import { rewriteBodies, rewriteDocuments, rewriteTags } from './documents.ts';
import { gameExtensions } from './extensions.ts';
import { gameListing } from './listing.ts';
import { isPreviewOpen } from './preview-options.ts';
import * as store from './store.ts';
import type { GamesTable } from './table.ts';

export type { GameRow, StoredGame } from './store.ts';

const GAME_NOT_ACCEPTED = 0;
export const GAME_ACCEPTED = 1;
export const GAME_DELETED = 3;

/** `monetization_options`: the game sells things. */
const MONETIZATION = 1;
/** `dependency_option`: dependencies are unrestricted, and authors can withdraw mods that others depend on. */
const DEPENDENCIES_UNRESTRICTED = 3;

const LOCALISABLE = ['name', 'summary', 'instructions', 'ugc_name'] as const;

type Reader = Pick<Database, 'first'>;
type Standing = store.Standing;
type Shown = Pick<Standing, 'id' | 'status' | 'date_live'>;

/** `api_access_options`: keys and tokens of third parties may read the game's content. */
const OPEN_TO_THIRD_PARTIES = 1;

/**
 * A game that is not accepted exists only for its own key, its team, site staff and previewers. Only callers who could
 * see a game learn that it was deleted.
 */
async function refuseHidden(
  reader: Reader,
  caller: Caller,
  game: Shown | undefined,
  closed?: ErrorName,
): Promise<void> {
  if (!game) throw new ApiError('GAME_NOT_FOUND');
  const { id } = game;
  const isOwnKey = caller.kind === 'key' && caller.gameId === id;
  const wasPublic = game.status === GAME_DELETED && game.date_live > 0;
  if (!isOwnKey && !wasPublic && (await teamLevel(reader, caller, 'games', id)) === 0)
    await requirePreview(reader, caller, id, closed);
  if (game.status === GAME_DELETED) throw new ApiError('GAME_DELETED');
}

/** `closed` is the error for previewers after the preview has ended, because they know that the game exists. */
async function requirePreview(
  reader: Reader,
  caller: Caller,
  id: number,
  closed: ErrorName = 'GAME_NOT_FOUND',
): Promise<void> {
  const isPreviewer = caller.kind === 'user' && caller.inTeams;
  const preview = isPreviewer ? await store.previewOf(reader, id, caller.userId) : undefined;
  if (!preview) throw new ApiError('GAME_NOT_FOUND');
  if (!isPreviewOpen(preview)) throw new ApiError(closed);
}

export const isOpenToThirdParties = ({ api_access_options }: Pick<Standing, 'api_access_options'>): boolean =>
  (api_access_options & OPEN_TO_THIRD_PARTIES) !== 0;

/** A closed game responds to its own key, to users who signed in with that key, and to its team. */
async function refuseThirdParties(reader: Reader, caller: Caller, game: Standing): Promise<void> {
  if (isOpenToThirdParties(game)) return;
  const isOwn = caller.kind !== 'nobody' && caller.gameId === game.id;
  if (!isOwn && (await teamLevel(reader, caller, 'games', game.id)) === 0)
    throw new ApiError('GAME_NO_VIEW_PERMISSION');
}

/** Returns the columns of a game that permission checks need, for callers who may read its content. */
export async function requireGame(reader: Reader, caller: Caller, id: number): Promise<Standing> {
  const game = await requireVisibleGame(reader, caller, id);
  await refuseThirdParties(reader, caller, game);
  return game;
}

/**
 * As `requireGame`, for callers with another permission, such as a signed link: it opens a closed game too, but no
 * hidden one.
 */
export async function requireVisibleGame(reader: Reader, caller: Caller, id: number): Promise<Standing> {
  const game = await store.standingOf(reader, id);
  if (game?.status !== GAME_ACCEPTED) await refuseHidden(reader, caller, game);
  return game!;
}

/** As `requireGame`, with a row lock: concurrent changes of the game wait. */
export async function requireGameForChange(transaction: Transaction, caller: Caller, id: number) {
  const row = await store.rowForChange(transaction, id);
  await requireGame(transaction, caller, id);
  return row!;
}

/** Finds a game by its address, whether or not the caller may see it. */
export const findGameNamed = async (app: App, nameId: string): Promise<number | undefined> =>
  (await store.idOfName(app.db, nameId))?.id;

export async function requireGameRow(app: App, caller: Caller, id: number): Promise<store.GameRow> {
  await requireGame(app.db, caller, id);
  return (await store.byId(app.db, id))!;
}

export async function requireGameDocument(
  reader: Reader,
  caller: Caller,
  id: number,
  language: Language,
  hiddenTags: boolean,
): Promise<store.StoredGame> {
  const game = await store.documentOf(reader, id, language, hiddenTags);
  const shown = game && { id, status: game.game_status, date_live: game.game_date_live };
  if (shown?.status !== GAME_ACCEPTED) await refuseHidden(reader, caller, shown, 'GAME_NO_VIEW_PERMISSION');
  return game!;
}

export async function listGames(
  app: App,
  caller: Caller,
  request: ListRequest,
  language: Language,
  hiddenTags: boolean,
  ownOnly = false,
) {
  const visible: store.Visible = {
    everything: isSiteStaff(caller),
    gameId: caller.kind === 'key' ? caller.gameId : undefined,
    memberId: caller.kind === 'user' && (caller.inTeams || ownOnly) ? caller.userId : undefined,
    seenIn: caller.kind === 'user' ? teamGamesOf(caller) : undefined,
    ownOnly,
  };
  const spelled = await withLikelyWords(app.db, request);
  return store.list(app.db.query, visible, gameListing, spelled, language, hiddenTags);
}

/** For a platform of a game with per-platform support, the mods and downloads of that platform. */
export async function statsOfGame(app: App, caller: Caller, id: number, platform?: string): Promise<store.StatsRow> {
  await requireGame(app.db, caller, id);
  const stats = (await store.statsOf(app.db.query, id))!;
  if (platform === undefined || !(await store.hasPlatforms(app.db, id))) return stats;
  const mods_count_total = await totalOf(app.db, {
    scope: `games/${id}/mods`,
    asked: ['mods on', platform],
    among: stats.mods_count_total,
    count: (query) => store.countModsOn(query, id, platform),
  });
  return { ...stats, mods_count_total, ...(await store.downloadsOn(app.db, id, platform, app.clock.now())) };
}

/** The tag options on a platform; games without per-platform support are unchanged. */
export async function withTagsOn(
  app: App,
  games: readonly store.StoredGame[],
  platform: string | undefined,
): Promise<readonly store.StoredGame[]> {
  if (platform === undefined) return games;
  const counts = await tagCountsOn(
    app,
    games.map(({ game_id }) => game_id),
    platform,
  );
  return games.map((game) => {
    const ofGame = counts.get(game.game_id);
    return ofGame ? { ...game, tags: JSON.stringify(optionsOn(JSON.parse(game.tags), platform, ofGame)) } : game;
  });
}

export async function tagOptionsOfGame(app: App, caller: Caller, id: number, hidden: boolean) {
  await requireGame(app.db, caller, id);
  const groups = (await tagGroupsOf(app.db.query, id)).filter((group) => hidden || group.hidden === 0);
  return { groups, translations: await translationsOf(app.db, 'games', id) };
}

export interface NewGame {
  readonly name: string;
  readonly ownerId: number;
  readonly summary?: string;
  readonly accepted?: boolean;
  readonly tagGroups?: readonly NewTagGroup[];
  readonly settings?: Partial<Updateable<GamesTable>>;
}

const DEFAULT_THEME = {
  primary: '#44BFD5',
  dark: '#0F141A',
  light: '#FFFFFF',
  success: '#68D391',
  warning: '#D6AF2E',
  danger: '#E74C3C',
};

const DEFAULTS = {
  presentation_option: 0,
  submission_option: 1,
  dependency_option: 3,
  curation_option: 0,
  profanity_option: 0,
  community_options: 1 | 2 | 256 | 512 | 1024 | 2048 | 8192 | 16384,
  monetization_options: 0,
  api_access_options: 1 | 2,
  maturity_options: 0,
  revenue_options: 0,
  limit_collection_mods: 0,
  cloud_cooking_status: 0,
  max_stock: 0,
  service_features: 0,
  instructions: null,
  instructions_url: null,
  ugc_name: 'mods',
  token_name: 'cogs',
  icon: null,
  logo: null,
  header: null,
  theme: JSON.stringify(DEFAULT_THEME),
  other_urls: '[]',
};

/** Adds a game with its owner as administrator, and returns its API key, which cannot be read again. */
export async function addGame(
  app: App,
  transaction: Transaction,
  game: NewGame,
): Promise<store.GameRow & { api_key: string }> {
  await requireUserIn(transaction, game.ownerId);
  const { query } = transaction;
  const now = app.clock.now();
  const values = { ...DEFAULTS, name: game.name, summary: game.summary ?? '', ...game.settings };
  const row = await store.add(query, {
    ...values,
    ...foldedCopies(values),
    status: game.accepted ? GAME_ACCEPTED : GAME_NOT_ACCEPTED,
    submitted_by: game.ownerId,
    date_added: now,
    date_updated: now,
    date_live: game.accepted ? now : 0,
    name_id: await nameIdFor(app, query, game.name),
  });
  await joinTeam(app, transaction, {
    resource: 'games',
    resourceId: row.id,
    userId: game.ownerId,
    level: ADMINISTRATOR,
    position: 'Owner',
  });
  for (const [position, group] of (game.tagGroups ?? []).entries()) await addTagGroup(query, row.id, position, group);
  await store.putWords(query, row);
  await rewriteDocuments(app, transaction, row);
  invalidateGame(transaction, row.id);
  return { ...row, api_key: await issueKey(app, transaction, { gameId: row.id }) };
}

/** The version of the tokenizer; a new version rebuilds the words of all games. */
const WORDS_FACT = 'games.words';
const WORDS_FORM = '2';

export async function rebuildGameWords(app: App): Promise<void> {
  if ((await factOf(app.db.query, WORDS_FACT)) === WORDS_FORM) return;
  await app.db.write(async ({ query }) => {
    for (const game of await store.allNames(query)) await store.putWords(query, game);
    await rememberFact(query, WORDS_FACT, WORDS_FORM);
  });
}

/** Text columns have a folded copy, by which lists compare. */
function foldedCopies<V extends Updateable<GamesTable>>(values: V): Pick<GamesTable, FoldedColumn> {
  const copies: Partial<Record<FoldedColumn, string>> = {};
  for (const field of ['name', 'summary', 'ugc_name', 'instructions_url'] as const)
    if (values[field] !== undefined) copies[`${field}_folded`] = fold(values[field] ?? '');
  return copies as Record<FoldedColumn, string>;
}

type FoldedColumn = 'name_folded' | 'summary_folded' | 'ugc_name_folded' | 'instructions_url_folded';

type Settable =
  | 'name'
  | 'name_id'
  | 'summary'
  | 'instructions'
  | 'instructions_url'
  | 'ugc_name'
  | 'token_name'
  | 'status'
  | 'presentation_option'
  | 'submission_option'
  | 'dependency_option'
  | 'curation_option'
  | 'profanity_option'
  | 'community_options'
  | 'monetization_options'
  | 'api_access_options'
  | 'maturity_options'
  | 'revenue_options'
  | 'limit_collection_mods'
  | 'cloud_cooking_status'
  | 'max_stock'
  | 'service_features'
  | 'takedown_reports'
  | 'summary_length_max'
  | 'icon'
  | 'logo'
  | 'header';

export type GameChanges = { readonly [F in Settable]?: Updateable<GamesTable>[F] | undefined } & {
  readonly theme?: Readonly<Record<string, string>> | undefined;
  readonly other_urls?: readonly { label: string; url: string }[] | undefined;
  readonly platforms?: readonly GamePlatform[] | undefined;
};

interface GamePlatform {
  readonly platform: string;
  readonly label?: string | undefined;
  readonly moderated?: boolean | undefined;
  readonly locked?: boolean | undefined;
}

async function nameIdFor({ settings }: App, query: Query, name: string): Promise<string> {
  const taken = await store.nameIdsLike(query, freeSlug(name, 'game', []));
  return freeSlug(name, 'game', taken, (nameId) => isReservedForGames(nameId, settings.domain));
}

async function requireNameId({ settings }: App, query: Query, id: number, nameId: string): Promise<void> {
  const refuse = (rule: 'reserved' | 'taken') =>
    new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'name_id', rule }] });
  if (isReservedForGames(nameId, settings.domain)) throw refuse('reserved');
  if (await store.isNameIdTaken(query, nameId, id)) throw refuse('taken');
}

export async function applyGameChanges(
  app: App,
  transaction: Transaction,
  id: number,
  changes: GameChanges,
  language: Language,
): Promise<void> {
  const { query } = transaction;
  const before = (await store.rowForChange(transaction, id))!;
  refuseContradictions(before, changes);
  if (changes.name_id !== undefined && changes.name_id !== before.name_id)
    await requireNameId(app, query, id, changes.name_id);
  if (language !== 'en') await translate(query, 'games', id, language, localisableOf(changes));
  const after = await store.change(transaction, id, columnsOf(app, before, changes, language));
  if (changes.platforms) {
    await store.putPlatforms(query, id, changes.platforms.map(toPlatformRow));
    // Lists of mods by platform and their totals depend on the game's platforms.
    transaction.changed(`games/${id}/mods`);
  }
  if (after.name !== before.name) await store.putWords(query, after);
  await (language === 'en' ? rewriteBodies : rewriteDocuments)(app, transaction, after);
  invalidateGame(transaction, id);
}

/** Refuses combinations of values that are invalid for every caller. */
function refuseContradictions(before: store.GameRow, changes: GameChanges): void {
  const { monetization_options = before.monetization_options, dependency_option = before.dependency_option } = changes;
  const isAsked = changes.monetization_options !== undefined || changes.dependency_option !== undefined;
  if (isAsked && (monetization_options & MONETIZATION) !== 0 && dependency_option === DEPENDENCIES_UNRESTRICTED)
    throw new ApiError('VALIDATION_GENERIC', {
      fields: [{ field: 'monetization_options', rule: 'sells_or_depends' }],
    });
  const { platforms = [] } = changes;
  if (new Set(platforms.map(({ platform }) => platform)).size < platforms.length)
    throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'platforms', rule: 'once' }] });
  if (platforms.length > 0 && platforms.every(({ locked }) => locked))
    throw new ApiError('GAME_MUST_HAVE_ONE_UNLOCKED_PLATFORM');
}

export function localisableOf(changes: GameChanges): Record<string, string> {
  const texts = LOCALISABLE.map((field) => [field, changes[field]] as const);
  return Object.fromEntries(texts.filter((entry): entry is [(typeof LOCALISABLE)[number], string] => entry[1] != null));
}

/** The columns to change; texts in a language other than English are translations instead. */
function columnsOf(app: App, before: store.GameRow, changes: GameChanges, language: Language): Updateable<GamesTable> {
  const { platforms: _, theme, other_urls, ...plain } = changes;
  const columns: Updateable<GamesTable> = { ...plain, date_updated: app.clock.now() };
  if (language !== 'en') for (const field of LOCALISABLE) delete columns[field];
  if (columns.status === GAME_ACCEPTED && before.date_live === 0) columns.date_live = app.clock.now();
  if (theme) columns.theme = JSON.stringify({ ...JSON.parse(before.theme), ...theme });
  if (columns.instructions_url === '') columns.instructions_url = null;
  if (other_urls) columns.other_urls = JSON.stringify(other_urls);
  return { ...columns, ...foldedCopies(columns) };
}

/** The default names of platforms. */
const PLATFORM_LABELS: Readonly<Record<string, string>> = {
  source: 'Source',
  windows: 'Windows',
  mac: 'Mac',
  linux: 'Linux',
  android: 'Android',
  ios: 'iOS',
  xboxone: 'Xbox One',
  xboxseriesx: 'Xbox Series X|S',
  ps4: 'PlayStation 4',
  ps5: 'PlayStation 5',
  switch: 'Nintendo Switch',
  switch2: 'Nintendo Switch 2',
  oculus: 'Meta Quest',
  windowsserver: 'Windows Server',
  linuxserver: 'Linux Server',
};

const toPlatformRow = ({ platform, label, moderated, locked }: GamePlatform) => ({
  platform,
  label: label || (PLATFORM_LABELS[platform] ?? platform),
  moderated: moderated ? 1 : 0,
  locked: locked ? 1 : 0,
});

/** Makes another team member the leader, whom the game names as its submitter. */
export async function transferGame(transaction: Transaction, id: number, userId: number): Promise<void> {
  await store.change(transaction, id, { submitted_by: userId });
  invalidateGame(transaction, id);
}

/** Marks the game as deleted. Its row stays for rows that refer to it. */
export async function removeGame(app: App, transaction: Transaction, id: number): Promise<void> {
  await applyGameChanges(app, transaction, id, { status: GAME_DELETED }, 'en');
  for (const { onDelete } of app.extensions.of(gameExtensions)) await onDelete?.(app, transaction, id);
}

/** Counts mods that became public, or ceased to be. */
export async function countPublicMods(transaction: Transaction, gameId: number, difference: number): Promise<void> {
  await store.addToModsCount(transaction, gameId, difference);
  invalidateGame(transaction, gameId);
}

/** Locks the game's row, so that concurrent changes of its tags and their counts run one after the other. */
export async function lockGame(transaction: Transaction, id: number): Promise<void> {
  await store.rowForChange(transaction, id);
}

/** The game's tags have changed in name, number or translation. */
export async function tagOptionsChanged(app: App, transaction: Transaction, id: number): Promise<void> {
  await rewriteDocuments(app, transaction, (await store.rowForChange(transaction, id))!);
  invalidateGame(transaction, id);
}

/** Only the counts of the game's tags have changed. */
export async function tagCountsChanged(transaction: Transaction, id: number): Promise<void> {
  await rewriteTags(transaction, id);
  invalidateGame(transaction, id);
}

/**
 * Adds to the totals of a game's mods. Cached responses stay valid, because this happens all the time: they show new
 * totals once the stats are refreshed, at `date_expires`.
 */
export const countForGame = (transaction: Transaction, gameId: number, difference: Partial<store.ModTotals>) =>
  store.addToModTotals(transaction, gameId, {
    mods_downloads_today: 0,
    mods_downloads_total: 0,
    mods_subscribers_total: 0,
    ...difference,
  });

export const gamesWithExpiredStats = (app: App, most: number): Promise<number[]> =>
  store.withStatsExpiredBefore(app.db.query, app.clock.now(), most);

/** Stores new averages and the next expiry. Everything in the game that shows stats becomes stale. */
export async function refreshGameStats(app: App, gameId: number, dateExpires: number): Promise<void> {
  await app.db.write(async (transaction) => {
    await store.refreshStats(transaction, gameId, app.clock.now(), dateExpires);
    invalidateGame(transaction, gameId);
  });
}

export function invalidateGame(transaction: Transaction, id: number): void {
  transaction.changed(`games/${id}`);
  transaction.changed('games');
}
