import pg from 'pg';
import { SharedSessions } from './failures.ts';
import { clientConfig } from './postgres-connecting.ts';

/**
 * Throws if sessions are shared. Connections set timeouts, and those for writes turn `synchronous_commit` off; a flush in such
 * a session would acknowledge commits that a crash of the server loses.
 */
export async function requireOwnSessions(url: string): Promise<void> {
  const clients = [aClient(url), aClient(url)] as const;
  try {
    await Promise.all(clients.map((client) => client.connect()));
    // The first transaction gets the session that was released last or first, depending on the pooler's settings.
    for (const order of [[0, 1] as const, [1, 0] as const]) {
      const before = await backendsOf(clients, order);
      const after = await backendsOf(clients, [0, 1]);
      if (before[0] !== after[0] || before[1] !== after[1]) throw new SharedSessions();
    }
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => {})));
  }
}

function aClient(url: string): pg.Client {
  const client = new pg.Client(clientConfig(url));
  // Its statements report it.
  client.on('error', () => {});
  return client;
}

/** The backends of both clients, each in a transaction beside the other; they end in this order. */
async function backendsOf(clients: readonly [pg.Client, pg.Client], ends: readonly (0 | 1)[]): Promise<number[]> {
  const pids: number[] = [];
  for (const client of clients) {
    await client.query('begin');
    pids.push((await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!.pid);
  }
  for (const each of ends) await clients[each].query('commit');
  return pids;
}
