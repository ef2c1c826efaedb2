import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom, startApi } from '../../../test/api.ts';
import { editGameOperation } from '../../catalogue/games/operations.ts';
import { composeWorker } from '../../composition/compose.ts';
import { deleteModfileOperation, managePlatformStatus } from '../../files/modfiles/operations.ts';
import { mergeAUser } from '../../signin/accounts/operations.ts';
import { submitReportOperation } from '../reports/operations.ts';
import {
  appealDecision,
  claimNextContent,
  decideOverContent,
  getModerationQueue,
  getModerationState,
  getModerationStatistics,
  getPendingFiles,
  undoModerationDecision,
} from './operations.ts';

const STEPS = 80;

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
const { query } = api.app().db;

interface Content {
  readonly resource: 'mods' | 'guides';
  readonly id: number;
}
const nameOf = (resource: string, id: number) => `${resource}/${id}`;

/** The oldest first, read row by row. */
async function expectedQueue(gameId: number): Promise<string[]> {
  const decisions = await query.selectFrom('moderation_decisions').selectAll().orderBy('id').execute();
  const last = new Map(decisions.map((each) => [nameOf(each.resource, each.resource_id), each]));
  const live = new Set((await query.selectFrom('mod_live_files').select('mod_id').execute()).map((row) => row.mod_id));
  const pending: { resource: string; id: number; date_added: number }[] = [];
  for (const resource of ['mods', 'guides'] as const)
    for (const row of await query.selectFrom(resource).select(['id', 'game_id', 'status', 'date_added']).execute()) {
      const decision = last.get(nameOf(resource, row.id));
      const isDenied = decision?.action === 'deny' && decision.date_appealed === 0;
      const isComplete = resource === 'guides' || live.has(row.id);
      if (row.game_id === gameId && row.status === 0 && isComplete && !isDenied) pending.push({ ...row, resource });
    }
  return pending
    .sort(
      (one, other) =>
        one.date_added - other.date_added || one.id - other.id || (one.resource < other.resource ? -1 : 1),
    )
    .map(({ resource, id }) => nameOf(resource, id));
}

/** By the id of the file. */
async function expectedFiles(gameId: number): Promise<string[]> {
  const files = await query.selectFrom('modfiles').selectAll().where('game_id', '=', gameId).orderBy('id').execute();
  const mods = await query.selectFrom('mods').select(['id', 'status']).execute();
  const platforms = await query.selectFrom('modfile_platforms').selectAll().orderBy('platform').execute();
  return files
    .filter(({ status, withdrawn }) => status === 1 && withdrawn === 0)
    .filter(({ mod_id }) => mods.find(({ id }) => id === mod_id)!.status !== 3)
    .flatMap(({ id }) => platforms.filter(({ modfile_id, status }) => modfile_id === id && status === 0))
    .map(({ modfile_id, platform }) => `${modfile_id}/${platform}`);
}

const DAY = 86_400;

/** The decisions of people: of the last day and week, by moderator, and by day and kind. */
async function expectedDecisions(gameId: number) {
  const now = api.app().clock.now();
  const rows = await query.selectFrom('moderation_decisions').selectAll().where('game_id', '=', gameId).execute();
  const decisions = rows.filter(({ user_id }) => user_id !== 0);
  const since = (age: number) => decisions.filter(({ date_added }) => date_added >= now - age);
  const moderators = Object.groupBy(since(7 * DAY), ({ user_id }) => user_id);
  const days = Array.from({ length: 30 }, (_, index) => {
    const date = now - (now % DAY) - (29 - index) * DAY;
    const made = decisions.filter(({ date_added }) => date_added >= date && date_added < date + DAY);
    const of = (...actions: string[]) => made.filter(({ action }) => actions.includes(action)).length;
    return { date, approved: of('approve', 'restore'), denied: of('deny'), deleted: of('delete') };
  });
  return {
    decided_day: since(DAY).length,
    decided_week: since(7 * DAY).length,
    days,
    moderators: Object.entries(moderators).map(([id, made]) => [Number(id), made!.length]),
  };
}

