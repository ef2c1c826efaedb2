import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { type Answer, assertRefused, type ErrorAnswer, type Game, startApi } from '../../../test/api.ts';
import { accept, REDIRECT } from '../../../test/browser.ts';
import { addGameMedia, deleteGameOperation } from '../../catalogue/games/operations.ts';
import type { Database } from '../../platform/database/database.ts';
import { addOauthClient, deleteOauthClient, editOauthClient, getOauthClients } from './operations.ts';

const api = await startApi();

type Body = Record<string, string | boolean | readonly string[]>;

const uris = (count: number, from = 0): string[] => Array.from({ length: count }, (_, i) => `${REDIRECT}/${from + i}`);

const signIn = (name: string, redirect_uris: readonly string[] = [REDIRECT]): Body => ({
  name,
  redirect_uris,
  grants: ['authorization_code'],
});

const add = async (game: Game, body: Body) =>
  (await api.as(game.owner)).call(addOauthClient, { params: { game_id: game.id }, body });

const edit = async (game: Game, client_id: number, body: Body) =>
  (await api.as(game.owner)).call(editOauthClient, { params: { game_id: game.id, client_id }, body });

function fieldsOf(answer: Answer<unknown>): string[] {
  assertRefused(answer, 422, 13009);
  return Object.keys((answer.body as ErrorAnswer).error.errors!);
}

async function added(game: Game, body: Body): Promise<number> {
  const answer = await add(game, body);
  assert.equal(answer.status, 201, answer.text);
  return answer.body.client_id;
}

const reserved = [
  'Modstead',
  'M0d5tead Login',
  'Моdѕtеаd',
  'Skyfarers Official',
  'Аdmіn',
  's u p p o r t',
  'ModeratorBot',
];

for (const name of reserved)
  test(`a client cannot be called ${name}, like the service or its staff`, async () => {
    const game = await api.aGame();
    assert.deepEqual(fieldsOf(await add(game, signIn(name))), ['name']);
    assert.deepEqual(fieldsOf(await add(game, { name })), ['name']);
    const client = await added(game, signIn(api.unique('Companion')));
    assert.deepEqual(fieldsOf(await edit(game, client, { name })), ['name']);
  });

test('a client cannot be called like another accepted game or its application, in any script', async () => {
  const real = await api.aGame({ name: 'Skyfarers' });
  await added(real, signIn('Cloud Atlas'));
  await added(real, { name: 'Backend' });
  const other = await api.aGame();
  const client = await added(other, signIn(api.unique('Companion')));
  for (const name of ['Skyfarers', 'SKY FARERS', 'Ѕkуfаrеrs', 'Skyfarers Login', 'Cloud Atlas', 'С1oud Atlas']) {
    assert.deepEqual(fieldsOf(await add(other, signIn(name))), ['name'], name);
    assert.deepEqual(fieldsOf(await edit(other, client, { name })), ['name'], name);
  }
  assert.equal((await add(other, { name: 'Backend' })).status, 201);
  for (const game of [real, other]) assert.equal((await add(game, signIn('Mod Manager'))).status, 201);
  assert.equal((await add(real, signIn('Skyfarers Launcher'))).status, 201);
  assert.equal((await add(real, signIn('Cloud-Atlas'))).status, 201);
});

test('a word of another game’s application, or a game with a generic name, does not reserve that word', async () => {
  const real = await api.aGame({ name: 'Workshop' });
  await added(real, signIn('Planner'));
  const other = await api.aGame({ name: 'Skyport' });
  for (const name of ['Skyport Planner', 'Route Planner', 'Skyport Workshop'])
    assert.equal((await add(other, signIn(name))).status, 201, name);
  for (const name of ['Planner', 'Р1anner App', 'Workshop'])
    assert.deepEqual(fieldsOf(await add(other, signIn(name))), ['name'], name);
});

test('unaccepted games reserve no names, and the name of a client’s own game counts once it is accepted', async () => {
  const squatter = await api.aGame({ name: 'Nightfall', accepted: false });
  await added(squatter, signIn('Moonrise'));
  const real = await api.aGame({ name: 'Nightfall' });
  assert.equal((await add(real, signIn('Nightfall'))).status, 201);
  assert.equal((await add(real, signIn('Moonrise'))).status, 201);
  assert.deepEqual(fieldsOf(await add(squatter, signIn('Nightfall'))), ['name']);
  const wars = await api.aGame({ name: 'Admin Wars', accepted: false });
  assert.deepEqual(fieldsOf(await add(wars, signIn('Admin Wars Launcher'))), ['name']);
  await accept(api, wars);
  assert.equal((await add(wars, signIn('Admin Wars Launcher'))).status, 201);
});

test('administrators of the game edit single fields of a client', async () => {
  const game = await api.aGame();
  const client = await added(game, signIn(api.unique('Companion')));
  const edited = (await edit(game, client, { name: 'Nimbus', standard: true })).body;
  assert.deepEqual([edited.name, edited.standard, edited.redirect_uris], ['Nimbus', true, [REDIRECT]]);
  assert.deepEqual((await edit(game, client, { redirect_uris: uris(2) })).body.redirect_uris, uris(2));
  assertRefused(await edit(game, client, { redirect_uris: [''] }), 400, 11075);
  assertRefused(await edit(await api.aGame(), client, { name: 'Cumulus' }), 404, 14000);
  const params = { game_id: game.id, client_id: client };
  await (await api.as(await api.aUser())).refused(editOauthClient, { params, body: { name: 'Cumulus' } }, 403, 14039);
  const [listed] = (await (await api.as(game.owner)).call(getOauthClients, { params })).body.data;
  assert.deepEqual([listed?.name, listed?.redirect_uris, listed?.standard], ['Nimbus', uris(2), true]);
});

