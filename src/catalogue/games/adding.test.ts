import assert from 'node:assert/strict';
import { test } from 'node:test';
import sharp from 'sharp';
import { type Answer, assertRefused, type Client, type ErrorAnswer, startApi, type User } from '../../../test/api.ts';
import {
  acceptAgreement,
  addAgreementVersion,
  editAgreementVersion,
  getCurrentAgreement,
} from '../../people/agreements/operations.ts';
import { deleteModOperation } from '../mods/operations.ts';
import { deleteGameOperation, editGameOperation, getGame, getGameStats, getGames, getUserGames } from './operations.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' }, writesRows: true });
const admin = await api.as(await api.aUser({ admin: true }));
const stranger = await api.as(await api.aUser());
const LOGO = await sharp({ create: { width: 640, height: 360, channels: 3, background: '#335577' } })
  .png()
  .toBuffer();

interface AddedGame {
  id: number;
  status: number;
  name: string;
  name_id: string;
  summary: string;
  api_key: string;
  ugc_name: string;
  submitted_by: { id: number };
  logo: { original: string };
  platforms: { platform: string; label: string }[];
}

function add(
  client: Client,
  fields: Record<string, string> = {},
  { logo = LOGO, headers = {} }: { logo?: Buffer | null; headers?: Record<string, string> } = {},
): Promise<Answer<AddedGame>> {
  const parts: Buffer[] = Object.entries({ name: api.unique('New Game'), summary: 'New', ...fields }).map(
    ([name, value]) => Buffer.from(`--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`),
  );
  const head = '--b\r\nContent-Disposition: form-data; name="logo"; filename="a.png"\r\n\r\n';
  if (logo) parts.push(Buffer.from(head), logo, Buffer.from('\r\n'));
  return api.request('POST', '/v1/games', {
    headers: {
      'content-type': 'multipart/form-data; boundary=b',
      authorization: `Bearer ${client.token}`,
      ...headers,
    },
    body: Buffer.concat([...parts, Buffer.from('--b--\r\n')]),
  }) as Promise<Answer<AddedGame>>;
}

async function agree(client: Client): Promise<void> {
  const { body } = await client.call(getCurrentAgreement, { params: { agreement_type_id: 3 } });
  const answer = await client.call(acceptAgreement, { body: { agreement_version_id: body.id } });
  assert.equal(answer.status, 201, answer.text);
}

/** A user who has accepted the agreement for games. */
async function aStudio(): Promise<{ user: User; client: Client }> {
  const user = await api.aUser();
  const client = await api.as(user);
  await agree(client);
  return { user, client };
}

const at = ({ id }: { id: number }) => ({ game_id: id });

test('a user who has accepted the agreement for games adds a game, and its key works', async () => {
  const { user, client } = await aStudio();
  const answer = await add(client, { name: 'Sky Smith', ugc_name: 'ships', 'platforms[0][platform]': 'ps5' });
  assert.equal(answer.status, 201, answer.text);
  const { body } = answer;
  assert.match(String(answer.headers.location), new RegExp(`/games/${body.id}$`));
  assert.deepEqual(
    [body.status, body.name, body.name_id, body.ugc_name, body.submitted_by.id],
    [0, 'Sky Smith', 'sky-smith', 'ships', user.id],
  );
  assert.doesNotMatch(body.logo.original, /placeholder/);
  assert.deepEqual([body.platforms[0]?.platform, body.platforms[0]?.label], ['ps5', 'PlayStation 5']);
  assert.equal((await api.withKey(body).call(getGame, { params: at(body) })).body.name, 'Sky Smith');
});

test('a user cannot add a game without accepting the agreement in force, nor after it has changed', async () => {
  assertRefused(await add(stranger), 403, 14035);
  const { client } = await aStudio();
  assert.equal((await add(client)).status, 201);
  const body = { type: 3, name: 'Game Terms', description: 'New terms' };
  const { id } = (await admin.call(addAgreementVersion, { body })).body;
  assert.equal((await add(client)).status, 201);
  await admin.call(editAgreementVersion, { params: { agreement_version_id: id }, body: { is_active: true } });
  assertRefused(await add(client), 403, 14035);
  await agree(client);
  assert.equal((await add(client)).status, 201);
});

test('a game goes live only after its leader has accepted the agreement in force', async () => {
  const { client } = await aStudio();
  const { body: game } = await add(client);
  const body = { type: 3, name: 'Game Terms', description: 'Newer terms' };
  const { id } = (await admin.call(addAgreementVersion, { body })).body;
  await admin.call(editAgreementVersion, { params: { agreement_version_id: id }, body: { is_active: true } });
  const live = { params: at(game), body: { status: 1 } };
  await admin.refused(editGameOperation, live, 403, 14016);
  await agree(client);
  assert.equal((await admin.call(editGameOperation, live)).status, 200);
});

