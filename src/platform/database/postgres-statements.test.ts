import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statement } from './database.ts';
import { StatementNames } from './postgres-statements.ts';

test('equal statements have one name, however often they are built', () => {
  const names = new StatementNames();
  const nameOf = (text: string) => names.of(statement(text));
  const name = nameOf('select 1 where ? = 1');
  assert.equal(nameOf('select 1 where ? = 1'), name);
  assert.notEqual(nameOf('select 2 where ? = 1'), name);
});

test('names are new after plans became stale', () => {
  const names = new StatementNames();
  const one = statement('select 1');
  const before = names.of(one);
  names.renew();
  assert.notEqual(names.of(one), before);
});
