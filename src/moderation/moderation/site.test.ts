import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, type Game, startApi, type User } from '../../../test/api.ts';
import { editGameOperation } from '../../catalogue/games/operations.ts';
import { MANAGER, MODERATOR } from '../../catalogue/teams/teams.ts';
import { addCollectionOperation, getModCollection } from '../../community/collections/operations.ts';
import { collectionComments, guideComments, modComments } from '../../community/comments/operations.ts';
import { getGuide } from '../../community/guides/operations.ts';
import { addStaffMember } from '../../people/staff/operations.ts';
import { STAFF_LEVELS } from '../../platform/access/staff.ts';
import { getGameAudit } from '../../studio/audit/operations.ts';
import { getReportedItemsOfSite, submitReportOperation } from '../reports/operations.ts';
import {
  appealDecision,
  decideOverContent,
  getModerationQueue,
  getModerationQueueOfSite,
  getModerationState,
  getPendingFilesOfSite,
} from './operations.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
const admin = await api.as(await api.aUser({ admin: true }));
const siteModerator = await api.aUser();
await admin.call(addStaffMember, { body: { user_id: siteModerator.id, level: STAFF_LEVELS.moderator } });
const staff = await api.as(siteModerator);

async function aTeam(settings: Record<string, number> = {}) {
  const game = await api.aGame({ settings });
  const moderator = await api.aUser();
  await api.joins(moderator, game, MODERATOR);
  return { game, moderator, team: await api.as(moderator), owner: await api.as(game.owner) };
}

async function aCollection(game: Game, owner: User, more: Record<string, string | number> = {}) {
  const mod = await api.aMod({ game });
  const body = { name: api.unique('Best of'), mod_ids: [mod.id], ...more };
  const answer = await (await api.as(owner)).call(addCollectionOperation, { params: { game_id: game.id }, body });
  assert.equal(answer.status, 201, answer.text);
  return answer.body.id;
}

const decision = (game: Game, resource: string, id: number, action: string, reason = '') => ({
  params: { game_id: game.id },
  body: { resource, id, decision: action, reason },
});

async function decides(client: Client, ...what: Parameters<typeof decision>) {
  const answer = await client.call(decideOverContent, decision(...what));
  assert.equal(answer.status, 204, answer.text);
}

const at = (game: Game, content: string, id: number) => ({
  params: { game_id: game.id, content, content_id: id },
});

test('collections are moderated like mods, and their authors are notified and can appeal once', async () => {
  const { game, moderator, team, owner } = await aTeam();
  const author = await api.aUser();
  const id = await aCollection(game, author, { status: 0, visible: 1 });
  const asAuthor = await api.as(author);
  const params = { game_id: game.id, collection_id: id };
  const seen = async () => (await api.withKey(game).call(getModCollection, { params })).status;
  const state = async () => (await asAuthor.call(getModerationState, at(game, 'collections', id))).body;
  const queued = async () =>
    (await team.call(getModerationQueue, { params, query: { resource: 'collections' } })).body.data.map(
      (item) => item.id,
    );
  assert.deepEqual([await seen(), await queued(), (await state()).place], [404, [id], 1]);
  await decides(team, game, 'collections', id, 'deny', 'Too few');
  assert.deepEqual(await queued(), []);
  const { status, decision: done, reason, place } = await state();
  assert.deepEqual([status, done, reason, place], [0, 'deny', 'Too few', 0]);
  const appeal = { ...at(game, 'collections', id), body: { reason: 'Now there are more' } };
  await (await api.as(await api.aUser())).refused(appealDecision, appeal, 404, 29502);
  assert.equal((await asAuthor.call(appealDecision, appeal)).status, 204);
  await asAuthor.refused(appealDecision, appeal, 400, 29501);
  assert.deepEqual(await queued(), [id]);
  await decides(team, game, 'collections', id, 'approve');
  assert.equal(await seen(), 200);
  await team.refused(decideOverContent, decision(game, 'collections', id, 'approve'), 400, 29501);
  await decides(team, game, 'collections', id, 'delete', 'Stolen');
  assert.equal(await seen(), 404);
  const { data } = (await team.call(getModerationQueue, { params, query: { status: 3 } })).body;
  assert.deepEqual(
    data.map((item) => [item.resource, item.id, item.decision, item.reason, item.decided_by]),
    [['collections', id, 'delete', 'Stolen', moderator.id]],
  );
  await team.refused(decideOverContent, decision(game, 'collections', id, 'restore'), 403, 15052);
  await decides(owner, game, 'collections', id, 'restore');
  assert.equal(await seen(), 200);
  await team.refused(decideOverContent, decision(game, 'collections', id, 'open-dmca'), 422, 13009);
  const actions = (await team.call(getGameAudit, { params })).body.data.map(({ action }) => action);
  assert.deepEqual(
    actions,
    ['deny', 'approve', 'delete', 'restore'].map((action) => `collections.${action}`),
  );
});

