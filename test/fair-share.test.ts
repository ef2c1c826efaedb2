import assert from 'node:assert/strict';
import { test } from 'node:test';
import { editModByPut } from '../src/catalogue/mods/operations.ts';
import { FairShare, PacedRefusals } from '../src/platform/http/fair-share.ts';
import { startApi } from './api.ts';

const api = await startApi({
  settings: { MODSTEAD_READ_MS: '3000', MODSTEAD_CACHE_MB: '0', MODSTEAD_TRUST_PROXY: '127.0.0.1' },
});
const game = await api.aGame();
const owner = await api.aUser();
const asOwner = await api.as(owner);
for (let n = 0; n < 60; n += 1) {
  const { id } = await api.aMod({ game, owner });
  const edited = { params: { game_id: game.id, mod_id: id }, body: { metadata_blob: 'a'.repeat(50_000) } };
  assert.equal((await asOwner.call(editModByPut, edited)).status, 200);
}

const ask = (address: string, query: string) =>
  api.proxied('GET', `/v1/games/${game.id}/mods?api_key=${game.api_key}&${query}`, {
    headers: { 'x-forwarded-for': address },
  });
const LIMITS = { perAddress: 1, inAll: 100, waitingPerAddress: 100, waitingInAll: 100 };
const costly = (n: number) =>
  `metadata_blob-not-lk=*${'a'.repeat(230)}${n}b*&metadata_blob-lk=*${'a'.repeat(230)}${n}c*`;

test('a client with many expensive requests does not block other clients', async () => {
  let answered = 0;
  const greedy = Array.from({ length: 10 }, async (_, n) => {
    const { status } = await ask('203.0.113.7', costly(n));
    answered += 1;
    return status;
  });
  // By now the service has received them.
  await ask('203.0.113.9', 'id=1');
  const { status, text } = await ask('203.0.113.8', 'name-lk=*mod*');
  assert.equal(status, 200, text);
  // PostgreSQL runs each until its time limit; SQLite runs them one after the other.
  assert.ok(answered < (api.app().db.dialect === 'postgres' ? 1 : 5), `${answered} of 10 came first`);
  for (const each of await Promise.all(greedy)) assert.ok(each === 200 || each === 422);
});

test('waiting requests of one address do not delay another address, and released slots are reused', async () => {
  const shares = new FairShare({ ...LIMITS, perAddress: 2 });
  const order: string[] = [];
  const enter = async (who: string, address: string) => {
    const leave = await shares.acquire(address, true);
    order.push(who);
    return leave;
  };
  const first = await enter('a1', 'a');
  const second = await enter('a2', 'a');
  const third = enter('a3', 'a');
  const fourth = enter('a4', 'a');
  (await enter('b1', 'b'))();
  assert.deepEqual(order, ['a1', 'a2', 'b1']);
  second();
  (await third)();
  (await fourth)();
  first();
  assert.deepEqual(order, ['a1', 'a2', 'b1', 'a3', 'a4']);
  for (const who of ['a5', 'a6']) await enter(who, 'a');
  assert.deepEqual(order.slice(-2), ['a5', 'a6']);
});

test('an address whose queue is full is refused with 429, and everybody with 503 when the service is full', async () => {
  const shares = new FairShare({ perAddress: 1, inAll: 2, waitingPerAddress: 2, waitingInAll: 1 });
  const read = (address: string) => shares.acquire(address, true);
  const ofOne = [read('a'), read('a'), read('a')];
  assert.equal(shares.refusal('a')?.status, 429);
  assert.equal(shares.refusal('b'), undefined);
  const ofOthers = [read('b'), read('c')];
  await Promise.all([ofOne[0], ofOthers[0]]);
  assert.deepEqual(
    [shares.refusal('d')?.status, shares.refusal('d')?.retryAfterSeconds, shares.refusal('a')?.status],
    [503, 1, 429],
  );
  (await shares.acquire('d', false))();
  (await ofOthers[0]!)();
  (await ofOthers[1]!)();
  for (const each of ofOne) (await each)();
  assert.deepEqual([shares.refusal('a'), shares.refusal('d')], [undefined, undefined]);
});

test('refusals of a flood are spread over time, in order', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const refusals = new PacedRefusals();
  const sent: number[] = [];
  const all = Array.from({ length: 70 }, (_, i) => refusals.next().then(() => sent.push(i)));
  const turn = () => new Promise((done) => setImmediate(done));
  return (async () => {
    for (const expected of [25, 50, 70]) {
      await turn();
      assert.deepEqual(sent, [...Array(expected).keys()]);
      t.mock.timers.tick(50);
    }
    await Promise.all(all);
  })();
});
