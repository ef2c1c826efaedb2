import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, type Game, startApi } from '../../../test/api.ts';
import { getModEvents } from '../events/operations.ts';
import { editModByPut, getMod, getMods } from '../mods/operations.ts';
import { getModStats } from '../stats/operations.ts';
import { getModTeamMembers } from '../teams/operations.ts';
import { editGameOperation, getGame, getGameStats, getGames, getGameTagOptions } from './operations.ts';

const api = await startApi();
const admin = await api.as(await api.aUser({ admin: true }));

type Fields = Record<string, string | number | boolean | undefined>;

const at = ({ id }: { id: number }) => ({ game_id: id });
const edit = (client: Client, game: Game, body: Fields) => client.call(editGameOperation, { params: at(game), body });

async function aMember(game: Game, level: number): Promise<Client> {
  const user = await api.aUser();
  await api.joins(user, game, level);
  return api.as(user);
}

/** Every setting that managers may change, with a value other than the default. */
const SETTINGS = {
  name: 'Renamed',
  summary: 'New words',
  instructions: 'Zip it',
  instructions_url: 'https://example.org/how',
  ugc_name: 'ships',
  token_name: 'bolts',
  presentation_option: 1,
  submission_option: 0,
  dependency_option: 1,
  curation_option: 2,
  profanity_option: 3,
  community_options: 1 | 256 | 2048,
  api_access_options: 1 | 2 | 4,
  maturity_options: 2,
  limit_collection_mods: 50,
};

test('managers change every setting that is not about money, status or the site', async () => {
  const game = await api.aGame();
  const manager = await aMember(game, 4);
  const { status, body } = await edit(manager, game, { ...SETTINGS, name_id: 'renamed-one' });
  assert.equal(status, 200);
  const shown = (await api.withKey(game).call(getGame, { params: at(game) })).body as Record<string, unknown>;
  for (const [name, value] of Object.entries({ ...SETTINGS, name_id: 'renamed-one' }))
    assert.deepEqual([name, shown[name]], [name, value]);
  assert.equal(body.profile_url, 'https://localhost/g/renamed-one');
});

test('a game’s name_id cannot be a name of the service, its staff or its hosts', async () => {
  const game = await api.aGame();
  const owner = await api.as(game.owner);
  for (const name_id of ['modstead', 'admin', 'oauth', 'modstead-official']) {
    const { status, body } = await edit(owner, game, { name_id });
    const { errors } = (body as unknown as { error: { errors: object } }).error;
    assert.deepEqual([status, Object.keys(errors)], [422, ['name_id']]);
  }
  assert.equal((await api.aGame({ name: 'Modstead' })).name_id, 'modstead-2');
  assert.equal((await api.aGame({ name: 'System Shock' })).name_id, 'system-shock');
});

test('theme and addresses are set partially, and an address can be removed', async () => {
  const game = await api.aGame();
  const owner = await api.as(game.owner);
  const primary = (await edit(owner, game, { 'theme[primary]': '#123456' })).body.theme;
  const both = (await edit(owner, game, { 'theme[dark]': '#654321' })).body.theme;
  assert.deepEqual(both, { ...primary, primary: '#123456', dark: '#654321' });
  const urls = { 'other_urls[0][label]': 'Wiki', 'other_urls[0][url]': 'https://example.org/wiki' };
  assert.deepEqual((await edit(owner, game, urls)).body.other_urls, [
    { label: 'Wiki', url: 'https://example.org/wiki' },
  ]);
  await edit(owner, game, { instructions_url: 'https://example.org/how' });
  const cleared = (await edit(owner, game, { instructions_url: '', 'other_urls[]': '' })).body;
  assert.deepEqual([cleared.instructions_url, cleared.other_urls], [null, []]);
});