test('a denied comment is hidden with its replies, and restored with them', async () => {
  const { game, team, owner } = await aTeam();
  const [mod, guide] = [await api.aMod({ game }), await api.aGuide({ game })];
  const collectionId = await aCollection(game, await api.aUser());
  const author = await api.aUser();
  const asAuthor = await api.as(author);
  for (const [on, named] of [
    [modComments, { mod_id: mod.id }],
    [guideComments, { guide_id: guide.id }],
    [collectionComments, { collection_id: collectionId }],
  ] as const) {
    const params = { game_id: game.id, ...named };
    const write = async (content: string, reply_id = 0) =>
      (await asAuthor.call(on.add, { params, body: { content, reply_id } })).body.id;
    const above = await write(api.unique('Above'));
    const below = await write(api.unique('Below'), above);
    const beside = await write(api.unique('Beside'));
    const shown = async () =>
      (await api.withKey(game).call(on.getAll, { params })).body.data.map(({ id }) => id).sort((one, two) => one - two);
    assert.deepEqual(await shown(), [above, below, beside]);
    await decides(team, game, 'comments', above, 'deny', 'Rude');
    assert.deepEqual(await shown(), [beside]);
    const comment = { params: { ...params, comment_id: above } };
    await asAuthor.refused(on.getOne, comment, 404, 15026);
    await asAuthor.refused(on.update, { ...comment, body: { content: 'Sorry' } }, 404, 15026);
    await asAuthor.refused(on.add, { params, body: { content: 'More', reply_id: above } }, 404, 15026);
    const told = (await asAuthor.call(getModerationState, at(game, 'comments', above))).body;
    assert.deepEqual([told.status, told.decision, told.reason], [0, 'deny', 'Rude']);
    const appeal = { ...at(game, 'comments', above), body: { reason: 'It was a joke' } };
    assert.equal((await asAuthor.call(appealDecision, appeal)).status, 204);
    const waiting = (await team.call(getModerationQueue, { params, query: { resource: 'comments' } })).body.data;
    assert.deepEqual(
      waiting.map((item) => [item.id, item.appeal]),
      [[above, 'It was a joke']],
    );
    await decides(team, game, 'comments', above, 'approve');
    assert.deepEqual(await shown(), [above, below, beside]);
    await decides(team, game, 'comments', below, 'delete', 'Spam');
    assert.deepEqual(await shown(), [above, beside]);
    await team.refused(decideOverContent, decision(game, 'comments', below, 'restore'), 403, 15052);
    await decides(owner, game, 'comments', below, 'restore');
    assert.deepEqual(await shown(), [above, below, beside]);
    assert.equal((await asAuthor.call(on.remove, comment)).status, 204);
    await team.refused(decideOverContent, decision(game, 'comments', above, 'deny'), 404, 29502);
  }
  const [stats] = (await api.withKey(game).call(getGuide, { params: { game_id: game.id, guide_id: guide.id } })).body
    .stats;
  assert.equal(stats!.comments_total, 1);
});

test('a collection or a comment is hidden when as many users as the game has set report it, until its team has decided', async () => {
  const { game, team, owner } = await aTeam();
  const params = { game_id: game.id };
  await owner.call(editGameOperation, { params, body: { takedown_reports: 2 } });
  const mod = await api.aMod({ game });
  const author = await api.as(await api.aUser());
  const comment = await author.call(modComments.add, {
    params: { ...params, mod_id: mod.id },
    body: { content: 'Buy gold' },
  });
  const collection = await aCollection(game, await api.aUser());
  for (const [resource, id] of [
    ['comments', comment.body.id],
    ['collections', collection],
  ] as const) {
    for (const expected of [1, 0]) {
      const client = await api.as(await api.aUser());
      await client.call(submitReportOperation, { body: { resource, id, type: 3, summary: 'Rude' } });
      assert.equal((await team.call(getModerationState, at(game, resource, id))).body.status, expected);
    }
    await decides(team, game, resource, id, 'approve');
    assert.equal((await team.call(getModerationState, at(game, resource, id))).body.status, 1);
  }
});

test('only members who may edit a mod can appeal, so that nobody else uses up the only appeal', async () => {
  const { game, team } = await aTeam({ curation_option: 2 });
  const mod = await api.aMod({ game, accepted: false });
  await api.aFile(mod);
  const [helper, manager] = [await api.aUser(), await api.aUser()];
  await api.joinsMod(helper, mod, MODERATOR);
  await api.joinsMod(manager, mod, MANAGER);
  await decides(team, game, 'mods', mod.id, 'deny', 'Too loud');
  const appeal = { ...at(game, 'mods', mod.id), body: { reason: 'It is fine' } };
  const asHelper = await api.as(helper);
  assert.equal((await asHelper.call(getModerationState, at(game, 'mods', mod.id))).body.reason, 'Too loud');
  await asHelper.refused(appealDecision, appeal, 403, 15013);
  assert.equal((await (await api.as(manager)).call(appealDecision, appeal)).status, 204);
  await (await api.as(mod.owner)).refused(appealDecision, appeal, 400, 29501);
});

