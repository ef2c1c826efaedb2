import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Mod, startApi } from '../../../test/api.ts';
import { deleteModOperation, editModByPut, getMods } from './operations.ts';

const api = await startApi();
const game = await api.aGame();
const people = [await api.aUser(), await api.aUser(), await api.aUser()];

const NAMES = ['Über Ship', 'Star Ship', 'star_ship', '100% Orange', 'Zebra', 'ÉCLAIR', '星の船', 'Ship'];

interface Row extends Mod {
  readonly community_options: number;
  readonly credit_options: number;
  readonly stock: number;
  readonly submitted_by: number;
  readonly downloads_today: number;
  readonly downloads_total: number;
  readonly subscribers_total: number;
  readonly ratings_weighted_aggregate: number;
  readonly popularity: number;
  readonly date_live: number;
}

const mods: Row[] = [];
for (let i = 0; i < 30; i += 1) {
  const settings = { community_options: (i * 37) % 1024, credit_options: i % 5, stock: i % 3 };
  const stats = {
    downloads_today: i % 4,
    downloads_total: (i * 7) % 11,
    subscribers_total: (i * 5) % 7,
    ratings_weighted_aggregate: ((i * 3) % 8) / 2,
    popularity: ((i * 11) % 13) / 4,
  };
  const owner = people[i % 3]!;
  const metadata_blob = `Level=${i % 6}`;
  const mod = await api.aMod({ game, owner, name: NAMES[i % 8]!, metadata_blob, ...settings, stats });
  mods.push({ ...mod, ...settings, ...stats, submitted_by: owner.id, date_live: api.clock.now() });
  if (i % 3 === 0) api.clock.advance(60);
}
const client = api.withKey(game);

type Query = Record<string, string | number | readonly string[]>;

async function page(query: Query, who = client) {
  const answer = await who.call(getMods, { params: { game_id: game.id }, query });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.body.result_count, answer.body.data.length);
  return { ids: answer.body.data.map(({ id }) => id), total: answer.body.result_total };
}

const ids = async (query: Query) => (await page(query)).ids;
const matching = (keep: (mod: Row) => boolean) => mods.filter(keep).map(({ id }) => id);
const fold = (text: string) => text.normalize('NFKC').toLowerCase();

test('a list contains the mods of one game in order of id, with an exact total', async () => {
  await api.aMod();
  const { ids: found, total } = await page({ _limit: 7, _offset: 14 });
  assert.deepEqual([found, total], [mods.slice(14, 21).map(({ id }) => id), mods.length]);
  assert.deepEqual(await page({ _offset: 1_000 }), { ids: [], total: mods.length });
});

test('a list of ids may have spaces, signs, leading zeros, gaps and repetitions', async () => {
  const [one, other] = [mods[2]!.id, mods[9]!.id];
  for (const named of [`${other},${one}`, ` ${one} , ${other} `, `${one},,${other},`, `00${one},${other}`])
    assert.deepEqual(await ids({ 'id-in': named }), [one, other], named);
  assert.deepEqual(await page({ 'id-in': `${one},${one},${other},-1,0`, _limit: 1 }), { ids: [one], total: 2 });
  for (const named of [`${one},x`, `${one},1.5`, `${one},1e3`, `${one},9007199254740993`, `${one},12345678901234567`])
    await client.refused(getMods, { params: { game_id: game.id }, query: { 'id-in': named } }, 422, 13009);
});

test('a list of ids loses a mod that is hidden or deleted, and regains one that is shown again', async () => {
  const other = await api.aGame();
  const [one, two] = [await api.aMod({ game: other }), await api.aMod({ game: other })];
  const author = await api.as(one.owner);
  const named = { 'id-in': `${one.id},${two.id},${mods[0]!.id}` };
  const listed = async () => {
    const { body } = await client.call(getMods, { params: { game_id: other.id }, query: named });
    return body.data.map(({ id }) => id);
  };
  const params = { game_id: other.id, mod_id: one.id };
  const show = (visible: number) => author.call(editModByPut, { params, body: { visible } });
  assert.deepEqual(await listed(), [one.id, two.id]);
  assert.equal((await show(0)).status, 200);
  assert.deepEqual(await listed(), [two.id]);
  assert.equal((await show(1)).status, 200);
  assert.deepEqual(await listed(), [one.id, two.id]);
  assert.equal((await author.call(deleteModOperation, { params })).status, 204);
  assert.deepEqual(await listed(), [two.id]);
});

test('filters compare texts without case', async () => {
  assert.deepEqual(
    await ids({ name: 'STAR SHIP' }),
    matching(({ name }) => name === 'Star Ship'),
  );
  assert.deepEqual(
    await ids({ 'metadata_blob-lk': 'level=1*' }),
    matching((mod) => mods.indexOf(mod) % 6 === 1),
  );
  assert.deepEqual(await ids({ name_id: mods[9]!.name_id }), [mods[9]!.id]);
});

test('_q finds every mod with any of the words or a word that starts with one', async () => {
  assert.deepEqual(
    (await ids({ _q: 'ship zeb' })).sort((a, b) => a - b),
    matching(({ name }) => /(^|[ _])ship|^zeb/.test(fold(name))),
  );
});

