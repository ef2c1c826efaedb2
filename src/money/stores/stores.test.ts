import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { startApi, type User } from '../../../test/api.ts';
import { aPack, aSellingGame } from '../../../test/money.ts';
import { Issuer } from '../../../test/platforms.ts';
import { FAULTS, type Fault, startStoreServer } from '../../../test/stores/server.ts';
import {
  appleStandIn,
  BUYER,
  epicStandIn,
  googleStandIn,
  metaStandIn,
  playstationStandIn,
  SKU,
  type StandIn,
  steamStandIn,
  xboxStandIn,
} from '../../../test/stores/stand-ins.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { type Consumption, type Entitlement, type StoreAdapter, StoreRefusal, StoreUnavailable } from './adapter.ts';
import { putStoreSettings, storeSettingsFor } from './settings.ts';
import { STORES } from './stores.ts';
import { duePurchases, type Fulfilment, type FulfilmentRow, retry, type Selling, syncPurchases } from './syncing.ts';

const server = await startStoreServer({ secure: false });
const standIns = [
  steamStandIn(server),
  xboxStandIn(server),
  metaStandIn(server),
  epicStandIn(server),
  playstationStandIn(server),
  googleStandIn(server),
  await appleStandIn(server),
];
const api = await startApi({ settings: { ...server.settings, MODSTEAD_JOBS: 'off' } });
const app = api.app();
const game = await aSellingGame(api);
const pack = await aPack(api, game);
for (const { portal, settings } of standIns)
  await app.db.write((transaction) => putStoreSettings(app, transaction, game.id, portal, settings));

/** Longer than an attempt, so that the next one may begin. */
const LATER = 121;
const SLOW: readonly Fault[] = ['time out', 'answer too late'];
/** All stores are asked by the same function, so one of them shows what happens after its deadline. */
const faultsOf = ({ portal }: StandIn) => FAULTS.filter((fault) => portal === 'steam' || !SLOW.includes(fault));

let fulfilled: FulfilmentRow[] = [];
let user: User;
beforeEach(async () => {
  fulfilled = [];
  // A test that fails must not leave purchases to the next one.
  server.forgetFaults();
  for (const standIn of standIns) standIn.clear();
  user = await api.aUser();
});

async function sellingAt({ portal, adapter }: StandIn, deadlineMs = 30_000): Promise<Selling> {
  const settings = await storeSettingsFor(app, game.id, portal);
  return {
    asking: { app, gameId: game.id, settings: settings!, skus: [SKU], deadlineMs },
    portal,
    adapter,
    packs: new Map([[SKU, pack]]),
    credit: async (_app, _transaction, row) => {
      assert.deepEqual([row.game_id, row.tokens], [game.id, pack.tokens * row.quantity]);
      fulfilled.push(row);
      return 1;
    },
  };
}

async function sync(standIn: StandIn, { by = user, deadlineMs }: { by?: User; deadlineMs?: number } = {}) {
  const selling = await sellingAt(standIn, deadlineMs);
  const synced = await syncPurchases(selling, by.id, await standIn.proof(), BUYER);
  return synced.map(({ state }) => state);
}

/**
 * Plans a fault and syncs until it has happened. Where the fault is silence, the deadline is short; on a busy machine a
 * request may miss it before the server has seen it.
 */
async function meetFault(step: string, fault: Fault, run: (deadlineMs: number) => Promise<void>): Promise<void> {
  server.fail(step, fault);
  for (let deadlineMs = SLOW.includes(fault) ? 1_000 : 30_000; !server.isSound; deadlineMs *= 2) {
    await run(deadlineMs);
    if (!server.isSound) api.clock.advance(LATER);
  }
}

const unitsOf = () => fulfilled.reduce((sum, { quantity }) => sum + quantity, 0);
function unlessUnavailable(error: unknown): Fulfilment[] {
  if (error instanceof StoreUnavailable) return [];
  throw error;
}
/** Apple's server consumes nothing. */
const consumes = ({ portal }: StandIn) => portal !== 'apple';
/** Stores that have an entitlement for each unit. */
const SINGLE: readonly string[] = ['oculus', 'epicgames'];
const references = () => new Set(fulfilled.map(({ reference }) => reference)).size;