const badUris = [
  'https://client.example/\u0007',
  'https://client.example/\r\nSet-Cookie: a=b',
  'https://client.example/\u007f',
  'https://client.example/a b',
  ' https://client.example/',
  'https://client.example\\@evil.example/',
  'https://client.example/é',
  'https://cliënt.example/',
  'https://client.example/<script>',
  'https://client.example/%zz',
  'https:client.example/',
  'https:///client.example/',
  'http://client.example/',
  'http://127.0.0.2/',
  'https://a@client.example/',
  'https://client.example/#x',
  'javascript:alert(1)//',
  'com.example.app:/callback',
  '',
];

test('redirect URIs with control characters, spaces, backslashes or another scheme are refused by their index', async () => {
  const game = await api.aGame();
  const client = await added(game, signIn(api.unique('Companion')));
  const admin = await api.as(game.owner);
  for (const uri of badUris) {
    const redirect_uris = [REDIRECT, uri, 'http://127.0.0.1:1234/a'];
    const said = JSON.stringify(uri);
    assert.deepEqual(fieldsOf(await add(game, signIn(api.unique('Nimbus'), redirect_uris))), ['redirect_uris.1'], said);
    assert.deepEqual(fieldsOf(await edit(game, client, { redirect_uris })), ['redirect_uris.1'], said);
    const media = await admin.call(addGameMedia, { params: { game_id: game.id }, body: { redirect_uris } });
    assert.deepEqual(fieldsOf(media), ['redirect_uris.1'], said);
  }
});

test('the clients of a game have at most 20 redirect URIs together', async () => {
  const game = await api.aGame();
  const admin = await api.as(game.owner);
  const named = (redirect_uris: readonly string[]) => signIn(api.unique('Cloud'), redirect_uris);
  const first = await added(game, named(uris(12)));
  assert.deepEqual(fieldsOf(await add(game, named(uris(9, 12)))), ['redirect_uris']);
  assert.deepEqual(fieldsOf(await add(game, { name: 'Backend', redirect_uris: uris(9, 12) })), ['redirect_uris']);
  const second = await added(game, named(uris(10, 10)));
  assert.deepEqual(fieldsOf(await edit(game, second, { redirect_uris: uris(9, 12) })), ['redirect_uris']);
  assert.equal((await edit(game, second, { redirect_uris: uris(8, 12) })).status, 200);
  assert.deepEqual(fieldsOf(await add(game, named(uris(1, 20)))), ['redirect_uris']);
  assert.equal((await add(game, { name: 'Backend' })).status, 201);
  await admin.call(deleteOauthClient, { params: { game_id: game.id, client_id: first } });
  assert.equal((await add(game, named(uris(12, 20)))).status, 201);
  const held = await added(game, { name: 'Server', redirect_uris: uris(1, 12) });
  const media = (redirect_uris: readonly string[]) =>
    admin.call(addGameMedia, { params: { game_id: game.id }, body: { redirect_uris } });
  assert.deepEqual(fieldsOf(await media(uris(20, 40))), ['redirect_uris']);
  await admin.call(deleteOauthClient, { params: { game_id: game.id, client_id: held } });
  assert.equal((await media(uris(20, 40))).status, 200);
});

/** Runs `late` before the transaction of `early` commits. */
async function whileUncommitted<T>(early: () => Promise<unknown>, late: () => Promise<T>): Promise<T> {
  const { db } = api.app();
  const [done, committing] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const pausing =
    ({ write }: Database): Database['write'] =>
    (work) =>
      write(async (transaction) => {
        const result = await work(transaction);
        done.resolve();
        await committing.promise;
        return result;
      });
  const usual = api.apps().map((app) => ({ of: app.db, write: app.db.write }));
  for (const { of } of usual) Object.assign(of, { write: pausing({ ...of }) });
  const first = early();
  await done.promise;
  for (const { of, write } of usual) Object.assign(of, { write });
  const second = late();
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  second.then(over, over);
  const isWaiting = async () =>
    (
      await sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
        db.query,
      )
    ).rows.length > 0;
  while (db.dialect === 'postgres' && !isOver && !(await isWaiting()));
  committing.resolve();
  await first;
  return second;
}

test('when two requests add redirect URIs at the same time, the second is refused for too many', async () => {
  const game = await api.aGame();
  const admin = await api.as(game.owner);
  const addWith = (redirect_uris: readonly string[]) => () =>
    admin.call(addOauthClient, { params: { game_id: game.id }, body: signIn(api.unique('Cirrus'), redirect_uris) });
  const late = await whileUncommitted(addWith(uris(12)), addWith(uris(12, 12)));
  assert.deepEqual(fieldsOf(late), ['redirect_uris']);
});

test('when two games give an application the same name at the same time, one gets it', async () => {
  const addAs = async (name: string) => {
    const game = await api.aGame();
    const admin = await api.as(game.owner);
    return () => admin.call(addOauthClient, { params: { game_id: game.id }, body: signIn(name) });
  };
  const late = await whileUncommitted(await addAs('Altocumulus'), await addAs('Аltocumulus'));
  assert.deepEqual(fieldsOf(late), ['name']);
});

test('a client cannot be added to a game that is being deleted', async () => {
  const game = await api.aGame({ accepted: false });
  const params = { game_id: game.id };
  const owner = await api.as(game.owner);
  const late = await whileUncommitted(
    () => owner.call(deleteGameOperation, { params }),
    () => owner.call(addOauthClient, { params, body: signIn(api.unique('Cirrus')) }),
  );
  assertRefused(late, 404, 14006);
});
