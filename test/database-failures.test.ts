import assert from 'node:assert/strict';
import test from 'node:test';
import { sql } from 'kysely';
import { editGameOperation } from '../src/catalogue/games/operations.ts';
import { assertRefused, startApi } from './api.ts';

const api = await startApi();
const { db } = api.app();
const isPostgres = db.dialect === 'postgres';

const execute = (...steps: string[]) =>
  db.write(async ({ query }) => {
    for (const step of steps) await sql.raw(step).execute(query);
  });

test('damage that a scrub found is in /readyz and in the metrics until a scrub finds none', async () => {
  const shown = async () => {
    const readiness = await api.request('GET', '/readyz');
    const [line] = /^modstead_database_damaged\{environment="production"\} .$/m.exec(
      (await api.request('GET', '/metrics')).text,
    )!;
    return [readiness.status, readiness.text, line.at(-1)];
  };
  for (const { db } of api.apps()) db.condition.damage = ['page 3 is wrong'];
  assert.deepEqual(await shown(), [200, 'ready\nwarning: the production database is damaged\n', '1']);
  for (const { db } of api.apps()) await db.scrub();
  assert.deepEqual(await shown(), [200, 'ready\n', '0']);
});

test('a migration changes columns that prepared statements read, without a failing request', async () => {
  const ada = await api.aUser();
  const clients = await Promise.all(Array.from({ length: 30 }, () => api.as(ada)));
  const ask = async () => Promise.all(clients.map((client) => client.send('GET', '/me')));
  for (const { status } of await ask()) assert.equal(status, 200);
  await execute(
    isPostgres
      ? 'alter table users alter column language type varchar(64)'
      : 'alter table users add column example integer',
  );
  db.changes.everythingChanged();
  for (const { status, text } of await ask()) assert.equal(status, 200, text);
});

/** Lets the next writes fail this many times. A sequence counts them, because a rollback does not reset it. */
async function failing(code: string, times: number, message = 'an example'): Promise<void> {
  await execute(
    'drop trigger if exists failing on games',
    'drop sequence if exists failures',
    'create sequence failures',
    `create or replace function fail() returns trigger language plpgsql as $$ begin
      if nextval('failures') <= ${times} then raise exception '${message}' using errcode = '${code}'; end if;
      return new; end $$`,
    'create trigger failing before update on games for each row execute function fail()',
  );
}

const PASSING = {
  'a lock timeout': '55P03',
  'a serialization failure': '40001',
  'a deadlock': '40P01',
  'a shutdown by the administrator': '57P01',
  'a server that takes no writes after a failover': '25006',
  'a query plan from before a migration': '0A000',
};

for (const [name, code] of Object.entries(PASSING))
  test(`${name} is retried, and then answered with 503`, async (t) => {
    if (!isPostgres) return t.skip('SQLite knows none of it');
    const game = await api.aGame();
    const owner = await api.as(game.owner);
    const edit = (summary: string) =>
      owner.call(editGameOperation, { params: { game_id: game.id }, body: { summary } });
    const message = code === '0A000' ? 'cached plan must not change result type' : 'an example';
    await failing(code, 1, message);
    assert.equal((await edit('Once more, and it works')).status, 200);
    await failing(code, 1_000, message);
    const answer = await edit('Never works');
    assertRefused(answer, 503, 10000);
    assert.equal(answer.headers['retry-after'], undefined);
    await failing(code, 0);
  });

for (const [name, code] of Object.entries({
  'a statement that took too long': '57014',
  'too many connections': '53300',
}))
  test(`${name} is answered with 503`, async (t) => {
    if (!isPostgres) return t.skip('SQLite knows none of it');
    const game = await api.aGame();
    await failing(code, 1_000);
    const owner = await api.as(game.owner);
    const answer = await owner.call(editGameOperation, {
      params: { game_id: game.id },
      body: { summary: 'Too much to do' },
    });
    assertRefused(answer, 503, 10000);
    await failing(code, 0);
  });