for (const standIn of standIns) {
  const { portal } = standIn;

  test(`${portal}: a purchase is consumed and fulfilled once, however often the user syncs`, async () => {
    const before = standIn.consumed();
    standIn.buy();
    assert.deepEqual(await sync(standIn), ['fulfilled']);
    const again = await sync(standIn);
    assert.ok(
      again.every((state) => state === 'fulfilled'),
      String(again),
    );
    assert.deepEqual([fulfilled.length, fulfilled[0]!.user_id], [1, user.id]);
    assert.equal(fulfilled[0]!.sku, SKU);
    if (consumes(standIn)) assert.equal(standIn.consumed() - before, 1);
  });

  for (const fault of faultsOf(standIn)) {
    test(`${portal}: consuming meets «${fault}», and the purchase is fulfilled once by a later sync`, async () => {
      const before = standIn.consumed();
      standIn.buy();
      await meetFault('consume', fault, async (deadlineMs) => {
        const states = await sync(standIn, { deadlineMs }).catch(unlessUnavailable);
        assert.ok(!states.includes('fulfilled'), String(states));
      });
      assert.equal(fulfilled.length, 0);
      // The attempt may still be under way.
      assert.ok((await sync(standIn)).includes('pending'));
      assert.equal(fulfilled.length, 0);
      api.clock.advance(LATER);
      assert.ok((await sync(standIn)).includes('fulfilled'));
      await sync(standIn);
      assert.equal(fulfilled.length, 1);
      if (consumes(standIn)) assert.equal(standIn.consumed() - before, 1);
      assert.ok(server.isSound);
    });

    test(`${portal}: listing meets «${fault}», and nothing is recorded`, async () => {
      standIn.buy();
      await meetFault(standIn.steps[0]!, fault, (deadlineMs) =>
        assert.rejects(sync(standIn, { deadlineMs }), StoreUnavailable),
      );
      assert.equal(fulfilled.length, 0);
      assert.ok((await sync(standIn)).includes('fulfilled'));
      assert.equal(fulfilled.length, 1);
    });
  }

  test(`${portal}: a refusal to consume leaves the purchase pending until the store accepts`, async () => {
    standIn.buy();
    server.fail('consume', 'refuse');
    assert.ok((await sync(standIn)).includes('pending'));
    server.fail(standIn.steps[0]!, 'refuse');
    await assert.rejects(sync(standIn), StoreRefusal);
    api.clock.advance(LATER);
    assert.ok((await sync(standIn)).includes('fulfilled'));
    assert.equal(fulfilled.length, 1);
  });

  test(`${portal}: a job finishes a lost consumption without the user`, async () => {
    const before = standIn.consumed();
    standIn.buy();
    server.fail('consume', 'lose the answer');
    await sync(standIn);
    assert.equal((await duePurchases(app, 10)).length, 0, 'the attempt may still be under way');
    api.clock.advance(LATER);
    const due = await duePurchases(app, 10);
    assert.deepEqual(
      due.map((row) => row.user_id),
      [user.id],
    );
    assert.doesNotMatch(due[0]!.session, /token/, 'the session is encrypted');
    assert.equal((await retry(await sellingAt(standIn), due[0]!)).state, 'fulfilled');
    assert.equal(
      (await retry(await sellingAt(standIn), due[0]!)).state,
      'pending',
      'the row is no longer as it was read',
    );
    assert.equal((await duePurchases(app, 10)).length, 0);
    assert.equal(fulfilled.length, 1);
    if (consumes(standIn)) assert.equal(standIn.consumed() - before, 1);
  });

  test(`${portal}: of two syncs at once, one fulfils`, async () => {
    const before = standIn.consumed();
    standIn.buy(SINGLE.includes(portal) ? 1 : 3);
    const both = await Promise.all([sync(standIn), sync(standIn)]);
    assert.ok(both.flat().includes('fulfilled'), String(both));
    assert.equal(fulfilled.length, 1);
    if (consumes(standIn)) assert.equal(standIn.consumed() - before, unitsOf());
  });

  test(`${portal}: a purchase counts for the first account that syncs it`, async () => {
    standIn.buy();
    server.fail('consume', 'busy');
    assert.deepEqual(await sync(standIn), ['pending']);
    assert.deepEqual(await sync(standIn, { by: await api.aUser() }), ['failed']);
    api.clock.advance(LATER);
    const other = await api.aUser();
    const [own, others] = await Promise.all([sync(standIn), sync(standIn, { by: other })]);
    assert.deepEqual(own, ['fulfilled']);
    assert.ok(!others.includes('fulfilled'), String(others));
    assert.deepEqual(
      fulfilled.map(({ user_id }) => user_id),
      [user.id],
    );
  });

  test(`${portal}: what happens with the purchase happens with the record, or neither`, async () => {
    standIn.buy();
    const selling = await sellingAt(standIn);
    const failing = { ...selling, credit: () => Promise.reject(new Error('no wallet')) };
    await assert.rejects(syncPurchases(failing, user.id, await standIn.proof(), BUYER), /no wallet/);
    api.clock.advance(LATER);
    assert.ok((await sync(standIn)).includes('fulfilled'));
    assert.equal(fulfilled.length, 1);
  });

  test(`${portal}: a product that the game does not sell is left alone`, async () => {
    const before = standIn.consumed();
    standIn.buy();
    const selling = await sellingAt(standIn);
    const other = { ...selling, packs: new Map([['another', pack]]) };
    assert.deepEqual(await syncPurchases(other, user.id, await standIn.proof(), BUYER), []);
    assert.equal(standIn.consumed(), before);
    await sync(standIn);
    assert.equal(fulfilled.length, 1);
  });

  if (portal !== 'oculus')
    test(`${portal}: what was refunded before it was consumed is not fulfilled`, async () => {
      standIn.buy();
      server.fail('consume', 'busy');
      await sync(standIn);
      standIn.refund();
      api.clock.advance(LATER);
      assert.ok(!(await sync(standIn)).includes('fulfilled'));
      assert.equal(fulfilled.length, 0);
    });
}

