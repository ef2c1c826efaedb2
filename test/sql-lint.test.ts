import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lint, statementsIn } from '../tools/sql-constructs.ts';

const LOG = `@@LOG:  statement: listen "changes"
@@LOG:  execute s1: select *
  from mods where id = $1 for update
@@LOG:  execute s2: select * from mods where id = $1 for update
@@LOG:  execute <unnamed>: insert into tags (a, b) values ($1, $2), ($3, $4) on conflict do nothing
@@LOG:  execute <unnamed>: insert into tags (a, b) values ($1, $2), ($3, $4), ($5, $6) on conflict do nothing
@@ERROR:  relation "no" does not exist
@@LOG:  checkpoint starting: time
`;

test('statements of a log count once, however many rows they have and however they are wrapped', () => {
  assert.deepEqual(statementsIn(LOG), [
    'insert into tags (a, b) values ($…) on conflict do nothing',
    'listen "changes"',
    'select * from mods where id = $ for update',
  ]);
});

test('constructs that other engines do not take are found', () => {
  const found = lint(statementsIn(LOG));
  assert.deepEqual([...found.keys()], ['`listen`, `notify`', '`for update`, `for share`', '`on conflict`']);
  assert.deepEqual([...lint(['select pg_advisory_xact_lock($)']).keys()], ['advisory locks']);
});
