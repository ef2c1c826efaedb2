import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi } from '../../../test/api.ts';
import { idsIn } from './database.ts';
import { KeptRows } from './kept.ts';

const api = await startApi();
const { db } = api.app();
const { id } = await api.aGame();
const scope = `games/${id}`;

const VERSIONS = {
  text: '',
  postgres: `select string_agg(id || ' ' || xmin, ',') as versions from games where id = any(${idsIn('$1')})`,
};

/** Names of games, and how often they were read. */
function keptNames(options: { readonly changesSilently?: true } = {}) {
  const kept = new KeptRows<string>((name) => name.length);
  let reads = 0;
  const make = async () => {
    reads += 1;
    const version = db.dialect === 'postgres' ? 'cast(xmin as text)' : "''";
    const read = { text: `select name, ${version} as versions from games where id = ?`, postgres: '' };
    const row = (await db.first<{ name: string; versions: string }>(
      { ...read, postgres: read.text.replace('?', '$1') },
      [id],
    ))!;
    return [{ id, versions: row.versions, scopes: [scope], value: row.name }];
  };
  const versions = (ids: readonly number[]) => ({ statement: VERSIONS, values: [JSON.stringify(ids)] });
  const shown = async () => {
    const reading = { ids: [id], variant: '', surroundings: '', versions, make, ...options };
    return (await kept.valuesOf(db, reading)).get(id);
  };
  return { shown, reads: () => reads };
}

const rename = (name: string, isAnnounced = true) =>
  db.write(async ({ query, changed }) => {
    await query.updateTable('games').set({ name }).where('id', '=', id).execute();
    if (isAnnounced) changed(scope);
  });

test('a kept value is read again once its row has changed', async () => {
  const { shown, reads } = keptNames();
  await rename('Before');
  assert.deepEqual([await shown(), await shown(), reads()], ['Before', 'Before', 1]);
  await rename('After');
  assert.deepEqual([await shown(), await shown(), reads()], ['After', 'After', 2]);
});

test('a scope that changes without the row makes PostgreSQL compare versions, and SQLite read the row', async () => {
  const { shown, reads } = keptNames();
  await shown();
  await db.write(async ({ changed }) => changed(scope));
  await Promise.all([shown(), shown()]);
  await shown();
  assert.equal(reads() > 1, db.dialect === 'sqlite');
});

test('a row that changes without an announcement is compared at every request on PostgreSQL', async () => {
  const { shown } = keptNames({ changesSilently: true });
  await rename('Known');
  await shown();
  await rename('Silently', false);
  assert.equal(await shown(), db.dialect === 'postgres' ? 'Silently' : 'Known');
});
