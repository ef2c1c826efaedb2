import type { Updateable } from 'kysely';
import { requireUserIn } from '../../people/users/users.ts';
import { teamGamesOf } from '../../platform/access/admission.ts';
import type { Caller } from '../../platform/access/caller.ts';
import { issueKey } from '../../platform/access/credentials.ts';
import { isSiteStaff } from '../../platform/access/staff.ts';
import type { App } from '../../platform/app.ts';
import type { Database, Query, Transaction } from '../../platform/database/database.ts';
import { factOf, rememberFact } from '../../platform/database/facts.ts';
import type { ListRequest } from '../../platform/database/listing.ts';
import { withLikelyWords } from '../../platform/database/search.ts';
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
import {
  columnsOf,
  DEFAULTS,
  foldedCopies,
  type GameChanges,
  localisableOf,
  refuseContradictions,
  toPlatformRow,
} from './settings.ts';
import * as statsStore from './stats-store.ts';
import * as store from './store.ts';
import type { GamesTable } from './table.ts';

export type { GameRow, StoredGame } from './store.ts';

const GAME_NOT_ACCEPTED = 0;
export const GAME_ACCEPTED = 1;
export const GAME_DELETED = 3;

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

/** For what only administrators of a game, and staff, may see and change. */
export async function requireGameAdministrator(reader: Reader, caller: Caller, id: number): Promise<void> {
  await requireGame(reader, caller, id);
  if ((await teamLevel(reader, caller, 'games', id)) < ADMINISTRATOR) throw new ApiError('GAME_NO_ADMIN_PERMISSION');
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

/** The row of a game as a transaction sees it, for rules that have checked access before. */
export const gameRowIn = async (transaction: Transaction, id: number): Promise<store.GameRow> =>
  (await store.rowIn(transaction, id))!;

export async function requireGameRow(app: App, caller: Caller, id: number): Promise<store.GameRow> {
  await requireGame(app.db, caller, id);
  return (await store.byId(app.db, id))!;
}

export async function requireGameDocument(
  db: Database,
  caller: Caller,
  id: number,
  language: Language,
  hiddenTags: boolean,
): Promise<store.StoredGame> {
  const game = await store.shownDocumentOf(db, id, language, hiddenTags);
  const shown = game && { id, status: game.game_status, date_live: game.game_date_live };
  if (shown?.status !== GAME_ACCEPTED) await refuseHidden(db, caller, shown, 'GAME_NO_VIEW_PERMISSION');
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
  return store.list(app.db, visible, gameListing, spelled, language, hiddenTags);
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
  await statsStore.addStats(query, row);
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
  await changeGame(app, transaction, (await store.rowForChange(transaction, id))!, changes, language);
}

/** The same for a rule that has already read the row for a change. */
export async function changeGame(
  app: App,
  transaction: Transaction,
  before: store.GameRow,
  changes: GameChanges,
  language: Language,
): Promise<void> {
  const { query } = transaction;
  const { id } = before;
  refuseContradictions(before, changes);
  if (changes.name_id !== undefined && changes.name_id !== before.name_id)
    await requireNameId(app, query, id, changes.name_id);
  if (language !== 'en') await translate(query, 'games', id, language, localisableOf(changes));
  const now = app.clock.now();
  const columns = { ...columnsOf(before, changes, language), date_updated: now };
  if (columns.status === GAME_ACCEPTED && before.date_live === 0) columns.date_live = now;
  const after = await store.change(transaction, id, columns);
  if (changes.platforms) {
    await store.putPlatforms(query, id, changes.platforms.map(toPlatformRow));
    // Lists of mods by platform and their totals depend on the game's platforms.
    transaction.changed(`games/${id}/mods`);
  }
  if (after.name !== before.name) await store.putWords(query, after);
  await (language === 'en' ? rewriteBodies : rewriteDocuments)(app, transaction, after);
  invalidateGame(transaction, id);
}

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

export function invalidateGame(transaction: Transaction, id: number): void {
  transaction.changed(`games/${id}`);
  transaction.changed('games');
}
