import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, type Game, type Guide, type Mod, startApi } from '../../../test/api.ts';
import { editGameOperation } from '../../catalogue/games/operations.ts';
import { getMod } from '../../catalogue/mods/operations.ts';
import { MODERATOR } from '../../catalogue/teams/teams.ts';
import { deleteGuideOperation, editGuideOperation } from '../../community/guides/operations.ts';
import { subscribeToMod } from '../../community/subscriptions/operations.ts';
import { getGameAudit } from '../../studio/audit/operations.ts';
import {
  getGameReports,
  getReportedItems,
  getReports,
  resolveGameReport,
  resolveReport,
  submitReportOperation,
} from '../reports/operations.ts';
import {
  appealDecision,
  decideOverContent,
  getModerationQueue,
  getModerationState,
  getPendingFiles,
} from './operations.ts';

const api = await startApi();

async function moderated(settings: Record<string, number> = {}) {
  const game = await api.aGame({ settings });
  const moderator = await api.aUser();
  await api.joins(moderator, game, MODERATOR);
  return {
    game,
    moderator,
    team: await api.as(moderator),
    owner: await api.as(game.owner),
    params: { game_id: game.id },
  };
}

const decision = (game: Game, resource: 'mods' | 'guides', { id }: { id: number }, action: string, reason = '') => ({
  params: { game_id: game.id },
  body: { resource, id, decision: action, reason },
});
const at = (item: Mod | Guide, content: 'mods' | 'guides') => ({
  params: { game_id: item.game_id, content, content_id: item.id, mod_id: item.id, guide_id: item.id },
});

async function decides(client: Client, input: ReturnType<typeof decision>) {
  const answer = await client.call(decideOverContent, input);
  assert.equal(answer.status, 204, answer.text);
}

async function reports(item: { id: number }, resource: string, more: Record<string, string | number> = {}) {
  const client = await api.as(await api.aUser());
  const body = { resource, id: item.id, type: 0, summary: 'This is wrong', ...more };
  const answer = await client.call(submitReportOperation, { body });
  assert.equal(answer.status, 201, answer.text);
}

async function aWaitingMod(game: Game) {
  const mod = await api.aMod({ game, accepted: false });
  await api.aFile(mod);
  return mod;
}

test('pending content is in the queue in order, its author sees the position, and approved content leaves it', async () => {
  const { game, team, params } = await moderated({ curation_option: 2 });
  const [first, second] = [await aWaitingMod(game), await aWaitingMod(game)];
  await api.aMod({ game, accepted: false });
  const guide = await api.aGuide({ game, status: 0 });
  const queue = async () =>
    (await team.call(getModerationQueue, { params })).body.data.map(({ resource, id }) => [resource, id]);
  assert.deepEqual(
    (await queue()).toSorted(),
    [
      ['guides', guide.id],
      ['mods', first.id],
      ['mods', second.id],
    ].toSorted(),
  );
  const author = await api.as(second.owner);
  const place = async () => (await author.call(getModerationState, at(second, 'mods'))).body.place;
  const before = await place();
  assert.ok(before >= 2);
  await decides(team, decision(game, 'mods', first, 'approve'));
  assert.equal(await place(), before - 1);
  await team.refused(decideOverContent, decision(game, 'mods', first, 'approve'), 400, 29501);
  assert.equal((await api.withKey(game).call(getMod, at(first, 'mods'))).status, 200);
});

test('a mod without a file cannot be approved', async () => {
  const { game, team } = await moderated();
  const mod = await api.aMod({ game, accepted: false });
  await team.refused(decideOverContent, decision(game, 'mods', mod, 'approve'), 403, 15016);
});

test('authors get the reason of a denial, and can appeal once', async () => {
  const { game, team, owner, params } = await moderated({ curation_option: 2 });
  for (const [content, item] of [
    ['mods', await aWaitingMod(game)],
    ['guides', await api.aGuide({ game, status: 0 })],
  ] as const) {
    const author = await api.as(item.owner);
    const appeal = { ...at(item, content), body: { reason: 'It is fine' } };
    await author.refused(appealDecision, appeal, 404, 29502);
    await decides(team, decision(game, content, item, 'deny', 'Too loud'));
    await team.refused(decideOverContent, decision(game, content, item, 'deny'), 400, 29501);
    const told = (await author.call(getModerationState, at(item, content))).body;
    assert.deepEqual([told.status, told.decision, told.reason, told.place], [0, 'deny', 'Too loud', 0]);
    await (await api.as(await api.aUser())).refused(appealDecision, appeal, 404, 29502);
    assert.equal((await author.call(appealDecision, appeal)).status, 204);
    await author.refused(appealDecision, appeal, 400, 29501);
    const { data } = (await owner.call(getModerationQueue, { params })).body;
    assert.equal(data.find(({ id, resource }) => id === item.id && resource === content)!.appeal, 'It is fine');
    await decides(team, decision(game, content, item, 'deny', 'Still'));
    await author.refused(appealDecision, appeal, 400, 29501);
  }
});

