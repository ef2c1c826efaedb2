import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi, type User } from '../../../test/api.ts';
import { aClient } from '../../../test/browser.ts';
import { editGameOperation } from '../../catalogue/games/operations.ts';
import { editModByPut, getMod } from '../../catalogue/mods/operations.ts';
import { restrictUserInGame } from '../../catalogue/restrictions/operations.ts';
import { decideOverContent, getModerationQueue } from '../../moderation/moderation/operations.ts';
import { getReports } from '../../moderation/reports/operations.ts';
import { banUser } from '../../moderation/user-bans/operations.ts';
import { issueToken } from '../../platform/access/credentials.ts';
import { STAFF_LEVELS } from '../../platform/access/staff.ts';
import { closeOwnAccount, lockAUser } from '../../signin/accounts/operations.ts';
import { getAudit, getGameAudit } from '../../studio/audit/operations.ts';
import { addAgreementVersion } from '../agreements/operations.ts';
import { blockAUser } from '../blocks/operations.ts';
import { muteAUser } from '../mutes/operations.ts';
import { setUserStatus, USER_BANNED } from '../users/users.ts';
import { addStaffMember, deleteStaffMember, getStaff, updateStaffMember } from './operations.ts';

const api = await startApi();
const { moderator: MODERATOR, administrator: ADMINISTRATOR, owner: OWNER } = STAFF_LEVELS;

const first = await api.aUser({ admin: true });
const asFirst = await api.as(first);

const adding = (user: { id: number }, level: number) => ({ body: { user_id: user.id, level } });
const changing = (user: { id: number }, level: number) => ({ params: { user_id: user.id }, body: { level } });
const removing = (user: { id: number }) => ({ params: { user_id: user.id } });

async function aMember(level: number) {
  const user = await api.aUser();
  const answer = await asFirst.call(addStaffMember, adding(user, level));
  assert.equal(answer.status, 201, answer.text);
  return { user, client: await api.as(user) };
}

const levelOf = async ({ id }: User) =>
  (await asFirst.call(getStaff, { query: { user_id: id } })).body.data.map(({ level }) => level)[0] ?? 0;

test('a user whom an owner adds to the staff is listed, and can act at once', async () => {
  const user = await api.aUser();
  const client = await api.as(user);
  await client.refused(getReports, {}, 403, 17012);
  const { body } = await asFirst.call(addStaffMember, adding(user, MODERATOR));
  assert.deepEqual([body.user.id, body.level, body.added_by], [user.id, MODERATOR, first.id]);
  assert.equal((await client.call(getReports)).status, 200);
  assert.equal(await levelOf(user), MODERATOR);
  await asFirst.refused(addStaffMember, adding(user, ADMINISTRATOR), 400, 17016);
  assert.equal((await asFirst.call(updateStaffMember, changing(user, ADMINISTRATOR))).body.level, ADMINISTRATOR);
  assert.equal((await client.call(getAudit)).status, 200);
  assert.equal((await asFirst.call(deleteStaffMember, removing(user))).status, 204);
  await client.refused(getReports, {}, 403, 17012);
  await client.refused(getStaff, {}, 403, 17012);
  const { data } = (await asFirst.call(getAudit, { query: { resource: 'users', resource_id: user.id } })).body;
  assert.deepEqual(
    data.map(({ action, user_id, data: { level } }) => [action, user_id, level]),
    [
      ['staff.add', first.id, [0, MODERATOR]],
      ['staff.change', first.id, [MODERATOR, ADMINISTRATOR]],
      ['staff.remove', first.id, [ADMINISTRATOR, 0]],
    ],
  );
});

test('moderators and users outside the staff cannot change the staff', async () => {
  const { user: moderator, client } = await aMember(MODERATOR);
  const { user: another } = await aMember(MODERATOR);
  const stranger = await api.aUser();
  const owner = await api.as((await api.aGame()).owner);
  for (const each of [client, owner, await api.as(stranger)]) {
    await each.refused(addStaffMember, adding(stranger, MODERATOR), 403, 17013);
    await each.refused(updateStaffMember, changing(another, ADMINISTRATOR), 403, 17014);
    await each.refused(deleteStaffMember, removing(another), 403, 17015);
  }
  await client.refused(updateStaffMember, changing(moderator, OWNER), 403, 17014);
  assert.deepEqual([await levelOf(moderator), await levelOf(another)], [MODERATOR, MODERATOR]);
});

test('administrators change members below them, and raise nobody, nor themselves, to their own level', async () => {
  const { user: administrator, client } = await aMember(ADMINISTRATOR);
  const { user: equal } = await aMember(ADMINISTRATOR);
  const below = await api.aUser();
  assert.equal((await client.call(addStaffMember, adding(below, MODERATOR))).status, 201);
  for (const level of [ADMINISTRATOR, OWNER]) {
    await client.refused(addStaffMember, adding(await api.aUser(), level), 403, 17017);
    await client.refused(updateStaffMember, changing(below, level), 403, 17017);
    await client.refused(updateStaffMember, changing(administrator, level), 403, 17017);
  }
  for (const above of [equal, first]) {
    await client.refused(updateStaffMember, changing(above, MODERATOR), 403, 17017);
    await client.refused(deleteStaffMember, removing(above), 403, 17017);
    await client.refused(lockAUser, { params: { user_id: above.id } }, 403, 17017);
  }
  assert.equal((await client.call(deleteStaffMember, removing(below))).status, 204);
  await client.refused(updateStaffMember, changing(below, MODERATOR), 404, 14000);
  await client.refused(deleteStaffMember, removing(below), 404, 14000);
});

