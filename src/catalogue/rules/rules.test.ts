import assert from 'node:assert/strict';
import { test } from 'node:test';
import sharp from 'sharp';
import { type Answer, type CallInput, type Client, type Game, startApi } from '../../../test/api.ts';
import { relativeCpuTime } from '../../../test/cpu-time.ts';
import { zipOf } from '../../../test/zips.ts';
import { addCollectionOperation } from '../../community/collections/operations.ts';
import { modComments } from '../../community/comments/operations.ts';
import { composeWorker } from '../../composition/compose.ts';
import { operations } from '../../composition/resources.ts';
import { DUPLICATE_WINDOW_SECONDS } from '../../platform/database/duplicate-requests.ts';
import type { AnyOperation } from '../../platform/http/operation.ts';
import { editGameOperation } from '../games/operations.ts';
import { addModOperation, editModOperation } from '../mods/operations.ts';
import { MANAGER, MODERATOR } from '../teams/teams.ts';
import { editGameWordlists, getGameWordlists } from '../wordlists/operations.ts';
import {
  addGameRule,
  deleteGameRule,
  editGameRule,
  getGameRule,
  getGameRuleDecisions,
  getGameRules,
  getGameRuleVersions,
  reorderGameRules,
  replayGameRuleDecision,
  tryGameRule,
} from './operations.ts';
import { RULED_OPERATIONS } from './rules.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
const LOGO = await sharp({ create: { width: 512, height: 288, channels: 3, background: '#345' } })
  .png()
  .toBuffer();
const logo = { filename: 'logo.png', bytes: LOGO };

const ALWAYS = { all: [] };
const contains = (field: string, value: string) => ({ field, is: 'contains', value });
const matches = (field: string, value: string) => ({ field, is: 'matches', value });

const fieldsOf = (when: object, fields: object = {}) => ({
  name: 'A rule',
  verdict: 'deny',
  enabled: true,
  ...fields,
  when: JSON.stringify(when),
});

async function aRule(game: Game, when: object, fields: object = {}) {
  const asOwner = await api.as(game.owner);
  const { body, status, text } = await asOwner.call(addGameRule, {
    params: { game_id: game.id },
    body: fieldsOf(when, fields),
  });
  assert.equal(status, 201, text);
  return body;
}

const newMod = (game: Game, fields: Record<string, string> = {}): CallInput => ({
  params: { game_id: game.id },
  body: { name: api.unique('Airship'), summary: 'Flies', ...fields },
  files: { logo },
});

const decisionsOf = async (game: Game, query: Record<string, string | number> = {}) => {
  const asOwner = await api.as(game.owner);
  return (await asOwner.call(getGameRuleDecisions, { params: { game_id: game.id }, query })).body.data;
};

test('a rule denies with 29200 and its own message, and the decision names it', async () => {
  const game = await api.aGame();
  const client = await api.as(await api.aUser());
  const rule = await aRule(game, contains('payload.name', 'CASINO'), { message: 'No gambling here.' });
  const answer = await client.refused(addModOperation, newMod(game, { name: 'The Casino mod' }), 403, 29200);
  assert.equal(answer.body.error.message, 'No gambling here.');
  assert.equal((await client.call(addModOperation, newMod(game))).status, 201);
  const [second, first] = await decisionsOf(game);
  assert.deepEqual([first!.verdict, first!.rule_id, first!.rule_version], ['deny', rule.id, 1]);
  assert.deepEqual([second!.verdict, second!.rule_id], ['none', 0]);
  assert.equal(first!.payload['payload.name'], 'The Casino mod');
});

test('a rule without a message of its own gives the one of the catalogue', async () => {
  const game = await api.aGame();
  await aRule(game, ALWAYS);
  const answer = await (await api.as(await api.aUser())).refused(addModOperation, newMod(game), 403, 29200);
  assert.match(answer.body.error.message, /moderation rules of this game/);
});

