import type { App } from '../../platform/app.ts';
import type { Bulk } from '../../platform/database/bulk.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { tellStudio } from '../webhooks/outbox.ts';
import type { ModEventType, UserEventType } from './kinds.ts';
import * as store from './store.ts';

export { MOD_EVENTS, type ModEventType, USER_EVENTS, type UserEventType } from './kinds.ts';
export type { ModEventRow, UserEventRow } from './store.ts';

// Mods and other nouns record their events here, so this file knows none of them; `history.ts` knows who may see what.

export interface ModEvent {
  readonly gameId: number;
  readonly modId: number;
  /** Who did it. */
  readonly userId: number;
  readonly type: ModEventType;
  /** Whether everyone could see the mod, before or after what happened. */
  readonly isPublic: boolean;
}

/**
 * Tells in the transaction of a change what happened to a mod. Others who record for the game wait from here until the
 * commit, so that ids come in the order in which they are seen: call it last, and after `recordUserEvent`.
 */
export async function recordModEvent(app: App, transaction: Transaction, event: ModEvent): Promise<void> {
  const { gameId, modId, type } = event;
  // Who could see the mod once is told that it was deleted; of one that never was public nobody hears.
  const shown = event.isPublic || (type === 'MOD_DELETED' && (await store.wasShown(transaction, modId)));
  await store.addModEvent(transaction, {
    game_id: gameId,
    mod_id: modId,
    user_id: event.userId,
    event_type: type,
    date_added: app.clock.now(),
    shown: Number(shown),
  });
  if (type === 'MOD_UNAVAILABLE' || type === 'MOD_DELETED') await store.hideModEvents(transaction, modId);
  transaction.changed(eventsScope(gameId));
  const data = { mod_id: modId, user_id: event.userId };
  await tellStudio(app, transaction, { gameId, kind: type, subject: `mods/${modId}`, data });
}

/** What makes kept lists of a game's events stale. */
export const eventsScope = (gameId: number) => `games/${gameId}/events`;

export interface UserEvent {
  readonly gameId: number;
  readonly modId: number;
  readonly userId: number;
  readonly type: UserEventType;
}

/** Tells what someone did, to themselves and to the game's studio. As above others wait, those who record for the same person. */
export async function recordUserEvent(app: App, transaction: Transaction, event: UserEvent): Promise<void> {
  const { gameId, modId, userId, type } = event;
  await store.addUserEvent(transaction, {
    game_id: gameId,
    mod_id: modId,
    user_id: userId,
    event_type: type,
    date_added: app.clock.now(),
  });
  const data = { mod_id: modId, user_id: userId };
  await tellStudio(app, transaction, { gameId, kind: type, subject: `mods/${modId}`, data });
}

export interface NewModOfOwner {
  readonly gameId: number;
  readonly modId: number;
  readonly userId: number;
  readonly dateAdded: number;
  readonly isPublic: boolean;
}

/** What is told of many new mods: who owns them, and that they can be had. Old events would be gone by now. */
export async function recordNewMods(app: App, bulk: Bulk, mods: readonly NewModOfOwner[]): Promise<void> {
  const recent = mods.filter(({ dateAdded }) => dateAdded >= app.clock.now() - KEPT_SECONDS);
  const namesOf = ({ gameId, modId, userId, dateAdded }: NewModOfOwner) => ({
    game_id: gameId,
    mod_id: modId,
    user_id: userId,
    date_added: dateAdded,
  });
  const available = recent.filter(({ isPublic }) => isPublic);
  await store.addMany(
    bulk,
    available.map((mod) => ({ ...namesOf(mod), event_type: 'MOD_AVAILABLE', shown: 1, newest: 1, newest_shown: 1 })),
    recent.map((mod) => ({ ...namesOf(mod), event_type: 'USER_TEAM_JOIN' })),
  );
  for (const gameId of new Set(available.map((mod) => mod.gameId))) bulk.transaction.changed(eventsScope(gameId));
}

const KEPT_SECONDS = 90 * 24 * 3_600;
const REMOVED_AT_ONCE = 500;

/** Events are kept for 90 days. They go in small steps, as nobody can record while one is done. */
export async function removeOldEvents(app: App): Promise<void> {
  const before = app.clock.now() - KEPT_SECONDS;
  const step = () =>
    app.db.write(async (transaction) => {
      const { ofMods, ofUsers } = await store.removeSomeBefore(transaction, before, REMOVED_AT_ONCE);
      for (const gameId of new Set(ofMods)) transaction.changed(eventsScope(gameId));
      return Math.max(ofMods.length, ofUsers);
    });
  while ((await step()) === REMOVED_AT_ONCE);
}