test('deleted content is listed with the moderator and the reason, and administrators restore it', async () => {
  const { game, moderator, team, owner, params } = await moderated();
  const mod = await api.aMod({ game });
  await api.aFile(mod);
  await decides(team, decision(game, 'mods', mod, 'delete', 'Stolen'));
  await team.refused(decideOverContent, decision(game, 'mods', mod, 'delete'), 400, 29501);
  const { data } = (await team.call(getModerationQueue, { params, query: { status: 3 } })).body;
  assert.deepEqual(
    data.map(({ id, decision: done, reason, decided_by }) => [id, done, reason, decided_by]),
    [[mod.id, 'delete', 'Stolen', moderator.id]],
  );
  await team.refused(decideOverContent, decision(game, 'mods', mod, 'restore'), 403, 15052);
  await decides(owner, decision(game, 'mods', mod, 'restore'));
  await owner.refused(decideOverContent, decision(game, 'mods', mod, 'restore'), 400, 29501);
  assert.equal((await api.withKey(game).call(getMod, at(mod, 'mods'))).status, 200);
  const actions = (await team.call(getGameAudit, { params })).body.data.map(({ action }) => action);
  assert.deepEqual(actions, ['mods.delete', 'mods.restore']);
});

test('a copyright complaint prevents subscriptions, and edits of a guide by its author', async () => {
  const { game, team } = await moderated();
  const [mod, guide] = [await api.aMod({ game }), await api.aGuide({ game })];
  await api.aFile(mod);
  for (const [content, item] of [
    ['mods', mod],
    ['guides', guide],
  ] as const) {
    await decides(team, decision(game, content, item, 'open-dmca'));
    await team.refused(decideOverContent, decision(game, content, item, 'open-dmca'), 400, 29501);
  }
  const author = await api.as(guide.owner);
  const client = await api.as(await api.aUser());
  await client.refused(subscribeToMod, at(mod, 'mods'), 403, 15000);
  await author.refused(deleteGuideOperation, at(guide, 'guides'), 403, 14031);
  await author.refused(editGuideOperation, { ...at(guide, 'guides'), body: { status: 3 } }, 403, 14029);
  assert.equal((await author.call(getModerationState, at(guide, 'guides'))).body.is_dmca, true);
  await decides(team, decision(game, 'mods', mod, 'close-dmca'));
  assert.equal((await client.call(subscribeToMod, at(mod, 'mods'))).status, 201);
});

test('the list of reports has one row per content with their number, by type, until they are resolved', async () => {
  const { game, team, params } = await moderated();
  const [mod, other] = [await api.aMod({ game }), await api.aMod({ game })];
  for (const type of [0, 0, 1]) await reports(mod, 'mods', { type });
  await reports(other, 'mods', { type: 2 });
  const items = async (query = {}) =>
    (await team.call(getReportedItems, { params, query })).body.data.map((row) => [row.resource_id, row.reports]);
  assert.deepEqual(await items(), [
    [mod.id, 3],
    [other.id, 1],
  ]);
  assert.deepEqual(await items({ type: 1 }), [[mod.id, 1]]);
  assert.deepEqual(await items({ type: 2 }), [[other.id, 1]]);
  assert.deepEqual(await items({ _sort: 'reports' }), [
    [other.id, 1],
    [mod.id, 3],
  ]);
  await decides(team, decision(game, 'mods', mod, 'resolve', 'Looked at'));
  assert.deepEqual(await items(), [[other.id, 1]]);
  assert.deepEqual(await items({ status: 1 }), [[mod.id, 3]]);
  await team.refused(decideOverContent, decision(game, 'mods', mod, 'resolve'), 400, 15044);
  await team.refused(decideOverContent, decision(game, 'mods', await api.aMod({ game }), 'resolve'), 404, 15056);
  const [report] = (await team.call(getGameReports, { params })).body.data;
  const which = { params: { ...params, report_id: report!.id } };
  assert.equal((await team.call(resolveGameReport, { ...which, body: { reason: 'No' } })).body.resolution, 'No');
  await team.refused(resolveGameReport, which, 400, 15044);
  await team.refused(resolveGameReport, { params: { ...params, report_id: 999_999 } }, 404, 15056);
});

