import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { migration as gamesCollectionBits } from '../src/catalogue/games/migrations/2026-11-16-games-collection-bits-clients.ts';
import { migration as collectionsComments } from '../src/community/collections/migrations/2026-11-16-collections-comments-clients.ts';
import { type Migration, migrate } from '../src/platform/database/migrate.ts';
import { eachDatabase } from './databases.ts';

/** Steps that change rows, each on tables that have no more than it reads. */
const before: Migration = {
  name: '2026-11-15-before',
  up: ({ id, integer, text }) => [
    `create table games (id ${id}, community_options ${integer} not null)`,
    `create table collections (id ${id})`,
    `create table comments (id ${id}, resource ${text}, resource_id ${integer}, date_deleted ${integer},
      withheld ${integer}, thread_order ${text})`,
  ],
};

eachDatabase('the two bits for collections move to where the C++ SDK looks for them', [before], async ({ db }) => {
  const expected = new Map([
    [0, 0],
    [4_096, 8_192],
    [8_192, 16_384],
    [1 | 2_048 | 4_096 | 8_192, 1 | 2_048 | 8_192 | 16_384],
    [131_071, 131_071 - 4_096],
    [1 | 16_384 | 32_768, 1 | 32_768],
  ]);
  await db.write(async ({ query }) => {
    for (const options of expected.keys())
      await sql`insert into games (community_options) values (${options})`.execute(query);
  });
  await migrate(db, [before, gamesCollectionBits], () => 0);
  const { rows } = await sql<{ community_options: number }>`select community_options from games order by id`.execute(
    db.query,
  );
  assert.deepEqual(
    rows.map((row) => Number(row.community_options)),
    [...expected.values()],
  );
});

eachDatabase('collections count the comments that they show', [before], async ({ db }) => {
  const comments = [
    ['collections', 1, 0, 0, '01'],
    ['collections', 1, 0, 0, '01.01'],
    ['collections', 1, 5, 0, '02'],
    ['collections', 1, 0, 1, '03'],
    ['collections', 1, 0, 0, '03.01'],
    ['guides', 1, 0, 0, '01'],
  ] as const;
  await db.write(async ({ query }) => {
    await sql`insert into collections (id) values (1), (2)`.execute(query);
    for (const [resource, id, deleted, withheld, order] of comments)
      await sql`insert into comments (resource, resource_id, date_deleted, withheld, thread_order)
        values (${resource}, ${id}, ${deleted}, ${withheld}, ${order})`.execute(query);
  });
  await migrate(db, [before, collectionsComments], () => 0);
  const { rows } = await sql<{ comments_total: number }>`select comments_total from collections order by id`.execute(
    db.query,
  );
  assert.deepEqual(
    rows.map((row) => Number(row.comments_total)),
    [2, 0],
  );
});
