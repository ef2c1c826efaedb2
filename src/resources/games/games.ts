import type { Updateable } from 'kysely';
import type { Caller } from '../../access/caller.ts';
import { issueKey } from '../../access/credentials.ts';
import type { App } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import { fold, type ListRequest, wordsOf } from '../../database/listing.ts';
import { ApiError } from '../../errors/catalogue.ts';
import type { Language } from '../../localisation/languages.ts';
import { translate } from '../../localisation/translations.ts';
import { freeSlug } from '../../slug.ts';
import { ADMINISTRATOR, joinTeam, MANAGER, teamLevel } from '../teams/teams.ts';
import { requireUser } from '../users/users.ts';
import { rewriteDocuments } from './documents.ts';
import { gameListing } from './listing.ts';
import * as store from './store.ts';
import type { GamesTable } from './table.ts';

export type { GameRow, NewTagGroup, StatsRow, StoredGame, TagGroup } from './store.ts';

export const GAME_NOT_ACCEPTED = 0;
export const GAME_ACCEPTED = 1;
export const GAME_DELETED = 3;
/** `community_options`: the game's team may change its status. */
const CAN_CHANGE_STATUS = 32;

const LOCALISABLE = ['name', 'summary', 'instructions', 'ugc_name'] as const;

/** A game that is not accepted exists only for its own key, its team, and those who run the site. */
async function refuseHidden(app: App, caller: Caller, game: { id: number; status: number } | undefined): Promise<void> {
  if (!game) throw new ApiError('GAME_NOT_FOUND');
  if (game.status === GAME_ACCEPTED) return;
  if (game.status === GAME_DELETED) throw new ApiError('GAME_DELETED');
  const isOwnKey = caller.kind === 'key' && caller.gameId === game.id;
  if (!isOwnKey && (await teamLevel(app, caller, 'games', game.id)) === 0) throw new ApiError('GAME_NOT_FOUND');
}

export async function requireGame(app: App, caller: Caller, id: number): Promise<store.GameRow> {
  const game = await store.byId(app.db, id);
  await refuseHidden(app, caller, game);
  return game!;
}

export async function requireGameDocument(
  app: App,
  caller: Caller,
  id: number,
  language: Language,
  hiddenTags: boolean,
): Promise<store.StoredGame> {
  const game = await store.documentOf(app.db, id, language, hiddenTags);
  await refuseHidden(app, caller, game);
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
    everything: caller.kind === 'user' && caller.admin,
    gameId: caller.kind === 'key' ? caller.gameId : undefined,
    memberId: caller.kind === 'user' && (caller.inTeams || ownOnly) ? caller.userId : undefined,
    ownOnly,
  };
  return store.list(app.db.query, visible, gameListing, request, language, hiddenTags);
}

export async function statsOfGame(app: App, caller: Caller, id: number): Promise<store.StatsRow> {
  await requireGame(app, caller, id);
  return (await store.statsOf(app.db.query, id))!;
}

export async function tagGroupsOfGame(
  app: App,
  caller: Caller,
  id: number,
  hidden: boolean,
): Promise<store.TagGroup[]> {
  await requireGame(app, caller, id);
  return (await store.tagGroupsOf(app.db.query, id)).filter((group) => hidden || group.hidden === 0);
}

