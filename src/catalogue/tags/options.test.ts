import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, type Game, startApi } from '../../../test/api.ts';
import { createWorker } from '../../platform/jobs/worker.ts';
import { getGame, getGameTagOptions } from '../games/operations.ts';
import { getMod, getMods } from '../mods/operations.ts';
import { tagJobs } from './jobs.ts';
import { addGameTagOptions, addModTags, deleteGameTagOptions, getModTags, renameGameTag } from './operations.ts';

// Jobs run only when a test runs them.
const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });

function doJobs(): Promise<number> {
  const app = api.app();
  return createWorker({
    app,
    db: app.db,
    clock: app.clock,
    random: app.random,
    log: app.log,
    handlers: tagJobs,
  }).runDue();
}

const STYLE = { name: 'Style', type: 'checkboxes', tags: ['Dark', 'Bright'] };
const paramsOf = (game: Game) => ({ game_id: game.id });

async function optionsOf(game: Game, hidden = true) {
  const query = { show_hidden_tags: hidden };
  return (await api.withKey(game).call(getGameTagOptions, { params: paramsOf(game), query })).body.data;
}

async function aTaggedMod(game: Game, tags: string[]) {
  const mod = await api.aMod({ game });
  const params = { game_id: game.id, mod_id: mod.id };
  const answer = await (await api.as(mod.owner)).call(addModTags, { params, body: { tags } });
  assert.equal(answer.status, 201, answer.text);
  return params;
}

async function add(client: Client, game: Game, body: Record<string, string | boolean | string[]>) {
  const answer = await client.call(addGameTagOptions, { params: paramsOf(game), body });
  assert.equal(answer.status, 201, answer.text);
}

test('a new group of tags appears in the list of groups and in the game', async () => {
  const game = await api.aGame();
  await api.withKey(game).call(getGame, { params: paramsOf(game) });
  const answer = await (await api.as(game.owner)).call(addGameTagOptions, { params: paramsOf(game), body: STYLE });
  assert.equal(answer.status, 201, answer.text);
  assert.match(answer.headers.location!, new RegExp(`/games/${game.id}/tags$`));
  const [group] = await optionsOf(game);
  assert.deepEqual(
    [group!.name, group!.type, group!.tags, group!.hidden, group!.locked, group!.tag_count_map],
    ['Style', 'checkboxes', ['Dark', 'Bright'], false, false, { Dark: 0, Bright: 0 }],
  );
  const shown = (await api.withKey(game).call(getGame, { params: paramsOf(game) })).body;
  assert.deepEqual(shown.tag_options[0]!.tags, ['Dark', 'Bright']);
});

test('adding to an existing group keeps its tags and applies the sent settings', async () => {
  const game = await api.aGame();
  const owner = await api.as(game.owner);
  await add(owner, game, STYLE);
  await add(owner, game, { name: 'style', type: 'dropdown', tags: ['dark', 'Neon'], locked: true });
  const groups = await optionsOf(game);
  assert.deepEqual(
    groups.map(({ name, type, tags, locked }) => ({ name, type, tags, locked })),
    [{ name: 'Style', type: 'dropdown', tags: ['Dark', 'Bright', 'Neon'], locked: true }],
  );
});

test('a hidden group is listed only on request', async () => {
  const game = await api.aGame();
  await add(await api.as(game.owner), game, { name: 'Version', type: 'dropdown', tags: ['1.0'], hidden: true });
  assert.deepEqual(await optionsOf(game, false), []);
  assert.equal((await optionsOf(game, true))[0]!.name, 'Version');
});

test('groups and tags have names in other languages, and so do the tags of mods', async () => {
  const game = await api.aGame();
  const owner = await api.as(game.owner);
  const mod = async (language: string) => {
    const headers = { 'accept-language': language };
    return (await api.withKey(game).call(getMod, { params, headers })).body.tags;
  };
  await add(owner, game, STYLE);
  const params = await aTaggedMod(game, ['Dark']);
  const input_json = JSON.stringify({
    ...STYLE,
    name_localization: { de: 'Stil', en: 'Style' },
    tags_localization: [{ tag: 'Dark', translations: { de: 'Dunkel' } }],
  });
  await add(owner, game, { input_json });
  const [group] = await optionsOf(game);
  assert.deepEqual(group!.name_localization, { en: 'Style', de: 'Stil' });
  assert.deepEqual(group!.tags_localization[0], { tag: 'Dark', translations: { en: 'Dark', de: 'Dunkel' } });
  await doJobs();
  const date_added = api.clock.now();
  assert.deepEqual(await mod('de'), [{ name: 'Dark', name_localized: 'Dunkel', date_added }]);
  assert.deepEqual(await mod('en'), [{ name: 'Dark', name_localized: 'Dark', date_added }]);
  const listed = await api.withKey(game).call(getModTags, { params, headers: { 'accept-language': 'de' } });
  assert.equal(listed.body.data[0]!.name_localized, 'Dunkel');
});

