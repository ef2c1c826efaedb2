import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { getMods } from '../src/catalogue/mods/operations.ts';
import { MANAGER } from '../src/catalogue/teams/teams.ts';
import { fillGame } from '../src/demo/filling.ts';
import { type Client, startApi } from './api.ts';

// Compares generated list queries with a plain loop over all mods, on both databases.
const QUERIES = Number(process.env['MODSTEAD_TEST_QUERIES'] ?? 600);
const SEED = Number(process.env['MODSTEAD_TEST_SEED'] ?? 20_261_115);
const MODS = 300;

const api = await startApi({ settings: { MODSTEAD_CACHE_MB: '0' } });
const app = api.app();
const game = await api.aGame({ name: 'Listed' });
await fillGame(app, { gameId: game.id, mods: MODS, seed: 'lists' });
await fillGame(app, { gameId: (await api.aGame()).id, mods: 50, seed: 'other' });

type Row = { [column: string]: unknown } & { id: number; name: string; submitted_by: number; popularity: number };
interface Known extends Row {
  tags: string[];
  metadata_kvp: string[];
  team: number[];
  submitted_by_display_name: string;
}

const { query } = app.db;
const tags = await query
  .selectFrom('mod_tags as x')
  .innerJoin('game_tags as t', 't.id', 'x.tag_id')
  .select(['x.mod_id', 't.name'])
  .execute();
const pairs = await query.selectFrom('mod_metadata').selectAll().execute();
const members = await query.selectFrom('team_members').selectAll().where('resource', '=', 'mods').execute();
const users = new Map((await query.selectFrom('users').selectAll().execute()).map((user) => [user.id, user.username]));
const mods: Known[] = (
  await query.selectFrom('mods').selectAll().where('game_id', '=', game.id).orderBy('id').execute()
).map((mod) => ({
  ...(mod as unknown as Row),
  tags: tags.filter((tag) => tag.mod_id === mod.id).map(({ name }) => low(name)),
  metadata_kvp: pairs.filter((pair) => pair.mod_id === mod.id).map(({ pair }) => pair),
  team: members.filter((member) => member.resource_id === mod.id).map(({ user_id }) => user_id),
  submitted_by_display_name: users.get(mod.submitted_by)!,
  revenue_type: Number(mod.price > 0),
}));

interface Asker {
  readonly client: Client;
  readonly userId: number;
  readonly everything: boolean;
}
const author = mods.find(({ status }) => status !== 1)!.submitted_by;
const manager = await api.aUser();
await api.joins(manager, game, MANAGER);
const stranger = await api.aUser();
const admin = await api.aUser({ admin: true });
const ASKERS: readonly Asker[] = [
  { client: api.withKey(game), userId: 0, everything: false },
  { client: await api.as(stranger), userId: stranger.id, everything: false },
  { client: await api.as({ id: author }), userId: author, everything: false },
  { client: await api.as(manager), userId: manager.id, everything: true },
  { client: await api.as(admin), userId: admin.id, everything: true },
];

function low(text: string): string {
  return text.normalize('NFKC').toLowerCase().normalize('NFC');
}

const INTEGERS = ['id', 'status', 'visible', 'submitted_by', 'date_added', 'date_updated', 'date_live'].concat([
  'community_options',
  'maturity_option',
  'monetization_options',
  'credit_options',
  'stock',
  'price',
  'revenue_type',
]);
const TEXTS = ['name', 'name_id', 'metadata_blob', 'submitted_by_display_name'];
const SETS = ['tags', 'metadata_kvp'];
const STATES = ['status', 'visible'];
const SORTS: Record<string, { column: string; index: 'asc' | 'desc'; largest?: boolean }> = {
  id: { column: 'id', index: 'asc' },
  name: { column: 'name_folded', index: 'asc' },
  date_added: { column: 'date_added', index: 'asc' },
  date_live: { column: 'date_live', index: 'asc' },
  date_updated: { column: 'date_updated', index: 'asc' },
  submitted_by: { column: 'submitted_by', index: 'asc' },
  downloads_today: { column: 'downloads_today', index: 'desc' },
  downloads_total: { column: 'downloads_total', index: 'desc' },
  subscribers_total: { column: 'subscribers_total', index: 'desc' },
  ratings_weighted_aggregate: { column: 'ratings_weighted_aggregate', index: 'desc' },
  popular: { column: 'popularity', index: 'desc', largest: true },
  downloads: { column: 'downloads_total', index: 'desc', largest: true },
  rating: { column: 'ratings_weighted_aggregate', index: 'desc', largest: true },
  subscribers: { column: 'subscribers_total', index: 'desc', largest: true },
};

