import assert from 'node:assert/strict';
import { test } from 'node:test';
import sharp from 'sharp';
import { type Answer, type Client, type Game, type Mod, startApi } from '../../../test/api.ts';
import { getGameTagOptions } from '../games/operations.ts';
import { deleteModOperation, editModByPut, getMod, getMods } from '../mods/operations.ts';
import { addModTags, deleteModTags, getModTags } from './operations.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });

const GROUPS = [
  { name: 'Style', type: 'checkboxes' as const, tags: ['Dark', 'Bright', 'Über'] },
  { name: 'Size', type: 'dropdown' as const, tags: ['Small', 'Large'] },
  { name: 'Version', type: 'checkboxes' as const, tags: ['1.0', '2.0'], hidden: true },
  { name: 'Awards', type: 'checkboxes' as const, tags: ['Featured'], locked: true },
];

const pathOf = (mod: Mod) => ({ game_id: mod.game_id, mod_id: mod.id });

async function put(client: Client, mod: Mod, ...tags: string[]): Promise<void> {
  const answer = await client.call(addModTags, { params: pathOf(mod), body: { tags } });
  assert.equal(answer.status, 201, answer.text);
}

async function take(client: Client, mod: Mod, ...tags: string[]): Promise<void> {
  const answer = await client.call(deleteModTags, { params: pathOf(mod), body: { tags } });
  assert.equal(answer.status, 204, answer.text);
}

async function tagsOf(game: Game, mod: Mod, hidden = false): Promise<string[]> {
  const query = { show_hidden_tags: hidden };
  const answer = await api.withKey(game).call(getModTags, { params: pathOf(mod), query });
  return answer.body.data.map(({ name }) => name);
}

async function countsOf(game: Game): Promise<Record<string, number>> {
  const query = { show_hidden_tags: true };
  const answer = await api.withKey(game).call(getGameTagOptions, { params: { game_id: game.id }, query });
  return Object.assign({}, ...answer.body.data.map((group) => group.tag_count_map));
}

test('tags of the game are added to a mod and removed from it, regardless of case', async () => {
  const game = await api.aGame({ tagGroups: GROUPS });
  const mod = await api.aMod({ game });
  const owner = await api.as(mod.owner);
  await put(owner, mod, 'dark', 'ÜBER', 'dark');
  assert.deepEqual(await tagsOf(game, mod), ['Dark', 'Über']);
  const shown = (await api.withKey(game).call(getMod, { params: pathOf(mod) })).body;
  assert.deepEqual(shown.tags[0], { name: 'Dark', name_localized: 'Dark', date_added: api.clock.now() });
  await take(owner, mod, 'DARK', 'Bright');
  assert.deepEqual(await tagsOf(game, mod), ['Über']);
});

test('an empty list clears the tags of a mod, except locked ones', async () => {
  const game = await api.aGame({ tagGroups: GROUPS });
  const mod = await api.aMod({ game });
  await put(await api.as(game.owner), mod, 'Dark', 'Small', '1.0', 'Featured');
  await take(await api.as(mod.owner), mod, '');
  assert.deepEqual(await tagsOf(game, mod, true), ['Featured']);
  await take(await api.as(game.owner), mod, '');
  assert.deepEqual(await tagsOf(game, mod, true), []);
});

test('only the team of the mod and the team of its game tag it', async () => {
  const game = await api.aGame({ tagGroups: GROUPS });
  const mod = await api.aMod({ game });
  const [stranger, helper, moderator] = [await api.aUser(), await api.aUser(), await api.aUser()];
  await api.joinsMod(helper, mod, 1);
  await api.joins(moderator, game, 1);
  await put(await api.as(moderator), mod, 'Dark');
  for (const person of [stranger, helper]) {
    const client = await api.as(person);
    await client.refused(addModTags, { params: pathOf(mod), body: { tags: ['Bright'] } }, 403, 15037);
    await client.refused(deleteModTags, { params: pathOf(mod), body: { tags: ['Dark'] } }, 403, 15038);
  }
  assert.deepEqual(await tagsOf(game, mod), ['Dark']);
});

