import pg from 'pg';
import type { Changes } from './database.ts';

export const CHANNEL = 'modstead_changes';

const RECONNECT_MS = 500;
const CONNECT_TIMEOUT_MS = 5_000;
const KEEPALIVE_MS = 10_000;
const HEARTBEAT_MS = 1_000;
/** A slower heartbeat counts as lost, and its connection is closed. */
const HEARTBEAT_TIMEOUT_MS = 3_000;
/**
 * Without a heartbeat for this long, cached data is not trusted. Together with a request's duration it stays below 5 s.
 */
const FRESH_MS = 4_000;

export interface ChangeNotificationOptions {
  /** Milliseconds that never go backwards. */
  readonly monotonicMs?: () => number;
}

export interface ChangeNotifications {
  stop(): Promise<void>;
}

/**
 * Listens for changes of other processes. A connection can fall silent without closing, so heartbeats verify it: a
 * reply proves that all earlier notifications arrived, and without one everything counts as changed.
 */
export async function listenForChanges(
  url: string,
  changes: Changes,
  { monotonicMs = () => performance.now() }: ChangeNotificationOptions = {},
): Promise<ChangeNotifications> {
  let current: Listener | undefined;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let heardAt = monotonicMs();
  changes.trustWhile(() => monotonicMs() - heardAt <= FRESH_MS);

  const connect = async () => {
    const asOf = monotonicMs();
    const listener = await listen(url, changes, again);
    if (isStopped) return listener.end();
    current = listener;
    heardAt = asOf;
    changes.everythingChanged();
  };
  const again = () => {
    if (isStopped) return;
    current = undefined;
    changes.everythingChanged();
    clearTimeout(timer);
    timer = setTimeout(() => void connect().catch(again), RECONNECT_MS).unref();
  };
  const beat = async () => {
    const listener = current;
    if (!listener) return;
    const asOf = monotonicMs();
    const heard = await listener.answers();
    if (heard && listener === current) heardAt = asOf;
  };

  await connect();
  const beats = setInterval(() => void beat(), HEARTBEAT_MS).unref();
  return {
    stop: async () => {
      isStopped = true;
      clearInterval(beats);
      clearTimeout(timer);
      await current?.end();
    },
  };
}

/** One listening connection. */
interface Listener {
  /** True when the heartbeat is answered in time; otherwise the connection is closed. */
  answers(): Promise<boolean>;
  end(): Promise<void>;
}

async function listen(url: string, changes: Changes, ended: () => void): Promise<Listener> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: HEARTBEAT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_MS,
    application_name: 'modstead changes',
  });
  client.on('notification', ({ payload }) => payload && changes.changed(payload));
  client.on('error', () => {});
  let asking: Promise<boolean> | undefined;
  const ask = async () => {
    try {
      await client.query('select 1');
      return true;
    } catch {
      destroy(client);
      return false;
    } finally {
      asking = undefined;
    }
  };
  try {
    await client.connect();
    await client.query(`listen ${CHANNEL}`);
  } catch (error) {
    destroy(client);
    throw error;
  }
  client.once('end', ended);
  return {
    // One pending heartbeat is enough.
    answers: () => (asking ??= ask()),
    end: async () => {
      client.off('end', ended);
      // A silent connection would not answer a graceful close either.
      const patience = setTimeout(() => destroy(client), HEARTBEAT_TIMEOUT_MS);
      await client.end().catch(() => {});
      clearTimeout(patience);
    },
  };
}

/** Closes a connection without waiting for the server. */
function destroy(client: pg.Client): void {
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}