test('the error names every invalid value', async () => {
  const game = await api.aGame();
  const owner = await api.as(game.owner);
  const body = {
    'theme[primary]': 'red',
    maturity_options: 3,
    api_access_options: 16,
    monetization_options: 32,
    cloud_cooking_status: 7,
    instructions_url: 'javascript:alert(1)',
    'platforms[0][platform]': 'amiga',
  };
  const answer = await owner.refused(editGameOperation, { params: at(game), body }, 422, 13009);
  assert.equal(Object.keys(answer.body.error.errors ?? {}).length, 7);
});

test('moderators and users outside the team change nothing', async () => {
  const game = await api.aGame();
  for (const client of [await aMember(game, 1), await api.as(await api.aUser())])
    await client.refused(editGameOperation, { params: at(game), body: { summary: 'Mine' } }, 403, 14002);
});

test('only administrators change settings about money, and a manager may send them back unchanged', async () => {
  const game = await api.aGame();
  const [manager, administrator] = [await aMember(game, 4), await aMember(game, 8)];
  for (const body of [{ monetization_options: 2 }, { revenue_options: 1 }, { max_stock: 5 }]) {
    await manager.refused(editGameOperation, { params: at(game), body }, 403, 14039);
    assert.equal((await edit(administrator, game, body)).status, 200);
    assert.equal((await edit(manager, game, { ...body, summary: 'Same' })).status, 200);
  }
});

test('selling and unrestricted dependencies exclude each other', async () => {
  const game = await api.aGame();
  const owner = await api.as(game.owner);
  await owner.refused(editGameOperation, { params: at(game), body: { monetization_options: 1 } }, 422, 13009);
  assert.equal((await edit(owner, game, { monetization_options: 1, dependency_option: 0 })).status, 200);
  await owner.refused(editGameOperation, { params: at(game), body: { dependency_option: 3 } }, 422, 13009);
});

test('only the site staff change settings about the site', async () => {
  const game = await api.aGame();
  const owner = await api.as(game.owner);
  const { community_options } = (await owner.call(getGame, { params: at(game) })).body;
  for (const body of [
    { service_features: 1 },
    { cloud_cooking_status: 4 },
    { community_options: community_options | 4 },
    { community_options: community_options | 8 | 16 },
  ]) {
    await owner.refused(editGameOperation, { params: at(game), body }, 403, 14002);
    assert.equal((await edit(admin, game, body)).status, 200);
  }
});

test('the site staff change the status, and so do administrators whom they permit it', async () => {
  const game = await api.aGame();
  const owner = await api.as(game.owner);
  const { community_options } = (await owner.call(getGame, { params: at(game) })).body;
  const allowed = community_options | 32;
  await owner.refused(editGameOperation, { params: at(game), body: { status: 0 } }, 403, 14003);
  const sneaky = { status: 0, community_options: allowed };
  await owner.refused(editGameOperation, { params: at(game), body: sneaky }, 403, 14003);
  await owner.refused(editGameOperation, { params: at(game), body: { community_options: allowed } }, 403, 14003);
  assert.equal((await edit(owner, game, { status: 1, summary: 'Whole' })).status, 200);
  await edit(admin, game, { community_options: allowed });
  const manager = await aMember(game, 4);
  await manager.refused(editGameOperation, { params: at(game), body: { status: 0 } }, 403, 14003);
  assert.equal((await edit(owner, game, { status: 0 })).body.status, 0);
});

const platforms = (...rows: [platform: string, more?: Fields][]): Fields =>
  Object.fromEntries(
    rows.flatMap(([platform, more = {}], index) =>
      Object.entries({ platform, ...more }).map(([name, value]) => [`platforms[${index}][${name}]`, value]),
    ),
  );

test('platforms have their own names by default, with moderation and lock', async () => {
  const game = await api.aGame();
  const owner = await api.as(game.owner);
  const body = platforms(['windows'], ['ps5', { moderated: true, locked: true }], ['linux', { label: 'Steam Deck' }]);
  assert.deepEqual((await edit(owner, game, body)).body.platforms, [
    { platform: 'linux', label: 'Steam Deck', moderated: false, locked: false },
    { platform: 'ps5', label: 'PlayStation 5', moderated: true, locked: true },
    { platform: 'windows', label: 'Windows', moderated: false, locked: false },
  ]);
  assert.deepEqual((await edit(owner, game, { 'platforms[]': '' })).body.platforms, []);
});