test('translations must name a supported language and a tag of the group', async () => {
  const game = await api.aGame();
  const owner = await api.as(game.owner);
  for (const wrong of [
    { name_localization: { xx: 'Stil' } },
    { tags_localization: [{ tag: 'Neon', translations: { de: 'Neon' } }] },
  ]) {
    const body = { input_json: JSON.stringify({ ...STYLE, ...wrong }) };
    await owner.refused(addGameTagOptions, { params: paramsOf(game), body }, 422, 13009);
  }
  assert.deepEqual(await optionsOf(game), []);
});

test('the name of a tag is unique within a game', async () => {
  const game = await api.aGame({ tagGroups: [{ ...STYLE, type: 'checkboxes' }] });
  const owner = await api.as(game.owner);
  const params = paramsOf(game);
  for (const tags of [['DARK'], ['Red', 'red']])
    await owner.refused(addGameTagOptions, { params, body: { name: 'Mood', type: 'checkboxes', tags } }, 403, 14015);
});

test('only managers and administrators of the game change its tags', async () => {
  const game = await api.aGame({ tagGroups: [{ ...STYLE, type: 'checkboxes' }] });
  const [stranger, moderator, manager] = [await api.aUser(), await api.aUser(), await api.aUser()];
  await api.joins(moderator, game, 1);
  await api.joins(manager, game, 4);
  const params = paramsOf(game);
  for (const person of [stranger, moderator]) {
    const client = await api.as(person);
    await client.refused(addGameTagOptions, { params, body: { ...STYLE, tags: ['New'] } }, 403, 14012);
    await client.refused(renameGameTag, { params, body: { from: 'Dark', to: 'Gloomy' } }, 403, 14013);
    await client.refused(deleteGameTagOptions, { params, body: { name: 'Style', tags: ['Dark'] } }, 403, 14014);
  }
  await add(await api.as(manager), game, { ...STYLE, tags: ['New'] });
});

test('the name of a tag has no comma, because filters separate tags by it', async () => {
  const game = await api.aGame();
  const body = { ...STYLE, tags: ['a,b'] };
  await (await api.as(game.owner)).refused(addGameTagOptions, { params: paramsOf(game), body }, 422, 13009);
});

test('a tag that is removed from the game is removed from its mods as well', async () => {
  const game = await api.aGame({ tagGroups: [{ ...STYLE, type: 'checkboxes' }] });
  const params = await aTaggedMod(game, ['Dark', 'Bright']);
  const owner = await api.as(game.owner);
  const body = { name: 'style', tags: ['dark'] };
  assert.equal((await owner.call(deleteGameTagOptions, { params: paramsOf(game), body })).status, 204);
  assert.deepEqual((await optionsOf(game))[0]!.tags, ['Bright']);
  await doJobs();
  const { tags } = (await api.withKey(game).call(getMod, { params })).body;
  assert.deepEqual(
    tags.map(({ name }) => name),
    ['Bright'],
  );
  const found = await api.withKey(game).call(getMods, { params, query: { tags: 'Dark' } });
  assert.equal(found.body.result_total, 0);
});

test('an empty list removes the whole group', async () => {
  const game = await api.aGame({ tagGroups: [{ ...STYLE, type: 'checkboxes' }] });
  const owner = await api.as(game.owner);
  const removed = await owner.call(deleteGameTagOptions, {
    params: paramsOf(game),
    body: { name: 'Style', tags: [''] },
  });
  assert.equal(removed.status, 204, removed.text);
  assert.deepEqual(await optionsOf(game), []);
});

