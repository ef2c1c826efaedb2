import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { type Client, type Mod, startApi } from '../../../test/api.ts';
import { zipOf } from '../../../test/zips.ts';
import { addModDependencies, deleteModDependencies } from '../../catalogue/dependencies/operations.ts';
import { editGameOperation } from '../../catalogue/games/operations.ts';
import { editModOperation } from '../../catalogue/mods/operations.ts';
import { subscribeToMod } from '../../community/subscriptions/operations.ts';
import { entityTagOf, isNotModified } from '../../platform/http/entity-tag.ts';
import { deleteModfileOperation } from '../modfiles/operations.ts';
import { lookupMods } from './operations.ts';

const api = await startApi();
const game = await api.aGame();
const params = { game_id: game.id };
const byKey = api.withKey(game);
const team = await api.as(game.owner);
const aMod = (name?: string) => api.aMod({ game, owner: game.owner, ...(name && { name }) });
const lookUp = async (client: Client, body: Record<string, readonly (string | number)[]>) =>
  (await client.call(lookupMods, { params, body })).body;
const idsOf = (mods: readonly { id: number }[]) => mods.map(({ id }) => id);
const md5Of = (bytes: Buffer) => createHash('md5').update(bytes).digest('hex');
const hide = (mod: Mod) => team.call(editModOperation, { params: { ...params, mod_id: mod.id }, body: { visible: 0 } });

test('one request finds mods by id, name id and digest, with live files and all dependencies, and names the rest', async () => {
  const [a, b, c, d] = [await aMod(), await aMod('Second “Mod”'), await aMod(), await aMod()];
  const archive = zipOf({ 'readme.txt': 'of the second' });
  const file = await api.aFile(b, { archive });
  const old = await api.aFile(c);
  const live = await api.aFile(c);
  for (const [from, to] of [
    [a, d],
    [d, b],
  ] as const)
    await team.call(addModDependencies, {
      params: { ...params, mod_id: from.id },
      body: { dependencies: [to.id] },
    });
  const unknown = 'f'.repeat(64);
  const answer = await lookUp(byKey, {
    ids: [a.id, a.id, 999_999],
    name_ids: [c.name_id, 'nothing-here'],
    md5: [md5Of(archive).toUpperCase()],
    sha256: [old.sha256, unknown],
  });
  assert.deepEqual(idsOf(answer.mods), [a.id, b.id, c.id]);
  assert.deepEqual(idsOf(answer.dependencies), [d.id]);
  const [first, second, third] = answer.mods;
  assert.deepEqual([first!.dependencies, first!.modfile], [[d.id], {}]);
  assert.deepEqual(answer.dependencies[0]!.dependencies, [b.id]);
  assert.equal(second!.name, 'Second “Mod”');
  assert.equal('id' in second!.modfile && second!.modfile.id, file.id);
  assert.equal('id' in third!.modfile && third!.modfile.id, live.id);
  assert.deepEqual(idsOf(answer.files), [file.id, old.id]);
  const { binary_url } = answer.files[1]!.download;
  assert.equal((await api.nobody().send('GET', new URL(binary_url).pathname.slice('/v1'.length))).status, 200);
  assert.deepEqual(answer.not_found, {
    ids: [999_999],
    name_ids: ['nothing-here'],
    md5: [],
    sha256: [unknown],
    dependencies: [],
  });
  assert.equal(answer.truncated, false);
});

test('a mod that was looked up before shows its new name, file and dependencies, and is missing once hidden', async () => {
  const [mod, other] = [await aMod('Before'), await aMod()];
  const shown = async () => {
    const { mods, not_found } = await lookUp(byKey, { ids: [mod.id] });
    const [{ name, dependencies, modfile } = { name: '', dependencies: [], modfile: {} }] = mods;
    return [name, dependencies, 'id' in modfile && modfile.id, not_found.ids];
  };
  const at = { ...params, mod_id: mod.id };
  assert.deepEqual(await shown(), ['Before', [], false, []]);
  await team.call(editModOperation, { params: at, body: { name: 'After' } });
  assert.deepEqual(await shown(), ['After', [], false, []]);
  const file = await api.aFile(mod);
  assert.deepEqual(await shown(), ['After', [], file.id, []]);
  await team.call(addModDependencies, { params: at, body: { dependencies: [other.id] } });
  assert.deepEqual(await shown(), ['After', [other.id], file.id, []]);
  await team.call(deleteModDependencies, { params: at, body: { dependencies: [other.id] } });
  const next = await api.aFile(mod);
  assert.deepEqual(await shown(), ['After', [], next.id, []]);
  await hide(mod);
  assert.deepEqual(await shown(), ['', [], false, [mod.id]]);
});

