import assert from 'node:assert/strict';
import { test } from 'node:test';
import sharp from 'sharp';
import { startApi } from '../../../test/api.ts';
import { getMod, getModsOfUser } from '../../catalogue/mods/operations.ts';
import { downloadModfile } from '../../files/downloads/operations.ts';
import {
  addAvatar,
  deleteAvatar,
  editAuthenticatedUser,
  findUsers,
  getAccount,
  getAuthenticatedUser,
  getUser,
} from './operations.ts';

const api = await startApi();
const game = await api.aGame();
const key = api.withKey(game);

test('a user changes their name and name_id, and cached mods show it', async () => {
  const ada = await api.aUser({ username: 'Ada' });
  const mod = await api.aMod({ game, owner: ada });
  const shown = { params: { game_id: game.id, mod_id: mod.id } };
  const author = async () =>
    ((await key.call(getMod, shown)).body as { submitted_by: { username: string } }).submitted_by;
  assert.equal((await author()).username, 'Ada');
  const body = { username: 'Ada Byron', name_id: 'ada-l', language: 'de', timezone: 'Europe/Berlin', country: 'DE' };
  const edited = await (await api.as(ada)).call(editAuthenticatedUser, { body });
  assert.equal(edited.status, 200, edited.text);
  const { username, name_id, language, timezone, country, profile_url } = edited.body;
  assert.deepEqual({ username, name_id, language, timezone, country }, body);
  assert.equal(profile_url, 'https://localhost/u/ada-l');
  assert.equal((await author()).username, 'Ada Byron');
  const row = await api
    .app()
    .db.query.selectFrom('users')
    .select('username_folded')
    .where('id', '=', ada.id)
    .executeTakeFirstOrThrow();
  assert.equal(row.username_folded, 'ada byron');
});

test('a name_id belongs to one user, and the error names invalid fields', async () => {
  const [ada, bob] = [await api.aUser(), await api.as(await api.aUser())];
  const taken = await bob.refused(editAuthenticatedUser, { body: { name_id: ada.name_id } }, 422, 13009);
  assert.deepEqual(Object.keys(taken.body.error.errors!), ['name_id']);
  const wrong = {
    username: 'x',
    name_id: 'No Such',
    language: 'tlh',
    timezone: 'Mars/Olympus',
    birth_date: '2001-02-30',
  };
  const refused = await bob.refused(editAuthenticatedUser, { body: { ...wrong, privacy_options: 4 } }, 422, 13009);
  assert.deepEqual(Object.keys(refused.body.error.errors!).sort(), [...Object.keys(wrong), 'privacy_options'].sort());
  const names = await Promise.all(
    (await Promise.all(Array.from({ length: 8 }, () => api.aUser()))).map(async (each) =>
      (await api.as(each)).call(editAuthenticatedUser, { body: { name_id: 'wanted-by-all' } }),
    ),
  );
  assert.deepEqual(names.map(({ status }) => status).sort(), [200, ...Array(7).fill(422)]);
});

test('a username cannot be a name of the service, its staff, its hosts or an ended account', async () => {
  const bob = await api.as(await api.aUser());
  for (const name_id of ['modstead', 'm0dstead', 'the-admin', 'api', 'deleted-7', 'merged-7']) {
    const { body } = await bob.refused(editAuthenticatedUser, { body: { name_id } }, 422, 13009);
    assert.deepEqual(Object.keys(body.error.errors!), ['name_id'], name_id);
  }
  const both = { username: 'Modstead Staff', name_id: 'modstead-staff' };
  const { body } = await bob.refused(editAuthenticatedUser, { body: both }, 422, 13009);
  assert.deepEqual(Object.keys(body.error.errors!).sort(), ['name_id', 'username']);
});

test('a username cannot imitate another one with look-alike letters, while equal names are allowed', async () => {
  const grace = await api.aUser({ username: 'Grace Hopper' });
  const bob = await api.as(await api.aUser());
  // Cyrillic letters, a zero, full width, and an accent.
  for (const username of ['Gr\u0430ce Hopper', 'Grace H0pper', '\uff27race Hopper', 'Gr\u00e2ce-Hopper']) {
    const { body } = await bob.refused(editAuthenticatedUser, { body: { username } }, 422, 13009);
    assert.deepEqual(Object.keys(body.error.errors!), ['username'], username);
  }
  for (const username of ['grace hopper', 'Grace Hopper'])
    assert.equal((await bob.call(editAuthenticatedUser, { body: { username } })).body.username, username);
  const own = await (await api.as(grace)).call(editAuthenticatedUser, { body: { username: 'GraceHopper' } });
  assert.equal(own.status, 200, own.text);
});

