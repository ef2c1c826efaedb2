import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../src/platform/database/database.ts';
import { openPostgres } from '../src/platform/database/postgres.ts';
import { revokeToken } from '../src/signin/accounts/tokens.ts';
import { assertRefused, startApi } from './api.ts';
import { type ListenProxy, startListenProxy } from './listen-proxy.ts';

let elapsedMs = 0;
let proxy: ListenProxy | undefined;
let directUrl: string | undefined;
const api = await startApi({
  notifications: { monotonicMs: () => elapsedMs },
  databaseAt: async (url) => {
    directUrl = url;
    proxy = await startListenProxy(url);
    return proxy.url;
  },
});
// Closed after the service, which closes its connections first.
after(() => proxy?.close());

/** Opens the database as another process would. */
async function openDirectly(): Promise<Database> {
  return openPostgres(directUrl!);
}

const isCurrent = ({ changes }: Database) => changes.unchangedSince(changes.now(), 'example');

test('a revoked token is refused within seconds, even if the notification of its revocation is lost', async (t) => {
  if (!proxy) return t.skip('SQLite has no notifications: each process polls the file');
  const db = await openDirectly();
  t.after(() => db.close());
  const ada = await api.aUser();
  const client = await api.as(ada);
  const me = () => client.send('GET', '/me');
  assert.equal((await me()).status, 200);
  const { id } = await api.app().db.query.selectFrom('access_tokens').select('id').executeTakeFirstOrThrow();

  proxy.block();
  await revokeToken({ ...api.app(), db }, id);
  elapsedMs += 4_999;
  assertRefused(await me(), 401, 11005);
  assert.equal(isCurrent(api.app().db), false);

  // When notifications arrive again, responses are cached again.
  proxy.unblock();
  while (!isCurrent(api.app().db)) await pause(20);
  assert.equal((await (await api.as(ada)).send('GET', '/me')).status, 200);
});
