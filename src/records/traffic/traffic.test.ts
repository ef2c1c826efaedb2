import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi } from '../../../test/api.ts';
import { getAuthenticatedUser } from '../../people/users/operations.ts';
import { createOutcomes } from '../../platform/http/outcome.ts';
import { getLimitedRequests, getSlowRequests } from '../../studio/service/operations.ts';
import { flushTraffic, forgetOldTraffic, recordTraffic } from './traffic.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off', MODSTEAD_RATE_LIMITS: 'address=1000,token=30' } });
const app = api.app();
const admin = await api.as(await api.aUser({ admin: true }));

const limited = async () => {
  for (const each of api.apps()) await flushTraffic(each);
  return (await admin.call(getLimitedRequests, {})).body.data;
};

test('refused requests are counted per hour, limit and caller', async () => {
  const user = await api.aUser();
  const flooding = await api.as(user);
  let refused = 0;
  for (let i = 0; i < 33; i += 1) if ((await flooding.call(getAuthenticatedUser, {})).status === 429) refused += 1;
  assert.ok(refused > 0);
  const [row] = (await limited()).filter(({ user_id }) => user_id === user.id);
  assert.deepEqual([row?.rule, row?.caller, row?.operation, row?.refused], ['user', '', '', refused]);
  assert.equal(row!.hour % 3_600, 0);
  await flooding.call(getAuthenticatedUser, {});
  const [later] = (await limited()).filter(({ user_id }) => user_id === user.id);
  assert.equal(later!.refused, refused + 1);
});

test('a limit names its address, key or operation, and a flood of addresses makes no flood of rows', async () => {
  recordTraffic.onLimited(app, 'aw/203.0.113.7');
  recordTraffic.onLimited(app, 'o/add-mod/2001:db8::/64');
  recordTraffic.onLimited(app, `o/add-mod/u7`);
  recordTraffic.onLimited(app, 't/5');
  const rows = (await limited()).map(({ rule, operation, caller, user_id }) => [rule, operation, caller, user_id]);
  for (const row of [
    ['address_writes', '', '203.0.113.7', 0],
    ['operation', 'add-mod', '2001:db8::/64', 0],
    ['operation', 'add-mod', '', 7],
    ['server_token', '', '5', 0],
  ])
    assert.ok(
      rows.some((each) => JSON.stringify(each) === JSON.stringify(row)),
      JSON.stringify(row),
    );
  for (let i = 0; i < 1_200; i += 1) recordTraffic.onLimited(app, `a/10.0.${i >> 8}.${i & 255}`);
  await flushTraffic(app);
  const { result_total } = (await admin.call(getLimitedRequests, {})).body;
  assert.ok(result_total <= 1_010, String(result_total));
  const others = await app.db.query
    .selectFrom('limited_requests')
    .select('refused')
    .where('rule', '=', 'address')
    .where('caller', '=', '')
    .execute();
  assert.ok(others[0]!.refused >= 200);
});

test('requests of more than a second are listed without their query, and forgotten after a week', async () => {
  const tenant = { app } as never;
  const { finish } = createOutcomes(() => {}, undefined);
  const slow = (url: string, seconds: number) =>
    finish(
      {
        id: 'x',
        request: { url, method: 'GET', headers: {} } as never,
        started: performance.now() - seconds * 1_000,
        tenant,
        scope: { environment: 'production' } as never,
        ip: '127.0.0.1',
        operation: undefined,
        trace: undefined,
      },
      200,
      'get-mods',
    );
  slow('/v1/games/1/mods?api_key=secret', 3);
  slow('/v1/games/2/mods', 2);
  slow('/v1/games/3/mods', 0);
  slow('/files/mods/1/a.zip', 60);
  await flushTraffic(app);
  const listed = async (order: 'newest' | 'slowest') =>
    (await admin.call(getSlowRequests, { query: { order } })).body.data.map(({ path }) => path);
  assert.deepEqual(await listed('newest'), ['/v1/games/2/mods', '/v1/games/1/mods']);
  assert.deepEqual(await listed('slowest'), ['/v1/games/1/mods', '/v1/games/2/mods']);
  api.clock.advance(6 * 86_400);
  await forgetOldTraffic(app);
  assert.equal((await app.db.query.selectFrom('slow_requests').select('id').execute()).length, 2);
  api.clock.advance(2 * 86_400);
  await forgetOldTraffic(app);
  for (const table of ['slow_requests', 'limited_requests'] as const)
    assert.equal((await app.db.query.selectFrom(table).selectAll().execute()).length, 0);
});

test('nobody but administrators of the site sees them', async () => {
  const stranger = await api.as(await api.aUser());
  await stranger.refused(getLimitedRequests, {}, 403, 17_012);
  await stranger.refused(getSlowRequests, {}, 403, 17_012);
});