function holds(mod: Known, column: string, operator: string, asked: string): boolean {
  const list = asked
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
  if (SETS.includes(column)) {
    const own = mod[column] as unknown as string[];
    const wanted = column === 'tags' ? list.map(low) : list;
    if (operator === '') return wanted.every((each) => own.includes(each));
    if (operator === '-in') return wanted.some((each) => own.includes(each));
    return !wanted.some((each) => own.includes(each));
  }
  const isText = TEXTS.includes(column);
  if (column === 'revenue_type' && operator === '' && Number(asked) >= 2) return true;
  const value = isText ? low(String(mod[column] ?? '')) : (mod[column] as number);
  const given = isText ? low(asked) : Number(asked);
  const among = list.map((each) => (isText ? low(each) : Number(each)));
  const pattern = new RegExp(
    `^${low(asked)
      .split('*')
      .map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'))
      .join('[^]*')}$`,
    'u',
  );
  switch (operator) {
    case '':
      return value === given;
    case '-not':
      return value !== given;
    case '-lk':
      return pattern.test(String(value));
    case '-not-lk':
      return !pattern.test(String(value));
    case '-in':
      return among.includes(value);
    case '-not-in':
      return !among.includes(value);
    case '-min':
      return byCodePoint(value, given) >= 0;
    case '-max':
      return byCodePoint(value, given) <= 0;
    case '-st':
      return byCodePoint(value, given) < 0;
    case '-gt':
      return byCodePoint(value, given) > 0;
    default:
      return (Number(value) & Number(given)) !== 0;
  }
}

const byCodePoint = (a: string | number, b: string | number): number =>
  typeof a === 'string' ? Buffer.compare(Buffer.from(a), Buffer.from(String(b))) : a - Number(b);

const KANA = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}ー]/u;

/** Splits a name into words, character by character. */
function words(text: string, isAsked: boolean): string[] {
  const runs: string[][] = [];
  let kind = '';
  for (const character of low(text)) {
    const next = KANA.test(character) ? 'unspaced' : /[\p{L}\p{N}\p{M}]/u.test(character) ? 'word' : '';
    if (next !== kind) runs.push([next]);
    kind = next;
    runs.at(-1)?.push(character);
  }
  const found = runs
    .filter(([each]) => each !== '')
    .flatMap(([each, ...characters]) => {
      if (each === 'word') return [characters.join('')];
      const two = characters.map((character, i) => character + (characters[i + 1] ?? ''));
      return isAsked && two.length > 1 ? two.slice(0, -1) : two;
    });
  return [...new Set(found)];
}

/** The Damerau–Levenshtein distance, with transpositions of adjacent characters. */
function distance(a: readonly string[], b: readonly string[]): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (_, j) => (i === 0 ? j : j === 0 ? i : 0)),
  );
  for (let i = 1; i <= a.length; i += 1)
    for (let j = 1; j <= b.length; j += 1) {
      let least = Math.min(
        rows[i - 1]![j]! + 1,
        rows[i]![j - 1]! + 1,
        rows[i - 1]![j - 1]! + Number(a[i - 1] !== b[j - 1]),
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, rows[i - 2]![j - 2]! + 1);
      rows[i]![j] = least;
    }
  return rows[a.length]![b.length]!;
}

/** 4 for two matching words, 3 for one, 2 for a prefix, 1 for a mistyped word, 0 for no match. */
function fit(mod: Known, asked: readonly string[]): number {
  const own = words(mod.name, false);
  if (asked.slice(0, 6).filter((word) => own.slice(0, 6).includes(word)).length >= 2) return 4;
  if (asked.some((word) => own.includes(word))) return 3;
  if (asked.some((word) => own.some((each) => each.startsWith(word)))) return 2;
  const isMistyped = (word: string, each: string) => [...each].length >= 4 && distance([...word], [...each]) === 1;
  return Number(asked.some((word) => own.some((each) => isMistyped(word, each))));
}

interface Question {
  readonly filters: readonly { readonly column: string; readonly operator: string; readonly value: string }[];
  readonly or: readonly string[];
  readonly search: string;
  readonly sort: string;
  readonly limit: number;
  readonly offset: number;
}

function expected({ userId, everything }: Asker, question: Question): { ids: number[]; total: number } {
  const { filters, or, search, sort, limit, offset } = question;
  const asks = (name: string) => filters.some(({ column }) => column === name);
  const isPublic = (mod: Known) => mod['status'] === 1 && mod['visible'] === 1;
  const isSeen = (mod: Known) =>
    isPublic(mod) ||
    ((asks('status') || asks('visible')) && (everything || (mod.team.includes(userId) && mod['status'] !== 3)));
  const joined = filters.filter(({ column }) => or.includes(column));
  const others = filters.filter(({ column }) => !or.includes(column));
  const asked = words(search, true);
  const does =
    (mod: Known) =>
    ({ column, operator, value }: Question['filters'][number]) =>
      holds(mod, column, operator, value);
  const found = mods.filter(
    (mod) =>
      isSeen(mod) &&
      (asks('status') || mod['status'] === 1) &&
      (asks('visible') || mod['visible'] === 1) &&
      others.every(does(mod)) &&
      (joined.length === 0 || joined.some(does(mod))) &&
      (asked.length === 0 || fit(mod, asked) > 0),
  );
  const ordered = found.sort(orderOf(sort, asked));
  return { ids: ordered.slice(offset, offset + limit).map(({ id }) => id), total: found.length };
}

