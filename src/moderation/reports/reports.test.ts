import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, type Game, startApi, type User } from '../../../test/api.ts';
import { Barrier } from '../../../test/barriers.ts';
import { editGameOperation } from '../../catalogue/games/operations.ts';
import { deleteModOperation } from '../../catalogue/mods/operations.ts';
import { restrictUserInGame } from '../../catalogue/restrictions/operations.ts';
import { addCollectionOperation } from '../../community/collections/operations.ts';
import { modComments } from '../../community/comments/operations.ts';
import { subscribeToMod } from '../../community/subscriptions/operations.ts';
import { DUPLICATE_WINDOW_SECONDS } from '../../platform/database/duplicate-requests.ts';
import { deleteAUser } from '../../signin/accounts/operations.ts';
import { submitReportOperation as report } from './operations.ts';

const api = await startApi();

const barrier = new Barrier(...api.apps());

const about = (resource: string, id: number | string, more: Record<string, string | number> = {}) => ({
  body: { resource, id, type: 0, summary: 'This is wrong', ...more },
});
const stored = () => api.app().db.query.selectFrom('reports').selectAll().orderBy('id').execute();
const last = async () => (await stored()).at(-1)!;
const accepts = async (client: Client, input: ReturnType<typeof about>) => {
  const answer = await client.call(report, input);
  assert.deepEqual([answer.status, answer.body.code], [201, 201], answer.text);
};

async function restrict(game: Game, user: User, options: number) {
  const params = { game_id: game.id, user_id: user.id };
  await (await api.as(game.owner)).call(restrictUserInGame, { params, body: { options } });
}

test('all visible content and users can be reported, by id, by name or by the URL of their page', async () => {
  const game = await api.aGame();
  const mod = await api.aMod({ game });
  const guide = await api.aGuide({ game });
  const author = await api.as(mod.owner);
  const params = { game_id: game.id, mod_id: mod.id };
  const collection = (await author.call(addCollectionOperation, { params, body: { name: 'Best', mod_ids: [mod.id] } }))
    .body;
  const comment = (await author.call(modComments.add, { params, body: { content: 'Hello' } })).body;
  const { addresses } = api.app();
  const things = [
    ['games', game.id, game.name_id, addresses.game(game.name_id)],
    ['mods', mod.id, mod.name_id, addresses.mod(game.name_id, mod.name_id)],
    ['guides', guide.id, guide.name_id, addresses.guide(game.name_id, guide.name_id)],
    ['collections', collection.id, collection.name_id, addresses.collection(game.name_id, collection.name_id)],
    ['users', mod.owner.id, mod.owner.name_id, addresses.user(mod.owner.name_id)],
    ['comments', comment.id],
  ] as const;
  for (const [resource, id, ...others] of things)
    for (const named of [id, ...others]) {
      const client = await api.as(await api.aUser());
      await accepts(client, about(resource.toUpperCase(), named, { game_name_id: game.name_id }));
      const { resource: kept, resource_id, game_id } = await last();
      assert.deepEqual([kept, resource_id, game_id], [resource, id, game.id]);
    }
});

test('the request body of the C++ SDK is accepted unchanged', async () => {
  const mod = await api.aMod();
  const client = await api.as(await api.aUser());
  const body = `id=${mod.id}&resource=mods&summary=does not work & crashes 100%&type=2`;
  const answer = await client.send('POST', '/report', { body });
  assert.equal(answer.status, 201, answer.text);
  const { type, summary, resource_id } = await last();
  assert.deepEqual([type, summary, resource_id], [2, 'does not work & crashes 100%', mod.id]);
});