test('only the team of the game uses locked tags', async () => {
  const game = await api.aGame({ tagGroups: GROUPS });
  const mod = await api.aMod({ game });
  const owner = await api.as(mod.owner);
  const input = { params: pathOf(mod), body: { tags: ['Dark', 'Featured'] } };
  await owner.refused(addModTags, input, 403, 15037);
  await put(await api.as(game.owner), mod, 'Featured');
  await owner.refused(deleteModTags, input, 403, 15038);
  assert.deepEqual(await tagsOf(game, mod), ['Featured']);
});

test('a mod has one tag of a dropdown: a second replaces it, and two at once are refused', async () => {
  const game = await api.aGame({ tagGroups: GROUPS });
  const mod = await api.aMod({ game });
  const owner = await api.as(mod.owner);
  await put(owner, mod, 'Small', 'Dark');
  await put(owner, mod, 'Large');
  assert.deepEqual(await tagsOf(game, mod), ['Dark', 'Large']);
  const input = { params: pathOf(mod), body: { tags: ['Small', 'Large'] } };
  const answer = await owner.refused(addModTags, input, 422, 13009);
  assert.match(answer.body.error.errors!['tags']!, /Size/);
});

test('filters find hidden tags, and a list shows them only on request', async () => {
  const game = await api.aGame({ tagGroups: GROUPS });
  const mod = await api.aMod({ game });
  await put(await api.as(mod.owner), mod, 'Dark', '1.0');
  assert.deepEqual(await tagsOf(game, mod), ['Dark']);
  assert.deepEqual(await tagsOf(game, mod, true), ['Dark', '1.0']);
  const { data } = (await api.withKey(game).call(getMods, { params: pathOf(mod), query: { tags: '1.0' } })).body;
  assert.deepEqual(
    data.map(({ id, tags }) => [id, tags.map(({ name }) => name)]),
    [[mod.id, ['Dark']]],
  );
});

test('the error names a tag that the game does not offer', async () => {
  const game = await api.aGame({ tagGroups: GROUPS });
  const mod = await api.aMod({ game });
  const owner = await api.as(mod.owner);
  for (const operation of [addModTags, deleteModTags]) {
    const input = { params: pathOf(mod), body: { tags: ['Dark', 'Neon'] } };
    const answer = await owner.refused(operation, input, 422, 13009);
    assert.match(answer.body.error.errors!['tags']!, /Neon/);
  }
  assert.deepEqual(await tagsOf(game, mod), []);
});

test('a mod of a game without tags cannot be tagged', async () => {
  const mod = await api.aMod();
  const input = { params: pathOf(mod), body: { tags: ['Dark'] } };
  await (await api.as(mod.owner)).refused(addModTags, input, 400, 14011);
});

test('only callers who can see a mod list its tags', async () => {
  const game = await api.aGame({ tagGroups: GROUPS });
  const mod = await api.aMod({ game, visible: 0 });
  const stranger = await api.as(await api.aUser());
  const params = pathOf(mod);
  await stranger.refused(getModTags, { params }, 404, 15022);
  await stranger.refused(addModTags, { params, body: { tags: ['Dark'] } }, 404, 15022);
  await stranger.refused(deleteModTags, { params, body: { tags: ['Dark'] } }, 404, 15022);
  assert.equal((await (await api.as(mod.owner)).call(getModTags, { params })).status, 200);
});