function orderOf(sort: string, asked: readonly string[]): (a: Known, b: Known) => number {
  const named = SORTS[sort.replace('-', '')];
  if (!named && asked.length > 0)
    return (a, b) => fit(b, asked) - fit(a, asked) || b.popularity - a.popularity || a.id - b.id;
  if (!named) return (a, b) => a.id - b.id;
  const descending = sort.startsWith('-') !== (named.largest ?? false);
  const sign = descending ? -1 : 1;
  const idSign = descending === (named.index === 'desc') ? 1 : -1;
  return (a, b) => sign * byCodePoint(a[named.column] as number, b[named.column] as number) || idSign * (a.id - b.id);
}

const aMod = fc.constantFrom(...mods);
const NUMERIC = ['', '-not', '-lk', '-not-lk', '-in', '-not-in', '-min', '-max', '-st', '-gt', '-bitwise-and'];

/** Filter values that mostly occur in mods. */
const filter = fc.oneof(
  fc
    .tuple(fc.constantFrom(...INTEGERS), fc.constantFrom(...NUMERIC), aMod, aMod, fc.nat({ max: 3 }))
    .map(([column, operator, one, other, step]) => {
      const plain = STATES.includes(column) && !['', '-in'].includes(operator) ? '' : operator;
      const value = Number(one[column]) + (step === 3 ? 1 : 0);
      if (plain.endsWith('lk')) return { column, operator: plain, value: `${String(value).slice(0, 2)}*` };
      return { column, operator: plain, value: plain.endsWith('-in') ? `${value},${other[column]}` : String(value) };
    }),
  fc
    .tuple(fc.constantFrom(...TEXTS), fc.constantFrom(...NUMERIC.slice(0, -1)), aMod, aMod)
    .map(([column, operator, one, other]) => {
      const value = String(one[column] ?? '');
      if (operator.endsWith('lk')) return { column, operator, value: `*${value.slice(1, 4)}*` };
      return { column, operator, value: operator.endsWith('-in') ? `${value},${other[column] ?? ''}` : value };
    }),
  fc
    .tuple(fc.constantFrom(...SETS), fc.constantFrom('', '-in', '-not-in'), aMod, aMod)
    .map(([column, operator, one, other]) => {
      const of = (mod: Known) => (mod[column] as unknown as string[]).slice(0, 1);
      return { column, operator, value: [...of(one), ...of(other)].join(',') || 'none' };
    }),
);

/** A name, a part of it, or a word with one wrong letter. */
const search = fc.tuple(aMod, aMod, fc.nat({ max: 7 }), fc.nat({ max: 5 })).map(([one, other, how, at]) => {
  const [word = 'x', second = ''] = words(one.name, true);
  const letters = [...word];
  if (how === 0) return one.name;
  if (how === 1) return word;
  if (how === 2) return letters.slice(0, 1 + at).join('');
  if (how === 3) return letters.toSpliced(at, 1).join('');
  if (how === 4) return letters.toSpliced(at, 0, 'q').join('');
  if (how === 5) return letters.toSpliced(at, 2, ...letters.slice(at, at + 2).reverse()).join('');
  return how === 6 ? `${word} ${words(other.name, true)[0]}` : `${second} ${letters.with(0, 'z').join('')}`;
});

const question: fc.Arbitrary<Question> = fc.record({
  filters: fc.uniqueArray(filter, { maxLength: 3, selector: ({ column, operator }) => column + operator }),
  or: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.subarray([...TEXTS, ...SETS, 'id'], { minLength: 2, maxLength: 3 }) },
  ),
  search: fc.oneof({ weight: 1, arbitrary: fc.constant('') }, { weight: 1, arbitrary: search }),
  sort: fc.oneof(
    fc.constant(''),
    fc.tuple(fc.constantFrom('', '-'), fc.constantFrom(...Object.keys(SORTS))).map((parts) => parts.join('')),
  ),
  limit: fc.constantFrom(1, 3, 7, 25),
  offset: fc.oneof(fc.constant(0), fc.nat({ max: 40 })),
});

test('a list returns the same mods as a plain loop over all mods, for every caller', async () => {
  const asked = fc.tuple(fc.constantFrom(...ASKERS), question);
  await fc.assert(
    fc.asyncProperty(asked, async ([asker, each]) => {
      const query = {
        ...Object.fromEntries(each.filters.map(({ column, operator, value }) => [column + operator, value])),
        ...(each.or.length > 0 && { or_fields: [each.or.join(',')] }),
        ...(each.search && { _q: each.search }),
        ...(each.sort && { _sort: each.sort }),
        _limit: each.limit,
        _offset: each.offset,
      };
      const answer = await asker.client.call(getMods, { params: { game_id: game.id }, query });
      assert.equal(answer.status, 200, answer.text);
      const found = { ids: answer.body.data.map(({ id }) => id), total: answer.body.result_total };
      assert.deepEqual(found, expected(asker, each), JSON.stringify(query));
    }),
    { numRuns: QUERIES, seed: SEED },
  );
});
