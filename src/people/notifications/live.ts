import { setTimeout as pause } from 'node:timers/promises';
import type { UserCaller } from '../../platform/access/caller.ts';
import { ACCESS_SCOPE, accessScopeOf } from '../../platform/access/credentials.ts';
import type { App } from '../../platform/app.ts';
import type { Scope } from '../../platform/database/database.ts';
import { News } from '../../platform/database/news.ts';
import * as store from './store.ts';

/** Which notifications are unread: how many, counted up to a limit, and the newest of them. */
export interface Unread {
  readonly count: number;
  readonly ids: readonly number[];
}

/** What a stream sends next. Neither part is there if only the caller's access may have changed. */
export interface NotificationNews {
  readonly added?: readonly store.StoredNotification[];
  readonly unread?: Unread;
}

/** Counting more would cost more than anyone reads. */
const COUNTED_MAX = 1_000;
const IDS_MAX = 100;
/** A client that was away for longer lists its notifications instead. */
const RESUMED_MAX = 500;
const SENT_AT_ONCE = 100;
const PAUSE_MS = 250;

/** The notifications of the caller after the given id, or from now on, and which are unread: now, and when it changes. */
export async function watchNotifications(app: App, { userId }: UserCaller, lastHeard: number | undefined) {
  const after = lastHeard ?? (await store.newestIds(app.db, userId, 1))[0] ?? 0;
  return (signal: AbortSignal) => newsOf(app, userId, after, signal);
}

async function* newsOf(app: App, userId: number, after: number, signal: AbortSignal): AsyncGenerator<NotificationNews> {
  const arrivals = new Arrivals(after);
  let subjects: ReadonlySet<Scope> = new Set();
  const concerns = (scope: Scope) =>
    scope === ACCESS_SCOPE ||
    scope === accessScopeOf(userId) ||
    subjects.has(scope) ||
    store.concernsNotificationsOf(userId, scope);
  const news = new News(app.db.changes, concerns, signal);
  try {
    for (let before = ''; !signal.aborted; ) {
      const next = news.next();
      yield* added(app, userId, arrivals.among(await store.newestIds(app.db, userId, RESUMED_MAX)));
      const rows = await store.unread(app.db, userId, COUNTED_MAX);
      subjects = subjectsOf(rows.slice(0, IDS_MAX));
      const unread = { count: rows.length, ids: rows.slice(0, IDS_MAX).map(({ id }) => id) };
      yield JSON.stringify(unread) === before ? {} : { unread };
      before = JSON.stringify(unread);
      await next;
      await pause(PAUSE_MS, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    news.stop();
  }
}

async function* added(app: App, userId: number, ids: readonly number[]): AsyncGenerator<NotificationNews> {
  for (let sent = 0; sent < ids.length; sent += SENT_AT_ONCE)
    yield { added: await store.findAll(app.db.query, userId, ids.slice(sent, sent + SENT_AT_ONCE)) };
}

/** The notification of a comment disappears with the comment. */
const subjectsOf = (rows: readonly store.UnreadRow[]): ReadonlySet<Scope> =>
  new Set(
    rows.flatMap(({ comment_id, resource, resource_id }) =>
      comment_id > 0 ? [`${resource}/${resource_id}/comments`] : [],
    ),
  );

/** Finds the new ids among the newest. A lower id can follow a higher one: transactions do not commit in their order. */
class Arrivals {
  readonly #lastHeard: number;
  #known: ReadonlySet<number> | undefined;
  /** Older ones come into sight again when newer ones are removed. */
  #oldest = 0;

  constructor(lastHeard: number) {
    this.#lastHeard = lastHeard;
  }

  /** Expects the newest first and returns the oldest first. */
  among(newest: readonly number[]): readonly number[] {
    const known = this.#known ?? new Set(newest.filter((id) => id <= this.#lastHeard));
    const fresh = newest.filter((id) => id > this.#oldest && !known.has(id));
    this.#known = new Set(newest);
    if (newest.length === RESUMED_MAX) this.#oldest = Math.max(this.#oldest, newest.at(-1)!);
    return fresh.reverse();
  }
}
