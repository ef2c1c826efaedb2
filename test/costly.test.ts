import assert from 'node:assert/strict';
import { test } from 'node:test';
import { editModByPut, getMods } from '../src/catalogue/mods/operations.ts';
import { type Answer, assertRefused, type ErrorAnswer, startApi } from './api.ts';

const isPostgres = process.env['MODSTEAD_TEST_DATABASE'] === 'postgres';
// PostgreSQL measures elapsed time, which includes waiting for a core.
const api = await startApi({ settings: { MODSTEAD_READ_MS: isPostgres ? '1000' : '1', MODSTEAD_CACHE_MB: '0' } });
const game = await api.aGame();
const params = { game_id: game.id };
for (let n = 0; n < 40; n += 1) {
  const owner = await api.aUser();
  const { id } = await api.aMod({ game, owner });
  const body = { metadata_blob: 'a'.repeat(50_000) };
  const edited = { params: { ...params, mod_id: id }, body };
  assert.equal((await (await api.as(owner)).call(editModByPut, edited)).status, 200);
}
const client = api.withKey(game);

test('a list whose query takes too long is refused with the names of its filters, and other requests are served', async () => {
  const query = { 'metadata_blob-not-lk': `*${'a'.repeat(247)}b*`, 'metadata_blob-lk': `*${'a'.repeat(247)}c*` };
  const costly = client.refused(getMods, { params, query }, 422, 13009);
  const { body } = await client.call(getMods, { params });
  assert.equal(body.result_total, 40);
  assert.deepEqual(Object.keys((await costly).body.error.errors!), Object.keys(query));
});

const refusals: Record<string, Record<string, string | string[]>> = {
  'metadata_blob-lk': { 'metadata_blob-lk': 'a'.repeat(251) },
  'name-not-lk': { 'name-not-lk': 'a*'.repeat(11) },
  'id-in': { 'id-in': Array.from({ length: 1_001 }, (_, n) => n).join(',') },
  'submitted_by-in': {
    'id-in': Array.from({ length: 900 }, (_, n) => n).join(','),
    'submitted_by-in': Array.from({ length: 900 }, (_, n) => n).join(','),
  },
  name: { name: 'a'.repeat(1_001) },
  tags: { tags: Array.from({ length: 101 }, (_, n) => `t${n}`).join(',') },
  _q: { _q: 'a'.repeat(1_001) },
  or_fields: { 'or_fields[0]': 'id,name,status,visible' },
};

for (const [field, query] of Object.entries(refusals))
  test(`a list names ${field} as too expensive`, async () => {
    const answer = (await client.call(getMods, { params, query })) as Answer<unknown> as Answer<ErrorAnswer>;
    assertRefused(answer, 422, 13009);
    assert.deepEqual(Object.keys(answer.body.error.errors!), [field]);
  });

test('a list accepts 50 filters, and ignores any number of unknown columns', async () => {
  const columns = ['id', 'status', 'visible', 'date_added', 'date_updated', 'date_live', 'stock', 'price'];
  const operators = ['-not', '-min', '-max', '-st', '-gt', '-in', '-not-in'];
  const all = columns.flatMap((column) => operators.map((operator) => `${column}${operator}`));
  const ask = async (names: readonly string[]) =>
    (await client.call(getMods, { params, query: Object.fromEntries(names.map((name) => [name, '1'])) })).status;
  assert.equal(await ask(Array.from({ length: 500 }, (_, n) => `unknown_${n}-lk`)), 200);
  assert.equal(await ask(all.slice(0, 51)), 422);
});
