import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Game, startApi } from '../../../test/api.ts';
import { editAuthenticatedUser } from '../../people/users/operations.ts';
import { addGameTagOptions } from '../tags/operations.ts';
import { editGameOperation, getGame, getGames, getUserGames } from './operations.ts';

const api = await startApi();

const NAMES = [
  'Über Smash',
  'Star Smith',
  'star_smith',
  '100% Orange',
  'Zebra Crossing',
  'ÉCLAIR Racer',
  '星の鍛冶屋',
  'Smash',
];
type Row = Game & { summary: string; community_options: number; maturity_options: number; curation_option: number };
const games: Row[] = [];
for (let i = 0; i < 24; i += 1) {
  const settings = {
    community_options: i * 37,
    maturity_options: i % 3,
    curation_option: i % 2,
    ugc_name: i % 4 === 0 ? 'addons' : 'mods',
  };
  games.push({
    ...(await api.aGame({ name: NAMES[i % NAMES.length]!, summary: `Number ${i} of all`, settings })),
    ...settings,
    summary: `Number ${i} of all`,
  });
}
const client = api.withKey(games[0]!);

async function ids(query: Record<string, string | number | readonly string[]>): Promise<number[]> {
  const answer = await client.call(getGames, { query });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.body.result_count, answer.body.data.length);
  return answer.body.data.map((game) => game.id);
}

const matching = (keep: (game: Row) => boolean) => games.filter(keep).map((game) => game.id);
const fold = (text: string) => text.normalize('NFKC').toLowerCase();

test('equals compares text without case and numbers exactly', async () => {
  assert.deepEqual(
    await ids({ name: 'STAR SMITH' }),
    matching((game) => game.name === 'Star Smith'),
  );
  assert.deepEqual(
    await ids({ maturity_options: 2 }),
    matching((game) => game.maturity_options === 2),
  );
});

test('-lk treats * as a wildcard and everything else literally', async () => {
  assert.deepEqual(
    await ids({ 'name-lk': 'star_*' }),
    matching((game) => game.name === 'star_smith'),
  );
  assert.deepEqual(
    await ids({ 'name-lk': '100%*' }),
    matching((game) => game.name.startsWith('100%')),
  );
  assert.deepEqual(
    await ids({ 'name-lk': '*ÜBER*' }),
    matching((game) => game.name === 'Über Smash'),
  );
  assert.deepEqual(
    await ids({ 'name-not-lk': '*smash*' }),
    matching((game) => !fold(game.name).includes('smash')),
  );
});

test('-lk on a number compares its digits', async () => {
  const id = games[3]!.id;
  assert.deepEqual(await ids({ 'id-lk': id }), [id]);
});

test('-bitwise-and finds any of the bits', async () => {
  assert.deepEqual(
    await ids({ 'community_options-bitwise-and': 5 }),
    matching((game) => (game.community_options & 5) !== 0),
  );
});

test('unknown columns, operators that a column does not have, and unknown sorts are ignored', async () => {
  assert.equal((await ids({ 'tico-lk': 'x', 'name-bitwise-and': 4, _sort: '-tico', theme: 'x' })).length, games.length);
});

test('or_fields combines the named filters with or, and the others still apply', async () => {
  const found = await ids({ name: 'Smash', 'id-max': games[2]!.id, maturity_options: 0, or_fields: ['name,id-max'] });
  assert.deepEqual(
    found,
    matching((game) => (game.name === 'Smash' || game.id <= games[2]!.id) && game.maturity_options === 0),
  );
});

test('_q finds every game with any of the words or a word that starts with one', async () => {
  const words = (game: Row) => fold(game.name).match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  assert.deepEqual(
    (await ids({ _q: 'smith zeb' })).sort((a, b) => a - b),
    matching((game) => words(game).some((word) => word.startsWith('smith') || word.startsWith('zeb'))),
  );
  assert.deepEqual(
    await ids({ _q: '星' }),
    matching((game) => game.name.startsWith('星')),
  );
});

test('the error names every invalid value of a known filter', async () => {
  const answer = await client.call(getGames, {
    query: { id: 'x', 'status-in': '1,y', _limit: '-3', _offset: 'z', or_fields: ['a', 'b', 'c'] },
  });
  assert.equal(answer.status, 422);
  const { errors } = (answer.body as unknown as { error: { errors: Record<string, string> } }).error;
  assert.deepEqual(Object.keys(errors).sort(), ['_limit', '_offset', 'id', 'or_fields', 'status-in']);
});

test('a limit over the largest page gives the largest page', async () => {
  const answer = await client.call(getGames, { query: { _limit: 1_000_000 } });
  assert.equal(answer.body.result_limit, 100);
});

test('pages neither repeat nor miss a game when many have equal values in the order', async () => {
  for (const sort of ['name', '-maturity_options', '-name', 'date_live', 'mods_count_total']) {
    const seen: number[] = [];
    for (let offset = 0; ; offset += 5) {
      const page = await ids({ _sort: sort, _limit: 5, _offset: offset });
      if (page.length === 0) break;
      seen.push(...page);
    }
    assert.deepEqual(
      seen.toSorted((a, b) => a - b),
      games.map((game) => game.id),
    );
  }
});