test('a game needs a name, a summary and a logo', async () => {
  const { client } = await aStudio();
  const answer = (await add(
    client,
    { name: '', summary: '' },
    { logo: null },
  )) as Answer<unknown> as Answer<ErrorAnswer>;
  assertRefused(answer, 422, 13009);
  assert.deepEqual(Object.keys(answer.body.error.errors ?? {}).sort(), ['logo', 'name', 'summary']);
});

test('a new game ignores fields that only the site staff set', async () => {
  const { client } = await aStudio();
  const { body } = await add(client, { status: '1', service_features: '7', submitted_by: '1' });
  assert.equal(body.status, 0);
  assertRefused(await add(client, { community_options: '32' }), 403, 14003);
  assertRefused(await add(client, { community_options: '8' }), 403, 14002);
  const locked = { 'platforms[0][platform]': 'windows', 'platforms[0][locked]': 'true' };
  assertRefused(await add(client, locked), 400, 14046);
});

test('a new game needs English texts first, and stores translations next to them', async () => {
  const { client } = await aStudio();
  const refused = await add(client, { name: 'Luftschmied' }, { headers: { 'content-language': 'de' } });
  assertRefused(refused, 422, 13009);
  assert.deepEqual(Object.keys((refused.body as unknown as ErrorAnswer).error.errors!), ['name', 'summary']);
  const { body } = await add(client, { name: 'Sky Smith' }, { headers: { 'content-language': 'ar' } });
  const headers = { 'content-language': 'de' };
  await client.call(editGameOperation, { params: at(body), body: { name: 'Luftschmied' }, headers });
  const named = async (language: string) =>
    (await client.call(getGame, { params: at(body), headers: { 'accept-language': language } })).body.name;
  assert.deepEqual([await named('de'), await named('en')], ['Luftschmied', 'Sky Smith']);
});

test('sixteen concurrent submissions of the same name each get a name_id of their own', async () => {
  const { client } = await aStudio();
  const answers = await Promise.all(
    Array.from({ length: 16 }, (_, n) => add(client, { name: 'Twins', summary: `Number ${n}` })),
  );
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]));
  assert.equal(new Set(answers.map(({ body }) => body.name_id)).size, 16);
});

test('only its own key and team see a new game until a member of the site staff accepts it', async () => {
  const { user, client } = await aStudio();
  const { body: game } = await add(client);
  const mate = await api.aUser();
  await api.joins(mate, game, 1);
  const insiders = [api.withKey(game), client, await api.as(mate), admin];
  const outsiders = [api.withKey(await api.aGame()), api.withKey(user), stranger];
  const sees = async (each: Client) => {
    const { body } = await each.call(getGames, { query: { id: game.id } });
    return [(await each.call(getGame, { params: at(game) })).status, body.result_total, body.data.length];
  };
  for (const each of insiders) assert.deepEqual(await sees(each), [200, 1, 1]);
  for (const each of outsiders) {
    assert.deepEqual(await sees(each), [404, 0, 0]);
    await each.refused(getGame, { params: at(game) }, 404, 14001);
    await each.refused(getGameStats, { params: at(game) }, 404, 14001);
  }
  await client.refused(editGameOperation, { params: at(game), body: { status: 1 } }, 403, 14003);
  assert.equal(
    (await admin.call(editGameOperation, { params: at(game), body: { status: 1 } })).body.date_live,
    api.clock.now(),
  );
  for (const each of [...insiders, ...outsiders]) assert.deepEqual(await sees(each), [200, 1, 1]);
});

test('only administrators delete a game that is not accepted', async () => {
  const { client } = await aStudio();
  const { body: game } = await add(client);
  const manager = await api.aUser();
  await api.joins(manager, game, 4);
  await (await api.as(manager)).refused(deleteGameOperation, { params: at(game) }, 403, 14005);
  await stranger.refused(deleteGameOperation, { params: at(game) }, 404, 14001);
  assert.equal((await client.call(deleteGameOperation, { params: at(game) })).status, 204);
  await client.refused(deleteGameOperation, { params: at(game) }, 404, 14006);
});

test('only the site staff delete an accepted game', async () => {
  const game = await api.aGame();
  const owner = await api.as(game.owner);
  await stranger.refused(deleteGameOperation, { params: at(game) }, 403, 14005);
  await owner.refused(deleteGameOperation, { params: at(game) }, 403, 14004);
  assert.equal((await admin.call(deleteGameOperation, { params: at(game) })).status, 204);
});