test('at least one platform stays unlocked, and each is named once', async () => {
  const game = await api.aGame();
  const owner = await api.as(game.owner);
  const locked = platforms(['windows', { locked: true }], ['ps5', { locked: true }]);
  await owner.refused(editGameOperation, { params: at(game), body: locked }, 400, 14046);
  await owner.refused(editGameOperation, { params: at(game), body: platforms(['mac'], ['mac']) }, 422, 13009);
  assert.deepEqual((await owner.call(getGame, { params: at(game) })).body.platforms, []);
});

test('sixteen concurrent edits of one game’s settings lose no change', async () => {
  const game = await api.aGame();
  const clients = await Promise.all(Array.from({ length: 16 }, () => aMember(game, 8)));
  const colours = ['primary', 'dark', 'light', 'success', 'warning', 'danger'];
  const { name: _, ...others } = SETTINGS;
  const changes: Fields[] = [
    ...colours.map((name, index) => ({ [`theme[${name}]`]: `#00000${index}` })),
    ...Object.entries(others).map(([name, value]) => ({ [name]: value })),
  ].slice(0, 16);
  const answers = await Promise.all(changes.map((body, index) => edit(clients[index]!, game, body)));
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  const { body } = await api.withKey(game).call(getGame, { params: at(game) });
  assert.deepEqual(
    colours.map((name) => (body.theme as Record<string, string>)[name]),
    colours.map((_, index) => `#00000${index}`),
  );
  for (const change of changes.slice(colours.length))
    for (const [name, value] of Object.entries(change))
      assert.deepEqual([name, (body as Record<string, unknown>)[name]], [name, value]);
});

test('a game that is closed to third parties responds only to its own key, its players and its team', async () => {
  const [game, other] = [await api.aGame(), await api.aGame()];
  const mod = await api.aMod({ game });
  const player = await api.aUser();
  const insiders = [api.withKey(game), await api.as(player, { gameId: game.id }), await api.as(game.owner), admin];
  const outsiders = [
    api.withKey(other),
    api.withKey(player),
    await api.as(player, { gameId: other.id }),
    await api.as(player),
    await api.as(mod.owner),
    await api.as(other.owner),
  ];
  const params = { game_id: game.id, mod_id: mod.id };
  const content = [getMods, getMod, getModEvents, getModStats, getModTeamMembers, getGameStats, getGameTagOptions];
  const everyone = [...insiders, ...outsiders];
  for (const client of everyone)
    for (const operation of content) assert.equal((await client.call(operation, { params })).status, 200);
  await edit(await api.as(game.owner), game, { api_access_options: 2 });
  for (const client of insiders)
    for (const operation of content) assert.equal((await client.call(operation, { params })).status, 200);
  for (const client of outsiders)
    for (const operation of content) await client.refused(operation, { params }, 403, 14007);
  await outsiders[4]!.refused(editModByPut, { params, body: { summary: 'Third' } }, 403, 14007);
  for (const client of everyone) {
    assert.equal((await client.call(getGame, { params })).status, 200);
    assert.equal((await client.call(getGames, { query: { id: game.id } })).body.result_total, 1);
  }
  await edit(await api.as(game.owner), game, { api_access_options: 3 });
  for (const client of outsiders) assert.equal((await client.call(getMods, { params })).status, 200);
});

test('third parties do not find a closed game that is not accepted, as if it were open', async () => {
  const game = await api.aGame({ accepted: false, settings: { api_access_options: 0 } });
  await (await api.as(await api.aUser())).refused(getMods, { params: at(game) }, 404, 14001);
});