test('a caller without permission gets that error, whatever the rules say', async () => {
  const game = await api.aGame();
  const mod = await api.aMod({ game });
  await aRule(game, ALWAYS);
  const stranger = await api.as(await api.aUser());
  const edit = { params: { game_id: game.id, mod_id: mod.id }, body: { summary: 'Mine' } };
  await stranger.refused(editModOperation, edit, 403, 15013);
  assert.deepEqual(await decisionsOf(game), []);
});

test('rules are evaluated in order: the first that allows, denies or holds decides, and reports accumulate', async () => {
  const game = await api.aGame();
  const reporting = await aRule(game, ALWAYS, { verdict: 'report' });
  const denying = await aRule(game, contains('payload.summary', 'spam'));
  const allowing = await aRule(game, contains('payload.summary', 'honest'), { verdict: 'allow' });
  const [asOwner, client] = [await api.as(game.owner), await api.as(await api.aUser())];
  const honest = newMod(game, { summary: 'honest spam' });
  await client.refused(addModOperation, honest, 403, 29200);
  const order = { params: { game_id: game.id }, body: { rule_ids: [reporting.id, allowing.id, denying.id] } };
  const { body } = await asOwner.call(reorderGameRules, order);
  assert.deepEqual(
    body.data.map(({ id }) => id),
    [reporting.id, allowing.id, denying.id],
  );
  assert.equal((await client.call(addModOperation, honest)).status, 201);
  const [decision] = await decisionsOf(game, { verdict: 'allow' });
  assert.deepEqual(decision!.reports, [{ rule_id: reporting.id, version: 1 }]);
  await asOwner.refused(reorderGameRules, { ...order, body: { rule_ids: [denying.id] } }, 422, 13009);
});

test('a held mod is not accepted by its first file, only by the game’s team', async () => {
  const game = await api.aGame();
  const author = await api.aUser();
  const [asAuthor, asOwner] = [await api.as(author), await api.as(game.owner)];
  await aRule(game, contains('payload.summary', 'look'), { verdict: 'hold' });
  const add = async (summary: string) => (await asAuthor.call(addModOperation, newMod(game, { summary }))).body;
  const [held, free] = [await add('look at this'), await add('nothing to see')];
  const at = (mod: { id: number }) => ({ ...mod, game_id: game.id, name_id: '', name: '', owner: author });
  for (const mod of [held, free]) await api.aFile(at(mod));
  const statusOf = async (id: number) =>
    ((await asAuthor.send('GET', `/games/${game.id}/mods/${id}`)) as Answer<{ status: number }>).body.status;
  assert.deepEqual([await statusOf(held.id), await statusOf(free.id)], [0, 1]);
  const params = { game_id: game.id, mod_id: held.id };
  assert.equal((await asOwner.call(editModOperation, { params, body: { status: 1 } })).status, 200);
  assert.equal(await statusOf(held.id), 1);
  await asAuthor.call(editModOperation, { params, body: { summary: 'look again' } });
  assert.equal(await statusOf(held.id), 0);
});

