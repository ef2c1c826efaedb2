import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, startApi } from '../../../test/api.ts';
import { aDevice, refusedDevice } from '../../../test/sockets.ts';
import { untilReceived } from '../../../test/wire.ts';
import { getGame } from '../../catalogue/games/operations.ts';
import { composeApp } from '../../composition/compose.ts';
import { createGate } from '../../platform/access/gate.ts';
import { STAFF_LEVELS } from '../../platform/access/staff.ts';
import { getAudit, getGameAudit } from '../../studio/audit/operations.ts';
import { ping } from '../../studio/service/operations.ts';
import { addStaffMember } from '../staff/operations.ts';
import { removeEndedBans } from './bans.ts';
import { addAddressBan, deleteAddressBan, getAddressBans } from './operations.ts';

/** The test acts as the proxy that reports where each request comes from. */
const api = await startApi({ settings: { MODSTEAD_TRUST_PROXY: '127.0.0.1,10.1.0.0/16' } });
const administrator = await api.aUser({ admin: true });
const admin = await api.as(administrator);
const game = await api.aGame();
const params = { game_id: game.id };

const from = (address: string, headers: Record<string, string> = {}) => ({
  params,
  headers: { 'x-forwarded-for': address, ...headers },
});
const statusFrom = async (address: string, client: Client = api.withKey(game)) =>
  (await client.call(getGame, from(address))).status;

async function bans(network: string, more: Record<string, string | number> = {}) {
  const answer = await admin.call(addAddressBan, { body: { network, reason: 'Floods', ...more } });
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
}

test('every request from a banned address is refused, until the ban is lifted', async () => {
  const address = '203.0.113.7';
  for (let i = 0; i < 3; i += 1) assert.equal(await statusFrom(address), 200);
  const { id, network } = await bans(address);
  assert.equal(network, '203.0.113.7/32');
  for (const client of [api.withKey(game), await api.as(game.owner), admin])
    await client.refused(getGame, from(address), 403, 12003);
  await api.nobody().refused(ping, from(address), 403, 12003);
  assert.equal(await statusFrom('203.0.113.8'), 200);
  await admin.refused(addAddressBan, { body: { network: '203.0.113.7/32', reason: 'Again' } }, 400, 29501);
  assert.equal((await admin.call(deleteAddressBan, { params: { ban_id: id } })).status, 204);
  assert.equal(await statusFrom(address), 200);
  await admin.refused(deleteAddressBan, { params: { ban_id: id } }, 404, 29502);
});

test('IPv4 and IPv6 networks can be banned, and an IPv6 address bans its /64', async () => {
  const cases = [
    ['198.51.100.77/24', '198.51.100.0/24', '198.51.100.255', '198.51.101.0'],
    ['198.18.0.0/15', '198.18.0.0/15', '198.19.255.255', '198.20.0.0'],
    ['2001:db8:1::5', '2001:db8:1::/64', '2001:db8:1::ffff', '2001:db8:1:1::5'],
    ['2001:db8:2::5/128', '2001:db8:2::5/128', '2001:db8:2::5', '2001:db8:2::6'],
    ['2001:db8:3::/45', '2001:db8::/45', '2001:db8:7:ffff::1', '2001:db8:8::1'],
    ['::ffff:192.0.2.1', '192.0.2.1/32', '192.0.2.1', '192.0.2.2'],
  ] as const;
  for (const [sent, stored, within, outside] of cases) {
    const { id, network } = await bans(sent);
    assert.equal(network, stored);
    assert.deepEqual([await statusFrom(within), await statusFrom(outside)], [403, 200], sent);
    await admin.call(deleteAddressBan, { params: { ban_id: id } });
  }
});

test('an invalid network, a very wide one, and one with the operator’s own proxy cannot be banned', async () => {
  const wrong = ['', 'x', '203.0.113', '203.0.113.7/33', '1::/129', '0.0.0.0/0', '12.0.0.0/7', '2000::/3', '7'];
  for (const network of [...wrong, '10.1.2.3', '10.0.0.0/8', '127.0.0.1'])
    await admin.refused(addAddressBan, { body: { network, reason: 'Floods' } }, 422, 13009);
  const past = { network: '203.0.113.9', reason: 'Floods', date_expires: api.clock.now() };
  await admin.refused(addAddressBan, { body: past }, 422, 13009);
  await admin.refused(addAddressBan, { body: { network: '203.0.113.9' } }, 422, 13009);
});

test('an administrator cannot ban their own address, and loopback is never refused', async () => {
  const own = { headers: { 'x-forwarded-for': '203.0.113.20' }, body: { network: '203.0.113.0/24', reason: 'Oops' } };
  await admin.refused(addAddressBan, own, 403, 17023);
  assert.equal((await api.withKey(game).call(getGame, { params })).status, 200);
});

