import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Listing, ListRequest } from '../../platform/database/listing.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { KINDS, type NotificationKind, type NotificationMode, usualMode } from './notifications.ts';
import * as store from './store.ts';

export type { StoredNotification } from './store.ts';

export const notificationListing: Listing = {
  from: 'n',
  columns: {
    id: { kind: 'integer' },
    kind: { kind: 'text' },
    game_id: { kind: 'integer' },
    date_added: { kind: 'integer' },
    is_read: { kind: 'integer' },
  },
  sorts: { id: 'n.id', date_added: 'n.date_added' },
};

/** Newest first by default. */
export const notificationsOf = (app: App, { userId }: UserCaller, request: ListRequest) => {
  const sort = request.sort ?? { sql: 'n.id', descending: true };
  return store.list(app.db.query, userId, notificationListing, { ...request, sort });
};

/** A notification of another user gets the same error as one that does not exist. */
export const setRead = (app: App, { userId }: UserCaller, id: number, isRead: boolean) =>
  app.db.write(async (transaction) => {
    await store.setRead(transaction, userId, id, isRead);
    const notification = await store.find(transaction.query, userId, id);
    if (!notification) throw new ApiError('NOTIFICATION_NOT_FOUND');
    return notification;
  });

export const readAll = (app: App, { userId }: UserCaller) =>
  app.db.write(async (transaction) => void (await store.readAll(transaction, userId)));

export const removeNotification = (app: App, { userId }: UserCaller, id: number) =>
  app.db.write(async (transaction) => {
    if (!(await store.remove(transaction, userId, id))) throw new ApiError('NOTIFICATION_NOT_FOUND');
  });

export const removeAll = (app: App, { userId }: UserCaller) =>
  app.db.write(async (transaction) => void (await store.removeAll(transaction, userId)));

export type Modes = Record<NotificationKind, NotificationMode>;

export async function settingsOf(app: App, { userId }: UserCaller): Promise<Modes> {
  const chosen = new Map((await store.modesOf(app.db, userId)).map(({ kind, mode }) => [kind, mode]));
  return Object.fromEntries(KINDS.map((kind) => [kind, chosen.get(kind) ?? usualMode(kind)])) as Modes;
}

/** Kinds that the request omits keep their mode. */
export async function changeSettings(
  app: App,
  caller: UserCaller,
  changes: { readonly [K in NotificationKind]?: NotificationMode | undefined },
): Promise<Modes> {
  await app.db.write(async (transaction) => {
    for (const kind of KINDS) {
      const mode = changes[kind];
      if (mode !== undefined) await store.setMode(transaction, caller.userId, kind, mode);
    }
  });
  return settingsOf(app, caller);
}

const RETENTION_SECONDS = 90 * 86_400;
const REMOVED_AT_ONCE = 500;

export async function removeOld(app: App): Promise<void> {
  const before = app.clock.now() - RETENTION_SECONDS;
  for (const remove of [store.removeSomeBefore, store.removeSomeLettersBefore]) {
    const step = () => app.db.write((transaction) => remove(transaction, before, REMOVED_AT_ONCE));
    while ((await step()) === REMOVED_AT_ONCE);
  }
}
