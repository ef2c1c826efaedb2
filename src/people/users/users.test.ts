import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi } from '../../../test/api.ts';
import { getAuthenticatedUser, getUser } from './operations.ts';
import { setUserStatus, USER_DELETED } from './users.ts';

const api = await startApi();

test('any key can read a user, without private fields', async () => {
  const ada = await api.aUser({ username: 'Ada', email: 'ada@example.com' });
  const answer = await api.withKey(await api.aGame()).call(getUser, { params: { user_id: ada.id } });
  assert.equal(answer.body.username, 'Ada');
  assert.ok(!answer.text.includes('ada@example.com'));
});

test('a user reads their own account, with its status', async () => {
  const ada = await api.aUser({ language: 'de' });
  const { body } = await (await api.as(ada)).call(getAuthenticatedUser);
  assert.deepEqual([body.id, body.language, body.status], [ada.id, 'de', 1]);
});

test('a user who deleted their account is not found', async () => {
  const ada = await api.aUser();
  await setUserStatus(api.app(), ada.id, USER_DELETED);
  await api.withKey(await api.aGame()).refused(getUser, { params: { user_id: ada.id } }, 404, 17000);
});

test('date_online is updated when a user returns after a while', async () => {
  const ada = await api.aUser();
  const client = await api.as(ada);
  api.clock.advance(3_600);
  const noted = new Promise((resolve) =>
    api.app().db.changes.listen((scope) => scope === `users/${ada.id}` && resolve(scope)),
  );
  await client.call(getAuthenticatedUser);
  await noted;
  const { body } = await client.call(getAuthenticatedUser);
  assert.equal(body.date_online, api.clock.now());
});