test('only public mods are counted for a tag, however they become public or hidden', async () => {
  const game = await api.aGame({ tagGroups: GROUPS });
  const [shown, hidden] = [await api.aMod({ game }), await api.aMod({ game, visible: 0 })];
  const [owner, other] = [await api.as(shown.owner), await api.as(hidden.owner)];
  await put(owner, shown, 'Dark', 'Small', '1.0');
  await put(other, hidden, 'Dark', 'Small');
  const counts = async () => {
    const { Dark, Small, Large, '1.0': version } = await countsOf(game);
    return [Dark, Small, Large, version];
  };
  assert.deepEqual(await counts(), [1, 1, 0, 1]);
  await put(owner, shown, 'Large', 'Dark');
  assert.deepEqual(await counts(), [1, 0, 1, 1]);
  await other.call(editModByPut, { params: pathOf(hidden), body: { visible: 1 } });
  assert.deepEqual(await counts(), [2, 1, 1, 1]);
  await owner.call(editModByPut, { params: pathOf(shown), body: { visible: 0 } });
  assert.deepEqual(await counts(), [1, 1, 0, 0]);
  await take(other, hidden, 'Small');
  assert.deepEqual(await counts(), [1, 0, 0, 0]);
  await other.call(deleteModOperation, { params: pathOf(hidden) });
  assert.deepEqual(await counts(), [0, 0, 0, 0]);
});

test('an edit of a mod replaces the tags that it shows; hidden and locked ones stay', async () => {
  const game = await api.aGame({ tagGroups: GROUPS });
  const mod = await api.aMod({ game });
  const [owner, team] = [await api.as(mod.owner), await api.as(game.owner)];
  const edit = (tags: string[]) => ({ params: pathOf(mod), body: { tags } });
  await put(team, mod, 'Dark', 'Small', '1.0', 'Featured');
  const edited = await owner.call(editModByPut, edit(['Featured', 'bright', 'Large']));
  assert.deepEqual(
    edited.body.tags.map(({ name }) => name),
    ['Bright', 'Large', 'Featured'],
  );
  assert.deepEqual(await tagsOf(game, mod, true), ['Bright', 'Large', '1.0', 'Featured']);
  const { Dark, Bright, Small, Large } = await countsOf(game);
  assert.deepEqual([Dark, Bright, Small, Large], [0, 1, 0, 1]);
  await owner.call(editModByPut, edit(['']));
  assert.deepEqual(await tagsOf(game, mod), ['Featured']);
  await team.call(editModByPut, edit(['']));
  await owner.refused(editModByPut, edit(['Featured']), 403, 15037);
  await owner.refused(editModByPut, edit(['Neon']), 422, 13009);
  const other = await api.aMod();
  await (await api.as(other.owner)).refused(
    editModByPut,
    { params: pathOf(other), body: { tags: ['Dark'] } },
    400,
    14011,
  );
});