test('of concurrent users who take look-alike names, one succeeds', async () => {
  const spellings = ['Countess', 'C\u043euntess', 'C0untess', 'Count\u0435ss', 'Countes\u0455', 'C\u043eunt\u0435ss'];
  const people = await Promise.all(spellings.map(async () => api.as(await api.aUser())));
  const answers = await Promise.all(
    people.map((person, index) => person.call(editAuthenticatedUser, { body: { username: spellings[index]! } })),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 422, 422, 422, 422, 422]);
});

test('a user can hide their profile and the time of their last visit', async () => {
  const ada = await api.aUser();
  const client = await api.as(ada);
  const params = { user_id: ada.id };
  assert.equal((await key.call(getUser, { params })).status, 200);
  await client.call(editAuthenticatedUser, { body: { privacy_options: 3 } });
  await key.refused(getUser, { params }, 403, 17042);
  const own = await client.call(getUser, { params });
  assert.deepEqual([own.status, own.body.date_online], [200, 0]);
  await key.refused(getUser, { params }, 403, 17042);
  await client.call(editAuthenticatedUser, { body: { privacy_options: 0 } });
  assert.equal((await key.call(getUser, { params })).status, 200);
});

test('a user adds and removes an avatar', async () => {
  const ada = await api.aUser();
  const client = await api.as(ada);
  const bytes = await sharp({ create: { width: 120, height: 120, channels: 3, background: '#369' } })
    .png()
    .toBuffer();
  const answer = await client.call(addAvatar, { files: { avatar: { filename: 'me.png', bytes } } });
  assert.equal(answer.status, 200, answer.text);
  const { avatar } = (await client.call(getAuthenticatedUser)).body;
  for (const url of [avatar.original, avatar.thumb_50x50, avatar.thumb_100x100])
    assert.equal((await api.request('GET', new URL(url).pathname)).status, 200, url);
  const text = { avatar: { filename: 'me.png', bytes: Buffer.from('no picture') } };
  assert.equal((await client.call(addAvatar, { files: text })).status, 422);
  assert.equal((await client.call(deleteAvatar)).status, 204);
  assert.match((await client.call(getAuthenticatedUser)).body.avatar.original, /placeholder/);
});

test('a user is found by name with the public mods of all public games, unless the profile is private', async () => {
  const ada = await api.aUser();
  const closed = await api.aGame({ accepted: false });
  const shown = [await api.aMod({ game, owner: ada }), await api.aMod({ owner: ada })];
  await api.aMod({ game, owner: ada, accepted: false });
  await api.aMod({ game: closed, owner: ada });
  const found = async () =>
    (await key.call(findUsers, { query: { name_id: ada.name_id } })).body.data.map(({ id }) => id);
  const mods = { params: { user_id: ada.id } };
  assert.deepEqual(await found(), [ada.id]);
  const listed = (await key.call(getModsOfUser, mods)).body as unknown as {
    data: { id: number }[];
    result_total: number;
  };
  assert.deepEqual(listed.data.map(({ id }) => id).toSorted(), shown.map(({ id }) => id).toSorted());
  assert.equal(listed.result_total, shown.length);
  await (await api.as(ada)).call(editAuthenticatedUser, { body: { privacy_options: 2 } });
  assert.deepEqual(await found(), []);
  assert.equal((await key.call(getModsOfUser, mods)).status, 403);
  assert.equal((await key.call(findUsers, { query: { name_id: '' } })).status, 422);
});

test('mature content is visible to adults who want it, and to the teams that made it', async () => {
  const mod = await api.aMod({ game, maturity_option: 8 });
  const file = await api.aFile(mod);
  const params = { game_id: game.id, mod_id: mod.id, file_id: file.id };
  const young = await api.as(await api.aUser());
  await young.refused(downloadModfile, { params }, 403, 40009);
  await young.refused(editAuthenticatedUser, { body: { mature_content: true } }, 403, 40009);
  const bornIn = (years: number) =>
    new Date((api.clock.now() - years * 365.25 * 86_400) * 1000).toISOString().slice(0, 10);
  await young.refused(editAuthenticatedUser, { body: { mature_content: true, birth_date: bornIn(17) } }, 403, 40009);
  await young.call(editAuthenticatedUser, { body: { birth_date: bornIn(17) } });
  await young.refused(editAuthenticatedUser, { body: { mature_content: true, birth_date: bornIn(30) } }, 422, 13009);
  const adult = await api.as(await api.aUser());
  await adult.refused(downloadModfile, { params }, 403, 40009);
  const body = { mature_content: true, birth_date: bornIn(19) };
  assert.equal((await adult.call(editAuthenticatedUser, { body })).status, 200);
  assert.equal((await adult.call(getAccount)).body.mature_content, true);
  assert.equal((await adult.call(downloadModfile, { params })).status, 200);
  assert.equal((await (await api.as(mod.owner)).call(downloadModfile, { params })).status, 200);
  assert.equal((await key.call(downloadModfile, { params })).status, 200);
});
