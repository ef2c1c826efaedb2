import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, type Game, type Mod, startApi, type User } from '../../../test/api.ts';
import { mailsTo } from '../../../test/mails.ts';
import { editModByPut, getMod } from '../../catalogue/mods/operations.ts';
import { MODERATOR } from '../../catalogue/teams/teams.ts';
import { composeWorker } from '../../composition/compose.ts';
import { getNotifications } from '../../people/notifications/operations.ts';
import { getGameAudit } from '../../studio/audit/operations.ts';
import { getGameReports, submitReportOperation } from '../reports/operations.ts';
import { CLAIM_SECONDS } from './claims.ts';
import { UNDO_SECONDS } from './decisions.ts';
import {
  appealDecision,
  claimContent,
  claimNextContent,
  decideOverContent,
  getContentChanges,
  getModerationQueue,
  getModerationState,
  getModerationStatistics,
  releaseContent,
  undoModerationDecision,
} from './operations.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
const worker = composeWorker(api.app());

async function aQueue(mods: number) {
  const game = await api.aGame({ settings: { curation_option: 2 } });
  const moderators: { user: User; client: Client }[] = [];
  for (let count = 0; count < 2; count += 1) {
    const user = await api.aUser();
    await api.joins(user, game, MODERATOR);
    moderators.push({ user, client: await api.as(user) });
  }
  const waiting: Mod[] = [];
  for (let count = 0; count < mods; count += 1) waiting.push(await aWaitingMod(game));
  const [one, other] = moderators;
  return { game, waiting, one: one!, other: other!, owner: await api.as(game.owner), params: { game_id: game.id } };
}

async function aWaitingMod(game: Game, owner?: User) {
  const mod = await api.aMod({ game, accepted: false, ...(owner && { owner }) });
  await api.aFile(mod);
  return mod;
}

const at = ({ game_id, id }: Mod) => ({ params: { game_id, content: 'mods' as const, content_id: id } });
const decision = ({ game_id, id }: Mod, action: string, reason = '') => ({
  params: { game_id },
  body: { resource: 'mods', id, decision: action, reason },
});
async function decides(client: Client, mod: Mod, action: string, reason = '') {
  const answer = await client.call(decideOverContent, decision(mod, action, reason));
  assert.equal(answer.status, 204, answer.text);
}

test('while a moderator has claimed content nobody else decides on it, until the claim ends or expires', async () => {
  const { waiting, one, other, owner, params } = await aQueue(3);
  const [first, second, third] = waiting as [Mod, Mod, Mod];
  const claimed = await one.client.call(claimContent, at(first));
  assert.equal(claimed.body.claimed_by, one.user.id);
  await other.client.refused(claimContent, at(first), 409, 29501);
  await other.client.refused(decideOverContent, decision(first, 'approve'), 409, 29501);
  await other.client.refused(releaseContent, at(first), 409, 29501);
  const { data } = (await other.client.call(getModerationQueue, { params, query: { claimed_by: one.user.id } })).body;
  assert.deepEqual(
    data.map(({ id, claimed_by, date_claim_expires }) => [id, claimed_by, date_claim_expires]),
    [[first.id, one.user.id, claimed.body.date_claim_expires]],
  );
  api.clock.advance(CLAIM_SECONDS - 1);
  const renewed = await one.client.call(claimContent, at(first));
  assert.equal(renewed.body.date_claim_expires, claimed.body.date_claim_expires + CLAIM_SECONDS - 1);
  await decides(one.client, first, 'approve');
  await one.client.refused(releaseContent, at(first), 404, 29502);

  await one.client.call(claimContent, at(second));
  assert.equal((await one.client.call(releaseContent, at(second))).status, 204);
  await decides(other.client, second, 'approve');

  await one.client.call(claimContent, at(third));
  assert.equal((await owner.call(releaseContent, at(third))).status, 204, 'an administrator ends the claim');
  await one.client.call(claimContent, at(third));
  api.clock.advance(CLAIM_SECONDS);
  await decides(other.client, third, 'approve');
});

