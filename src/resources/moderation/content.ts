import type { Caller } from '../../access/caller.ts';
import type { App } from '../../context.ts';
import type { Database, Transaction } from '../../database/database.ts';
import { ApiError } from '../../errors/catalogue.ts';
import {
  applyGuideChanges,
  GUIDE_DELETED,
  type GuideRow,
  holdGuide,
  isAuthor,
  removeGuide,
  setGuideDmca,
} from '../guides/guides.ts';
import { applyModChanges, holdMods, MOD_DELETED, type ModRow, removeMod, setDmca } from '../mods/mods.ts';
import { teamLevel } from '../teams/teams.ts';

type Reader = Pick<Database, 'first'>;

export type Moderated = 'mods' | 'guides';

/** Something that is decided over, held so that nobody else decides meanwhile. */
export interface Content {
  readonly resource: Moderated;
  readonly id: number;
  readonly gameId: number;
  readonly status: number;
  readonly isDmca: boolean;
  readonly authorId: number;
  set(status: number, userId: number): Promise<void>;
  setDmca(isOpen: boolean): Promise<void>;
}

export const NOT_ACCEPTED = 0;
export const ACCEPTED = 1;
export const DELETED = 3;

export async function holdContent(
  app: App,
  transaction: Transaction,
  resource: Moderated,
  gameId: number,
  id: number,
): Promise<Content> {
  if (resource === 'guides') {
    const guide = await holdGuide(transaction, id);
    if (guide?.game_id !== gameId) throw new ApiError('MODERATION_NOT_FOUND');
    return guideContent(app, transaction, guide);
  }
  const mod = (await holdMods(transaction, [id])).get(id);
  if (mod?.game_id !== gameId) throw new ApiError('MODERATION_NOT_FOUND');
  return modContent(app, transaction, mod);
}

const modContent = (app: App, transaction: Transaction, mod: ModRow): Content => ({
  resource: 'mods',
  id: mod.id,
  gameId: mod.game_id,
  status: mod.status,
  isDmca: mod.dmca === 1,
  authorId: mod.submitted_by,
  set: (status, userId) =>
    status === MOD_DELETED
      ? removeMod(app, transaction, mod, userId)
      : applyModChanges(app, transaction, mod, { status }, userId),
  setDmca: (isOpen) => setDmca(transaction, mod, isOpen),
});

/** A guide that was taken back its author does not publish again. */
const guideContent = (app: App, transaction: Transaction, guide: GuideRow): Content => ({
  resource: 'guides',
  id: guide.id,
  gameId: guide.game_id,
  status: guide.status,
  isDmca: guide.dmca === 1,
  authorId: guide.submitted_by,
  set: async (status) => {
    if (status === GUIDE_DELETED) await removeGuide(app, transaction, guide);
    else await applyGuideChanges(app, transaction, guide, { status, withheld: Number(status === NOT_ACCEPTED) });
  },
  setDmca: (isOpen) => setGuideDmca(transaction, guide.id, isOpen),
});

/** Authors of a mod are its team. */
export async function isOfAuthors(reader: Reader, caller: Caller, resource: Moderated, id: number, authorId: number) {
  if (resource === 'guides') return isAuthor(caller, { submitted_by: authorId });
  return caller.kind === 'user' && (await teamLevel(reader, { ...caller, admin: false }, 'mods', id)) > 0;
}