test('conditions test the payload, the user, headers, the last day and the names in an archive', async () => {
  const game = await api.aGame();
  const person = await api.aUser({ username: 'Mallory Mischief' });
  const client = await api.as(person);
  const owner = await api.as(game.owner);
  const cases: [object, Record<string, string>, boolean][] = [
    [{ field: 'user.username', is: 'starts_with', value: 'mallory' }, {}, true],
    [{ field: 'user.age_days', is: 'below', value: 1 }, {}, true],
    [{ field: 'user.level', is: 'above', value: 0 }, {}, false],
    [{ field: 'header.x-modio-origin', is: 'equals', value: 'web' }, { 'X-Modio-Origin': 'web' }, true],
    [{ field: 'header.x-modio-origin', is: 'exists', value: true }, {}, false],
    [{ all: [ALWAYS, { not: contains('payload.summary', 'flies') }] }, {}, false],
    [{ any: [contains('payload.name', 'zeppelin'), matches('payload.summary', '/^FL[iy]es$/i')] }, {}, true],
    [{ field: 'payload.summary', is: 'in', value: ['Sinks', 'Flies'] }, {}, true],
    [{ field: 'header.authorization', is: 'exists', value: true }, {}, false],
  ];
  for (const [when, headers, isDenied] of cases) {
    const rule = await aRule(game, when);
    const { status, text } = await client.call(addModOperation, { ...newMod(game), headers });
    assert.equal(status, isDenied ? 403 : 201, `${JSON.stringify(when)}: ${text}`);
    await owner.call(deleteGameRule, { params: { game_id: game.id, rule_id: rule.id } });
  }
  const quick = await aRule(game, { field: 'history.submissions', is: 'above', value: cases.length - 1 });
  await client.refused(addModOperation, newMod(game), 403, 29200);
  api.clock.advance(86_401);
  assert.equal((await client.call(addModOperation, newMod(game))).status, 201);
  await owner.call(deleteGameRule, { params: { game_id: game.id, rule_id: quick.id } });
  await aRule(game, matches('file.entries', String.raw`\.exe$`));
  const mod = await api.aMod({ game, owner: person });
  const files = `/games/${game.id}/mods/${mod.id}/files`;
  const upload = (name: string) => {
    const bytes = zipOf({ [name]: 'MZ' });
    const operation = operations.find(({ declaration }) => declaration.id === 'add-modfile')!;
    return client.call(operation, {
      params: { game_id: game.id, mod_id: mod.id },
      files: { filedata: { filename: 'a.zip', bytes } },
    });
  };
  assert.equal((await upload('setup.exe')).status, 403, files);
  assert.equal((await upload('readme.txt')).status, 201, files);
});

test('an edit creates a new version, a decision refers to the version that made it, and can be replayed', async () => {
  const game = await api.aGame();
  const [asOwner, client] = [await api.as(game.owner), await api.as(await api.aUser())];
  const rule = await aRule(game, contains('payload.summary', 'one'));
  const params = { game_id: game.id, rule_id: rule.id };
  await client.refused(addModOperation, newMod(game, { summary: 'one' }), 403, 29200);
  const when = JSON.stringify(contains('payload.summary', 'two'));
  assert.equal((await asOwner.call(editGameRule, { params, body: { when } })).body.version, 2);
  assert.equal((await asOwner.call(editGameRule, { params, body: { enabled: false } })).body.version, 2);
  assert.equal((await client.call(addModOperation, newMod(game, { summary: 'two' }))).status, 201);
  await asOwner.call(editGameRule, { params, body: { enabled: true } });
  await client.refused(addModOperation, newMod(game, { summary: 'two' }), 403, 29200);
  await asOwner.call(deleteGameRule, { params });
  await asOwner.refused(getGameRule, { params }, 404, 14000);
  const versions = (await asOwner.call(getGameRuleVersions, { params })).body.data;
  assert.deepEqual(
    versions.map(({ version }) => version),
    [2, 1],
  );
  const denied = await decisionsOf(game, { verdict: 'deny' });
  assert.deepEqual(
    denied.map(({ rule_version }) => rule_version),
    [2, 1],
  );
  for (const { id } of denied) {
    const at = { params: { game_id: game.id, decision_id: id } };
    const { body } = await asOwner.call(replayGameRuleDecision, at);
    assert.deepEqual([body.verdict, body.same], ['deny', true]);
  }
});

test('a dry run lists the past submissions that a rule would match, and changes nothing', async () => {
  const game = await api.aGame();
  const [asOwner, client] = [await api.as(game.owner), await api.as(await api.aUser())];
  for (const summary of ['red', 'green', 'reddish']) await client.call(addModOperation, newMod(game, { summary }));
  const { name, when, verdict } = fieldsOf(matches('payload.summary', 'red'));
  const { body } = await asOwner.call(tryGameRule, { params: { game_id: game.id }, body: { name, when, verdict } });
  assert.deepEqual([body.tried, body.met], [3, 2]);
  assert.equal((await asOwner.call(getGameRules, { params: { game_id: game.id } })).body.result_total, 0);
  assert.equal((await client.call(addModOperation, newMod(game, { summary: 'red' }))).status, 201);
});