test('anonymous callers can report, with an optional name and contact', async () => {
  const mod = await api.aMod();
  const key = api.withKey(await api.aGame());
  await accepts(key, about('mods', mod.id, { name: 'Ada', contact: 'ada@example.org', type: 1 }));
  await accepts(key, about('mods', mod.id, { type: 1 }));
  const rows = (await stored()).filter(({ resource_id, type }) => resource_id === mod.id && type === 1);
  assert.deepEqual(
    rows.map(({ user_id, name, contact }) => [user_id, name, contact]),
    [
      [0, 'Ada', 'ada@example.org'],
      [0, '', ''],
    ],
  );
  await api.nobody().refused(report, about('mods', mod.id), 401, 11000);
});

test('content that the caller may not see gets the same error as missing content', async () => {
  const game = await api.aGame();
  const hidden = await api.aMod({ game, accepted: false });
  const draft = await api.aGuide({ game, status: 0 });
  const client = await api.as(await api.aUser());
  const { addresses } = api.app();
  for (const [resource, id] of [
    ['mods', hidden.id],
    ['guides', draft.id],
    ['mods', 999_999],
    ['games', 999_999],
    ['games', (await api.aGame({ accepted: false })).id],
    ['users', 999_999],
    ['comments', 999_999],
  ] as const)
    await client.refused(report, about(resource, id), 404, 14000);
  for (const id of [hidden.name_id, addresses.mod(game.name_id, hidden.name_id), 'never-was'])
    await client.refused(report, about('mods', id, { game_name_id: game.name_id }), 400, 27003);
});

test('callers who see hidden content get an error that it cannot be reported', async () => {
  const game = await api.aGame();
  const [hidden, deleted] = [await api.aMod({ game, accepted: false }), await api.aMod({ game })];
  await (await api.as(deleted.owner)).call(deleteModOperation, { params: { game_id: game.id, mod_id: deleted.id } });
  const team = await api.as(game.owner);
  await team.refused(report, about('mods', hidden.id), 403, 15030);
  await team.refused(report, about('mods', deleted.id), 403, 15030);
  await team.refused(report, about('users', game.owner.id), 403, 15030);
});

test('URLs of other sites, of other resources and of nothing cannot be reported', async () => {
  const mod = await api.aMod();
  const client = await api.as(await api.aUser());
  const { site } = api.app().addresses;
  for (const address of [
    'https://example.org/g/a/m/b',
    'javascript://localhost/g/a/m/b',
    `${site}/g/a`,
    `${site}/g/a/r/b`,
    `${site}/g/%E0%A4%A/m/b`,
    '//[',
    '/',
  ])
    await client.refused(report, about('mods', address), 400, 27001);
  await client.refused(report, about('mods', `${site}/g/no-such-game/m/${mod.name_id}`), 400, 27003);
  await client.refused(report, about('mods', mod.name_id), 400, 27003);
  await client.refused(report, about('users', mod.owner.id, { game_name_id: 'no-such-game' }), 400, 27003);
});

test('a user who is restricted from reporting in one game can report in others', async () => {
  const [game, other] = [await api.aGame(), await api.aGame()];
  const user = await api.aUser();
  await restrict(game, user, 16);
  const client = await api.as(user);
  await client.refused(report, about('mods', (await api.aMod({ game })).id), 403, 15029);
  await client.refused(report, about('users', game.owner.id, { game_name_id: game.name_id }), 403, 15029);
  await accepts(client, about('mods', (await api.aMod({ game: other })).id));
});

test('a user has one open report about a mod; about other content a newer text replaces the older', async () => {
  const mod = await api.aMod();
  const client = await api.as(await api.aUser());
  await accepts(client, about('mods', mod.id));
  await client.refused(report, about('mods', mod.id), 409, 17011);
  api.clock.advance(DUPLICATE_WINDOW_SECONDS + 1);
  await client.refused(report, about('mods', mod.id), 400, 15088);
  await accepts(client, about('mods', mod.id, { type: 3 }));
  await accepts(client, about('users', mod.owner.id));
  const before = await stored();
  await accepts(client, about('users', mod.owner.id, { summary: 'Worse' }));
  const after = await stored();
  assert.deepEqual([after.length, after.at(-1)!.summary], [before.length, 'Worse']);
});

