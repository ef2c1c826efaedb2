import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi } from '../../../test/api.ts';
import { mailsOf } from '../../../test/mails.ts';
import { composeWorker } from '../../composition/compose.ts';
import { rotateGameKeyOperation } from '../../signin/credentials/operations.ts';
import {
  addGameTeamMember,
  deleteGameTeamMember,
  getGameTeamMembers,
  updateGameTeamMember,
} from '../teams/operations.ts';
import { decidePermissionReview, getPermissionReviews, setPermissionReviews } from './operations.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
const worker = composeWorker(api.app());

/** A game with two administrators that requires reviews. */
async function aReviewingGame() {
  const second = await api.aUser({ email: `${api.unique('second').replace(' ', '-')}@example.org` });
  const game = await api.aGame();
  await api.joins(second, game, 8);
  const [owner, other] = [await api.as(game.owner), await api.as(second)];
  const params = { game_id: game.id };
  assert.equal((await owner.call(setPermissionReviews, { params, body: { required: true } })).body.required, true);
  return { game, second, owner, other, params };
}

const seatOf = async (client: Awaited<ReturnType<typeof api.as>>, game_id: number, userId: number) =>
  (await client.call(getGameTeamMembers, { params: { game_id } })).body.data.find(({ user }) => user.id === userId)!.id;

test('a new key waits for a second administrator, who gets a mail, and is then issued once', async () => {
  const { game, second, owner, other, params } = await aReviewingGame();
  await owner.refused(rotateGameKeyOperation, { params }, 403, 14044);
  await owner.refused(rotateGameKeyOperation, { params }, 403, 14044);
  await worker.runDue();
  const mails = mailsOf(api).filter(({ id }) => id?.startsWith('review-'));
  assert.deepEqual([mails.length, mails[0]?.text.includes(game.name)], [1, true]);
  const { data } = (await other.call(getPermissionReviews, { params })).body;
  assert.deepEqual(
    data.map(({ change, requested_by, approved }) => [change.kind, requested_by, approved]),
    [['rotate-key', game.owner.id, null]],
  );
  const decision = { params: { ...params, review_id: data[0]!.id }, body: { approved: true } };
  await owner.refused(decidePermissionReview, decision, 403, 17023);
  assert.equal((await other.call(decidePermissionReview, decision)).status, 204);
  await (await api.as(second)).refused(decidePermissionReview, decision, 400, 29501);
  assert.equal(
    (await api.withKey(game).call(getGameTeamMembers, { params })).status,
    200,
    'the old key is still valid',
  );
  assert.equal((await owner.call(rotateGameKeyOperation, { params })).status, 200);
  await owner.refused(rotateGameKeyOperation, { params }, 403, 14044);
});

test('changes of administrators and of the leader wait; lower levels and leaving do not', async () => {
  const { game, second, owner, other, params } = await aReviewingGame();
  const member = await api.aUser();
  await api.joins(member, game, 4);
  const team_member_id = await seatOf(owner, game.id, member.id);
  const raise = { params: { ...params, team_member_id }, body: { level: 8 } };
  await owner.refused(updateGameTeamMember, raise, 403, 14044);
  const invite = (level: number) => ({ params, body: { email: `new-${level}@example.org`, level } });
  await owner.refused(addGameTeamMember, invite(8), 403, 14044);
  assert.equal((await owner.call(addGameTeamMember, invite(4))).status, 201);
  const ofSecond = { params: { ...params, team_member_id: await seatOf(owner, game.id, second.id) } };
  await owner.refused(deleteGameTeamMember, ofSecond, 403, 14044);
  await owner.refused(updateGameTeamMember, { ...ofSecond, body: { leader: true } }, 403, 14044);
  const { data } = (await other.call(getPermissionReviews, { params })).body;
  assert.deepEqual(data.map(({ change }) => change.kind).sort(), ['change', 'change', 'invite', 'remove']);
  const raising = data.find(({ change }) => change.member === team_member_id)!;
  await other.call(decidePermissionReview, { params: { ...params, review_id: raising.id }, body: { approved: true } });
  await owner.refused(updateGameTeamMember, { ...raise, body: { level: 8, leader: true } }, 403, 14044);
  assert.equal((await owner.call(updateGameTeamMember, raise)).body.level, 8);
  assert.equal((await other.call(deleteGameTeamMember, ofSecond)).status, 204);
});

test('a refusal stands for a week, an approval expires after one, and ending reviews needs a second administrator too', async () => {
  const { owner, other, params } = await aReviewingGame();
  const off = { params, body: { required: false } };
  await owner.refused(setPermissionReviews, off, 403, 14044);
  const idOf = async () => (await other.call(getPermissionReviews, { params })).body.data[0]!.id;
  const refused = { params: { ...params, review_id: await idOf() }, body: { approved: false } };
  await other.call(decidePermissionReview, refused);
  await owner.refused(setPermissionReviews, off, 403, 14044);
  assert.equal((await other.call(getPermissionReviews, { params })).body.data.length, 1);
  api.clock.advance(7 * 86_400);
  await other.refused(decidePermissionReview, refused, 404, 14000);
  await owner.refused(setPermissionReviews, off, 403, 14044);
  await other.call(decidePermissionReview, {
    params: { ...params, review_id: await idOf() },
    body: { approved: true },
  });
  assert.equal((await owner.call(setPermissionReviews, off)).body.required, false);
  assert.equal((await owner.call(rotateGameKeyOperation, { params })).status, 200);
});

test('a sole administrator needs no review, because nobody could approve it', async () => {
  const game = await api.aGame();
  const owner = await api.as(game.owner);
  const params = { game_id: game.id };
  await owner.call(setPermissionReviews, { params, body: { required: true } });
  assert.equal((await owner.call(rotateGameKeyOperation, { params })).status, 200);
  const manager = await api.aUser();
  await api.joins(manager, game, 4);
  await (await api.as(manager)).refused(getPermissionReviews, { params }, 403, 14039);
});

test('of two concurrent requests with one approval exactly one succeeds', async () => {
  const { owner, other, params } = await aReviewingGame();
  await owner.refused(rotateGameKeyOperation, { params }, 403, 14044);
  const { data } = (await other.call(getPermissionReviews, { params })).body;
  await other.call(decidePermissionReview, { params: { ...params, review_id: data[0]!.id }, body: { approved: true } });
  const answers = await Promise.all([1, 2, 3].map(() => owner.call(rotateGameKeyOperation, { params })));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 403, 403]);
});
