import { applyModChanges, lockMods, MOD_DELETED, type ModRow, removeMod, setDmca } from '../../catalogue/mods/mods.ts';
import { MANAGER, teamLevel } from '../../catalogue/teams/teams.ts';
import type { CollectionRow } from '../../community/collections/collections.ts';
import { lockCollection, putCollectionStatus } from '../../community/collections/moderating.ts';
import {
  HIDDEN,
  type LockedComment,
  lockComment,
  SHOWN,
  TAKEN,
  withhold,
} from '../../community/comments/moderating.ts';
import {
  applyGuideChanges,
  GUIDE_DELETED,
  type GuideRow,
  lockGuide,
  removeGuide,
  setGuideDmca,
} from '../../community/guides/guides.ts';
import type { Caller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';

type Reader = Pick<Database, 'first'>;

export const MODERATED = ['mods', 'guides', 'collections', 'comments'] as const;
export type Moderated = (typeof MODERATED)[number];

/** The moderator, and the reason. */
export interface Deciding {
  readonly by: number;
  readonly reason: string;
}

/** Content to decide on, locked against concurrent decisions. */
export interface Content {
  readonly resource: Moderated;
  readonly id: number;
  readonly gameId: number;
  readonly status: number;
  readonly isDmca: boolean;
  readonly authorId: number;
  readonly dateAdded: number;
  set(status: number, done: Deciding): Promise<void>;
  /** Absent if the content cannot get copyright complaints. */
  readonly setDmca?: (isOpen: boolean) => Promise<void>;
}

export const NOT_ACCEPTED = 0;
export const ACCEPTED = 1;
export const DELETED = 3;

const HOLDING: Record<
  Moderated,
  (app: App, transaction: Transaction, caller: Caller, id: number) => Promise<Content | undefined>
> = {
  mods: async (app, transaction, _, id) => {
    const mod = (await lockMods(transaction, [id])).get(id);
    return mod && modContent(app, transaction, mod);
  },
  guides: async (app, transaction, _, id) => {
    const guide = await lockGuide(transaction, id);
    return guide && guideContent(app, transaction, guide);
  },
  collections: async (app, transaction, _, id) => {
    const collection = await lockCollection(transaction, id);
    return collection && collectionContent(app, transaction, collection);
  },
  comments: async (app, transaction, caller, id) => {
    const held = await unlessRefused(() => lockComment(app, transaction, caller, id));
    return held && commentContent(app, transaction, held);
  },
};

/** Comments on deleted content cannot be moderated. */
async function unlessRefused<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (cause) {
    if (cause instanceof ApiError) return undefined;
    throw cause;
  }
}

/** Only the visibility of a comment’s content is checked. The caller has checked the permission to moderate. */
export async function lockContent(
  app: App,
  transaction: Transaction,
  caller: Caller,
  { resource, gameId, id }: { readonly resource: Moderated; readonly gameId: number; readonly id: number },
): Promise<Content> {
  const content = await HOLDING[resource](app, transaction, caller, id);
  if (content?.gameId !== gameId) throw new ApiError('MODERATION_NOT_FOUND');
  return content;
}

const modContent = (app: App, transaction: Transaction, mod: ModRow): Content => ({
  resource: 'mods',
  id: mod.id,
  gameId: mod.game_id,
  status: mod.status,
  isDmca: mod.dmca === 1,
  authorId: mod.submitted_by,
  dateAdded: mod.date_added,
  set: (status, { by }) =>
    status === MOD_DELETED
      ? removeMod(app, transaction, mod, by)
      : applyModChanges(app, transaction, mod, { status }, by),
  setDmca: (isOpen) => setDmca(transaction, mod, isOpen),
});

/** The author cannot publish a rejected guide again. */
const guideContent = (app: App, transaction: Transaction, guide: GuideRow): Content => ({
  resource: 'guides',
  id: guide.id,
  gameId: guide.game_id,
  status: guide.status,
  isDmca: guide.dmca === 1,
  authorId: guide.submitted_by,
  dateAdded: guide.date_added,
  set: async (status) => {
    if (status === GUIDE_DELETED) await removeGuide(app, transaction, guide);
    else await applyGuideChanges(app, transaction, guide, { status, withheld: Number(status === NOT_ACCEPTED) });
  },
  setDmca: (isOpen) => setGuideDmca(transaction, guide.id, isOpen),
});

const collectionContent = (app: App, transaction: Transaction, collection: CollectionRow): Content => ({
  resource: 'collections',
  id: collection.id,
  gameId: collection.game_id,
  status: collection.status,
  isDmca: false,
  authorId: collection.submitted_by,
  dateAdded: collection.date_added,
  set: (status, done) => putCollectionStatus(app, transaction, collection, status, done),
});

/** The `status` of a comment, derived from `withheld`. */
const WITHHELD: Record<number, number> = { [NOT_ACCEPTED]: HIDDEN, [ACCEPTED]: SHOWN, [DELETED]: TAKEN };
const STATUS: Record<number, number> = { [HIDDEN]: NOT_ACCEPTED, [SHOWN]: ACCEPTED, [TAKEN]: DELETED };

const commentContent = (app: App, transaction: Transaction, held: LockedComment): Content => ({
  resource: 'comments',
  id: held.comment.id,
  gameId: held.comment.game_id,
  status: STATUS[held.comment.withheld]!,
  isDmca: false,
  authorId: held.comment.submitted_by,
  dateAdded: held.comment.date_added,
  set: (status, { by }) => withhold(app, transaction, held, WITHHELD[status]!, by),
});

/** The authors of a mod are the members of its team with at least this level. */
export async function isOfAuthors(
  reader: Reader,
  caller: Caller,
  { resource, id, authorId }: { readonly resource: Moderated; readonly id: number; readonly authorId: number },
  level = 1,
): Promise<boolean> {
  if (caller.kind !== 'user') return false;
  if (resource !== 'mods') return caller.userId === authorId;
  return (await teamLevel(reader, { ...caller, admin: false }, 'mods', id)) >= level;
}

/** Only members who may edit the mod can appeal, because there is one appeal per decision. */
export const LEVEL_TO_APPEAL = MANAGER;
