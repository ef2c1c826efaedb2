import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi } from '../../../test/api.ts';
import { getAuthenticatedUser } from '../../people/users/operations.ts';
import { getAudit } from '../../studio/audit/operations.ts';
import { banUser, unbanUser } from './operations.ts';

const api = await startApi();
const operator = await api.aUser({ admin: true });
const admin = await api.as(operator);
const ban = (user: { id: number }) => ({ params: { user_id: user.id }, body: { reason: 'Spam' } });

test('a banned user is signed out at once, and can sign in again when the ban is lifted', async () => {
  const user = await api.aUser();
  const client = await api.as(user);
  assert.equal((await admin.call(banUser, ban(user))).status, 204);
  await client.refused(getAuthenticatedUser, {}, 401, 11007);
  await admin.refused(banUser, ban(user), 400, 29501);
  const back = { params: { user_id: user.id } };
  assert.equal((await admin.call(unbanUser, back)).status, 204);
  assert.equal((await client.call(getAuthenticatedUser)).status, 200);
  await admin.refused(unbanUser, back, 400, 29501);
  const { data } = (await admin.call(getAudit, { query: { resource: 'users', resource_id: user.id } })).body;
  assert.deepEqual(
    data.map(({ action, user_id, reason }) => [action, user_id, reason]),
    [
      ['users.ban', operator.id, 'Spam'],
      ['users.unban', operator.id, ''],
    ],
  );
});

test('only site administrators ban users, and neither themselves nor each other', async () => {
  const user = await api.aUser();
  const owner = await api.as((await api.aGame()).owner);
  await owner.refused(banUser, ban(user), 403, 29500);
  await owner.refused(unbanUser, { params: { user_id: user.id } }, 403, 29500);
  await admin.refused(banUser, ban(operator), 403, 17023);
  await admin.refused(banUser, ban(await api.aUser({ admin: true })), 403, 29500);
  await admin.refused(banUser, ban({ id: 999_999 }), 404, 17000);
});

test('of 16 concurrent bans of a user one succeeds', async () => {
  const user = await api.aUser();
  const answers = await Promise.all(Array.from({ length: 16 }, () => admin.call(banUser, ban(user))));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [204, ...Array(15).fill(400)]);
});