test('a ban ends by itself, can be followed by a new one, and is removed after a while', async () => {
  const address = '203.0.113.30';
  const until = api.clock.now() + 60;
  const { id } = await bans(address, { date_expires: until });
  assert.equal(await statusFrom(address), 403);
  api.clock.advance(59);
  assert.equal(await statusFrom(address), 403);
  api.clock.advance(1);
  assert.equal(await statusFrom(address), 200);
  const next = await bans(address, { date_expires: until + 60 });
  assert.notEqual(next.id, id);
  assert.equal(await statusFrom(address), 403);
  api.clock.advance(31 * 86_400);
  await removeEndedBans(api.app());
  assert.equal((await (await api.as(administrator)).call(getAddressBans)).body.result_total, 0);
});

test('only the operator’s proxies can set the client address', async () => {
  const address = '203.0.113.40';
  const { id } = await bans(address);
  assert.equal((await api.withKey(game).call(getGame, from(`${address}, 192.0.2.50`))).status, 200);
  assert.equal((await api.withKey(game).call(getGame, from(`192.0.2.50, ${address}`))).status, 403);
  assert.equal((await api.withKey(game).call(getGame, from(`${address}, 10.1.0.9`))).status, 403);
  await admin.call(deleteAddressBan, { params: { ban_id: id } });
});

test('a ban closes an open WebSocket, and refuses new ones', async () => {
  const knock = (address: string) => ({ host: `g-${game.id}.ws.localhost`, headers: { 'x-forwarded-for': address } });
  const [open, other] = [
    await aDevice(api.service, knock('203.0.113.45')),
    await aDevice(api.service, knock('192.0.2.45')),
  ];
  const { id } = await bans('203.0.113.45');
  assert.equal(await open.closed, 1008);
  assert.deepEqual(await refusedDevice(api.service, knock('203.0.113.45')), { status: 403, ref: 12003 });
  other.send({ operation: 'heartbeat' });
  assert.equal((await other.nextMessage()).operation, 'heartbeat');
  await other.close();
  await admin.call(deleteAddressBan, { params: { ban_id: id } });
});

test('the refusal is in the language of the request', async () => {
  const { id } = await bans('203.0.113.50');
  const answer = await api.withKey(game).call(getGame, from('203.0.113.50', { 'accept-language': 'de' }));
  assert.match((answer.body as unknown as { error: { message: string } }).error.message, /gesperrt/);
  await admin.call(deleteAddressBan, { params: { ban_id: id } });
});

test('only administrators of the site read and change bans', async () => {
  const moderator = await api.aUser();
  await admin.call(addStaffMember, { body: { user_id: moderator.id, level: STAFF_LEVELS.moderator } });
  const { id, network } = await bans('203.0.113.60', { reason: 'Seen before' });
  const clients = [await api.as(moderator), await api.as(game.owner), await api.as(await api.aUser())];
  for (const client of clients) {
    await client.refused(getAddressBans, {}, 403, 17012);
    await client.refused(addAddressBan, { body: { network: '203.0.113.61', reason: 'Mine' } }, 403, 29500);
    await client.refused(deleteAddressBan, { params: { ban_id: id } }, 403, 29500);
  }
  assert.equal((await clients[1]!.call(getGameAudit, { params })).body.result_total, 0);
  const listed = (await admin.call(getAddressBans)).body.data;
  assert.deepEqual(
    listed.map((ban) => [ban.network, ban.reason, ban.user_id]),
    [[network, 'Seen before', administrator.id]],
  );
  await admin.call(deleteAddressBan, { params: { ban_id: id } });
  const { data } = (await admin.call(getAudit, { query: { resource: 'address_bans', resource_id: id } })).body;
  assert.deepEqual(
    data.map(({ action, data: { network } }) => [action, network]),
    [
      ['addresses.ban', network],
      ['addresses.unban', network],
    ],
  );
});

test('another process enforces a ban as soon as it is notified', async () => {
  const { settings } = api.app();
  const other = await composeApp(settings, 'production', api.app());
  try {
    const gate = createGate(other);
    const isOpen = async () => {
      const looked = gate.look('203.0.113.70');
      if (looked !== undefined) return looked;
      return Promise.resolve(gate.requireOpen('203.0.113.70')).then(
        () => true,
        () => false,
      );
    };
    assert.equal(await isOpen(), true);
    const { id } = await bans('203.0.113.70');
    await untilReceived(other.db, async () => !(await isOpen()));
    await admin.call(deleteAddressBan, { params: { ban_id: id } });
  } finally {
    await other.db.close();
  }
});

test('checking bans needs no database access', async () => {
  const app = api.app();
  const added = await Promise.all(Array.from({ length: 20 }, (_, i) => bans(`198.51.${i}.0/${24 + (i % 9)}`)));
  const gate = createGate(app);
  while (gate.look('203.0.113.80') === undefined) await gate.requireOpen('203.0.113.80');
  let reads = 0;
  const { all } = app.db;
  app.db.all = ((...args: Parameters<typeof all>) => {
    reads += 1;
    return all.apply(app.db, args);
  }) as typeof all;
  for (let i = 0; i < 100_000; i += 1) assert.equal(gate.look(`203.0.113.${i % 256}`), true);
  app.db.all = all;
  assert.equal(reads, 0);
  for (const { id } of added) await admin.call(deleteAddressBan, { params: { ban_id: id } });
});