test('of moderators who claim at the same time one gets the item, and taking the next gives each others', async () => {
  const { waiting, one, other, params } = await aQueue(6);
  const both = await Promise.all([
    one.client.call(claimContent, at(waiting[0]!)),
    other.client.call(claimContent, at(waiting[0]!)),
  ]);
  assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, 409]);
  const winner = both[0]!.status === 200 ? one : other;
  await winner.client.call(releaseContent, at(waiting[0]!));
  const take = { params, body: { count: 3, resource: 'mods' } };
  const taken = await Promise.all([one, other].map(({ client }) => client.call(claimNextContent, take)));
  const ids = taken.map(({ body }) => body.data.map(({ id }) => id));
  assert.deepEqual(
    ids.flat().toSorted((a, b) => a - b),
    waiting.map(({ id }) => id),
  );
  const again = await one.client.call(claimNextContent, take);
  assert.deepEqual(
    again.body.data.map(({ id }) => id),
    ids[0],
    'a repeated request takes no more',
  );
  await Promise.all(
    waiting.map(async (mod) => {
      const results = await Promise.all(
        [one, other].map(({ client }) => client.call(decideOverContent, decision(mod, 'approve'))),
      );
      assert.deepEqual(
        results
          .map(({ status }) => status)
          .toSorted((a, b) => a - b)
          .slice(0, 1),
        [204],
      );
      assert.equal(results.filter(({ status }) => status === 204).length, 1);
    }),
  );
});

test('a decision is undone within a minute by the moderator who made it, with its reports, and without a mail', async () => {
  const { game, one, other, params } = await aQueue(0);
  const email = 'undone@example.org';
  const mod = await api.aMod({ game, owner: await api.aUser({ email }) });
  await api.aFile(mod);
  // The mail about the file that went live.
  await worker.runDue();
  const sent = mailsTo(api, email).length;
  const reporter = await api.as(await api.aUser());
  const report = { resource: 'mods', id: mod.id, type: 0, summary: 'This is wrong' };
  assert.equal((await reporter.call(submitReportOperation, { body: report })).status, 201);
  const author = await api.as(mod.owner);
  const notices = async (client: Client) => (await client.call(getNotifications, {})).body.data.map(({ kind }) => kind);
  const open = async () => (await one.client.call(getGameReports, { params })).body.result_total;
  await one.client.refused(undoModerationDecision, at(mod), 404, 29502);
  const isPublic = async () =>
    (await api.withKey(game).call(getMod, { params: { ...params, mod_id: mod.id } })).status === 200;
  for (const action of ['deny', 'delete']) {
    await decides(one.client, mod, action, 'By mistake');
    assert.equal(await isPublic(), false);
    assert.equal(await open(), 0);
    await other.client.refused(undoModerationDecision, at(mod), 404, 29502);
    assert.equal((await one.client.call(undoModerationDecision, at(mod))).status, 204);
    await one.client.refused(undoModerationDecision, at(mod), 404, 29502);
    const state = (await author.call(getModerationState, at(mod))).body;
    assert.deepEqual([state.status, state.decision, await isPublic(), await open()], [1, '', true, 1]);
    assert.deepEqual([await notices(author), await notices(reporter)], [[], []]);
    await worker.runDue();
    assert.equal(mailsTo(api, email).length, sent);
  }
  const actions = (await one.client.call(getGameAudit, { params })).body.data.map(({ action }) => action);
  assert.deepEqual(actions, ['mods.deny', 'mods.undo', 'mods.delete', 'mods.undo']);
  const waiting = await aWaitingMod(game);
  await decides(one.client, waiting, 'approve');
  await one.client.call(undoModerationDecision, at(waiting));
  const state = (await one.client.call(getModerationState, at(waiting))).body;
  assert.deepEqual([state.status, state.place], [0, 1], 'it waits again');

  await decides(one.client, mod, 'deny', 'On purpose');
  api.clock.advance(UNDO_SECONDS);
  await one.client.refused(undoModerationDecision, at(mod), 400, 29501);
  await worker.runDue();
  await worker.runDue();
  assert.equal(mailsTo(api, email).length, sent + 1);
});