test('site administrators resolve all reports, except those about users in a game, which its team resolves', async () => {
  const { game, team, params } = await moderated();
  const admin = await api.as(await api.aUser({ admin: true }));
  const [met, elsewhere] = [await api.aUser(), await api.aUser()];
  await reports(met, 'users', { game_name_id: game.name_id });
  await reports(elsewhere, 'users');
  const { data } = (await admin.call(getReports, { query: { resource: 'users', _limit: 100 } })).body;
  const idOf = (user: { id: number }) => ({
    params: { report_id: data.find(({ resource_id }) => resource_id === user.id)!.id },
  });
  await admin.refused(resolveReport, idOf(met), 403, 15045);
  assert.equal((await admin.call(resolveReport, idOf(elsewhere))).status, 200);
  await admin.refused(resolveReport, idOf(elsewhere), 400, 15044);
  await admin.refused(resolveReport, { params: { report_id: 999_999 } }, 404, 15056);
  const ofGame = { params: { ...params, ...idOf(met).params } };
  assert.equal((await team.call(resolveGameReport, ofGame)).status, 200);
  await team.refused(getReports, {}, 403, 17012);
  await team.refused(resolveReport, idOf(met), 403, 17012);
});

test('only the team of the game uses its queues and decisions', async () => {
  const { game, params } = await moderated({ curation_option: 2 });
  const mod = await aWaitingMod(game);
  await reports(await api.aMod({ game }), 'mods');
  const other = await moderated();
  for (const client of [await api.as(await api.aUser()), other.team, await api.as(mod.owner)]) {
    for (const read of [getModerationQueue, getPendingFiles, getReportedItems, getGameReports])
      await client.refused(read, { params }, 403, 29500);
    await client.refused(decideOverContent, decision(game, 'mods', mod, 'approve'), 403, 29500);
    await client.refused(resolveGameReport, { params: { ...params, report_id: 1 } }, 403, 29500);
  }
  await other.team.refused(getModerationState, at(mod, 'mods'), 404, 29502);
  await other.team.refused(decideOverContent, decision(other.game, 'mods', mod, 'approve'), 404, 29502);
  await other.team.refused(decideOverContent, decision(other.game, 'guides', { id: 999_999 }, 'approve'), 404, 29502);
  assert.equal((await other.team.call(getGameReports, { params: other.params })).body.result_total, 0);
});

test('pending files are listed per platform', async () => {
  const { game, team, owner, params } = await moderated();
  const platforms = [{ platform: 'windows' }, { platform: 'ps5', moderated: true }];
  await owner.call(editGameOperation, { params, body: { input_json: JSON.stringify({ platforms }) } });
  const mod = await api.aMod({ game });
  const file = await api.aFile(mod, { platforms: ['windows', 'ps5'] });
  const { data } = (await team.call(getPendingFiles, { params })).body;
  assert.deepEqual(
    data.map(({ id, platform, mod_id }) => [id, platform, mod_id]),
    [[file.id, 'ps5', mod.id]],
  );
  assert.equal((await team.call(getPendingFiles, { params, query: { platform: 'windows' } })).body.result_total, 0);
});

test('content is hidden once when as many users as the game has set report it, also concurrently', async () => {
  const { game, team, owner, params } = await moderated();
  assert.equal((await owner.call(editGameOperation, { params, body: { takedown_reports: 16 } })).status, 200);
  const [mod, guide] = [await api.aMod({ game }), await api.aGuide({ game })];
  await api.aFile(mod);
  const key = api.withKey(game);
  const body = { resource: 'mods', id: mod.id, type: 3, summary: 'Again and again' };
  for (let i = 0; i < 3; i += 1) await key.call(submitReportOperation, { body });
  for (const [content, item] of [
    ['mods', mod],
    ['guides', guide],
  ] as const) {
    await Promise.all(Array.from({ length: 15 }, () => reports(item, content)));
    const author = await api.as(item.owner);
    const state = async () => (await author.call(getModerationState, at(item, content))).body;
    assert.equal((await state()).status, 1);
    await reports(item, content);
    const { status, decision: done, place } = await state();
    assert.deepEqual([status, done, place > 0], [0, 'takedown', true]);
  }
  await api.withKey(game).refused(getMod, at(mod, 'mods'), 404, 15022);
  await decides(team, decision(game, 'mods', mod, 'approve'));
  assert.equal((await team.call(getReportedItems, { params, query: { resource: 'mods' } })).body.result_total, 0);
  const actions = (await team.call(getGameAudit, { params })).body.data.map(({ action, user_id }) => [
    action,
    user_id === 0,
  ]);
  assert.deepEqual(actions, [
    ['games.edit', false],
    ['mods.takedown', true],
    ['guides.takedown', true],
    ['mods.approve', false],
  ]);
});
