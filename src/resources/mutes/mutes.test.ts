import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi } from '../../../test/api.ts';
import { getUsersMuted, muteAUser, unmuteAUser } from './operations.ts';

const api = await startApi();

test('a muted person is listed until the mute is taken back', async () => {
  const ada = await api.as(await api.aUser());
  const [bob, cleo] = [await api.aUser(), await api.aUser()];
  for (const each of [bob, cleo, bob]) {
    const answer = await ada.call(muteAUser, { params: { user_id: each.id } });
    assert.equal(answer.status, 204, answer.text);
  }
  const muted = async () => (await ada.call(getUsersMuted)).body.data.map((user) => user.id);
  assert.deepEqual(await muted(), [bob.id, cleo.id]);
  assert.equal((await ada.call(unmuteAUser, { params: { user_id: bob.id } })).status, 204);
  assert.deepEqual(await muted(), [cleo.id]);
});

test('nobody mutes themselves, those who run the site, or someone who is not there', async () => {
  const ada = await api.aUser();
  const client = await api.as(ada);
  const admin = await api.aUser({ admin: true });
  await client.refused(muteAUser, { params: { user_id: ada.id } }, 403, 17039);
  await client.refused(muteAUser, { params: { user_id: admin.id } }, 403, 17064);
  await client.refused(muteAUser, { params: { user_id: 999_999 } }, 404, 17000);
  await client.refused(unmuteAUser, { params: { user_id: 999_999 } }, 404, 17000);
});

test('what one person mutes is nobody else’s list', async () => {
  const [ada, bob, cleo] = [await api.aUser(), await api.aUser(), await api.aUser()];
  await (await api.as(ada)).call(muteAUser, { params: { user_id: cleo.id } });
  assert.equal((await (await api.as(bob)).call(getUsersMuted)).body.result_total, 0);
});