test('the last owner stays, even if two leave at once', async () => {
  await asFirst.refused(deleteStaffMember, removing(first), 403, 17015);
  await asFirst.refused(updateStaffMember, changing(first, ADMINISTRATOR), 403, 17014);
  const { user: second, client } = await aMember(OWNER);
  const answers = await Promise.all([
    asFirst.call(deleteStaffMember, removing(second)),
    client.call(deleteStaffMember, removing(first)),
  ]);
  assert.equal(answers.filter(({ status }) => status === 204).length, 1);
  const firstStays = answers[0]!.status === 204;
  const owners = await (firstStays ? asFirst : client).call(getStaff, { query: { level: OWNER } });
  assert.deepEqual(
    owners.body.data.map(({ user }) => user.id),
    [(firstStays ? first : second).id],
  );
  if (firstStays) return;
  await client.call(addStaffMember, adding(first, OWNER));
  await client.call(deleteStaffMember, removing(second));
});

test('every member may leave', async () => {
  const { user, client } = await aMember(MODERATOR);
  assert.equal((await client.call(deleteStaffMember, removing(user))).status, 204);
  assert.equal(await levelOf(user), 0);
});

test('only an existing, active account can join the staff', async () => {
  const banned = await api.aUser();
  await setUserStatus(api.app(), banned.id, USER_BANNED);
  await asFirst.refused(addStaffMember, adding(banned, MODERATOR), 403, 17013);
  await asFirst.refused(addStaffMember, adding({ id: 999_999 }, MODERATOR), 404, 17000);
  await asFirst.refused(addStaffMember, adding(await api.aUser(), 2), 422, 13009);
});

test('an OAuth application cannot change the staff', async () => {
  const app = api.app();
  const { client_id: clientId } = await aClient(api);
  const { access_token } = await app.db.write((transaction) =>
    issueToken(app, transaction, { userId: first.id, clientId }),
  );
  const client = api.withToken(access_token);
  const { user } = await aMember(MODERATOR);
  await client.refused(addStaffMember, adding(await api.aUser(), MODERATOR), 403, 12004);
  await client.refused(updateStaffMember, changing(user, ADMINISTRATOR), 403, 12004);
  await client.refused(deleteStaffMember, removing(user), 403, 12004);
});

test('a moderator of the site has exactly the permissions of a moderator in every game’s team', async () => {
  const { user: moderator, client } = await aMember(MODERATOR);
  const game = await api.aGame({ settings: { curation_option: 2 } });
  const mod = await api.aMod({ game, accepted: false });
  await api.aFile(mod);
  const params = { game_id: game.id, mod_id: mod.id };
  await (await api.as(await api.aUser())).refused(getMod, { params }, 404, 15022);
  assert.equal((await client.call(getMod, { params })).status, 200);
  assert.equal((await client.call(getModerationQueue, { params })).body.result_total, 1);
  const approval = { params, body: { resource: 'mods', id: mod.id, decision: 'approve', reason: 'Fine' } };
  assert.equal((await client.call(decideOverContent, approval)).status, 204);
  const user = await api.aUser();
  const spam = { params: { ...params, user_id: user.id }, body: { options: 1, reason: 'Spam' } };
  assert.equal((await client.call(restrictUserInGame, spam)).status, 200);
  const { data } = (await (await api.as(game.owner)).call(getGameAudit, { params })).body;
  assert.deepEqual(
    data.map(({ action, user_id }) => [action, user_id]),
    [
      ['mods.approve', moderator.id],
      ['users.restrict', moderator.id],
    ],
  );
  await client.refused(editGameOperation, { params, body: { summary: 'Mine' } }, 403, 14002);
  await client.refused(editModByPut, { params, body: { summary: 'Mine' } }, 403, 15013);
  await client.refused(banUser, { params: { user_id: user.id }, body: { reason: 'Spam' } }, 403, 29500);
  await client.refused(getAudit, {}, 403, 17012);
  await client.refused(addAgreementVersion, { body: { type: 1, name: 'Mine', description: 'Mine' } }, 403, 14020);
});

test('members of the staff cannot be muted, blocked, restricted or banned, nor close their account', async () => {
  const { user: moderator, client } = await aMember(MODERATOR);
  const game = await api.aGame();
  const owner = await api.as(game.owner);
  await owner.refused(muteAUser, { params: { user_id: moderator.id } }, 403, 17064);
  await owner.refused(blockAUser, { params: { user_id: moderator.id } }, 403, 17063);
  const restriction = { params: { game_id: game.id, user_id: moderator.id }, body: { options: 1 } };
  await owner.refused(restrictUserInGame, restriction, 403, 29500);
  await asFirst.refused(banUser, { params: { user_id: moderator.id }, body: { reason: 'Spam' } }, 403, 29500);
  await client.refused(closeOwnAccount, {}, 403, 17020);
});