test('a decision that its author has answered, or that another followed, stays', async () => {
  const { waiting, one, other } = await aQueue(2);
  const [appealed, followed] = waiting as [Mod, Mod];
  await decides(one.client, appealed, 'deny');
  await (await api.as(appealed.owner)).call(appealDecision, { ...at(appealed), body: { reason: 'It is fine' } });
  await one.client.refused(undoModerationDecision, at(appealed), 400, 29501);
  await decides(one.client, followed, 'approve');
  await decides(other.client, followed, 'delete');
  await one.client.refused(undoModerationDecision, at(followed), 404, 29502);
});

test('moderators see what changed since the last decision, and filter the queue by appeals', async () => {
  const { waiting, one, params } = await aQueue(2);
  const [mod, untouched] = waiting as [Mod, Mod];
  const changes = async (of: Mod) => (await one.client.call(getContentChanges, at(of))).body;
  assert.deepEqual(await changes(mod), { decision: '', date_decided: 0, changes: [] });
  await decides(one.client, mod, 'deny', 'Too loud');
  const author = await api.as(mod.owner);
  const edit = { params: { ...params, mod_id: mod.id }, body: { summary: 'It is quiet now' } };
  const edited = await author.call(editModByPut, edit);
  assert.equal(edited.status, 200, edited.text);
  await api.aFile(mod);
  const listed = async () =>
    (await one.client.call(getModerationQueue, { params, query: { appealed: 1 } })).body.data.map(({ id }) => id);
  assert.deepEqual(await listed(), []);
  await author.call(appealDecision, { ...at(mod), body: { reason: 'I mended it' } });
  assert.deepEqual(await listed(), [mod.id]);
  const { decision: last, changes: found } = await changes(mod);
  assert.equal(last, 'deny');
  assert.deepEqual(found.map(({ field }) => field).toSorted(), ['files', 'summary']);
  const summary = found.find(({ field }) => field === 'summary')!;
  assert.equal(summary.after, 'It is quiet now');
  assert.notEqual(summary.before, summary.after);
  await (await api.as(mod.owner)).refused(getContentChanges, at(mod), 403, 29500);
  assert.deepEqual((await changes(untouched)).changes, []);
});

test('statistics tell age and pace of a queue, and authors when to expect the decision', async () => {
  const { waiting, one, params } = await aQueue(4);
  const [first, second, third, fourth] = waiting as [Mod, Mod, Mod, Mod];
  const expected = async (mod: Mod) =>
    (await (await api.as(mod.owner)).call(getModerationState, at(mod))).body.date_expected;
  assert.equal(await expected(fourth), 0, 'nobody has decided yet');
  api.clock.advance(7_200);
  await decides(one.client, first, 'approve');
  api.clock.advance(3_600);
  await decides(one.client, second, 'deny');
  api.clock.advance(3_600);
  const now = api.app().clock.now();
  // Two decisions in two hours: the second in line waits for two more hours.
  assert.equal(await expected(fourth), now + 2 * 3_600);
  assert.equal(await expected(third), now + 3_600);
  await one.client.call(claimContent, at(third));
  const stats = (await one.client.call(getModerationStatistics, { params })).body;
  assert.deepEqual(stats.waiting.find(({ resource }) => resource === 'mods')?.count, 2);
  assert.deepEqual(stats.ages, { hour: 0, day: 2, week: 0, older: 0 });
  assert.deepEqual([stats.claimed, stats.decided_day, stats.decided_week, stats.reports], [1, 2, 2, 0]);
  assert.equal(stats.median_wait, 7_200);
  assert.equal(stats.days.length, 30);
  const total = (kind: 'approved' | 'denied') => stats.days.reduce((sum, day) => sum + day[kind], 0);
  assert.deepEqual([total('approved'), total('denied')], [1, 1]);
  assert.deepEqual(
    stats.moderators.map(({ user_id, decisions }) => [user_id, decisions]),
    [[one.user.id, 2]],
  );
});