test('of 16 concurrent reports of one user one is stored', async () => {
  const mod = await api.aMod();
  const client = await api.as(await api.aUser());
  const answers = await Promise.all(
    Array.from({ length: 16 }, (_, n) => client.call(report, about('mods', mod.id, { summary: `Wrong ${n}` }))),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array(15).fill(400)]);
  assert.equal((await stored()).filter(({ resource_id }) => resource_id === mod.id).length, 1);
});

test('a user who reports why a mod does not work must have had it for a while, and name the platforms', async () => {
  const game = await api.aGame();
  const platforms = JSON.stringify({ platforms: [{ platform: 'windows' }, { platform: 'ps5' }] });
  const settings = { params: { game_id: game.id }, body: { input_json: platforms } };
  assert.equal((await (await api.as(game.owner)).call(editGameOperation, settings)).status, 200);
  const mod = await api.aMod({ game });
  const params = { game_id: game.id, mod_id: mod.id };
  await api.aFile(mod, { platforms: ['windows', 'ps5'] });
  const client = await api.as(await api.aUser());
  const broken = (more: Record<string, string | number>) => about('mods', mod.id, { type: 2, reason: 1, ...more });
  await client.refused(report, broken({}), 400, 15089);
  await client.refused(report, broken({ platforms: 'SWITCH' }), 400, 15085);
  await client.refused(report, broken({ platforms: 'toaster' }), 400, 15085);
  await client.refused(report, broken({ platforms: 'WINDOWS', type: 0 }), 400, 15084);
  await client.refused(report, broken({ platforms: 'WINDOWS', type: 8, reason: 0 }), 400, 15084);
  await client.refused(report, broken({ platforms: 'WINDOWS' }), 403, 15086);
  const subscribed = await client.call(subscribeToMod, { params });
  assert.equal(subscribed.status, 201, subscribed.text);
  await client.refused(report, broken({ platforms: 'WINDOWS' }), 403, 15087);
  api.clock.advance(300);
  await accepts(client, broken({ platforms: 'WINDOWS,PLAYSTATION5' }));
  assert.equal((await last()).platforms, 'windows,ps5');
});

test('wrong types, reasons and platforms of other content are reported as field errors', async () => {
  const { owner } = await api.aMod();
  const client = await api.as(await api.aUser());
  for (const [field, value] of [
    ['type', 8],
    ['reason', 1],
    ['platforms', 'toaster'],
  ] as const) {
    const answer = await client.refused(report, about('users', owner.id, { [field]: value }), 422, 13009);
    assert.deepEqual(Object.keys(answer.body.error.errors!), [field]);
  }
  await client.refused(report, about('toasters', owner.id), 422, 13009);
});

test('content and accounts cannot end between a report about them and its commit', async () => {
  const game = await api.aGame();
  const mod = await api.aMod({ game });
  const author = await api.as(mod.owner);
  const operator = await api.as(await api.aUser({ admin: true }));
  const params = { game_id: game.id, mod_id: mod.id };
  const enders = {
    mods: () => author.call(deleteModOperation, { params }),
    users: () => operator.call(deleteAUser, { params: { user_id: mod.owner.id } }),
  };
  for (const [resource, id] of [
    ['mods', mod.id],
    ['users', mod.owner.id],
  ] as const) {
    const reporter = await api.as(await api.aUser());
    const { stop, answer, isHeld } = await barrier.upTo('done', () => reporter.call(report, about(resource, id)));
    assert.ok(isHeld);
    const ending = Promise.withResolvers<Awaited<ReturnType<typeof enders.mods>>>();
    const state = await barrier.endsOrWaits(() => enders[resource]().then(ending.resolve, ending.reject) as never);
    stop.go();
    assert.equal(state, 'waits', resource);
    assert.equal((await answer).status, 201);
    assert.equal((await ending.promise).status, 204);
  }
});