test('expressions that could take exponential time are refused, and accepted ones run in linear time', async () => {
  const game = await api.aGame();
  const asOwner = await api.as(game.owner);
  const add = (when: object) => ({ params: { game_id: game.id }, body: fieldsOf(when) });
  for (const pattern of ['(?=a)b', String.raw`(a)\1`, '(((a{100}){100}){100})', '(', '', 'a'.repeat(201)])
    await asOwner.refused(addGameRule, add(matches('payload.name', pattern)), 422, 13009);
  for (const when of [{}, [], { all: ALWAYS }, { field: 'secrets.x', is: 'exists', value: true }, { all: [], any: [] }])
    await asOwner.refused(addGameRule, add(when), 422, 13009);
  await asOwner.refused(addGameRule, { ...add({}), body: { ...fieldsOf({}), when: 'no json' } }, 422, 13009);
  let deep: object = ALWAYS;
  for (let level = 0; level < 10; level += 1) deep = { not: deep };
  await asOwner.refused(addGameRule, add(deep), 422, 13009);
  for (const pattern of ['(a+)+$', '(a|aa)+$', '(.*a){20}$', '([a-zA-Z]+)*$'])
    await aRule(game, matches('payload.description', pattern), { verdict: 'report' });
  const client = await api.as(await api.aUser());
  const before = process.cpuUsage();
  const answer = await client.call(addModOperation, newMod(game, { description: `${'a'.repeat(40_000)}!` }));
  const { user } = process.cpuUsage(before);
  assert.equal(answer.status, 201);
  assert.ok(user < 5_000_000 * relativeCpuTime(), `${user} µs of the processor`);
});

test('the verdict hold is refused for comments, which have no status', async () => {
  const game = await api.aGame();
  const body = { ...fieldsOf(ALWAYS, { verdict: 'hold' }), operations: ['add-mod-comment'] };
  await (await api.as(game.owner)).refused(addGameRule, { params: { game_id: game.id }, body }, 422, 13009);
});

test('managers of the game edit rules, its moderators read them, and nobody else does', async () => {
  const game = await api.aGame();
  const [moderator, manager] = [await api.aUser(), await api.aUser()];
  await api.joins(moderator, game, MODERATOR);
  await api.joins(manager, game, MANAGER);
  const params = { game_id: game.id };
  const add = { params, body: fieldsOf(ALWAYS, { enabled: false }) };
  const [asModerator, asManager, stranger] = [
    await api.as(moderator),
    await api.as(manager),
    await api.as(await api.aUser()),
  ];
  const { body } = await asManager.call(addGameRule, add);
  const one = { params: { ...params, rule_id: body.id } };
  for (const client of [asModerator, stranger]) {
    await client.refused(addGameRule, add, 403, 29500);
    await client.refused(editGameRule, { ...one, body: { enabled: true } }, 403, 29500);
    await client.refused(deleteGameRule, one, 403, 29500);
    await client.refused(reorderGameRules, { params, body: { rule_ids: [body.id] } }, 403, 29500);
    await client.refused(tryGameRule, add, 403, 29500);
    await client.refused(editGameWordlists, { params, body: { denied: ['x'] } }, 403, 29500);
  }
  assert.equal((await asModerator.call(getGameRules, { params })).body.result_total, 1);
  for (const read of [getGameRules, getGameRuleDecisions, getGameWordlists])
    await stranger.refused(read, { params }, 403, 29500);
  await stranger.refused(getGameRule, one, 403, 29500);
  await stranger.refused(getGameRuleVersions, one, 403, 29500);
  const other = await api.aGame();
  await (await api.as(other.owner)).refused(
    getGameRule,
    { params: { game_id: other.id, rule_id: body.id } },
    404,
    14000,
  );
});