test('a game that has mods cannot be deleted', async () => {
  const game = await api.aGame({ accepted: false });
  const owner = await api.as(game.owner);
  const mod = await api.aMod({ game, accepted: false });
  for (const client of [owner, admin]) await client.refused(deleteGameOperation, { params: at(game) }, 403, 14018);
  const params = { game_id: game.id, mod_id: mod.id };
  assert.equal((await owner.call(deleteModOperation, { params })).status, 204);
  assert.equal((await owner.call(deleteGameOperation, { params: at(game) })).status, 204);
});

test('a game that sells mods cannot be deleted, and the error names the reason', async () => {
  const game = await api.aGame({ accepted: false });
  const owner = await api.as(game.owner);
  const mod = await api.aMod({ game, accepted: false });
  const { db } = api.app();
  const set = (changes: { price?: number; status?: number; monetization_options?: number }) =>
    db.write(
      async ({ query }) => void (await query.updateTable('mods').set(changes).where('id', '=', mod.id).execute()),
    );
  await set({ price: 100 });
  await owner.refused(deleteGameOperation, { params: at(game) }, 403, 14017);
  await set({ price: 0, monetization_options: 1 });
  await owner.refused(deleteGameOperation, { params: at(game) }, 403, 14017);
  await set({ status: 3 });
  assert.equal((await owner.call(deleteGameOperation, { params: at(game) })).status, 204);
});

test('a deleted game disappears at once from lists, totals and cached responses', async () => {
  const game = await api.aGame();
  const mate = await api.aUser();
  await api.joins(mate, game, 8);
  const clients = [api.withKey(game), await api.as(game.owner), await api.as(mate), stranger, admin];
  for (const client of clients) {
    assert.equal((await client.call(getGame, { params: at(game) })).status, 200);
    assert.equal((await client.call(getGames, { query: { id: game.id } })).body.result_total, 1);
  }
  await admin.call(deleteGameOperation, { params: at(game) });
  for (const client of clients) {
    await client.refused(getGame, { params: at(game) }, 404, 14006);
    await client.refused(getGameStats, { params: at(game) }, 404, 14006);
    await client.refused(getGame, { params: at(game), query: { show_hidden_tags: true } }, 404, 14006);
    for (const query of [{ id: game.id }, { id: game.id, status: 3 }, { 'id-in': String(game.id), 'status-not': 1 }]) {
      const { body } = await client.call(getGames, { query });
      assert.deepEqual([body.data.length, body.result_total], [0, 0]);
    }
  }
  const own = await (await api.as(game.owner)).call(getUserGames, { query: { id: game.id } });
  assert.deepEqual([own.body.data.length, own.body.result_total], [0, 0]);
});

test('only callers who could see a game learn that it was deleted', async () => {
  const game = await api.aGame({ accepted: false });
  const owner = await api.as(game.owner);
  await owner.call(deleteGameOperation, { params: at(game) });
  for (const client of [stranger, api.withKey(await api.aGame())])
    await client.refused(getGame, { params: at(game) }, 404, 14001);
  for (const client of [owner, admin, api.withKey(game)])
    await client.refused(getGame, { params: at(game) }, 404, 14006);
});

test('a game that gets a mod during its deletion either stays or has no mods', async () => {
  const game = await api.aGame({ accepted: false });
  const owner = await api.as(game.owner);
  const addMod = () =>
    api.request('POST', `/v1/games/${game.id}/mods`, {
      headers: { 'content-type': 'multipart/form-data; boundary=b', authorization: `Bearer ${owner.token}` },
      body: Buffer.concat([
        Buffer.from('--b\r\nContent-Disposition: form-data; name="name"\r\n\r\nShip\r\n'),
        Buffer.from('--b\r\nContent-Disposition: form-data; name="summary"\r\n\r\nFlies\r\n'),
        Buffer.from('--b\r\nContent-Disposition: form-data; name="logo"; filename="a.png"\r\n\r\n'),
        LOGO,
        Buffer.from('\r\n--b--\r\n'),
      ]),
    });
  const [removed, ...added] = await Promise.all([
    owner.call(deleteGameOperation, { params: at(game) }),
    ...Array.from({ length: 7 }, addMod),
  ]);
  const taken = added.filter(({ status }) => status === 201).length;
  const refused = added.filter(({ status, body }) => status !== 201 && (body as ErrorAnswer).error.error_ref === 14006);
  if (removed.status === 204) assert.deepEqual([taken, refused.length], [0, 7]);
  else {
    assertRefused(removed, 403, 14018);
    assert.equal(taken, 7);
  }
});
