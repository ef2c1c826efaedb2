// Runs alone: it measures the CPU time of its own thread.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { editModByPut } from '../src/catalogue/mods/operations.ts';
import { operations } from '../src/composition/resources.ts';
import { fillGame } from '../src/demo/filling.ts';
import { type Column, type Listing, OPERATORS } from '../src/platform/database/listing.ts';
import type { AnyOperation } from '../src/platform/http/operation.ts';
import { filled, startBounded, URL_LENGTH_MAX } from './bounds.ts';

const MODS = 2_000;
const LONG_MODS = 300;
const BLOB_LENGTH = 50_000;

const { api, scene, bounded, targetOf, reportSlowest } = await startBounded();
const app = api.app();
const { game, mod, owner: client } = scene;
await fillGame(app, { gameId: game.id, mods: MODS, seed: 'bounds' });
const blob = 'a'.repeat(BLOB_LENGTH);
assert.equal(
  (await client.call(editModByPut, { params: { game_id: game.id, mod_id: mod.id }, body: { metadata_blob: blob } }))
    .status,
  200,
);
// Copies of the rows, as if many users had created them.
await app.db.write(({ query }) =>
  query
    .updateTable('mods')
    .set({ metadata_blob: blob, metadata_blob_folded: blob })
    .where('id', 'in', (some) => some.selectFrom('mods').select('id').orderBy('id').limit(LONG_MODS))
    .execute(),
);
if (app.db.dialect === 'postgres') await app.db.executeAlone('analyze mods');

/** Parameters without which a list is refused. */
const NEEDED: Record<string, Record<string, string>> = {
  'get-multipart-upload-parts': { upload_id: scene.uploadId },
};
const readers = [client, scene.asLeader, scene.author.client, await api.as(scene.other)];

/** Lists with this query as somebody who gets the list, because a refusal is cheap and proves nothing. */
async function readerOf(operation: AnyOperation) {
  const needed = NEEDED[operation.declaration.id] ?? {};
  const target = targetOf(operation);
  for (const reader of readers)
    if ((await reader.send('GET', target, { query: needed })).status === 200)
      return (query: Record<string, string | string[]>) =>
        reader.send('GET', target, { query: { ...needed, ...query } });
  return assert.fail(`${operation.declaration.id} is refused: add what it lists to test/race-scene.ts`);
}

const HOSTILE_TEXTS = [
  `*${'a'.repeat(249)}`,
  `*${'a'.repeat(124)}b${'a'.repeat(124)}`,
  `*${'a'.repeat(URL_LENGTH_MAX)}b`,
  '*a'.repeat(10),
  `${'*a'.repeat(URL_LENGTH_MAX / 2)}b`,
  'a'.repeat(1_000),
  Array.from({ length: 1_000 }, (_, n) => n).join(','),
  '%_\\'.repeat(80),
  'ﷺ'.repeat(200),
];
const HOSTILE_NUMBERS = ['-9007199254740991', '*'.repeat(32), '*1*1*1*1*', '0', HOSTILE_TEXTS[6]!];

const lists = operations.filter(({ declaration }) => declaration.list && declaration.method === 'GET');
const listings = new Map<Listing, AnyOperation>(lists.map((operation) => [operation.declaration.list!, operation]));

/** SQLite runs queries in this process, so every filter can block it. */
const IN_THIS_PROCESS = app.db.dialect === 'sqlite';
const EVERY_OPERATOR = ['', ...OPERATORS.map((each) => `-${each}`)];

/**
 * Each column with each operator, with the next hostile value each time. On PostgreSQL, which runs them in its own process,
 * a column of a kind that another column had with each operator gets one of them.
 */
function* hostileFilters(listing: Listing): Generator<Record<string, string>> {
  let turn = 0;
  const kinds = new Set<Column['kind']>();
  for (const [name, column] of Object.entries<Column>(listing.columns)) {
    const values = column.kind === 'integer' ? HOSTILE_NUMBERS : HOSTILE_TEXTS;
    const isAlike = !IN_THIS_PROCESS && kinds.has(column.kind);
    kinds.add(column.kind);
    for (const operator of isAlike ? [EVERY_OPERATOR[turn % EVERY_OPERATOR.length]!] : EVERY_OPERATOR) {
      turn += 1;
      yield { [`${name}${operator}`]: values[turn % values.length]! };
    }
  }
}

for (const [listing, operation] of listings) {
  const { id } = operation.declaration;
  test(`${id} is bounded with every hostile filter`, async () => {
    const read = await readerOf(operation);
    for (const query of hostileFilters(listing))
      await bounded(`${id} ${JSON.stringify(query).slice(0, 80)}`, () => read(query));
  });
}

test('long columns of mods are bounded with every hostile text', async () => {
  const operation = operations.find(({ declaration: { id } }) => id === 'get-mods')!;
  for (const column of ['metadata_blob', 'name', 'submitted_by_display_name'])
    for (const operator of ['', '-lk', '-not-lk', '-in', '-not-in', '-min'])
      for (const [index, text] of HOSTILE_TEXTS.entries()) {
        const query = { [`${column}${operator}`]: text };
        await bounded(`${column}${operator} ${index}`, () => client.send('GET', targetOf(operation), { query }));
        await bounded(`${column}${operator} ${index}, for all`, () =>
          api.withKey(game).send('GET', targetOf(operation), { query }),
        );
      }
});

for (const operation of lists) {
  const { id, list } = operation.declaration;
  test(`${id} is bounded with every hostile search and sort`, async () => {
    const read = await readerOf(operation);
    const ask = (query: Record<string, string | string[]>) =>
      bounded(`${id} ${JSON.stringify(query).slice(0, 80)}`, () => read(query));
    const columns = Object.keys(list!.columns);
    await ask({ _q: 'a '.repeat(2_000) });
    await ask({ _q: Array.from({ length: 16 }, (_, n) => `${String.fromCharCode(97 + n)}`).join(' ') });
    await ask({ _q: '漢'.repeat(900) });
    for (const _sort of Object.keys(list!.sorts)) await ask({ _sort, _offset: '900' });
    await ask({ _sort: '-'.repeat(URL_LENGTH_MAX), _offset: '9007199254740991' });
    await ask({ 'or_fields[0]': `${columns.slice(0, 3)}`, 'or_fields[1]': ','.repeat(4_000) });
    const all = Object.fromEntries(columns.flatMap((name) => OPERATORS.map((each) => [`${name}-${each}`, '1'])));
    await ask(Object.fromEntries(Object.entries(all).slice(0, 300)));
  });
}

test('queries of many parameters are bounded', async () => {
  for (const piece of ['a&', 'a=b&', '&', 'id-in[]=1&', '%41=%41&', 'a[b][c]=1&', 'name-lk=*&'])
    await bounded(piece, () => api.withKey(game).send('GET', `/games/${game.id}/mods?${filled(piece, 12_000)}`));
});

reportSlowest();