test('hidden mods and withdrawn files are found by those alone who may see them', async () => {
  const [open, hidden] = [await aMod(), await aMod()];
  const file = await api.aFile(hidden);
  const withdrawn = await api.aFile(open, { active: false });
  await team.call(addModDependencies, {
    params: { ...params, mod_id: open.id },
    body: { dependencies: [hidden.id] },
  });
  const fan = await api.as(await api.aUser());
  await fan.call(subscribeToMod, { params: { ...params, mod_id: hidden.id } });
  await hide(hidden);
  const body = { ids: [open.id, hidden.id], sha256: [file.sha256, withdrawn.sha256] };
  const found = async (client: Client) => {
    const { mods, files, not_found } = await lookUp(client, body);
    return [idsOf(mods), idsOf(files), not_found.sha256.length, not_found.dependencies];
  };
  assert.deepEqual(await found(byKey), [[open.id], [], 2, [hidden.id]]);
  assert.deepEqual(await found(await api.as(await api.aUser())), [[open.id], [], 2, [hidden.id]]);
  assert.deepEqual(await found(fan), [[open.id, hidden.id], [file.id], 1, []]);
  assert.deepEqual(await found(team), [[open.id, hidden.id], [file.id, withdrawn.id], 0, []]);
  await team.call(deleteModfileOperation, { params: { ...params, mod_id: open.id, file_id: withdrawn.id } });
  assert.deepEqual((await lookUp(team, { sha256: [withdrawn.sha256] })).not_found.sha256, [withdrawn.sha256]);
});

test('a platform selects the live file, and without one every platform has its own', async () => {
  const platforms = ['windows', 'ps5'].map((platform) => ({
    platform,
    label: platform,
    moderated: false,
    locked: false,
  }));
  const owner = await api.aUser();
  const other = await api.aGame({ owner });
  const mod = await api.aMod({ game: other, owner });
  const settings = await (await api.as(owner)).call(editGameOperation, {
    params: { game_id: other.id },
    body: Object.fromEntries(
      platforms.flatMap(({ platform }, index) => [[`platforms[${index}][platform]`, platform]]),
    ) as never,
  });
  assert.equal(settings.status, 200, settings.text);
  const windows = await api.aFile(mod, { platforms: ['windows'] });
  const ps5 = await api.aFile(mod, { platforms: ['ps5'] });
  const of = async (platform?: string) => {
    const headers: Record<string, string> = platform ? { 'x-modio-platform': platform } : {};
    const asked = { params: { game_id: other.id }, body: { ids: [mod.id] }, headers };
    const { mods, files } = (await api.withKey(other).call(lookupMods, asked)).body;
    assert.deepEqual(mods[0]!.platforms, [
      { platform: 'ps5', modfile_live: ps5.id },
      { platform: 'windows', modfile_live: windows.id },
    ]);
    return ['id' in mods[0]!.modfile && mods[0]!.modfile.id, idsOf(files)];
  };
  assert.deepEqual(await of('windows'), [windows.id, []]);
  assert.deepEqual(await of('ps5'), [ps5.id, []]);
  assert.deepEqual(await of(), [ps5.id, [windows.id]]);
});

test('a request names at least one and at most 500 mods and files, as a form or as JSON', async () => {
  const mod = await aMod();
  const errorsOf = async (body: object) => {
    const answer = await byKey.send('POST', `/games/${game.id}/mods/lookup`, {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    });
    const said = JSON.parse(answer.text);
    return answer.status === 200 ? said.mods.length : Object.keys(said.error.errors);
  };
  assert.deepEqual(await errorsOf({ ids: [] }), ['ids', 'name_ids', 'md5', 'sha256']);
  const many = Array.from({ length: 499 }, (_, index) => mod.id + 1_000 + index);
  assert.equal(await errorsOf({ ids: [mod.id, ...many] }), 1);
  assert.deepEqual(await errorsOf({ ids: [mod.id, ...many], name_ids: [mod.name_id] }), ['ids', 'name_ids']);
  assert.deepEqual(await errorsOf({ ids: ['x'], md5: ['zz'], sha256: ['00'] }), ['ids.0', 'md5.0', 'sha256.0']);
  assert.equal((await lookUp(byKey, { ids: [mod.id] })).mods.length, 1);
});

test('an entity tag matches itself in any list and spelling, and no other', () => {
  const tag = entityTagOf('{"id":1}');
  for (const header of [tag, tag.slice(2), `"a", ${tag}`, `"a",${tag.slice(2)} , W/"b"`, '*'])
    assert.ok(isNotModified(header, tag), header);
  for (const header of [undefined, '', '"a"', tag.slice(3), tag.replaceAll('"', '')])
    assert.ok(!isNotModified(header, tag), String(header));
  assert.notEqual(tag, entityTagOf('{"id":2}'));
});