test('site staff lists the pending content of all games in one queue, in order, paged, with the exact total', async () => {
  const games = [await aTeam({ curation_option: 2 }), await aTeam({ curation_option: 2 })];
  const made: [string, number][] = [];
  for (const { game } of games) {
    const mod = await api.aMod({ game, accepted: false });
    await api.aFile(mod);
    api.clock.advance(1);
    const guide = await api.aGuide({ game, status: 0 });
    api.clock.advance(1);
    const collection = await aCollection(game, await api.aUser(), { status: 0, visible: 1 });
    api.clock.advance(1);
    made.push(['mods', mod.id], ['guides', guide.id], ['collections', collection]);
  }
  const fresh = await api.as(siteModerator);
  const ids = games.map(({ game }) => game.id).join(',');
  const ask = async (query: Record<string, string | number>) =>
    (await fresh.call(getModerationQueueOfSite, { query: { 'game_id-in': ids, ...query } })).body;
  const named = ({ data }: Awaited<ReturnType<typeof ask>>) => data.map(({ resource, id }) => [resource, id]);
  assert.deepEqual(named(await ask({ _sort: 'date_added' })), made);
  assert.deepEqual(named(await ask({ _sort: '-date_added' })), made.toReversed());
  const paged = [];
  for (const _offset of [0, 2, 4]) {
    const answer = await ask({ _sort: 'date_added', _limit: 2, _offset });
    assert.equal(answer.result_total, 6);
    paged.push(...named(answer));
  }
  assert.deepEqual(paged, made);
  assert.deepEqual(named(await ask({ resource: 'guides', _sort: 'date_added' })), [made[1], made[4]]);
  assert.equal((await ask({ game_id: games[0]!.game.id })).result_total, 3);
  const [first] = games;
  await decides(fresh, first!.game, 'mods', made[0]![1], 'delete', 'Stolen');
  assert.equal((await ask({})).result_total, 5);
  const deleted = await ask({ status: 3 });
  assert.deepEqual(
    deleted.data.map((item) => [item.id, item.game_id, item.reason, item.decided_by]),
    [[made[0]![1], first!.game.id, 'Stolen', siteModerator.id]],
  );
  assert.equal((await ask({ 'status-in': '0,3' })).result_total, 6);
});

test('site staff lists pending files per platform, and reports', async () => {
  const { game, owner } = await aTeam();
  const params = { game_id: game.id };
  const platforms = [{ platform: 'windows' }, { platform: 'ps5', moderated: true }];
  await owner.call(editGameOperation, { params, body: { input_json: JSON.stringify({ platforms }) } });
  const mod = await api.aMod({ game });
  const file = await api.aFile(mod, { platforms: ['windows', 'ps5'] });
  const fresh = await api.as(siteModerator);
  const files = (await fresh.call(getPendingFilesOfSite, { query: { platform: 'ps5', game_id: game.id } })).body;
  assert.deepEqual(
    files.data.map((item) => [item.id, item.game_id, item.platform]),
    [[file.id, game.id, 'ps5']],
  );
  for (const type of [1, 2, 2]) {
    const body = { resource: 'mods', id: mod.id, type, summary: 'Wrong' };
    await (await api.as(await api.aUser())).call(submitReportOperation, { body });
  }
  const items = async (query: Record<string, string | number>) =>
    (await fresh.call(getReportedItemsOfSite, { query: { game_id: game.id, ...query } })).body.data.map((item) => [
      item.resource_id,
      item.game_id,
      item.reports,
    ]);
  assert.deepEqual(await items({}), [[mod.id, game.id, 3]]);
  assert.deepEqual(await items({ type: 1 }), [[mod.id, game.id, 1]]);
  assert.deepEqual(await items({ type: 2 }), [[mod.id, game.id, 2]]);
  await decides(fresh, game, 'mods', mod.id, 'resolve', 'Looked at');
  assert.deepEqual(await items({}), []);
  assert.deepEqual(await items({ status: 1 }), [[mod.id, game.id, 3]]);
});

test('no team of a game sees the queues of the site', async () => {
  const { team, owner } = await aTeam();
  for (const client of [team, owner, await api.as(await api.aUser())])
    for (const read of [getModerationQueueOfSite, getPendingFilesOfSite, getReportedItemsOfSite])
      await client.refused(read, {}, 403, 17012);
  assert.equal((await staff.call(getModerationQueueOfSite)).status, 200);
});