test('removing a missing group or tag is refused, and the error names the tag', async () => {
  const game = await api.aGame({ tagGroups: [{ ...STYLE, type: 'checkboxes' }] });
  const owner = await api.as(game.owner);
  const params = paramsOf(game);
  await owner.refused(deleteGameTagOptions, { params, body: { name: 'Mood', tags: [''] } }, 422, 13009);
  const input = { params, body: { name: 'Style', tags: ['Dark', 'Neon'] } };
  const answer = await owner.refused(deleteGameTagOptions, input, 422, 13009);
  assert.match(answer.body.error.errors!['tags']!, /Neon/);
  assert.equal((await optionsOf(game))[0]!.tags.length, 2);
});

test('a renamed tag has its new name in the game, on mods and in filters, and keeps its count', async () => {
  const game = await api.aGame({ tagGroups: [{ ...STYLE, type: 'checkboxes' }] });
  const params = await aTaggedMod(game, ['Dark']);
  const before = (await api.withKey(game).call(getMod, { params })).body;
  api.clock.advance(60);
  const owner = await api.as(game.owner);
  const answer = await owner.call(renameGameTag, { params, body: { from: 'dark', to: 'Gloomy' } });
  assert.equal(answer.status, 202, answer.text);
  await doJobs();
  assert.deepEqual((await optionsOf(game))[0]!.tag_count_map, { Gloomy: 1, Bright: 0 });
  const after = (await api.withKey(game).call(getMod, { params })).body;
  assert.deepEqual(
    after.tags.map(({ name }) => name),
    ['Gloomy'],
  );
  assert.equal(after.date_updated, before.date_updated);
  const total = async (tags: string) =>
    (await api.withKey(game).call(getMods, { params, query: { tags } })).body.result_total;
  assert.deepEqual([await total('Dark'), await total('gloomy')], [0, 1]);
});

test('one tag of a game is renamed at a time, and its new name is reserved meanwhile', async () => {
  const game = await api.aGame({ tagGroups: [{ ...STYLE, type: 'checkboxes' }] });
  const owner = await api.as(game.owner);
  const params = paramsOf(game);
  const rename = { params, body: { from: 'Bright', to: 'Sunny' } };
  assert.equal((await owner.call(renameGameTag, { params, body: { from: 'Dark', to: 'Gloomy' } })).status, 202);
  await owner.refused(renameGameTag, rename, 422, 14030);
  const body = { name: 'Mood', type: 'checkboxes', tags: ['gloomy'] };
  await owner.refused(addGameTagOptions, { params, body }, 403, 14015);
  await doJobs();
  assert.equal((await owner.call(renameGameTag, rename)).status, 202);
  await doJobs();
  assert.deepEqual((await optionsOf(game))[0]!.tags, ['Gloomy', 'Sunny']);
});

test('the next run completes an interrupted rename, and a rename of a removed tag ends', async () => {
  const game = await api.aGame({ tagGroups: [{ ...STYLE, type: 'checkboxes' }] });
  const params = await aTaggedMod(game, ['Dark']);
  const owner = await api.as(game.owner);
  await owner.call(renameGameTag, { params, body: { from: 'Dark', to: 'Gloomy' } });
  const dies = () => Promise.reject(new Error('the worker died'));
  const job = { id: 0, attempt: 1, heartbeat: dies };
  await assert.rejects(tagJobs[0]!.run(api.app(), { gameId: game.id }, job), /the worker died/);
  await owner.refused(renameGameTag, { params, body: { from: 'Bright', to: 'Sunny' } }, 422, 14030);
  await doJobs();
  await owner.call(renameGameTag, { params, body: { from: 'Bright', to: 'Sunny' } });
  await owner.call(deleteGameTagOptions, { params, body: { name: 'Style', tags: ['Bright'] } });
  await doJobs();
  assert.deepEqual((await optionsOf(game))[0]!.tags, ['Gloomy']);
  assert.equal((await owner.call(renameGameTag, { params, body: { from: 'Gloomy', to: 'GLOOMY' } })).status, 202);
});

test('renaming needs an existing tag and a name that no other tag has', async () => {
  const game = await api.aGame({ tagGroups: [{ ...STYLE, type: 'checkboxes' }] });
  const owner = await api.as(game.owner);
  const params = paramsOf(game);
  await owner.refused(renameGameTag, { params, body: { from: 'Neon', to: 'Red' } }, 422, 14045);
  await owner.refused(renameGameTag, { params, body: { from: 'Dark', to: 'bright' } }, 422, 13009);
});
