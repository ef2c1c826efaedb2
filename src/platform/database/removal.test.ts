import assert from 'node:assert/strict';
import { eachDatabase } from '../../../test/databases.ts';
import { statement } from './database.ts';
import { takeFrom } from './removal.ts';

declare module './database.ts' {
  interface Tables {
    waiting: { id: number; mod_id: number };
  }
}

const MAKE = statement('create table waiting (id bigint primary key, mod_id bigint not null)');
const INDEX = statement('create index waiting_by_mod on waiting (mod_id)');
const ADD = statement(`insert into waiting (id, mod_id)
  select number, number % 500 from generate_series(1, 2000) as number`);
const TAKE = takeFrom('waiting', 'select id from waiting where mod_id >= 0 order by mod_id limit 1000', 'id');
const READ_BLOCKS_MAX = 20_000;

eachDatabase('taking from a queue that was empty when it was analyzed reads each row once', [], async ({ db }, t) => {
  if (db.dialect !== 'postgres') return t.skip('SQLite plans by the indexes alone');
  await db.write(async ({ run }) => {
    await run(MAKE, []);
    await run(INDEX, []);
    await run(ADD, []);
    await run(statement('delete from waiting'), []);
  });
  await db.executeAlone('analyze waiting');
  const explained = await db.write(async ({ run, all }) => {
    await run(ADD, []);
    const explain = statement(`explain (analyze, buffers, format json) ${TAKE.postgres}`);
    return all<{ 'QUERY PLAN': [{ Plan: { 'Shared Hit Blocks': number; Plans: unknown } }] }>(explain, []);
  });
  const [{ Plan: plan }] = explained[0]!['QUERY PLAN'];
  assert.ok(plan['Shared Hit Blocks'] < READ_BLOCKS_MAX, JSON.stringify(plan));
});