test('a purchase that the store refused to consume, and still lists, is tried again by the next sync', async () => {
  const steam = standIns.find(({ portal }) => portal === 'steam')!;
  steam.buy();
  server.fail('consume', 'reject');
  assert.deepEqual(await sync(steam), ['failed']);
  assert.deepEqual(await sync(steam), ['fulfilled']);
  assert.equal(fulfilled.length, 1);
});

test('a job waits longer after each attempt', async () => {
  const steam = standIns.find(({ portal }) => portal === 'steam')!;
  steam.buy();
  server.fail('consume', 'busy');
  await sync(steam);
  for (const seconds of [120, 240, 480]) {
    api.clock.advance(seconds - 1);
    assert.equal((await duePurchases(app, 10)).length, 0, `${seconds} seconds`);
    api.clock.advance(1);
    const [row] = await duePurchases(app, 10);
    server.fail('consume', 'busy');
    assert.equal((await retry(await sellingAt(steam), row!)).state, 'pending');
  }
  api.clock.advance(LATER);
  assert.deepEqual(await sync(steam), ['fulfilled']);
});

test('Meta: a retry never consumes the next purchase of the same product in place of the first', async () => {
  const meta = standIns.find(({ portal }) => portal === 'oculus')!;
  const before = meta.consumed();
  meta.buy();
  server.fail('consume', 'lose the answer');
  await sync(meta);
  meta.buy();
  api.clock.advance(LATER);
  assert.deepEqual(await sync(meta), ['fulfilled', 'fulfilled']);
  assert.deepEqual([meta.consumed() - before, references()], [2, 2]);
});