test('a mod can be submitted with its tags and metadata', async () => {
  const game = await api.aGame({ tagGroups: GROUPS });
  const { token } = await api.as(await api.aUser());
  const fields = [
    ['name', 'Airship'],
    ['summary', 'Flies'],
    ['tags[0]', 'dark'],
    ['tags[1]', 'Large'],
    ['metadata_kvp[]', 'speed:10:20'],
  ].map(([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`);
  const file = '--b\r\nContent-Disposition: form-data; name="logo"; filename="a.png"\r\n\r\n';
  const picture = { width: 512, height: 288, channels: 3 as const, background: '#335577' };
  const logo = await sharp({ create: picture }).png().toBuffer();
  const answer = (await api.request('POST', `/v1/games/${game.id}/mods`, {
    headers: { authorization: `Bearer ${token}`, 'content-type': 'multipart/form-data; boundary=b' },
    body: Buffer.concat([Buffer.from(fields.join('') + file), logo, Buffer.from('\r\n--b--\r\n')]),
  })) as Answer<{ tags: { name: string }[]; metadata_kvp: object[] }>;
  assert.equal(answer.status, 201, answer.text);
  assert.deepEqual(
    answer.body.tags.map(({ name }) => name),
    ['Dark', 'Large'],
  );
  assert.deepEqual(answer.body.metadata_kvp, [{ metakey: 'speed', metavalue: '10:20' }]);
  assert.equal((await countsOf(game))['Dark'], 0);
});

test('concurrently added tags are all counted', async () => {
  const game = await api.aGame({ tagGroups: GROUPS });
  const mods = await Promise.all(Array.from({ length: 8 }, () => api.aMod({ game })));
  const owners = await Promise.all(mods.map((mod) => api.as(mod.owner)));
  await Promise.all(mods.map((mod, i) => put(owners[i]!, mod, 'Dark', i % 2 ? 'Small' : 'Large')));
  const { Dark, Small, Large } = await countsOf(game);
  assert.deepEqual([Dark, Small, Large], [8, 4, 4]);
});

test('the list of a mod’s tags is filtered by tag and date', async () => {
  const game = await api.aGame({ tagGroups: GROUPS });
  const mod = await api.aMod({ game });
  const owner = await api.as(mod.owner);
  await put(owner, mod, 'Dark');
  api.clock.advance(60);
  await put(owner, mod, 'Bright', 'Small');
  const found = async (query: Record<string, string | number>) =>
    (await api.withKey(game).call(getModTags, { params: pathOf(mod), query })).body.data.map(({ name }) => name);
  assert.deepEqual(await found({ tag: 'bright' }), ['Bright']);
  assert.deepEqual(await found({ date_added: api.clock.now(), _sort: '-tag' }), ['Small', 'Bright']);
  assert.deepEqual(await found({ _limit: 1, _offset: 1 }), ['Bright']);
});

test('mods are filtered by tags: all of them, any of them, none of them', async () => {
  const game = await api.aGame({ tagGroups: GROUPS });
  const team = await api.as(game.owner);
  const sets = [['Dark'], ['Dark', 'Über'], ['Über', 'Small'], []];
  const mods: Mod[] = [];
  for (const tags of sets) {
    const mod = await api.aMod({ game });
    if (tags.length > 0) await put(team, mod, ...tags);
    mods.push(mod);
  }
  const found = async (query: Record<string, string | string[]>) => {
    const { data } = (await api.withKey(game).call(getMods, { params: { game_id: game.id }, query })).body;
    return data.map(({ id }) => mods.findIndex((mod) => mod.id === id));
  };
  assert.deepEqual(await found({ tags: 'dark' }), [0, 1]);
  assert.deepEqual(await found({ tags: 'DARK, über' }), [1]);
  assert.deepEqual(await found({ tags: ['Dark', 'Über'] }), [1]);
  assert.deepEqual(await found({ 'tags-in': 'Dark,Small' }), [0, 1, 2]);
  assert.deepEqual(await found({ 'tags-not-in': 'Dark,Small' }), [3]);
  assert.deepEqual(await found({ 'tags-not': 'Über' }), [0, 3]);
  assert.deepEqual(await found({ tags: 'Neon' }), []);
  assert.deepEqual(await found({ tags: '' }), [0, 1, 2, 3]);
  assert.deepEqual(await found({ tags: Array(100).fill('Small').join() }), [2]);
  assert.deepEqual(await found({ tags: 'Über', 'tags-not-in': 'Small' }), [1]);
  assert.deepEqual(await found({ tags: 'Small', 'id-in': String(mods[0]!.id), or_fields: ['tags,id'] }), [0, 2]);
  assert.deepEqual(await found({ 'tags-lk': 'D*', 'tags-min': '1' }), [0, 1, 2, 3]);
});

test('a filter has at most a hundred required tags, or a thousand alternatives', async () => {
  const game = await api.aGame({ tagGroups: GROUPS });
  const client = api.withKey(game);
  const input = (name: string, count: number) => ({
    params: { game_id: game.id },
    query: { [name]: Array(count).fill('Dark').join() },
  });
  await client.refused(getMods, input('tags', 101), 422, 13009);
  assert.equal((await client.call(getMods, input('tags-in', 1_000))).status, 200);
  await client.refused(getMods, input('tags-in', 1_001), 422, 13009);
});