/** The operations that the published contract marks as subject to rules, as far as they exist here. */
const MARKED = [
  'POST /games/{game_id}/collections/{collection_id}/comments',
  'PUT /games/{game_id}/collections/{collection_id}/comments/{comment_id}',
  'POST /games/{game_id}/guides',
  'POST /games/{game_id}/guides/{guide_id}',
  'POST /games/{game_id}/guides/{guide_id}/comments',
  'PUT /games/{game_id}/guides/{guide_id}/comments/{comment_id}',
  'POST /games/{game_id}/mods',
  'POST /games/{game_id}/mods/{mod_id}',
  'POST /games/{game_id}/mods/{mod_id}/dependencies',
  'POST /games/{game_id}/mods/{mod_id}/files',
  'PUT /games/{game_id}/mods/{mod_id}/files/{file_id}',
  'POST /games/{game_id}/mods/{mod_id}/media',
  'POST /games/{game_id}/mods/{mod_id}/metadatakvp',
  'POST /games/{game_id}/mods/{mod_id}/tags',
];

const addressOf = ({ declaration: { method, path } }: AnyOperation) => `${method} ${path}`;

test('every operation that the contract marks evaluates the rules', async () => {
  const declared = operations.filter(({ declaration }) => declaration.rules);
  for (const operation of operations.filter((each) => MARKED.includes(addressOf(each))))
    assert.ok(declared.includes(operation), operation.declaration.id);
  for (const { declaration } of declared) assert.ok(RULED_OPERATIONS.includes(declaration.id), declaration.id);

  const game = await api.aGame();
  const author = await api.aUser();
  const mod = await api.aMod({ game, owner: author, community_options: 0xffff });
  const other = await api.aMod({ game, community_options: 0xffff });
  const guide = await api.aGuide({ game, owner: author, community_options: 0xffff });
  const file = await api.aFile(mod);
  const [client, asOwner] = [await api.as(author), await api.as(game.owner)];
  await asOwner.send('POST', `/games/${game.id}/tags`, { body: 'name=Kind&type=checkboxes&tags[]=Ship' });
  const comment = async (resource: string, id: number) =>
    (
      (await client.send('POST', `/games/${game.id}/${resource}/${id}/comments`, { body: 'content=Hello' })) as Answer<{
        id: number;
      }>
    ).body.id;
  const onMod = { game_id: game.id, mod_id: mod.id };
  const onGuide = { game_id: game.id, guide_id: guide.id };
  const made = await client.call(addCollectionOperation, { params: { game_id: game.id }, body: { name: 'Set' } });
  const onCollection = { game_id: game.id, collection_id: made.body.id };
  const inputs: Record<string, CallInput> = {
    'add-mod': newMod(game),
    'edit-mod': { params: onMod, body: { summary: 'New' } },
    'edit-mod-put': { params: onMod, body: { summary: 'New' } },
    'add-modfile': { params: onMod, files: { filedata: { filename: 'a.zip', bytes: zipOf({ a: 'b' }) } } },
    'add-source-modfile': { params: onMod, files: { filedata: { filename: 'a.zip', bytes: zipOf({ a: 'b' }) } } },
    'edit-modfile': { params: { ...onMod, file_id: file.id }, body: { version: '2' } },
    'add-mod-media': { params: onMod, body: { youtube: ['https://www.youtube.com/watch?v=dQw4w9WgXcQ'] } },
    'add-mod-tags': { params: onMod, body: { tags: ['Ship'] } },
    'add-mod-kvp-metadata': { params: onMod, body: { metadata: ['a:b'] } },
    'add-mod-dependencies': { params: onMod, body: { dependencies: [other.id] } },
    'add-guide': {
      params: { game_id: game.id },
      body: { name: 'How to fly', summary: 'With an airship, and some wind', description: 'Up.', tags: ['Flying'] },
      files: { logo },
    },
    'edit-guide': { params: onGuide, body: { name: 'How to land' } },
    'add-mod-comment': { params: onMod, body: { content: 'Nice' } },
    'update-mod-comment': {
      params: { ...onMod, comment_id: await comment('mods', mod.id) },
      body: { content: 'Nicer' },
    },
    'add-guide-comment': { params: onGuide, body: { content: 'Nice' } },
    'update-guide-comment': {
      params: { ...onGuide, comment_id: await comment('guides', guide.id) },
      body: { content: 'Nicer' },
    },
    'add-collection-comment': { params: onCollection, body: { content: 'Nice' } },
    'update-collection-comment': {
      params: { ...onCollection, comment_id: await comment('collections', onCollection.collection_id) },
      body: { content: 'Nicer' },
    },
  };
  await aRule(game, ALWAYS);
  for (const operation of declared) {
    const input = inputs[operation.declaration.id];
    assert.ok(input, `${operation.declaration.id} has no example here`);
    const { status, text } = await client.call(operation, input);
    assert.ok(status === 403 && text.includes('29200'), `${operation.declaration.id}: ${text}`);
  }
  const asked = new Set((await decisionsOf(game, { verdict: 'deny' })).map(({ operation }) => operation));
  assert.deepEqual(asked, new Set(declared.map(({ declaration }) => declaration.id)));
});

