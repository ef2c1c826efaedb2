import assert from 'node:assert/strict';
import { test } from 'node:test';
import sharp from 'sharp';
import { type CallInput, type Client, type Game, type Guide, startApi } from '../../../test/api.ts';
import { restrictUserInGame } from '../../catalogue/restrictions/operations.ts';
import { MANAGER, MODERATOR } from '../../catalogue/teams/teams.ts';
import { composeWorker } from '../../composition/compose.ts';
import { decideOverContent } from '../../moderation/moderation/operations.ts';
import { guideComments } from '../comments/operations.ts';
import {
  addGuideOperation,
  deleteGuideOperation,
  editGuideOperation,
  getGuide,
  getGuides,
  getGuidesTags,
} from './operations.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
const HOUR = 3_600;
const DAY = 24 * HOUR;

const picture = async (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#345' } })
    .png()
    .toBuffer();
const LOGO = { filename: 'logo.png', bytes: await picture(512, 288) };
const TEXTS = { name: 'First steps', summary: 'What to do on the first day', description: '<p>Wake up.</p>' };

const submission = (game: Game, fields: CallInput['body'] = {}): CallInput => ({
  params: { game_id: game.id },
  body: { ...TEXTS, tags: ['Beginner'], ...fields },
  files: { logo: LOGO },
});
const at = ({ id, game_id }: Pick<Guide, 'id' | 'game_id'>) => ({ game_id, guide_id: id });
const idsOf = async (client: Client, { id }: { id: number }, query = {}) => {
  const { body } = await client.call(getGuides, { params: { game_id: id }, query });
  assert.equal(body.result_total, body.data.length);
  return body.data.map((guide) => guide.id);
};
const refusedOf = (client: Client, operation: typeof getGuide, guide: Guide, status: number, ref: number) =>
  client.refused(operation, { params: at(guide) }, status, ref);

test('a user adds a guide, and everyone sees it', async () => {
  const game = await api.aGame();
  const ada = await api.aUser();
  const { status, body, headers } = await (await api.as(ada)).call(addGuideOperation, submission(game));
  assert.equal(status, 201);
  assert.ok(headers.location?.endsWith(`/games/${game.id}/guides/${body.id}`));
  assert.deepEqual([body.name, body.summary, body.description], [TEXTS.name, TEXTS.summary, TEXTS.description]);
  assert.deepEqual([body.status, body.date_live, body.community_options], [1, api.clock.now(), 2_048]);
  assert.deepEqual([body.game_id, body.game_name, body.user.id], [game.id, game.name, ada.id]);
  assert.equal(body.url, `https://localhost/g/${game.name_id}/r/first-steps`);
  assert.deepEqual(body.tags, [{ name: 'Beginner', date_added: api.clock.now(), count: 1 }]);
  assert.deepEqual(body.stats, [{ guide_id: body.id, visits_today: 0, visits_total: 0, comments_total: 0 }]);
  assert.match(body.logo.original ?? '', /\/files\//);
  assert.deepEqual(await idsOf(api.withKey(game), game), [body.id]);
  const again = await (await api.as(ada)).call(
    addGuideOperation,
    submission(game, { summary: 'What comes after those, in short' }),
  );
  assert.equal(again.body.name_id, 'first-steps-2');
  await (await api.as(ada)).refused(addGuideOperation, submission(game, { name_id: 'first-steps' }), 422, 13009);
});

test('texts have limits, and unsafe markup is removed', async () => {
  const game = await api.aGame();
  const client = await api.as(await api.aUser());
  for (const fields of [
    { name: 'x'.repeat(71) },
    { summary: 'Too short' },
    { summary: 'x'.repeat(251) },
    { description: 'x'.repeat(150_001) },
    { description: '' },
    { tags: ['x'.repeat(51)] },
    { status: 3 },
    { community_options: 1 },
  ])
    await client.refused(addGuideOperation, submission(game, fields), 422, 13009);
  const small = { ...submission(game), files: { logo: { ...LOGO, bytes: await picture(511, 288) } } };
  await client.refused(addGuideOperation, small, 422, 13009);
  const description = `${'x'.repeat(149_900)}<img src=x onerror=alert(1)><script>a</script>`;
  const longest = { name: 'x'.repeat(70), summary: 'x'.repeat(250), description };
  const { body } = await client.call(addGuideOperation, submission(game, longest));
  assert.equal(body.description, 'x'.repeat(149_900));
});

test('a game without guides accepts none, and only its team sees existing ones', async () => {
  const game = await api.aGame({ settings: { community_options: 1 | 2_048 } });
  const guide = await api.aGuide({ game });
  const [asOwner, asTeam] = [await api.as(guide.owner), await api.as(game.owner)];
  await asOwner.refused(addGuideOperation, submission(game), 403, 14027);
  await asTeam.refused(addGuideOperation, submission(game), 403, 14027);
  for (const client of [asOwner, api.withKey(game)]) {
    await refusedOf(client, getGuide, guide, 403, 14026);
    await refusedOf(client, getGuide, { ...guide, id: 999_999 }, 403, 14026);
    await client.refused(getGuides, { params: { game_id: game.id } }, 403, 14026);
    await client.refused(getGuidesTags, { params: { game_id: game.id } }, 403, 14026);
    await client.refused(guideComments.getAll, { params: at(guide) }, 403, 14026);
  }
  assert.equal((await asTeam.call(getGuide, { params: at(guide) })).body.id, guide.id);
});

test('a restricted user cannot add guides', async () => {
  const game = await api.aGame();
  const grace = await api.aUser();
  const restricted = { params: { game_id: game.id, user_id: grace.id }, body: { options: 2 } };
  await (await api.as(game.owner)).call(restrictUserInGame, restricted);
  await (await api.as(grace)).refused(addGuideOperation, submission(game), 403, 14027);
  assert.equal((await (await api.as(grace)).call(addGuideOperation, submission(await api.aGame()))).status, 201);
});

test('strangers find no drafts, scheduled or deleted guides', async () => {
  const game = await api.aGame();
  const owner = await api.aUser();
  const shown = await api.aGuide({ game, owner, tags: ['Shown', 'Shared'] });
  const draft = await api.aGuide({ game, owner, status: 0, tags: ['Draft', 'Shared'] });
  const tomorrow = await api.aGuide({ game, owner, date_live: api.clock.now() + DAY, tags: ['Tomorrow', 'Shared'] });
  const deleted = await api.aGuide({ game, owner, tags: ['Deleted', 'Shared'] });
  const [asOwner, asTeam, stranger] = [await api.as(owner), await api.as(game.owner), await api.as(await api.aUser())];
  await asOwner.call(deleteGuideOperation, { params: at(deleted) });
  // The author reads first, to show that their response is not cached for others.
  for (const query of [{}, { status: 0 }, { 'status-in': '0,1,3' }, { submitted_by: owner.id }])
    for (const client of [asOwner, asTeam, stranger, api.withKey(game)]) await idsOf(client, game, query);
  for (const client of [stranger, api.withKey(game)]) {
    for (const query of [{}, { 'status-in': '0,1,3' }, { 'status-not': 9 }, { 'date_live-gt': 0 }, { tags: 'Shared' }])
      assert.deepEqual(await idsOf(client, game, query), [shown.id]);
    for (const query of [{ status: 0 }, { status: 3 }, { tags: 'Draft' }, { 'tags-in': 'Tomorrow,Deleted' }])
      assert.deepEqual(await idsOf(client, game, query), []);
    for (const guide of [draft, tomorrow, deleted, { ...shown, id: 999_999 }])
      await refusedOf(client, getGuide, guide, 404, 14000);
    const { data } = (await client.call(getGuidesTags, { params: { game_id: game.id } })).body;
    assert.deepEqual(
      data.map(({ name, count }) => [name, count]),
      [
        ['Shared', 1],
        ['Shown', 1],
      ],
    );
    const { tags } = (await client.call(getGuide, { params: at(shown) })).body;
    assert.deepEqual(
      tags.map(({ count }) => count),
      [1, 1],
    );
  }
  for (const { id } of [draft, tomorrow, deleted])
    assert.equal((await api.request('GET', `/search/guides/${id}`)).status, 404);
  const lead = await api.request('GET', `/search/guides/${shown.id}`);
  assert.equal(lead.headers.location, `https://localhost/g/${game.name_id}/r/${shown.name_id}`);

  assert.deepEqual(await idsOf(asOwner, game), [shown.id]);
  assert.deepEqual(await idsOf(asOwner, game, { 'status-in': '0,1,3' }), [shown.id, draft.id, tomorrow.id]);
  assert.deepEqual(await idsOf(asTeam, game, { 'status-in': '0,1,3' }), [shown.id, draft.id, tomorrow.id, deleted.id]);
  for (const client of [asOwner, asTeam]) {
    assert.equal((await client.call(getGuide, { params: at(draft) })).body.status, 0);
    await refusedOf(client, getGuide, deleted, 404, 19043);
    await client.refused(editGuideOperation, { params: at(deleted), body: { name: 'Back' } }, 404, 19043);
    await client.refused(guideComments.getAll, { params: at(deleted) }, 404, 19043);
  }
});

test('a guide goes live exactly at its date, also in cached responses', async () => {
  const game = await api.aGame();
  const live = api.clock.now() + HOUR;
  const guide = await api.aGuide({ game, date_live: live, tags: ['New'] });
  const key = api.withKey(game);
  const tags = async () => (await key.call(getGuidesTags, { params: { game_id: game.id } })).body.result_total;
  const look = async () => [(await idsOf(key, game)).length, await tags()];
  assert.deepEqual(await look(), [0, 0]);
  api.clock.advance(HOUR - 1);
  assert.deepEqual(await look(), [0, 0]);
  await refusedOf(key, getGuide, guide, 404, 14000);
  api.clock.advance(1);
  assert.deepEqual(await look(), [1, 1]);
  assert.equal((await key.call(getGuide, { params: at(guide) })).body.date_live, live);
});

test('the author publishes a draft, and a guide that the game’s team rejected stays rejected', async () => {
  const game = await api.aGame();
  const guide = await api.aGuide({ game, status: 0 });
  const [asOwner, asTeam] = [await api.as(guide.owner), await api.as(game.owner)];
  const set = (client: Client, status: number) =>
    client.call(editGuideOperation, { params: at(guide), body: { status } });
  assert.equal((await asOwner.call(getGuide, { params: at(guide) })).body.date_live, 0);
  api.clock.advance(60);
  assert.equal((await set(asOwner, 1)).body.date_live, api.clock.now());
  await set(asOwner, 0);
  await set(asOwner, 1);
  await set(asTeam, 0);
  await asOwner.refused(editGuideOperation, { params: at(guide), body: { status: 1 } }, 403, 14036);
  await set(asTeam, 1);
  assert.deepEqual(await idsOf(api.withKey(game), game), [guide.id]);
});

test('where the game curates its content, guides wait for its team', async () => {
  const game = await api.aGame({ settings: { curation_option: 2 } });
  const [asAda, asTeam] = [await api.as(await api.aUser()), await api.as(game.owner)];
  const { body } = await asAda.call(addGuideOperation, submission(game, { status: 1, date_live: 1 }));
  assert.equal(body.status, 0);
  const params = { game_id: game.id, guide_id: body.id };
  await asAda.refused(editGuideOperation, { params, body: { status: 1 } }, 403, 14036);
  assert.equal((await asTeam.call(editGuideOperation, { params, body: { status: 1 } })).body.status, 1);
});

test('author and managers of the game edit a guide, moderators its status, and nobody else anything', async () => {
  const game = await api.aGame();
  const guide = await api.aGuide({ game, tags: ['Old', 'Kept'] });
  const [manager, moderator] = [await api.aUser(), await api.aUser()];
  await api.joins(manager, game, MANAGER);
  await api.joins(moderator, game, MODERATOR);
  const [asOwner, asManager, asModerator] = [await api.as(guide.owner), await api.as(manager), await api.as(moderator)];
  const params = at(guide);
  const stranger = await api.as(await api.aUser());
  api.clock.advance(5);
  const changes = { name: 'Second steps', url: 'https://example.com/g/a/r/second-steps', tags: ['kept', 'New'] };
  const { body } = await asOwner.call(editGuideOperation, { params, body: changes, files: { logo: LOGO } });
  assert.deepEqual([body.name, body.name_id, body.date_updated], ['Second steps', 'second-steps', api.clock.now()]);
  assert.deepEqual(
    body.tags.map(({ name, date_added }) => [name, api.clock.now() - date_added]),
    [
      ['New', 0],
      ['kept', 5],
    ],
  );
  assert.ok(body.logo.original);
  assert.equal(
    (await asManager.call(editGuideOperation, { params, body: { community_options: 0 } })).body.community_options,
    0,
  );
  for (const client of [stranger, asModerator])
    for (const sent of [{ body: { name: 'Mine' } }, { body: { name: 'Mine' }, files: { logo: LOGO } }])
      await client.refused(editGuideOperation, { params, ...sent }, 403, 14036);
  await stranger.refused(editGuideOperation, { params, body: { status: 0 } }, 403, 14036);
  assert.equal((await asModerator.call(editGuideOperation, { params, body: { status: 0 } })).body.status, 0);
  assert.deepEqual(await idsOf(api.withKey(game), game), []);
});

test('author and team delete a guide, nobody else does', async () => {
  const game = await api.aGame();
  const [one, two, three] = [await api.aGuide({ game }), await api.aGuide({ game }), await api.aGuide({ game })];
  const stranger = await api.as(await api.aUser());
  await stranger.refused(deleteGuideOperation, { params: at(one) }, 403, 14028);
  await stranger.refused(editGuideOperation, { params: at(one), body: { status: 3 } }, 403, 14028);
  assert.equal((await (await api.as(one.owner)).call(deleteGuideOperation, { params: at(one) })).status, 204);
  assert.equal((await (await api.as(game.owner)).call(deleteGuideOperation, { params: at(two) })).status, 204);
  const asThird = await api.as(three.owner);
  assert.equal((await asThird.call(editGuideOperation, { params: at(three), body: { status: 3 } })).body.status, 3);
  assert.deepEqual(await idsOf(api.withKey(game), game), []);
});

test('while a copyright complaint is open only the game’s team edits or deletes a guide', async () => {
  const game = await api.aGame();
  const guide = await api.aGuide({ game });
  const params = at(guide);
  const [asOwner, asTeam] = [await api.as(guide.owner), await api.as(game.owner)];
  const complaint = async (open: boolean) => {
    const body = { resource: 'guides', id: guide.id, decision: open ? 'open-dmca' : 'close-dmca', reason: 'A claim' };
    const decided = await asTeam.call(decideOverContent, { params: { game_id: game.id }, body });
    assert.ok(decided.status < 300, decided.text);
  };
  await complaint(true);
  await asOwner.refused(editGuideOperation, { params, body: { name: 'Other' } }, 403, 14031);
  await asOwner.refused(editGuideOperation, { params, body: { status: 3 } }, 403, 14029);
  await asOwner.refused(deleteGuideOperation, { params }, 403, 14031);
  assert.equal((await asTeam.call(editGuideOperation, { params, body: { status: 0 } })).body.status, 0);
  await complaint(false);
  assert.equal((await asOwner.call(deleteGuideOperation, { params })).status, 204);
});

test('only the game’s team sets tags of locked and hidden groups, and they stay when the author sends them back', async () => {
  const tagGroups = [
    { name: 'Awards', type: 'checkboxes' as const, locked: true, tags: ['Winner'] },
    { name: 'Notes', type: 'checkboxes' as const, hidden: true, tags: ['Checked'] },
    { name: 'Kind', type: 'checkboxes' as const, tags: ['Map'] },
  ];
  const game = await api.aGame({ tagGroups });
  const [asAda, asTeam] = [await api.as(await api.aUser()), await api.as(game.owner)];
  for (const tag of ['WINNER', 'Checked'])
    await asAda.refused(addGuideOperation, submission(game, { tags: ['Map', tag] }), 403, 19044);
  const { body } = await asAda.call(addGuideOperation, submission(game, { tags: ['Map', 'Anything'] }));
  const params = { game_id: game.id, guide_id: body.id };
  await asAda.refused(editGuideOperation, { params, body: { tags: ['Winner'] } }, 403, 19044);
  await asTeam.call(editGuideOperation, { params, body: { tags: ['Map', 'Winner'] } });
  const edited = await asAda.call(editGuideOperation, { params, body: { tags: ['Winner'] } });
  assert.deepEqual(
    edited.body.tags.map(({ name }) => name),
    ['Winner'],
  );
});

test('visits count once a day per address, also concurrent ones, and are removed after a day', async () => {
  const guide = await api.aGuide();
  const key = await api.as(guide.owner);
  const stats = async () => (await key.call(getGuide, { params: at(guide) })).body.stats[0]!;
  const visits = async () => {
    const { visits_today, visits_total } = await stats();
    return [visits_today, visits_total];
  };
  await Promise.all(Array.from({ length: 16 }, stats));
  assert.deepEqual(await visits(), [1, 1]);
  api.clock.advance(DAY);
  assert.deepEqual(await visits(), [2, 2]);
  api.clock.advance(2 * HOUR);
  await composeWorker(api.app()).runDue();
  const seen = await visits();
  assert.equal(seen[0]! + 1, seen[1]);
  const draft = await api.aGuide({ owner: guide.owner, status: 0 });
  assert.equal((await key.call(getGuide, { params: at(draft) })).body.stats[0]!.visits_total, 0);
});

test('lists of guides are filtered and sorted', async () => {
  const game = await api.aGame();
  const grace = await api.aUser({ username: 'Grace Hopper' });
  const guides = [
    await api.aGuide({ game, name: 'Zeppelins' }),
    await api.aGuide({ game, name: 'Airships', owner: grace }),
  ];
  const [first, second] = guides.map(({ id }) => id) as [number, number];
  const key = api.withKey(game);
  await key.call(getGuide, { params: at(guides[1]!) });
  await (await api.as(grace)).call(guideComments.add, { params: at(guides[1]!), body: { content: 'Ask here' } });
  for (const sort of ['name', '-visits_today', '-visits_total', '-comments_total', 'popular', 'visits', 'comments'])
    assert.deepEqual(await idsOf(key, game, { _sort: sort }), [second, first], sort);
  for (const sort of ['date_live', 'date_updated', '-submitted_by', 'visits_total', '-popular'])
    assert.deepEqual(await idsOf(key, game, { _sort: sort }), [first, second], sort);
  const found: [string, string | number][] = [
    ['submitted_by_display_name', 'grace hopper'],
    ['submitted_by', grace.id],
    ['name_id', 'airships'],
    ['_q', 'airsh'],
    ['id', second],
  ];
  for (const [name, value] of found) assert.deepEqual(await idsOf(key, game, { [name]: value }), [second], name);
});
