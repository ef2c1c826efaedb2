import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Mod, startApi } from '../../../test/api.ts';
import { editModByPut, getMod, getMods } from '../mods/operations.ts';
import { addModMetadata, deleteModMetadata, getModMetadata } from './operations.ts';

const api = await startApi();

const pathOf = (mod: Mod) => ({ game_id: mod.game_id, mod_id: mod.id });

async function add(mod: Mod, ...metadata: string[]): Promise<void> {
  const answer = await (await api.as(mod.owner)).call(addModMetadata, { params: pathOf(mod), body: { metadata } });
  assert.equal(answer.status, 201, answer.text);
}

async function remove(mod: Mod, ...metadata: string[]): Promise<void> {
  const answer = await (await api.as(mod.owner)).call(deleteModMetadata, { params: pathOf(mod), body: { metadata } });
  assert.equal(answer.status, 204, answer.text);
}

async function pairsOf(mod: Mod): Promise<string[]> {
  const answer = await api.withKey(mod.owner).call(getModMetadata, { params: pathOf(mod) });
  return answer.body.data.map(({ metakey, metavalue }) => `${metakey}=${metavalue}`);
}

test('a key has many distinct values, in the order in which they were added', async () => {
  const mod = await api.aMod();
  await add(mod, 'pistol:800', 'level:2', 'pistol:400');
  await add(mod, 'level:1', 'pistol:800', 'level:1');
  assert.deepEqual(await pairsOf(mod), ['pistol=800', 'level=2', 'pistol=400', 'level=1']);
});

test('the first colon separates key and value, and further ones belong to the value', async () => {
  const mod = await api.aMod();
  await add(mod, 'range:10:20', 'site:https://example.com');
  assert.deepEqual(await pairsOf(mod), ['range=10:20', 'site=https://example.com']);
  await remove(mod, 'range:10:20');
  assert.deepEqual(await pairsOf(mod), ['site=https://example.com']);
});

test('the mod shows its metadata', async () => {
  const mod = await api.aMod();
  await add(mod, 'level:2');
  const shown = () => api.withKey(mod.owner).call(getMod, { params: pathOf(mod) });
  assert.deepEqual((await shown()).body.metadata_kvp, [{ metakey: 'level', metavalue: '2' }]);
  await remove(mod, 'level:2');
  assert.deepEqual((await shown()).body.metadata_kvp, []);
});

test('a pair, all values of a key, or everything can be removed', async () => {
  const mod = await api.aMod();
  await add(mod, 'a:1', 'a:2', 'b:1', 'b:2', 'c:1');
  await remove(mod, 'a:1', 'unheard:of');
  assert.deepEqual(await pairsOf(mod), ['a=2', 'b=1', 'b=2', 'c=1']);
  await remove(mod, 'b');
  assert.deepEqual(await pairsOf(mod), ['a=2', 'c=1']);
  await remove(mod, '');
  assert.deepEqual(await pairsOf(mod), []);
});

test('keys and values have 1 to 255 characters', async () => {
  const mod = await api.aMod();
  const owner = await api.as(mod.owner);
  await add(mod, `${'𝄞'.repeat(255)}:${'𝄞'.repeat(255)}`);
  for (const wrong of [`${'k'.repeat(256)}:v`, `k:${'v'.repeat(256)}`, 'keyalone', ':v', 'k:']) {
    const input = { params: pathOf(mod), body: { metadata: ['a:1', wrong] } };
    const answer = await owner.refused(addModMetadata, input, 422, 13009);
    assert.deepEqual(Object.keys(answer.body.error.errors!), ['metadata.1']);
  }
  await owner.refused(addModMetadata, { params: pathOf(mod), body: { metadata: [''] } }, 422, 13009);
  assert.equal((await pairsOf(mod)).length, 1);
});

test('a mod has at most a thousand pairs', async () => {
  const mod = await api.aMod();
  for (const key of ['a', 'b']) await add(mod, ...Array.from({ length: 500 }, (_, i) => `${key}:${i}`));
  const input = { params: pathOf(mod), body: { metadata: ['c:1'] } };
  await (await api.as(mod.owner)).refused(addModMetadata, input, 422, 13009);
});

test('only managers of the mod and of its game change metadata; the error depends on the caller’s role', async () => {
  const game = await api.aGame();
  const mod = await api.aMod({ game });
  const [stranger, helper, moderator] = [await api.aUser(), await api.aUser(), await api.aUser()];
  await api.joinsMod(helper, mod, 1);
  await api.joins(moderator, game, 1);
  const input = { params: pathOf(mod), body: { metadata: ['a:1'] } };
  for (const person of [helper, moderator]) {
    await (await api.as(person)).refused(addModMetadata, input, 403, 15033);
    await (await api.as(person)).refused(deleteModMetadata, input, 403, 15034);
  }
  await (await api.as(stranger)).refused(addModMetadata, input, 403, 15013);
  await (await api.as(stranger)).refused(deleteModMetadata, input, 403, 15013);
  assert.equal((await (await api.as(game.owner)).call(addModMetadata, input)).status, 201);
});

test('an edit of a mod replaces its metadata', async () => {
  const mod = await api.aMod();
  const owner = await api.as(mod.owner);
  await add(mod, 'a:1', 'b:1');
  const edit = async (...metadata_kvp: string[]) =>
    (await owner.call(editModByPut, { params: pathOf(mod), body: { metadata_kvp } })).body.metadata_kvp;
  assert.deepEqual(await edit('b:1', 'c:1'), [
    { metakey: 'b', metavalue: '1' },
    { metakey: 'c', metavalue: '1' },
  ]);
  assert.deepEqual(await edit(''), []);
  await owner.refused(editModByPut, { params: pathOf(mod), body: { metadata_kvp: ['keyalone'] } }, 422, 13009);
  const moderator = await api.aUser();
  await api.joins(moderator, { id: mod.game_id }, 1);
  const input = { params: pathOf(mod), body: { metadata_kvp: ['a:1'], maturity_option: 0 } };
  await (await api.as(moderator)).refused(editModByPut, input, 403, 15013);
});

test('only callers who can see a mod list its metadata', async () => {
  const mod = await api.aMod({ visible: 0 });
  const stranger = await api.as(await api.aUser());
  const params = pathOf(mod);
  await stranger.refused(getModMetadata, { params }, 404, 15022);
  for (const operation of [addModMetadata, deleteModMetadata])
    await stranger.refused(operation, { params, body: { metadata: ['a:1'] } }, 404, 15022);
});

test('mods are filtered by exact pairs of key and value', async () => {
  const game = await api.aGame();
  const mods = [await api.aMod({ game }), await api.aMod({ game }), await api.aMod({ game })];
  await add(mods[0]!, 'level:Hard', 'range:1:2');
  await add(mods[1]!, 'level:Hard');
  await add(mods[2]!, 'level:hard');
  const found = async (query: Record<string, string>) => {
    const { data } = (await api.withKey(game).call(getMods, { params: { game_id: game.id }, query })).body;
    return data.map(({ id }) => mods.findIndex((mod) => mod.id === id));
  };
  assert.deepEqual(await found({ metadata_kvp: 'level:Hard' }), [0, 1]);
  assert.deepEqual(await found({ metadata_kvp: 'level:Hard,range:1:2' }), [0]);
  assert.deepEqual(await found({ 'metadata_kvp-in': 'level:hard,range:1:2' }), [0, 2]);
  assert.deepEqual(await found({ 'metadata_kvp-not-in': 'level:Hard' }), [2]);
  assert.deepEqual(await found({ metadata_kvp: 'level' }), []);
});
