import type { CallOptions, Client, Input, Output } from '../calls/client.ts';
import { ConnectionError } from '../calls/errors.ts';
import { items } from '../calls/pages.ts';
import { waitFor } from '../calls/retries.ts';
import type { Notification } from '../contract/operations.ts';
import { type ServerSentEvent, serverSentEvents } from './server-sent-events.ts';

const LONGEST_BACKOFF_MS = 60_000;
const POLL_SECONDS = 15;
/** A transaction that began earlier may commit later, so what is new is looked for among what is a little older. */
const OVERLAP_SECONDS = 60;

/** What happened in a game, as its webhooks receive it. */
export interface GameEvent {
  readonly id: number;
  readonly game_id: number;
  /** Such as `MOD_EDITED`. */
  readonly event_type: string;
  /** The path of what it is about, such as `mods/7`. */
  readonly subject: string;
  /** Unix seconds. */
  readonly date_added: number;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface GameEventOptions {
  /** Continues after the event with this id, up to 30 days back; 0 for all. Default: the next event. */
  lastEventId?: number;
  signal?: AbortSignal | undefined;
}

/**
 * The events of a game as they happen, for its team and its backend. A lost connection is opened again and continues after
 * the last event; the stream ends with an error when the caller loses access, or with the reason of the signal.
 */
export async function* gameEvents(
  client: Client,
  gameId: number,
  options: GameEventOptions = {},
): AsyncGenerator<GameEvent, void, undefined> {
  const open = (call: CallOptions) => client.open('GET /games/{game_id}/events/stream', { game_id: gameId }, call);
  for await (const { data } of reopened(client, open, options)) yield JSON.parse(data) as GameEvent;
}

/** A new notification, or which notifications are unread: how many, and the ids of the newest. */
export type NotificationNews =
  | { readonly notification: Notification; readonly unread?: undefined }
  | { readonly notification?: undefined; readonly unread: { readonly count: number; readonly ids: readonly number[] } };

export interface NotificationOptions {
  /** Continues after the notification with this id, with up to 500; 0 for all of them. Default: the next notification. */
  lastEventId?: number;
  signal?: AbortSignal | undefined;
}

/**
 * The notifications of the user as they come, and which are unread: now, and whenever one is read or removed anywhere.
 * It continues and ends as `gameEvents` does.
 */
export async function* notificationNews(
  client: Client,
  options: NotificationOptions = {},
): AsyncGenerator<NotificationNews, void, undefined> {
  const open = (call: CallOptions) => client.open('GET /me/notifications/stream', {}, call);
  for await (const { event, data } of reopened(client, open, options))
    if (event === 'notification' || event === 'unread') yield { [event]: JSON.parse(data) } as NotificationNews;
}

async function* reopened(
  client: Client,
  open: (options: CallOptions) => Promise<Response>,
  { lastEventId, signal }: GameEventOptions,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  const wait = client.options.retry?.wait ?? waitFor;
  const reading = { lastId: lastEventId === undefined ? '' : String(lastEventId), retryMs: 3_000 };
  for (let losses = 0; ; ) {
    try {
      const { lastId } = reading;
      const headers = { Accept: 'text/event-stream', ...(lastId !== '' && { 'Last-Event-ID': lastId }) };
      const { body } = await open({ signal, headers });
      for await (const event of serverSentEvents(body as NonNullable<typeof body>, reading)) {
        losses = 0;
        yield event;
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (!isLost(error)) throw error;
    }
    signal?.throwIfAborted();
    await wait(Math.min(LONGEST_BACKOFF_MS, reading.retryMs * 2 ** losses++), signal);
  }
}

/** `fetch` reports a body that breaks off as a TypeError. */
const isLost = (error: unknown) => error instanceof ConnectionError || error instanceof TypeError;

/** The lists that grow by entries with an id and a date. */
export type FollowedOperation =
  | 'GET /games/{game_id}/mods/events'
  | 'GET /games/{game_id}/mods/{mod_id}/events'
  | 'GET /me/events'
  | 'GET /me/notifications';

type Entry<Name extends FollowedOperation> = Output<Name>['data'][number];

export interface FollowOptions {
  /** Also returns the entries after the one with this id; 0 for all. Default: those that come from now on. */
  after?: number;
  /** How often the list is read. Default: 15. */
  everySeconds?: number;
  signal?: AbortSignal | undefined;
}

/**
 * The new entries of a list, oldest first, by reading it again and again. Every entry comes once. It continues after a lost
 * connection, and ends with an error of the API or with the reason of the signal.
 */
export async function* follow<Name extends FollowedOperation>(
  client: Client,
  operation: Name,
  input: Input<Name>,
  { after, everySeconds = POLL_SECONDS, signal }: FollowOptions = {},
): AsyncGenerator<Entry<Name>, void, undefined> {
  const wait = client.options.retry?.wait ?? waitFor;
  // One operation stands for all: their lists have the same filters.
  const list = operation as 'GET /me/notifications';
  const seen = new Map<number, number>();
  let newest = 0;
  const read = async (filters: object) => {
    const fresh: unknown[] = [];
    for await (const entry of items(client, list, { ...input, ...filters, _sort: 'id' }, { signal })) {
      const { id, date_added } = entry;
      if (seen.has(id) || id <= (after ?? 0)) continue;
      fresh.push(entry);
      seen.set(id, date_added);
      newest = Math.max(newest, date_added);
    }
    for (const [id, date] of seen) if (date < newest - OVERLAP_SECONDS) seen.delete(id);
    return fresh as Entry<Name>[];
  };
  const recent = () => ({ 'date_added-min': newest - OVERLAP_SECONDS });
  if (after !== undefined) yield* await read({ 'id-gt': after });
  else {
    const { data } = await client.call(list, { ...input, _sort: '-id', _limit: 1 }, { signal });
    newest = data[0]?.date_added ?? 0;
    await read(recent());
  }
  for (;;) {
    await wait(everySeconds * 1_000, signal);
    try {
      yield* await read(seen.size > 0 ? recent() : { 'id-gt': after ?? 0 });
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof ConnectionError)) throw error;
    }
  }
}
