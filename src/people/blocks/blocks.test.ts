import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, type Mod, startApi } from '../../../test/api.ts';
import { getMods } from '../../catalogue/mods/operations.ts';
import { modPreviews } from '../../catalogue/previews/operations.ts';
import { addModTeamMember, getTeamInvites } from '../../catalogue/teams/operations.ts';
import { mentionedIn } from '../../community/comments/comments.ts';
import { modComments } from '../../community/comments/operations.ts';
import { getUsersMuted, muteAUser } from '../mutes/operations.ts';
import { blockAUser, getUsersBlocked, unblockAUser } from './operations.ts';

const api = await startApi();
const named = (user: { id: number }) => ({ params: { user_id: user.id } });

test('a blocked user is listed until they are unblocked; mutes have a list of their own', async () => {
  const ada = await api.as(await api.aUser());
  const [bob, cleo] = [await api.aUser(), await api.aUser()];
  for (const each of [bob, cleo, bob]) assert.equal((await ada.call(blockAUser, named(each))).status, 204);
  const blocked = async () => (await ada.call(getUsersBlocked)).body.data.map((user) => user.id);
  assert.deepEqual(await blocked(), [bob.id, cleo.id]);
  assert.equal((await ada.call(getUsersMuted)).body.result_total, 0);
  assert.equal((await ada.call(unblockAUser, named(bob))).status, 204);
  assert.deepEqual(await blocked(), [cleo.id]);
});

test('a user cannot block themselves, the site staff or a missing user', async () => {
  const ada = await api.aUser();
  const client = await api.as(ada);
  await client.refused(blockAUser, named(ada), 403, 17039);
  await client.refused(blockAUser, named(await api.aUser({ admin: true })), 403, 17063);
  await client.refused(blockAUser, named({ id: 999_999 }), 404, 17000);
  await client.refused(unblockAUser, named({ id: 999_999 }), 404, 17000);
});

test('a blocked user is muted as well, and a separate mute outlasts the block', async () => {
  const ada = await api.as(await api.aUser());
  const mod = await api.aMod();
  const total = async () => (await ada.call(getMods, { params: { game_id: mod.game_id } })).body.result_total;
  assert.equal(await total(), 1);
  await ada.call(blockAUser, named(mod.owner));
  assert.equal(await total(), 0);
  await ada.call(muteAUser, named(mod.owner));
  await ada.call(unblockAUser, named(mod.owner));
  assert.equal(await total(), 0);
});

test('a blocked user cannot invite the other to a preview', async () => {
  const ada = await api.aUser();
  const mod = await api.aMod({ visible: 0, community_options: 64 });
  await (await api.as(ada)).call(blockAUser, named(mod.owner));
  const params = { game_id: mod.game_id, mod_id: mod.id };
  const owner = await api.as(mod.owner);
  await owner.refused(modPreviews.invite, { params, body: { user_id: ada.id } }, 403, 17062);
  assert.equal((await owner.call(modPreviews.invite, { params, body: { user_id: mod.owner.id } })).status, 201);
});

test('a blocked user can send team invitations, but the other does not receive them', async () => {
  const email = 'blocker@example.org';
  const ada = await api.as(await api.aUser({ email }));
  const mod = await api.aMod();
  await ada.call(blockAUser, named(mod.owner));
  const params = { game_id: mod.game_id, mod_id: mod.id };
  const answer = await (await api.as(mod.owner)).call(addModTeamMember, { params, body: { email, level: 1 } });
  assert.equal(answer.status, 201, answer.text);
  assert.equal((await ada.call(getTeamInvites)).body.result_total, 0);
});

test('after a block neither user can comment on the other’s content or reply to them', async () => {
  const [ada, bob] = [await api.aUser(), await api.aUser()];
  const [asAda, asBob] = [await api.as(ada), await api.as(bob)];
  const mod = await api.aMod({ owner: ada });
  const elsewhere = await api.aMod();
  const at = ({ game_id, id }: { game_id: number; id: number }) => ({ game_id, mod_id: id });
  const say = async (client: Client, on: Mod, content: string, reply_id = 0) =>
    (await client.call(modComments.add, { params: at(on), body: { content, reply_id } })).body;
  const before = await say(asBob, mod, 'First');
  const [ofAda, ofBob] = [await say(asAda, elsewhere, 'Mine'), await say(asBob, elsewhere, 'And mine')];
  await asAda.call(blockAUser, named(bob));
  await asBob.refused(modComments.add, { params: at(mod), body: { content: 'Again' } }, 403, 17062);
  const edited = { params: { ...at(mod), comment_id: before.id }, body: { content: 'Worse' } };
  await asBob.refused(modComments.update, edited, 403, 17062);
  for (const [client, reply_id] of [
    [asBob, ofAda.id],
    [asAda, ofBob.id],
  ] as const)
    await client.refused(modComments.add, { params: at(elsewhere), body: { content: 'You', reply_id } }, 403, 17062);
  const mentioning = await say(asBob, elsewhere, `@${ada.name_id} can you hear me?`);
  assert.deepEqual(await mentionedIn(api.app().db, mentioning.id), []);
  const deleted = await asBob.call(modComments.remove, { params: { ...at(mod), comment_id: before.id } });
  assert.equal(deleted.status, 204);
  await asAda.call(unblockAUser, named(bob));
  assert.equal((await say(asBob, mod, 'Sorry', 0)).thread_position, '02');
});

test('a game’s team can comment on every mod of the game, blocked or not', async () => {
  const mod = await api.aMod();
  const moderator = await api.aUser();
  await api.joins(moderator, { id: mod.game_id }, 1);
  await (await api.as(mod.owner)).call(blockAUser, named(moderator));
  const params = { game_id: mod.game_id, mod_id: mod.id };
  const answer = await (await api.as(moderator)).call(modComments.add, { params, body: { content: 'Please' } });
  assert.equal(answer.status, 201, answer.text);
});