const OPERATORS = {
  '': (value: number, wanted: number) => value === wanted,
  '-not': (value: number, wanted: number) => value !== wanted,
  '-min': (value: number, wanted: number) => value >= wanted,
  '-max': (value: number, wanted: number) => value <= wanted,
  '-st': (value: number, wanted: number) => value < wanted,
  '-gt': (value: number, wanted: number) => value > wanted,
  '-in': (value: number, wanted: number) => value === wanted || value === wanted + 1,
  '-not-in': (value: number, wanted: number) => value !== wanted && value !== wanted + 1,
};

test('any combination of filters, sort and page returns what a plain loop over all games does', async () => {
  const filter = fc.tuple(
    fc.constantFrom('maturity_options', 'curation_option', 'community_options', 'id'),
    fc.constantFrom(...Object.keys(OPERATORS)) as fc.Arbitrary<keyof typeof OPERATORS>,
    fc.nat({ max: 900 }),
  );
  const asked = fc.record({
    filters: fc.array(filter, { maxLength: 3 }),
    descending: fc.boolean(),
    limit: fc.integer({ min: 1, max: 30 }),
    offset: fc.nat({ max: 30 }),
  });
  await fc.assert(
    fc.asyncProperty(asked, async ({ filters, descending, limit, offset }) => {
      const query = Object.fromEntries(
        filters.map(([column, operator, value]) => [
          `${column}${operator}`,
          operator.endsWith('in') && operator !== '-min' ? `${value},${value + 1}` : value,
        ]),
      );
      const chosen = games.filter((game) => Object.entries(query).every(([name, value]) => holds(game, name, value)));
      const byName = (a: Row, b: Row) => (fold(a.name) < fold(b.name) ? -1 : fold(a.name) > fold(b.name) ? 1 : 0);
      const order = chosen.toSorted((a, b) => (descending ? byName(b, a) : byName(a, b)) || a.id - b.id);
      const found = await ids({ ...query, _sort: descending ? '-name' : 'name', _limit: limit, _offset: offset });
      assert.deepEqual(
        found,
        order.slice(offset, offset + limit).map((game) => game.id),
      );
    }),
    { numRuns: 60 },
  );
});

function holds(game: Row, name: string, value: string | number): boolean {
  const operator =
    Object.keys(OPERATORS)
      .filter((each) => each !== '' && name.endsWith(each))
      .sort((a, b) => b.length - a.length)[0] ?? '';
  const column = name.slice(0, name.length - operator.length) as
    | 'id'
    | 'maturity_options'
    | 'curation_option'
    | 'community_options';
  return OPERATORS[operator as keyof typeof OPERATORS](game[column], Number(String(value).split(',')[0]));
}

test('only its own key and its team list a game that is not accepted', async () => {
  const hidden = await api.aGame({ name: 'Hidden One', accepted: false });
  const query = { name: 'Hidden One' };
  const seenBy = async (who: typeof client) => (await who.call(getGames, { query })).body.result_total;
  assert.equal(await seenBy(client), 0);
  assert.equal(await seenBy(api.withKey(hidden)), 1);
  assert.equal(await seenBy(await api.as(hidden.owner)), 1);
  assert.equal(await seenBy(await api.as(await api.aUser())), 0);
  assert.equal(await seenBy(await api.as(await api.aUser({ admin: true }))), 1);
});

test('/me/games lists the games of the caller’s teams', async () => {
  const owner = await api.aUser();
  const mine = await api.aGame({ owner });
  const answer = await (await api.as(owner)).call(getUserGames);
  assert.deepEqual(
    answer.body.data.map((game) => game.id),
    [mine.id],
  );
  assert.equal((await (await api.as(await api.aUser())).call(getUserGames)).body.result_total, 0);
});

test('a list that was shown before shows what has changed since, as the game itself does', async () => {
  const [game] = games as [Row];
  const params = { game_id: game.id };
  const owner = await api.as(game.owner);
  const asked = (language: string) => ({ headers: { 'accept-language': language } });
  const lastTag = { en: '', de: '' };
  const assertSame = async () => {
    for (const language of ['en', 'de'] as const) {
      const list = await client.call(getGames, { query: { id: game.id }, ...asked(language) });
      assert.deepEqual(list.body.data, [(await client.call(getGame, { params, ...asked(language) })).body]);
      const { etag = '' } = list.headers;
      assert.notEqual(etag, lastTag[language]);
      lastTag[language] = etag;
    }
  };
  const changes = [
    () => owner.call(editGameOperation, { params, body: { summary: 'Changed' } }),
    () => owner.call(editAuthenticatedUser, { body: { username: 'Renamed' } }),
    () => owner.call(addGameTagOptions, { params, body: { name: 'Theme', type: 'checkboxes', tags: ['Air', 'Sea'] } }),
    () => api.aMod({ game }),
  ];
  await assertSame();
  for (const change of changes) {
    await change();
    await api.counted();
    await assertSame();
  }
  const german = { 'content-language': 'de' };
  await owner.call(editGameOperation, { params, headers: german, body: { summary: 'Auf Deutsch' } });
  const list = await client.call(getGames, { query: { id: game.id }, ...asked('de') });
  assert.deepEqual(
    list.body.data.map(({ summary }) => summary),
    ['Auf Deutsch'],
  );
});