test('a search finds a renamed mod by its new name only', async () => {
  const other = await api.aGame();
  const mod = await api.aMod({ game: other, name: 'Before' });
  const body = { name: 'Afterwards' };
  await (await api.as(mod.owner)).call(editModByPut, { params: { game_id: other.id, mod_id: mod.id }, body });
  const totalOf = async (_q: string) =>
    (await client.call(getMods, { params: { game_id: other.id }, query: { _q } })).body.result_total;
  assert.deepEqual([await totalOf('before'), await totalOf('after')], [0, 1]);
});

test('the older names of sorts put the highest value first, and with a minus the lowest', async () => {
  const aliases = {
    popular: 'popularity',
    downloads: 'downloads_total',
    rating: 'ratings_weighted_aggregate',
    subscribers: 'subscribers_total',
  } as const;
  for (const [alias, column] of Object.entries(aliases)) {
    const ordered = (direction: number) =>
      mods.toSorted((a, b) => direction * (b[column] - a[column] || a.id - b.id)).map(({ id }) => id);
    assert.deepEqual(await ids({ _sort: alias }), ordered(1), alias);
    assert.deepEqual(await ids({ _sort: `-${alias}` }), ordered(-1), alias);
  }
});

test('the sorted columns equal the stats that a list shows', async () => {
  const answer = await client.call(getMods, { params: { game_id: game.id }, query: { _sort: '-downloads_total' } });
  const shown = answer.body.data.map(({ stats }) => stats.downloads_total);
  assert.deepEqual(
    shown,
    shown.toSorted((a, b) => b - a),
  );
  assert.equal(shown[0], 10);
});

const SORTS = [
  'name',
  'date_live',
  'submitted_by',
  'downloads_today',
  'downloads_total',
  'subscribers_total',
  'ratings_weighted_aggregate',
] as const;

const OPERATORS = {
  '': (value: number, wanted: number) => value === wanted,
  '-not': (value: number, wanted: number) => value !== wanted,
  '-min': (value: number, wanted: number) => value >= wanted,
  '-max': (value: number, wanted: number) => value <= wanted,
  '-st': (value: number, wanted: number) => value < wanted,
  '-gt': (value: number, wanted: number) => value > wanted,
  '-in': (value: number, wanted: number) => value === wanted || value === wanted + 1,
  '-not-in': (value: number, wanted: number) => value !== wanted && value !== wanted + 1,
  '-bitwise-and': (value: number, wanted: number) => (value & wanted) !== 0,
} as const;

const isMostFirst = (sort: string) => /^(downloads|subscribers|ratings)/.test(sort);
const isList = (operator: string) => operator === '-in' || operator === '-not-in';

test('any combination of filters, sort and page returns what a plain loop over all mods does', async () => {
  const operator = fc.constantFrom(...(Object.keys(OPERATORS) as (keyof typeof OPERATORS)[]));
  const filter = fc.oneof(
    fc.tuple(fc.constantFrom('credit_options', 'stock', 'submitted_by'), operator, fc.nat({ max: 5 })),
    fc.tuple(fc.constant('community_options'), operator, fc.nat({ max: 1_024 })),
    fc.tuple(fc.constant('id'), operator, fc.integer({ min: mods[0]!.id, max: mods.at(-1)!.id })),
  ) as fc.Arbitrary<
    ['credit_options' | 'stock' | 'submitted_by' | 'community_options' | 'id', keyof typeof OPERATORS, number]
  >;
  const asked = fc.record({
    filters: fc.uniqueArray(filter, { maxLength: 3, selector: ([column, name]) => `${column}${name}` }),
    either: fc.boolean(),
    sort: fc.constantFrom(...SORTS),
    descending: fc.boolean(),
    limit: fc.integer({ min: 1, max: 40 }),
    offset: fc.nat({ max: 20 }),
  });
  await fc.assert(
    fc.asyncProperty(asked, async ({ filters, either, sort, descending, limit, offset }) => {
      const named = filters.map(
        ([column, name, value]) => [`${column}${name}`, isList(name) ? `${value},${value + 1}` : value] as const,
      );
      const query: Query = {
        ...Object.fromEntries(named),
        _sort: `${descending ? '-' : ''}${sort}`,
        _limit: limit,
        _offset: offset,
      };
      if (either && filters.length > 0) query['or_fields'] = [named.map(([name]) => name).join(',')];
      const holds = (mod: Row) => filters.map(([column, name, value]) => OPERATORS[name](mod[column], value));
      const isKept = (mod: Row) =>
        filters.length === 0 || (either ? holds(mod).some(Boolean) : holds(mod).every(Boolean));
      const key = (mod: Row) => (sort === 'name' ? fold(mod.name) : mod[sort]);
      // Mods with equal values are ordered by id, and the other direction reverses the whole order.
      const compare = (a: Row, b: Row) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0);
      const forwards = (a: Row, b: Row) =>
        isMostFirst(sort) ? compare(b, a) || a.id - b.id : compare(a, b) || a.id - b.id;
      const isForwards = isMostFirst(sort) === descending;
      const chosen = mods.filter(isKept).toSorted((a, b) => (isForwards ? forwards(a, b) : forwards(b, a)));
      assert.deepEqual(await page(query), {
        ids: chosen.slice(offset, offset + limit).map(({ id }) => id),
        total: chosen.length,
      });
    }),
    { numRuns: 100 },
  );
});
