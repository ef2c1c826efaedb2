import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import type { ModEventType, UserEventType } from '../webhooks/kinds.ts';
import { queueStudioEvent, recordStudioEvent } from '../webhooks/outbox.ts';
import * as store from './store.ts';

export interface ModEvent {
  readonly gameId: number;
  readonly modId: number;
  /** The acting user. */
  readonly userId: number;
  readonly type: ModEventType;
  /** Whether the mod was public before or after the change. */
  readonly isPublic: boolean;
}

/**
 * Records an event of a mod in the transaction of the change. Other writers for the game wait until the commit, so that
 * ids become visible in order: call it last, and after `recordUserEvent`.
 */
export async function recordModEvent(app: App, transaction: Transaction, event: ModEvent): Promise<void> {
  const { gameId, modId, type } = event;
  // Clients that have seen the mod must learn of its deletion; a mod that was never public stays unknown.
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
  await recordStudioEvent(app, transaction, { gameId, kind: type, subject: `mods/${modId}`, data });
}

/** The scope of cached lists of a game's events. */
export const eventsScope = (gameId: number) => `games/${gameId}/events`;

export interface UserEvent {
  readonly gameId: number;
  readonly modId: number;
  readonly userId: number;
  readonly type: UserEventType;
}

/** Records an event of a user, for their own list and for the studio. Other writers for the user wait until the commit. */
export async function recordUserEvent(app: App, transaction: Transaction, event: UserEvent): Promise<void> {
  await takeTurnOfUser(transaction, event.userId);
  await recordUserEventInTurn(app, transaction, event);
}

/** Other writers of events of the user wait until the commit. Take it after all row locks. */
export const takeTurnOfUser = (transaction: Transaction, userId: number): Promise<void> =>
  store.takeTurnOfUser(transaction, userId);

/** As `recordUserEvent`, after `takeTurnOfUser`. */
export async function recordUserEventInTurn(app: App, transaction: Transaction, event: UserEvent): Promise<void> {
  const { gameId, modId, userId, type } = event;
  await store.addUserEvent(transaction, {
    game_id: gameId,
    mod_id: modId,
    user_id: userId,
    event_type: type,
    date_added: app.clock.now(),
  });
  const data = { mod_id: modId, user_id: userId };
  await queueStudioEvent(app, transaction, { gameId, kind: type, subject: `mods/${modId}`, data });
}

export const RETENTION_SECONDS = 90 * 24 * 3_600;
const REMOVED_AT_ONCE = 500;

/** Events expire after 90 days. They are removed in small steps, because writers wait during each. */
export async function removeOldEvents(app: App): Promise<void> {
  const before = app.clock.now() - RETENTION_SECONDS;
  const step = () =>
    app.db.write(async (transaction) => {
      const { ofMods, ofUsers } = await store.removeSomeBefore(transaction, before, REMOVED_AT_ONCE);
      for (const gameId of new Set(ofMods)) transaction.changed(eventsScope(gameId));
      return Math.max(ofMods.length, ofUsers);
    });
  while ((await step()) === REMOVED_AT_ONCE);
}
