import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { sql } from 'kysely';
import { eachDatabase } from '../../../test/databases.ts';
import { type Query, statement } from './database.ts';
import { totalOf } from './totals.ts';

const NUMBERS = 500_000;
const ONE = statement('select 1 as one');

/** A count that no index speeds up. */
async function countToTheEnd(query: Query): Promise<number> {
  const { rows } = await sql<{ total: number }>`with recursive numbers (n) as
    (select 1 union all select n + 1 from numbers where n < ${NUMBERS}) select count(*) as total from numbers`.execute(
    query,
  );
  return Number(rows[0]!.total);
}

eachDatabase('other requests are served while a large total is counted', [], async ({ db }) => {
  let isCounting = true;
  const counting = totalOf(db, { scope: 'numbers', asked: 'all', among: NUMBERS, count: countToTheEnd });
  const counted = counting.finally(() => {
    isCounting = false;
  });
  let served = 0;
  for (; isCounting; await turn()) if (await db.first(ONE, [])) served += 1;
  assert.equal(await counted, NUMBERS);
  assert.ok(served > 10, `${served} reads while it was counted`);
});

eachDatabase('concurrent callers share one count, which is repeated after a change', [], async ({ db }) => {
  let counts = 0;
  const ask = () => totalOf(db, { scope: 'numbers', asked: 'few', among: 1, count: async () => (counts += 1) });
  assert.deepEqual(await Promise.all([ask(), ask()]), [1, 1]);
  await db.write(async ({ changed }) => changed('numbers'));
  assert.deepEqual([await ask(), await ask()], [2, 2]);
});

eachDatabase('a change during a count makes the next caller count again', [], async ({ db }) => {
  const counted = Promise.withResolvers<number>();
  const ask = (count: () => Promise<number>) => totalOf(db, { scope: 'numbers', asked: 'few', among: 1, count });
  const first = ask(() => counted.promise);
  await db.write(async ({ changed }) => changed('numbers'));
  const second = ask(async () => 2);
  counted.resolve(1);
  assert.deepEqual([await first, await second, await ask(async () => 3)], [1, 2, 2]);
});

eachDatabase('a count that failed is repeated by the next caller', [], async ({ db }) => {
  const ask = (count: () => Promise<number>) => totalOf(db, { scope: 'numbers', asked: 'bad', among: 1, count });
  await assert.rejects(ask(() => sql`select * from nowhere`.execute(db.readInWorker).then(() => 0)));
  assert.equal(await ask(async () => 4), 4);
});
