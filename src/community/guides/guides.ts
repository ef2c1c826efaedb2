import type { Updateable } from 'kysely';
import { MODERATOR, teamLevel } from '../../catalogue/teams/teams.ts';
import { requireUserIn } from '../../people/users/users.ts';
import { type Caller, muterOf } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { fold, type ListRequest } from '../../platform/database/listing.ts';
import { withLikelyWords } from '../../platform/database/search.ts';
import { sanitised } from '../../platform/text/markup.ts';
import { freeNameId, requireFreeNameId } from '../../platform/text/name-ids.ts';
import { GUIDE_ACCEPTED, GUIDE_DELETED, requireGuide, requireGuides } from './access.ts';
import { guideListing } from './listing.ts';
import * as store from './store.ts';
import type { GuidesTable } from './table.ts';

export * from './access.ts';
export type { GuideRow } from './store.ts';

/** The bit of `community_options` that allows comments. */
export const ALLOW_COMMENTS = 2_048;

type Settable =
  | 'name'
  | 'name_id'
  | 'summary'
  | 'description'
  | 'status'
  | 'date_live'
  | 'community_options'
  | 'logo'
  | 'withheld';

export type GuideChanges = { readonly [F in Settable]?: GuidesTable[F] | undefined } & {
  readonly tags?: readonly string[] | undefined;
};

export interface NewGuide extends GuideChanges {
  readonly gameId: number;
  readonly ownerId: number;
  readonly name: string;
  readonly summary: string;
  readonly description: string;
}

/** Invalidates the lists of the game’s guides, and responses with the guide. */
function announce(transaction: Transaction, { id, game_id }: Pick<store.GuideRow, 'id' | 'game_id'>): void {
  transaction.changed(`guides/${id}`);
  transaction.changed(guidesScope(game_id));
}

/** The scope of cached lists of a game’s guides. */
export const guidesScope = (gameId: number) => `games/${gameId}/guides`;

export async function addGuide(app: App, transaction: Transaction, guide: NewGuide): Promise<store.GuideRow> {
  const { gameId, ownerId, tags = [], status = GUIDE_ACCEPTED, ...fields } = guide;
  await requireUserIn(transaction, ownerId);
  const now = app.clock.now();
  const row = await store.add(transaction.query, {
    community_options: ALLOW_COMMENTS,
    logo: null,
    withheld: 0,
    ...prepared(fields),
    name: fields.name,
    name_folded: fold(fields.name),
    summary: fields.summary,
    description: sanitised(fields.description),
    name_id: await nameIdFor(app, transaction, gameId, fields),
    game_id: gameId,
    submitted_by: ownerId,
    status,
    date_added: now,
    date_updated: now,
    date_live: fields.date_live ?? (status === GUIDE_ACCEPTED ? now : 0),
    dmca: 0,
    visits_today: 0,
    visits_total: 0,
    comments_total: 0,
  });
  await store.putTags(transaction.query, row.id, tagsOf(tags), now);
  await store.putWords(transaction.query, row);
  announce(transaction, row);
  return row;
}

/** Tags that differ only in case are the same. */
function tagsOf(names: readonly string[]) {
  const tags = new Map(names.map((name) => [fold(name), name]));
  return [...tags].map(([name_folded, name]) => ({ name, name_folded }));
}

async function nameIdFor(app: App, { query }: Transaction, gameId: number, { name, name_id }: GuideChanges) {
  if (name_id !== undefined) {
    await requireFreeNameId(app, query, 'guides', gameId, name_id, 0);
    return name_id;
  }
  return freeNameId(app, query, 'guides', gameId, { name: name!, fallback: 'guide' });
}

