import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi } from '../../../test/api.ts';
import { fillGame } from '../../demo/filling.ts';
import { editModByPut, getMods } from './operations.ts';

const MODS = 2_300;
const api = await startApi();
const app = api.app();
const game = await api.aGame();
await fillGame(app, { gameId: game.id, mods: MODS, seed: 'deep' });
const client = api.withKey(game);

type Row = Awaited<ReturnType<typeof publicMods>>[number];
const publicMods = () =>
  app.db.query
    .selectFrom('mods')
    .select(['id', 'name_folded', 'downloads_today', 'popularity'])
    .where('game_id', '=', game.id)
    .where('status', '=', 1)
    .where('visible', '=', 1)
    .execute();

/** Compares by code points, as both databases do. */
const compared = (one: string | number, other: string | number) =>
  typeof one === 'number' ? one - Number(other) : Buffer.compare(Buffer.from(one), Buffer.from(String(other)));

function ordered(rows: readonly Row[], column: keyof Row, direction: 1 | -1, idDirection: 1 | -1): number[] {
  const sorted = rows.toSorted((a, b) => direction * compared(a[column], b[column]) || idDirection * (a.id - b.id));
  return sorted.map(({ id }) => id);
}

async function pageAt(sort: string, offset: number): Promise<number[]> {
  const query = { _sort: sort, _limit: 100, _offset: offset };
  const { body } = await client.call(getMods, { params: { game_id: game.id }, query });
  return body.data.map(({ id }) => id);
}

const ORDERS = [
  ['name', 'name_folded', 1, 1],
  ['-name', 'name_folded', -1, -1],
  ['id', 'id', 1, 1],
  ['-id', 'id', -1, -1],
  ['popular', 'popularity', -1, 1],
  ['-popular', 'popularity', 1, -1],
  // Most mods have equal values in this order.
  ['downloads_today', 'downloads_today', 1, -1],
  ['-downloads_today', 'downloads_today', -1, 1],
] as const;

for (const [sort, column, direction, idDirection] of ORDERS)
  test(`deep pages by ${sort} contain the same mods as slices of the whole list`, async () => {
    const all = ordered(await publicMods(), column, direction, idDirection);
    for (const offset of [960, 1_000, 1_003, 1_950, 2_000, all.length - 30, all.length + 5])
      assert.deepEqual(await pageAt(sort, offset), all.slice(offset, offset + 100), `from ${offset}`);
  });

test('hiding a mod shifts the pages after it at once', async () => {
  const [first] = ordered(await publicMods(), 'name_folded', 1, 1);
  const before = await pageAt('name', 1_500);
  const owner = await api.as(game.owner);
  await owner.call(editModByPut, { params: { game_id: game.id, mod_id: first! }, body: { visible: 0 } });
  const after = await pageAt('name', 1_500);
  assert.deepEqual(after.slice(0, -1), before.slice(1));
  assert.equal(after.length, before.length);
});
