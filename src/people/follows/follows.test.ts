import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, startApi, type User } from '../../../test/api.ts';
import { blockAUser, unblockAUser } from '../blocks/operations.ts';
import { setUserStatus, USER_BANNED, USER_DELETED } from '../users/users.ts';
import {
  followUserOperation,
  getMyFollowers,
  getMyFollowing,
  getUserFollowers,
  getUserFollowing,
  unfollowUserOperation,
} from './operations.ts';

const api = await startApi();

type Person = { user: User; client: Client };
async function person(): Promise<Person> {
  const user = await api.aUser();
  return { user, client: await api.as(user) };
}
const following = (who: Person, whom: { id: number }) => ({
  params: { user_id: who.user.id },
  body: { user_id: whom.id },
});
const follow = (who: Person, whom: Person) => who.client.call(followUserOperation, following(who, whom.user));
const pathOf = (who: Person, whom: Person) => ({ params: { user_id: who.user.id, target_user_id: whom.user.id } });
const idsOf = async (answer: Promise<{ body: { data: { id: number }[] } }>) =>
  (await answer).body.data.map(({ id }) => id);

test('followers and followed users are listed until they unfollow', async () => {
  const [ada, bob, cleo] = [await person(), await person(), await person()];
  assert.equal((await follow(ada, bob)).status, 204);
  await follow(ada, cleo);
  await follow(bob, cleo);
  const params = (of: Person) => ({ params: { user_id: of.user.id } });
  assert.deepEqual(await idsOf(ada.client.call(getMyFollowing)), [bob.user.id, cleo.user.id]);
  assert.deepEqual(await idsOf(cleo.client.call(getMyFollowers)), [ada.user.id, bob.user.id]);
  assert.deepEqual(await idsOf(bob.client.call(getUserFollowing, params(ada))), [bob.user.id, cleo.user.id]);
  assert.deepEqual(await idsOf(ada.client.call(getUserFollowers, params(cleo))), [ada.user.id, bob.user.id]);
  assert.equal((await ada.client.call(unfollowUserOperation, pathOf(ada, cleo))).status, 204);
  assert.deepEqual(await idsOf(cleo.client.call(getMyFollowers)), [bob.user.id]);
});

test('a user cannot follow twice, themselves, a missing user, or for another user', async () => {
  const [ada, bob, banned, gone] = [await person(), await person(), await person(), await person()];
  await follow(ada, bob);
  await ada.client.refused(followUserOperation, following(ada, bob.user), 400, 11134);
  await ada.client.refused(followUserOperation, following(ada, ada.user), 422, 13009);
  await ada.client.refused(followUserOperation, following(ada, { id: 999_999 }), 404, 17000);
  await ada.client.refused(followUserOperation, following(bob, ada.user), 403, 17030);
  await setUserStatus(api.app(), banned.user.id, USER_BANNED);
  await setUserStatus(api.app(), gone.user.id, USER_DELETED);
  await ada.client.refused(followUserOperation, following(ada, banned.user), 403, 11130);
  await ada.client.refused(followUserOperation, following(ada, gone.user), 403, 11131);
});

test('a user cannot unfollow a user they do not follow, or for another user', async () => {
  const [ada, bob] = [await person(), await person()];
  await ada.client.refused(unfollowUserOperation, pathOf(ada, bob), 403, 15005);
  await follow(bob, ada);
  await ada.client.refused(unfollowUserOperation, pathOf(bob, ada), 403, 17030);
});

test('a missing user has no lists, and lists leave out deleted users', async () => {
  const [ada, bob] = [await person(), await person()];
  await ada.client.refused(getUserFollowers, { params: { user_id: 999_999 } }, 404, 17000);
  await ada.client.refused(getUserFollowing, { params: { user_id: 999_999 } }, 404, 17000);
  await follow(bob, ada);
  await setUserStatus(api.app(), bob.user.id, USER_BANNED);
  assert.deepEqual(await idsOf(ada.client.call(getMyFollowers)), []);
});

test('a block ends follows in both directions, and prevents new ones', async () => {
  const [ada, bob] = [await person(), await person()];
  await follow(ada, bob);
  await follow(bob, ada);
  const params = { user_id: bob.user.id };
  await ada.client.call(blockAUser, { params });
  for (const { client } of [ada, bob])
    for (const list of [getMyFollowers, getMyFollowing]) assert.deepEqual(await idsOf(client.call(list)), []);
  await bob.client.refused(followUserOperation, following(bob, ada.user), 403, 17062);
  await ada.client.refused(followUserOperation, following(ada, bob.user), 403, 17062);
  await ada.client.call(unblockAUser, { params });
  assert.equal((await follow(bob, ada)).status, 204);
});