/** Converts request fields to columns: markup is sanitised, and the name is also stored folded. */
function prepared({ tags: _, ...changes }: GuideChanges): Updateable<GuidesTable> {
  const columns: Updateable<GuidesTable> = {};
  for (const [name, value] of Object.entries(changes))
    if (value !== undefined) Object.assign(columns, { [name]: value });
  if (changes.description !== undefined) columns.description = sanitised(changes.description);
  if (changes.name !== undefined) columns.name_folded = fold(changes.name);
  return columns;
}

/** Edits a guide; the caller has checked the permission. It goes live at its date, or now if it has none. */
export async function applyGuideChanges(
  app: App,
  transaction: Transaction,
  before: store.GuideRow,
  changes: GuideChanges,
): Promise<store.GuideRow> {
  const { query } = transaction;
  if (changes.name_id !== undefined && changes.name_id !== before.name_id)
    await requireFreeNameId(app, query, 'guides', before.game_id, changes.name_id, before.id);
  const now = app.clock.now();
  const columns = prepared(changes);
  if (columns.status === GUIDE_ACCEPTED && before.date_live === 0) columns.date_live ??= now;
  const after = await store.change(transaction, before.id, { ...columns, date_updated: now });
  if (changes.tags) await store.putTags(query, before.id, tagsOf(changes.tags), now);
  if (after.name !== before.name) await store.putWords(query, after);
  announce(transaction, after);
  return after;
}

/** A deleted guide stays stored, so that its author and the game’s team get the error for deleted guides. */
export const removeGuide = (app: App, transaction: Transaction, guide: store.GuideRow) =>
  applyGuideChanges(app, transaction, guide, { status: GUIDE_DELETED });

/** Opens or closes a copyright complaint. While it is open the author can neither edit nor delete the guide. */
export async function setGuideDmca(transaction: Transaction, id: number, open: boolean): Promise<void> {
  announce(transaction, await store.change(transaction, id, { dmca: open ? 1 : 0 }));
}

export async function countCommentsOfGuide(
  transaction: Transaction,
  guide: Pick<store.GuideRow, 'id' | 'game_id'>,
  difference: number,
): Promise<void> {
  await store.countComments(transaction, guide.id, difference);
  announce(transaction, guide);
}

/**
 * The guides of a list. A filter by `status` also finds the caller’s own hidden ones, and for the game’s team all; such
 * a response is not cached.
 */
export async function listGuides(app: App, caller: Caller, gameId: number, request: ListRequest) {
  await requireGuides(app.db, caller, gameId);
  const now = app.clock.now();
  const asksStatus = request.groups.flat().some(({ column }) => column.name === 'status');
  const everything = asksStatus && (await teamLevel(app.db, caller, 'games', gameId)) >= MODERATOR;
  const ownId = caller.kind === 'user' ? caller.userId : undefined;
  // The game’s team sees the guides of muted users, because it moderates them.
  const muterId = everything ? undefined : muterOf(caller);
  const scope = { gameId, now, everything, ownId, asksStatus, muterId };
  const page = await store.list(app.db.query, scope, guideListing, await withLikelyWords(app.db, request));
  return { ...page, isForAll: !asksStatus, nextLive: await store.nextLive(app.db, gameId, now) };
}

export async function listTagsOfGuides(
  app: App,
  caller: Caller,
  gameId: number,
  request: Pick<ListRequest, 'limit' | 'offset'>,
) {
  await requireGuides(app.db, caller, gameId);
  const now = app.clock.now();
  const page = await store.listTags(app.db.query, gameId, now, request);
  return { ...page, nextLive: await store.nextLive(app.db, gameId, now) };
}

export async function showGuide(app: App, caller: Caller, gameId: number, id: number): Promise<store.StoredGuide> {
  await requireGuide(app, app.db, caller, gameId, id);
  return guideIn(app, app.db, gameId, id);
}

/** Reads the guide within the transaction that wrote it. */
export async function guideIn(app: App, { query }: Pick<Transaction, 'query'>, gameId: number, id: number) {
  const [guide] = await store.guidesOf(query, [id], { gameId, now: app.clock.now() });
  return guide!;
}