async function setLevel(client: Client, game: Game, level: number) {
  const answer = await client.call(editGameOperation, {
    params: { game_id: game.id },
    body: { profanity_option: level },
  });
  assert.equal(answer.status, 200, answer.text);
}

test('the filter of a game refuses names, summaries, descriptions and comments, and names the field', async () => {
  const game = await api.aGame();
  const mod = await api.aMod({ game });
  const [asOwner, client] = [await api.as(game.owner), await api.as(await api.aUser())];
  const rude = newMod(game, { name: 'F.u.c.k this', summary: 'Fine', description: '<p>sh<b>1</b>t</p>' });
  assert.equal((await client.call(addModOperation, rude)).status, 201);
  await setLevel(asOwner, game, 2);
  api.clock.advance(DUPLICATE_WINDOW_SECONDS + 1);
  const { body } = await client.refused(addModOperation, rude, 422, 13009);
  assert.deepEqual(Object.keys(body.error.errors!), ['name', 'description']);
  const onMod = { game_id: game.id, mod_id: mod.id };
  await client.refused(modComments.add, { params: onMod, body: { content: 'what a b1tch' } }, 422, 13009);
  assert.equal((await client.call(modComments.add, { params: onMod, body: { content: 'Classic!' } })).status, 201);
});

test('a game can have words of its own', async () => {
  const game = await api.aGame();
  const [asOwner, client] = [await api.as(game.owner), await api.as(await api.aUser())];
  const params = { game_id: game.id };
  await setLevel(asOwner, game, 3);
  await asOwner.call(editGameWordlists, { params, body: { allowed: ['damn'], denied: ['Pineapple'] } });
  await client.refused(addModOperation, newMod(game, { summary: 'P1ne­apple' }), 422, 13009);
  assert.equal((await client.call(addModOperation, newMod(game, { summary: 'Damn fine' }))).status, 201);
  const { body } = await asOwner.call(editGameWordlists, { params, body: { denied: [''] } });
  assert.deepEqual([body.allowed, body.denied], [['damn'], []]);
  assert.equal((await client.call(addModOperation, newMod(game, { summary: 'Pineapple' }))).status, 201);
});

test('submissions are removed after 30 days', async () => {
  const game = await api.aGame();
  const client = await api.as(await api.aUser());
  await client.call(addModOperation, newMod(game));
  api.clock.advance(31 * 86_400);
  await composeWorker(api.app()).runDue();
  assert.deepEqual(await decisionsOf(game), []);
});