test('a user who links another account at the store does not turn an unanswered purchase into a fulfilled one', async () => {
  for (const portal of ['oculus', 'epicgames'] as const) {
    const standIn = standIns.find((each) => each.portal === portal)!;
    const before = standIn.consumed();
    const count = fulfilled.length;
    standIn.buy();
    server.fail('consume', 'busy');
    await sync(standIn);
    api.clock.advance(LATER);
    server.fail('consume', 'busy');
    const selling = await sellingAt(standIn);
    await syncPurchases(selling, user.id, {}, 'another account').then(() => [], unlessUnavailable);
    assert.deepEqual([fulfilled.length - count, standIn.consumed() - before], [0, 0], portal);
    api.clock.advance(4 * LATER);
    await sync(standIn);
    assert.deepEqual([fulfilled.length - count, standIn.consumed() - before], [1, 1], portal);
  }
});

test('stores that trust the game accept no account that is not linked', async () => {
  for (const portal of ['steam', 'oculus', 'xboxlive', 'psn', 'epicgames'] as const) {
    const standIn = standIns.find((each) => each.portal === portal)!;
    const selling = await sellingAt(standIn);
    const proof = { ...(await standIn.proof()), user_id: BUYER };
    await assert.rejects(syncPurchases(selling, user.id, proof, undefined), StoreRefusal);
    if (portal === 'oculus')
      await assert.rejects(syncPurchases(selling, user.id, { user_id: 'somebody' }, BUYER), StoreRefusal);
  }
});

test('PlayStation: purchases of a development environment count in the sandbox alone', async () => {
  const selling = await sellingAt(standIns.find(({ portal }) => portal === 'psn')!);
  const proof = { psn_token: 'code', psn_env: '1', psn_service_label: '1' };
  await assert.rejects(syncPurchases(selling, user.id, proof, BUYER), StoreRefusal);
});

test('Epic: a player’s token names the account, if it is signed for the game', async () => {
  const issuer = new Issuer('epic key');
  server.on('keys', 'GET', /^\/epic\/oauth\/v2\/\.well-known\/jwks\.json$/, async () => ({
    json: { keys: [await issuer.jwk()] },
  }));
  const { asking } = await sellingAt(standIns.find(({ portal }) => portal === 'epicgames')!);
  const claims = { iss: 'https://api.epicgames.dev/epic/oauth/v2', aud: 'trusted', sub: BUYER };
  const token = async (more = {}, by = issuer) =>
    by.sign({ ...claims, exp: app.clock.now() + 600, iat: app.clock.now(), ...more });
  const open = (epicgames_token: string, epicgames_sandbox_id = 'live') =>
    STORES.epicgames.open(asking, { epicgames_token, epicgames_sandbox_id }, undefined);
  assert.equal((await open(await token())).buyer, BUYER);
  await assert.rejects(open(await token({ aud: 'another game' })), ApiError);
  await assert.rejects(open(await token({}, new Issuer('epic key'))), ApiError);
  await assert.rejects(open(await token({ sub: undefined })), StoreRefusal);
  await assert.rejects(open(await token(), 'development'), StoreRefusal);
});

test('an attempt that a later one has replaced decides nothing any more', async () => {
  const answers = [Promise.withResolvers<Consumption>(), Promise.withResolvers<Consumption>()];
  const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let calls = 0;
  const steam = standIns.find(({ portal }) => portal === 'steam')!;
  const selling = await sellingAt(steam);
  const entitlement: Entitlement = {
    reference: 'replaced',
    sku: SKU,
    kind: 'consumable',
    quantity: 1,
    state: 'owned',
    handle: {},
  };
  const adapter: StoreAdapter = {
    retry: 'same-key',
    open: async () => ({ buyer: BUYER, tokens: {} }),
    list: async () => [entitlement],
    verify: async () => 'owned',
    consume: () => {
      const call = calls;
      calls += 1;
      begun[call]!.resolve();
      return answers[call]!.promise;
    },
  };
  const run = () => syncPurchases({ ...selling, adapter }, user.id, {}, BUYER);
  const first = run();
  await begun[0]!.promise;
  api.clock.advance(LATER);
  const second = run();
  await begun[1]!.promise;
  answers[0]!.resolve('not-owned');
  assert.deepEqual(
    (await first).map(({ state }) => state),
    ['pending'],
  );
  answers[1]!.resolve('consumed');
  assert.deepEqual(
    (await second).map(({ state }) => state),
    ['fulfilled'],
  );
  assert.equal(fulfilled.length, 1);
});