export interface NewGame {
  readonly name: string;
  readonly ownerId: number;
  readonly summary?: string;
  readonly accepted?: boolean;
  readonly tagGroups?: readonly store.NewTagGroup[];
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
  community_options: 1 | 2 | 256 | 512 | 1024 | 2048,
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

/** Makes a game with its owner as administrator, and returns its API key, for the only time. */
export async function addGame(
  app: App,
  transaction: Transaction,
  game: NewGame,
): Promise<store.GameRow & { api_key: string }> {
  await requireUser(app, game.ownerId);
  const { query } = transaction;
  const now = app.clock.now();
  const values = { ...DEFAULTS, name: game.name, summary: game.summary ?? '', ...game.settings };
  const row = await store.add(query, {
    ...values,
    ...foldedTwins(values),
    status: game.accepted ? GAME_ACCEPTED : GAME_NOT_ACCEPTED,
    submitted_by: game.ownerId,
    date_added: now,
    date_updated: now,
    date_live: game.accepted ? now : 0,
    name_id: freeSlug(game.name, 'game', await store.nameIdsLike(query, freeSlug(game.name, 'game', []))),
  });
  await joinTeam(app, transaction, {
    resource: 'games',
    resourceId: row.id,
    userId: game.ownerId,
    level: ADMINISTRATOR,
    position: 'Owner',
  });
  for (const [position, group] of (game.tagGroups ?? []).entries())
    await store.addTagGroup(query, row.id, position, group);
  await refresh(app, transaction, row);
  return { ...row, api_key: await issueKey(app, transaction, { gameId: row.id }) };
}

/** Text columns have a twin in the form in which lists compare them. */
function foldedTwins(values: {
  name?: string | undefined;
  summary?: string | undefined;
  ugc_name?: string | undefined;
  instructions_url?: string | null | undefined;
}) {
  return {
    ...(values.name !== undefined && { name_folded: fold(values.name) }),
    ...(values.summary !== undefined && { summary_folded: fold(values.summary) }),
    ...(values.ugc_name !== undefined && { ugc_name_folded: fold(values.ugc_name) }),
    ...(values.instructions_url !== undefined && { instructions_url_folded: fold(values.instructions_url ?? '') }),
  } as { name_folded: string; summary_folded: string; ugc_name_folded: string; instructions_url_folded: string };
}

export interface GameChanges
  extends Partial<
    Pick<GamesTable, 'name' | 'name_id' | 'summary' | 'instructions' | 'instructions_url' | 'ugc_name' | 'token_name'>
  > {
  readonly status?: number | undefined;
  readonly theme?: Readonly<Record<string, string>> | undefined;
  readonly other_urls?: readonly { label: string; url: string }[] | undefined;
  readonly platforms?: readonly { platform: string; label: string; moderated: boolean; locked: boolean }[] | undefined;
  readonly [option: string]: unknown;
}

/** Changes by the game's team. In another language than English only localisable texts change, as translations. */
export async function editGame(
  app: App,
  caller: Caller,
  id: number,
  changes: GameChanges,
  language: Language,
): Promise<void> {
  const game = await requireGame(app, caller, id);
  if ((await teamLevel(app, caller, 'games', id)) < MANAGER) throw new ApiError('GAME_NO_UPDATE_PERMISSION');
  if (changes.status !== undefined && changes.status !== game.status) await requireStatusPermission(app, caller, game);
  await app.db.write(async (transaction) => applyGameChanges(app, transaction, id, changes, language));
}

async function requireStatusPermission(app: App, caller: Caller, game: store.GameRow): Promise<void> {
  const isSiteAdmin = caller.kind === 'user' && caller.admin;
  const level = await teamLevel(app, caller, 'games', game.id);
  const mayTeam = (game.community_options & CAN_CHANGE_STATUS) !== 0 && level >= ADMINISTRATOR;
  if (!isSiteAdmin && !mayTeam) throw new ApiError('GAME_NO_UPDATE_STATUS_PERMISSION');
}

export async function applyGameChanges(
  app: App,
  transaction: Transaction,
  id: number,
  changes: GameChanges,
  language: Language,
): Promise<void> {
  const { query } = transaction;
  const { platforms, theme, other_urls, ...plain } = changes;
  const texts = Object.fromEntries(
    LOCALISABLE.flatMap((field) => (typeof plain[field] === 'string' ? [[field, plain[field]]] : [])),
  );
  const own: Updateable<GamesTable> = { ...plain };
  if (language !== 'en') {
    await translate(query, 'games', id, language, texts);
    for (const field of LOCALISABLE) delete own[field];
  }
  if (changes.name_id !== undefined) await requireFreeNameId(transaction, id, changes.name_id);
  const before = (await store.rowIn(query, id))!;
  if (own.status === GAME_ACCEPTED && before.date_live === 0) own.date_live = app.clock.now();
  if (theme) own.theme = JSON.stringify({ ...JSON.parse(before.theme), ...theme });
  if (other_urls) own.other_urls = JSON.stringify(other_urls);
  await store.change(query, id, { ...own, ...foldedTwins(own as never), date_updated: app.clock.now() });
  if (platforms)
    await store.putPlatforms(
      query,
      id,
      platforms.map((p) => ({ ...p, moderated: p.moderated ? 1 : 0, locked: p.locked ? 1 : 0 })),
    );
  await refresh(app, transaction, (await store.rowIn(query, id))!);
}

async function requireFreeNameId({ query }: Transaction, id: number, nameId: string): Promise<void> {
  const taken = await query
    .selectFrom('games')
    .select('id')
    .where('name_id', '=', nameId)
    .where('id', '<>', id)
    .executeTakeFirst();
  if (taken) throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'name_id', rule: 'taken' }] });
}

/** What is derived from a game follows it in the same transaction. */
async function refresh(app: App, transaction: Transaction, game: store.GameRow): Promise<void> {
  await store.putWords(transaction.query, game.id, wordsOf(game.name));
  await rewriteDocuments(app, transaction.query, game);
  transaction.changed(`games/${game.id}`);
  transaction.changed('games');
}
