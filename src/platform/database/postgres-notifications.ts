import pg from 'pg';
import type { Changes } from './database.ts';
import { isReadOnly } from './failures.ts';
import { clientConfig } from './postgres-connecting.ts';
import { socketOf } from './postgres-connection.ts';
import type { ConnectionWatch } from './postgres-watch.ts';

export const CHANNEL = 'modstead_changes';

const RECONNECT_MS = 500;
const HEARTBEAT_MS = 1_000;
/** A slower heartbeat counts as lost, and its connection is closed. */
const HEARTBEAT_TIMEOUT_MS = 2_500;
/**
 * Without a heartbeat for this long, cached data is not trusted. Together with a request's duration it stays below 5 s.
 */
const FRESH_MS = 4_000;

export interface ChangeNotificationOptions {
  /** Milliseconds that never go backwards. */
  readonly monotonicMs?: () => number;
  readonly heartbeatMs?: number;
  readonly heartbeatTimeoutMs?: number;
}

export interface ChangeNotifications {
  stop(): Promise<void>;
}

/**
 * Listens for changes of other processes. A connection can fall silent without closing, so heartbeats verify it: a
 * reply proves that all earlier notifications arrived, and without one everything counts as changed. The same heartbeats
 * verify the other connections.
 */
export async function listenForChanges(
  url: string,
  changes: Changes,
  watch: ConnectionWatch,
  options: ChangeNotificationOptions = {},
): Promise<ChangeNotifications> {
  const { monotonicMs = () => performance.now(), heartbeatMs = HEARTBEAT_MS } = options;
  const { heartbeatTimeoutMs = HEARTBEAT_TIMEOUT_MS } = options;
  let current: Listener | undefined;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let heardAt = Number.NEGATIVE_INFINITY;
  let isBeating = false;
  changes.trustWhile(() => monotonicMs() - heardAt <= FRESH_MS);

  const connect = async () => {
    const asOf = monotonicMs();
    const listener = await listen(url, changes, heartbeatTimeoutMs, again);
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
    if (!listener || isBeating) return;
    isBeating = true;
    const asOf = monotonicMs();
    const sent = performance.now();
    const quiet = watch.quiet();
    const working = await listener.working([...quiet.keys()]);
    isBeating = false;
    if (working === 'silent') watch.silent(sent);
    if (typeof working === 'string' || listener !== current) return;
    heardAt = asOf;
    watch.heard(quiet, working);
  };

  // A standby cannot notify, so nothing cached is trusted until it is promoted.
  await connect().catch((error: unknown) => (isReadOnly(error) ? again() : Promise.reject(error)));
  const beats = setInterval(() => void beat(), heartbeatMs).unref();
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
  /** Which of these backends execute a statement. Without an answer in time the connection is closed. */
  working(pids: readonly number[]): Promise<readonly number[] | 'silent' | 'closed'>;
  end(): Promise<void>;
}

/** Where the server does not track what backends do, it says "disabled". */
const WORKING =
  "select pid from pg_stat_activity where pid = any($1::int[]) and state in ('active', 'fastpath function call', 'disabled')";

async function listen(url: string, changes: Changes, timeoutMs: number, ended: () => void): Promise<Listener> {
  const client = new pg.Client(clientConfig(url, { name: 'modstead changes' }));
  client.on('notification', ({ payload }) => payload && changes.changed(payload));
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query(`listen ${CHANNEL}`);
  } catch (error) {
    socketOf(client).destroy();
    throw error;
  }
  client.once('end', ended);
  return {
    working: async (pids) => {
      const asked = pids.length > 0 ? client.query<{ pid: number }>(WORKING, [pids]) : client.query('select 1');
      const answer = await Promise.race([asked.catch(() => 'closed' as const), silenceOf(timeoutMs)]);
      if (typeof answer !== 'string') return answer.rows.map(({ pid }) => pid);
      socketOf(client).destroy();
      return answer;
    },
    end: async () => {
      client.off('end', ended);
      // A silent connection would not answer a graceful close either.
      const patience = setTimeout(() => socketOf(client).destroy(), timeoutMs);
      await client.end().catch(() => {});
      clearTimeout(patience);
    },
  };
}

/** Resolves after this time. If this process itself was held up, what has arrived meanwhile is read first. */
async function silenceOf(ms: number): Promise<'silent'> {
  await new Promise((resolve) => setTimeout(resolve, ms).unref());
  for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  return 'silent';
}