test('the queue and its numbers are those of the content, whatever moderators and authors do', async () => {
  const game = await api.aGame({ settings: { curation_option: 2, takedown_reports: 1 } });
  const params = { game_id: game.id };
  const team = await api.as(game.owner);
  const platforms = [
    { platform: 'windows' },
    { platform: 'ps5', moderated: true },
    { platform: 'switch', moderated: true },
  ];
  await team.call(editGameOperation, { params, body: { input_json: JSON.stringify({ platforms }) } });
  const author = await api.aUser();
  const theirs = await api.as(author);
  const contents: Content[] = [];
  const files: { mod_id: number; file_id: number }[] = [];
  const addMod = async () => {
    const mod = await api.aMod({ game, accepted: false, owner: author });
    contents.push({ resource: 'mods', id: mod.id });
    const { id } = await api.aFile(mod, { platforms: ['windows', 'ps5', 'switch'] });
    files.push({ mod_id: mod.id, file_id: id });
  };
  const addGuide = async () => {
    const { id } = await api.aGuide({ game, status: 0, owner: author });
    contents.push({ resource: 'guides', id });
  };
  const incomplete = await api.aMod({ game, accepted: false, owner: author });
  contents.push({ resource: 'mods', id: incomplete.id });
  await addMod();
  await addGuide();

  const random = seededRandom('queue');
  const pick = <T>(from: readonly T[]): T => from[random.bytes(2).readUInt16LE() % from.length]!;
  const at = ({ resource, id }: Content) => ({ params: { ...params, content: resource, content_id: id } });
  const ofFile = () => ({ params: { ...params, ...pick(files) } });
  const decide = (content: Content, decision: string) =>
    team.call(decideOverContent, { params, body: { ...content, decision, reason: 'Because' } });
  const appeal = (content: Content) => theirs.call(appealDecision, { ...at(content), body: { reason: 'It is fine' } });
  const moves: (() => Promise<unknown>)[] = [
    addMod,
    addGuide,
    async () => api.clock.advance(1),
    async () => api.clock.advance(13 * 3_600),
    () => decide(pick(contents), pick(['approve', 'deny', 'delete', 'restore'])),
    () => decide(pick(contents), 'deny'),
    async () => {
      const content = pick(contents);
      await decide(content, 'deny');
      await appeal(content);
    },
    () => appeal(pick(contents)),
    // Hides accepted content, which was perhaps denied before that.
    async () => {
      const reporter = await api.as(await api.aUser());
      await reporter.call(submitReportOperation, { body: { ...pick(contents), type: 0, summary: 'Wrong' } });
    },
    () => team.call(undoModerationDecision, at(pick(contents))),
    () =>
      team.call(managePlatformStatus, {
        ...ofFile(),
        body: { [pick(['approved', 'denied'])]: [pick(['ps5', 'switch'])] },
      }),
    () => theirs.call(deleteModfileOperation, ofFile()),
  ];

  for (let step = 0; step < STEPS; step += 1) {
    await pick(moves)();
    const expected = await expectedQueue(game.id);
    const queue = (await team.call(getModerationQueue, { params, query: { _sort: 'date_added' } })).body;
    assert.deepEqual(
      queue.data.map(({ resource, id }) => nameOf(resource, id)),
      expected,
      `step ${step}`,
    );
    assert.equal(queue.result_total, expected.length);
    const content = pick(contents);
    const { place } = (await team.call(getModerationState, at(content))).body;
    assert.equal(place, expected.indexOf(nameOf(content.resource, content.id)) + 1);
    const pending = await expectedFiles(game.id);
    const listed = (await team.call(getPendingFiles, { params })).body;
    assert.deepEqual(
      listed.data.map(({ id, platform }) => `${id}/${platform}`),
      pending,
      `step ${step}`,
    );
    assert.equal(listed.result_total, pending.length);
    const statistics = (await team.call(getModerationStatistics, { params })).body;
    assert.equal(
      statistics.waiting.reduce((sum, { count }) => sum + count, 0),
      expected.length,
    );
    assert.equal(statistics.files, pending.length);
    const { decided_day, decided_week, days, moderators } = statistics;
    const decided = moderators.map(({ user_id, decisions }) => [user_id, decisions]);
    assert.deepEqual(
      { decided_day, decided_week, days, moderators: decided },
      await expectedDecisions(game.id),
      `step ${step}`,
    );
  }
});

test('only the last decision counts: what was denied, then approved, and hidden by a report waits again', async () => {
  const game = await api.aGame({ settings: { takedown_reports: 1 } });
  const params = { game_id: game.id };
  const team = await api.as(game.owner);
  const mod = await api.aMod({ game, accepted: false });
  await api.aFile(mod);
  const waiting = async () => (await team.call(getModerationQueue, { params })).body.data.map(({ id }) => id);
  const body = { resource: 'mods', id: mod.id };
  await team.call(decideOverContent, { params, body: { ...body, decision: 'deny', reason: 'Because' } });
  assert.deepEqual(await waiting(), []);
  await team.call(decideOverContent, { params, body: { ...body, decision: 'approve', reason: '' } });
  assert.deepEqual(await waiting(), []);
  const reporter = await api.as(await api.aUser());
  await reporter.call(submitReportOperation, { body: { ...body, type: 0, summary: 'Wrong' } });
  assert.deepEqual(await waiting(), [mod.id]);
});

test('a mod and a guide with the same date and id have places of their own, and are claimed in that order', async () => {
  const game = await api.aGame({ settings: { curation_option: 2 } });
  const params = { game_id: game.id };
  const team = await api.as(game.owner);
  const author = await api.aUser();
  const aMod = () => api.aMod({ game, accepted: false, owner: author });
  const aGuide = () => api.aGuide({ game, status: 0, owner: author });
  let [mod, guide] = [await aMod(), await aGuide()];
  while (mod.id !== guide.id)
    if (mod.id < guide.id) mod = await aMod();
    else guide = await aGuide();
  await api.aFile(mod);
  const { data } = (await team.call(getModerationQueue, { params, query: { _sort: 'date_added' } })).body;
  const places: number[] = [];
  for (const { resource, id } of data) {
    const state = await team.call(getModerationState, {
      params: { ...params, content: resource as 'mods', content_id: id },
    });
    places.push(state.body.place);
  }
  assert.equal(data.filter(({ id }) => id === mod.id).length, 2);
  assert.deepEqual(
    places,
    data.map((_, index) => index + 1),
  );
  const body = { count: Math.min(50, data.length) };
  const claimed = (await team.call(claimNextContent, { params, body })).body.data;
  assert.deepEqual(
    claimed.map(({ resource, id }) => nameOf(resource, id)),
    data.slice(0, body.count).map(({ resource, id }) => nameOf(resource, id)),
  );
});

test('decisions of merged accounts, and of several moderators at once, are counted for those who made them', async () => {
  const game = await api.aGame();
  const params = { game_id: game.id };
  const [lost, kept] = [await api.aUser(), await api.aUser()];
  for (const user of [lost, kept]) await api.joins(user, game, 1);
  const clients = [await api.as(lost), await api.as(kept), await api.as(game.owner)];
  const mods = await Promise.all(Array.from({ length: 9 }, () => api.aMod({ game, accepted: false })));
  await Promise.all(
    mods.map(({ id }, index) =>
      clients[index % 3]!.call(decideOverContent, {
        params,
        body: { resource: 'mods', id, decision: 'deny', reason: 'Because' },
      }),
    ),
  );
  const decided = async () => {
    const { moderators } = (await clients[2]!.call(getModerationStatistics, { params })).body;
    return Object.fromEntries(moderators.map(({ user_id, decisions }) => [user_id, decisions]));
  };
  assert.deepEqual(await decided(), { [lost.id]: 3, [kept.id]: 3, [game.owner.id]: 3 });
  const staff = await api.as(await api.aUser({ admin: true }));
  const merged = await staff.call(mergeAUser, {
    params: { user_id: lost.id },
    body: { into: kept.id, reason: 'Lost' },
  });
  assert.equal(merged.status, 204, merged.text);
  await composeWorker(api.app()).runDue();
  assert.deepEqual(await decided(), { [kept.id]: 6, [game.owner.id]: 3 });
  const left = await query.selectFrom('moderation_days').select('user_id').where('user_id', '=', lost.id).execute();
  assert.deepEqual(left, []);
});
