import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, type Mod, startApi, type User } from '../../../test/api.ts';
import { codeIn, mailsTo } from '../../../test/mails.ts';
import { composeWorker } from '../../composition/compose.ts';
import { exchangeEmailSecurityCode, requestEmailSecurityCode } from '../../signin/mailed-codes/operations.ts';
import { deleteModOperation, editModOperation, getMod, getUserMods } from '../mods/operations.ts';
import { OPEN_PER_PERSON_MAX, OPEN_PER_TEAM_MAX, PER_HOUR_MAX } from './invites.ts';
import {
  acceptTeamInvite,
  addModTeamMember,
  declineTeamInvite,
  deleteModTeamMember,
  getModTeamMembers,
  getTeamInvites,
  updateModTeamMember,
} from './operations.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });

const at = (mod: Mod) => ({ game_id: mod.game_id, mod_id: mod.id });
const seatAt = (mod: Mod, id: number) => ({ ...at(mod), team_member_id: id });

const anAddress = () => `${api.unique('person').replace(' ', '-')}@example.org`;

/** A user with an address who is in the team at this level. */
async function aMember(mod: Mod, level: number): Promise<{ user: User; client: Client; seat: number }> {
  const user = await api.aUser({ email: anAddress() });
  await api.joinsMod(user, mod, level);
  return { user, client: await api.as(user), seat: await seatOf(mod, user) };
}

async function seatOf(mod: Mod, user: { id: number }): Promise<number> {
  const owner = await api.as(mod.owner);
  const { body } = await owner.call(getModTeamMembers, { params: at(mod), query: { user_id: user.id } });
  return body.data[0]!.id;
}

async function invite(client: Client, mod: Mod, email: string, level = 1): Promise<number> {
  const answer = await client.call(addModTeamMember, { params: at(mod), body: { email, level } });
  assert.equal(answer.status, 201, answer.text);
  return answer.body.id;
}

const change = (client: Client, mod: Mod, id: number, body: Record<string, string | number | boolean>) =>
  client.call(updateModTeamMember, { params: seatAt(mod, id), body });

/** The texts of the mails to an address, the oldest first. */
const textsTo = (address: string): string[] => mailsTo(api, address).map(({ text }) => text);

test('the submitter of a mod leads its team', async () => {
  const mod = await api.aMod();
  const { body } = await api.withKey(await api.aGame()).call(getModTeamMembers, { params: at(mod) });
  assert.equal(body.result_total, 1);
  const [leader] = body.data;
  assert.deepEqual([leader?.user.id, leader?.level, leader?.invite_pending], [mod.owner.id, 8, 0]);
});

test('the team can be filtered by user, name, level and date', async () => {
  const mod = await api.aMod();
  const ada = await aMember(mod, 4);
  const found = async (query: Record<string, string | number>) =>
    (await ada.client.call(getModTeamMembers, { params: at(mod), query })).body.data.map((seat) => seat.user.id);
  assert.deepEqual(await found({ user_id: ada.user.id }), [ada.user.id]);
  assert.deepEqual(await found({ username: ada.user.username.toUpperCase() }), [ada.user.id]);
  assert.deepEqual(await found({ level: 8 }), [mod.owner.id]);
  assert.deepEqual(await found({ id: ada.seat, 'date_added-min': 1 }), [ada.user.id]);
  assert.deepEqual(await found({ _sort: 'level' }), [ada.user.id, mod.owner.id]);
  assert.deepEqual(await found({ pending: 0, _sort: '-level' }), [mod.owner.id, ada.user.id]);
});

test('an invited user becomes a member by accepting, and then has the permissions of a member', async () => {
  const mod = await api.aMod({ visible: 0 });
  const owner = await api.as(mod.owner);
  const email = anAddress();
  const bob = await api.aUser({ email });
  const input_json = JSON.stringify({ email: email.toUpperCase(), level: 4, position: 'Artist' });
  const invited = await owner.call(addModTeamMember, { params: at(mod), body: { input_json } });
  assert.equal(invited.status, 201, invited.text);
  const { level, position, invite_pending, user } = invited.body;
  assert.deepEqual([level, position, invite_pending, user.id, user.username], [4, 'Artist', 1, 0, email]);

  const client = await api.as(bob);
  await client.refused(getMod, { params: at(mod) }, 404, 15022);
  const [open] = (await client.call(getTeamInvites)).body.data;
  assert.deepEqual(
    [open?.id, open?.mod_id, open?.mod_name, open?.level, open?.invited_by.id],
    [invited.body.id, mod.id, mod.name, 4, mod.owner.id],
  );
  const accepted = await client.call(acceptTeamInvite, { params: { invite_id: open!.id } });
  assert.equal(accepted.status, 200, accepted.text);
  assert.deepEqual(
    [accepted.body.user.id, accepted.body.invite_pending, accepted.body.position],
    [bob.id, 0, 'Artist'],
  );
  assert.equal((await client.call(getMod, { params: at(mod) })).status, 200);
  assert.equal((await client.call(editModOperation, { params: at(mod), body: { summary: 'Ours' } })).status, 200);
  assert.deepEqual(
    (await client.call(getUserMods)).body.data.map(({ id }) => id),
    [mod.id],
  );
  assert.equal((await client.call(getTeamInvites)).body.result_total, 0);
});

test('invitations are listed on request, for managers of the team only', async () => {
  const game = await api.aGame();
  const mod = await api.aMod({ game });
  const owner = await api.as(mod.owner);
  const id = await invite(owner, mod, anAddress(), 4);
  const pending = async (client: Client, query: Record<string, number> = { pending: 1 }) =>
    (await client.call(getModTeamMembers, { params: at(mod), query })).body.data.map((seat) => seat.id);
  assert.deepEqual(await pending(owner), [id]);
  assert.deepEqual(await pending((await aMember(mod, 4)).client), [id]);
  assert.ok(!(await pending(owner, {})).includes(id));
  const [moderator, outsider] = [(await aMember(mod, 1)).client, await api.as(await api.aUser())];
  for (const client of [api.withKey(game), await api.as(game.owner), moderator, outsider]) {
    assert.deepEqual(await pending(client), []);
    assert.ok(!(await pending(client, { 'pending-min': 0 })).includes(id));
  }
});

test('the response to an invitation does not reveal whether the address has an account', async () => {
  const mod = await api.aMod();
  const owner = await api.as(mod.owner);
  const [known, unknown] = [anAddress(), anAddress()];
  await api.aUser({ email: known });
  const answers = [];
  for (const email of [known, unknown]) {
    const { body } = await owner.call(addModTeamMember, { params: at(mod), body: { email, level: 1 } });
    answers.push(JSON.stringify({ ...body, id: 0 }).replaceAll(email, 'x'));
  }
  assert.equal(answers[0], answers[1]);
});

test('a recipient without an account gets a mail, and finds the invitation after signing in with that address', async () => {
  const game = await api.aGame();
  const mod = await api.aMod({ game });
  const email = anAddress();
  await invite(await api.as(mod.owner), mod, email, 4);
  await composeWorker(api.app()).runDue();
  const [mail] = textsTo(email);
  assert.ok(mail?.includes(mod.name), mail ?? 'no mail');
  const signIn = async (key: Client) => {
    await key.call(requestEmailSecurityCode, { body: { email } });
    const code = codeIn(textsTo(email).at(-1)!)!;
    const { body: token } = await key.call(exchangeEmailSecurityCode, { body: { security_code: code } });
    return api.withToken(token.access_token);
  };
  const elsewhere = await signIn(api.withKey(await api.aGame()));
  const client = await signIn(api.withKey(game));
  const [open] = (await client.call(getTeamInvites)).body.data;
  await elsewhere.refused(acceptTeamInvite, { params: { invite_id: open!.id } }, 403, 11104);
  assert.equal((await client.call(acceptTeamInvite, { params: { invite_id: open!.id } })).status, 200);
  assert.equal((await client.call(getMod, { params: at(mod) })).status, 200);
});

test('a user cannot accept or decline another user’s invitation or a missing one', async () => {
  const mod = await api.aMod();
  const id = await invite(await api.as(mod.owner), mod, anAddress(), 8);
  for (const user of [await api.aUser(), await api.aUser({ email: anAddress() }), mod.owner]) {
    const client = await api.as(user);
    for (const invite_id of [id, 999_999])
      for (const operation of [acceptTeamInvite, declineTeamInvite])
        await client.refused(operation, { params: { invite_id } }, 404, 23105);
  }
});

test('an invitation can be answered once, and not after it was withdrawn', async () => {
  const mod = await api.aMod();
  const owner = await api.as(mod.owner);
  const email = anAddress();
  const bob = await api.as(await api.aUser({ email }));
  const first = await invite(owner, mod, email);
  assert.equal((await bob.call(declineTeamInvite, { params: { invite_id: first } })).status, 204);
  await bob.refused(acceptTeamInvite, { params: { invite_id: first } }, 400, 23103);
  const second = await invite(owner, mod, email);
  assert.equal((await owner.call(deleteModTeamMember, { params: seatAt(mod, second) })).status, 204);
  await bob.refused(acceptTeamInvite, { params: { invite_id: second } }, 400, 23103);
  const third = await invite(owner, mod, email);
  assert.equal((await bob.call(acceptTeamInvite, { params: { invite_id: third } })).status, 200);
  await bob.refused(declineTeamInvite, { params: { invite_id: third } }, 400, 23103);
  await owner.refused(deleteModTeamMember, { params: seatAt(mod, third) }, 404, 23105);
});

test('an invitation to a deleted mod is not found', async () => {
  const mod = await api.aMod();
  const owner = await api.as(mod.owner);
  const email = anAddress();
  const bob = await api.as(await api.aUser({ email }));
  const invite_id = await invite(owner, mod, email);
  await owner.call(deleteModOperation, { params: at(mod) });
  assert.equal((await bob.call(getTeamInvites)).body.result_total, 0);
  await bob.refused(acceptTeamInvite, { params: { invite_id } }, 404, 23105);
});

test('members cannot be invited, and nobody can be invited twice', async () => {
  const mod = await api.aMod();
  const owner = await api.as(mod.owner);
  const email = anAddress();
  const bob = await api.aUser({ email });
  const invite_id = await invite(owner, mod, email);
  await owner.refused(addModTeamMember, { params: at(mod), body: { email, level: 4 } }, 403, 15058);
  await api.joinsMod(bob, mod, 1);
  await owner.refused(addModTeamMember, { params: at(mod), body: { email, level: 4 } }, 403, 15021);
  await (await api.as(bob)).refused(acceptTeamInvite, { params: { invite_id } }, 403, 15021);
});

test('managers and administrators invite up to their own level; moderators and users outside the team cannot invite', async () => {
  const mod = await api.aMod();
  const manager = (await aMember(mod, 4)).client;
  await invite(manager, mod, anAddress(), 4);
  await invite((await aMember(mod, 8)).client, mod, anAddress(), 8);
  await manager.refused(addModTeamMember, { params: at(mod), body: { email: anAddress(), level: 8 } }, 403, 17017);
  const outsiders = [(await aMember(mod, 1)).client, await api.as(await api.aUser())];
  for (const client of outsiders)
    await client.refused(addModTeamMember, { params: at(mod), body: { email: anAddress(), level: 1 } }, 403, 15039);
});

test('an unknown level and an invalid address are refused', async () => {
  const mod = await api.aMod();
  const owner = await api.as(mod.owner);
  const body = { email: 'nobody', level: 2 };
  const answer = await owner.refused(addModTeamMember, { params: at(mod), body }, 422, 13009);
  assert.deepEqual(Object.keys(answer.body.error.errors ?? {}).sort(), ['email', 'level']);
});

test('open invitations are limited per mod and per user, and sent ones per hour', async () => {
  const owner = await api.aUser();
  const client = await api.as(owner);
  const [first, second, third] = [await api.aMod({ owner }), await api.aMod({ owner }), await api.aMod({ owner })];
  const body = { email: anAddress(), level: 1 };
  for (let i = 0; i < OPEN_PER_TEAM_MAX; i += 1) await invite(client, first, anAddress());
  await client.refused(addModTeamMember, { params: at(first), body }, 403, 15057);
  for (let i = OPEN_PER_TEAM_MAX; i < PER_HOUR_MAX; i += 1) await invite(client, second, anAddress());
  const answer = await client.refused(addModTeamMember, { params: at(second), body }, 429, 23107);
  assert.equal(answer.headers['retry-after'], '3600');
  api.clock.advance(3_601);
  for (let i = PER_HOUR_MAX; i < OPEN_PER_PERSON_MAX; i += 1) await invite(client, second, anAddress());
  await client.refused(addModTeamMember, { params: at(third), body }, 403, 23106);
});

test('managers change and remove members below their level only', async () => {
  const mod = await api.aMod();
  const [moderator, manager, other] = [await aMember(mod, 1), await aMember(mod, 4), await aMember(mod, 4)];
  const administrator = await aMember(mod, 8);
  assert.equal((await change(manager.client, mod, moderator.seat, { level: 4 })).body.level, 4);
  for (const { seat } of [moderator, other, administrator]) {
    const params = seatAt(mod, seat);
    await manager.client.refused(updateModTeamMember, { params, body: { level: 1 } }, 403, 23108);
    await manager.client.refused(deleteModTeamMember, { params }, 403, 23108);
  }
  const second = await aMember(mod, 8);
  const params = seatAt(mod, second.seat);
  await administrator.client.refused(deleteModTeamMember, { params }, 403, 23108);
  assert.equal((await administrator.client.call(deleteModTeamMember, { params: seatAt(mod, other.seat) })).status, 204);
  assert.equal((await (await api.as(mod.owner)).call(deleteModTeamMember, { params })).status, 204);
});

test('nobody can raise a member, or themselves, above their own level', async () => {
  const mod = await api.aMod();
  const [moderator, manager] = [await aMember(mod, 1), await aMember(mod, 4)];
  for (const [who, seat] of [
    [moderator, moderator.seat],
    [manager, manager.seat],
    [manager, moderator.seat],
  ] as const)
    await who.client.refused(updateModTeamMember, { params: seatAt(mod, seat), body: { level: 8 } }, 403, 17017);
  assert.equal((await change(manager.client, mod, manager.seat, { level: 1, position: 'Retired' })).body.level, 1);
});

test('moderators and users outside the team cannot change or remove anyone', async () => {
  const mod = await api.aMod();
  const [moderator, other] = [await aMember(mod, 1), await aMember(mod, 1)];
  for (const client of [moderator.client, await api.as(await api.aUser())]) {
    const params = seatAt(mod, other.seat);
    await client.refused(updateModTeamMember, { params, body: { position: 'Fool' } }, 403, 15039);
    await client.refused(deleteModTeamMember, { params }, 403, 15040);
  }
});

test('a user who leaves the team, or is removed from it, cannot see hidden mods any more', async () => {
  const mod = await api.aMod({ visible: 0 });
  const [leaver, removed] = [await aMember(mod, 1), await aMember(mod, 1)];
  // A second team gives the user a visibility class of their own, whose responses are cached.
  const elsewhere = await api.aMod();
  for (const { user, client } of [leaver, removed]) {
    await api.joinsMod(user, elsewhere, 1);
    assert.equal((await client.call(getMod, { params: at(mod) })).status, 200);
  }
  const owner = await api.as(mod.owner);
  assert.equal((await leaver.client.call(deleteModTeamMember, { params: seatAt(mod, leaver.seat) })).status, 204);
  assert.equal((await owner.call(deleteModTeamMember, { params: seatAt(mod, removed.seat) })).status, 204);
  for (const { client } of [leaver, removed]) await client.refused(getMod, { params: at(mod) }, 404, 15022);
});

test('when a member is demoted or leaves, invitations that they may no longer give end', async () => {
  const mod = await api.aMod();
  const owner = await api.as(mod.owner);
  const administrator = await aMember(mod, 8);
  const [high, low] = [anAddress(), anAddress()];
  const ids = [await invite(administrator.client, mod, high, 8), await invite(administrator.client, mod, low, 4)];
  const guests = [await api.as(await api.aUser({ email: high })), await api.as(await api.aUser({ email: low }))];
  await change(owner, mod, administrator.seat, { level: 4 });
  await guests[0]!.refused(acceptTeamInvite, { params: { invite_id: ids[0]! } }, 400, 23103);
  assert.equal((await guests[1]!.call(getTeamInvites)).body.result_total, 1);
  await owner.call(deleteModTeamMember, { params: seatAt(mod, administrator.seat) });
  await guests[1]!.refused(acceptTeamInvite, { params: { invite_id: ids[1]! } }, 400, 23103);
});

test('the inviter and members above the invited level can change the level of an invitation', async () => {
  const mod = await api.aMod();
  const [administrator, manager] = [await aMember(mod, 8), await aMember(mod, 4)];
  const email = anAddress();
  const id = await invite(administrator.client, mod, email, 8);
  await manager.client.refused(updateModTeamMember, { params: seatAt(mod, id), body: { level: 1 } }, 403, 23108);
  const moderator = await aMember(mod, 1);
  await moderator.client.refused(updateModTeamMember, { params: seatAt(mod, id), body: { level: 1 } }, 404, 23105);
  assert.equal((await change(administrator.client, mod, id, { level: 4 })).body.invite_pending, 1);
  const guest = await api.as(await api.aUser({ email }));
  assert.equal((await guest.call(acceptTeamInvite, { params: { invite_id: id } })).body.level, 4);
});

test('a change without an effect and a change of a missing member are refused', async () => {
  const mod = await api.aMod();
  const owner = await api.as(mod.owner);
  const { seat } = await aMember(mod, 4);
  await owner.refused(updateModTeamMember, { params: seatAt(mod, seat), body: { level: 4 } }, 400, 23104);
  const elsewhere = await aMember(await api.aMod(), 1);
  for (const id of [999_999, elsewhere.seat]) {
    await owner.refused(updateModTeamMember, { params: seatAt(mod, id), body: { level: 1 } }, 404, 23105);
    await owner.refused(deleteModTeamMember, { params: seatAt(mod, id) }, 404, 23105);
  }
});

test('the last administrator can be neither demoted nor removed', async () => {
  const mod = await api.aMod();
  const owner = await api.as(mod.owner);
  await aMember(mod, 4);
  const params = seatAt(mod, await seatOf(mod, mod.owner));
  await owner.refused(updateModTeamMember, { params, body: { level: 4 } }, 400, 23010);
  await owner.refused(deleteModTeamMember, { params }, 400, 23010);
});

test('the leader can be neither demoted nor removed, not even by themselves', async () => {
  const mod = await api.aMod();
  const owner = await api.as(mod.owner);
  const administrator = await aMember(mod, 8);
  const params = seatAt(mod, await seatOf(mod, mod.owner));
  await owner.refused(updateModTeamMember, { params, body: { level: 4 } }, 400, 23011);
  await owner.refused(updateModTeamMember, { params, body: { leader: false } }, 400, 23012);
  await owner.refused(deleteModTeamMember, { params }, 400, 23012);
  await administrator.client.refused(updateModTeamMember, { params, body: { level: 4 } }, 403, 23101);
  await administrator.client.refused(deleteModTeamMember, { params }, 403, 23101);
});

test('the leader transfers the mod to an administrator, and can leave then', async () => {
  const mod = await api.aMod();
  const owner = await api.as(mod.owner);
  const [heir, manager] = [await aMember(mod, 8), await aMember(mod, 4)];
  const invited = await invite(owner, mod, anAddress(), 8);
  const body = { leader: true };
  await heir.client.refused(updateModTeamMember, { params: seatAt(mod, heir.seat), body }, 403, 23101);
  await heir.client.refused(updateModTeamMember, { params: seatAt(mod, manager.seat), body }, 403, 23101);
  await owner.refused(updateModTeamMember, { params: seatAt(mod, manager.seat), body }, 400, 23011);
  await owner.refused(updateModTeamMember, { params: seatAt(mod, invited), body }, 400, 23013);
  assert.equal((await change(owner, mod, heir.seat, body)).status, 200);
  assert.equal((await owner.call(getMod, { params: at(mod) })).body.submitted_by.id, heir.user.id);
  const params = seatAt(mod, await seatOf(mod, mod.owner));
  assert.equal((await owner.call(deleteModTeamMember, { params })).status, 204);
});

test('when a leader transfers the mod while the new leader leaves, one of the two requests fails', async () => {
  const mod = await api.aMod();
  const owner = await api.as(mod.owner);
  const heir = await aMember(mod, 8);
  const answers = await Promise.all([
    change(owner, mod, heir.seat, { leader: true }),
    heir.client.call(deleteModTeamMember, { params: seatAt(mod, heir.seat) }),
  ]);
  assert.equal(answers.filter(({ status }) => status < 300).length, 1);
});

test('events report that a team has changed, and to members that they joined and left', async () => {
  const mod = await api.aMod();
  const owner = await api.as(mod.owner);
  const email = anAddress();
  const bob = await api.as(await api.aUser({ email }));
  const invite_id = await invite(owner, mod, email);
  const { body } = await bob.call(acceptTeamInvite, { params: { invite_id } });
  await change(owner, mod, body.id, { level: 4 });
  await bob.call(deleteModTeamMember, { params: seatAt(mod, body.id) });
  const ofMod = await api.app().db.query.selectFrom('mod_events').selectAll().where('mod_id', '=', mod.id).execute();
  const changes = ofMod.filter(({ event_type }) => event_type === 'MOD_TEAM_CHANGED');
  assert.equal(changes.length, 3);
  const ofBob = await api.app().db.query.selectFrom('user_events').selectAll().where('mod_id', '=', mod.id).execute();
  assert.deepEqual(
    ofBob.filter(({ user_id }) => user_id !== mod.owner.id).map(({ event_type }) => event_type),
    ['USER_TEAM_JOIN', 'USER_TEAM_LEAVE'],
  );
});

test('the site staff can manage every team', async () => {
  const mod = await api.aMod();
  const admin = await api.as(await api.aUser({ admin: true }));
  const heir = await aMember(mod, 8);
  assert.equal((await change(admin, mod, heir.seat, { leader: true })).status, 200);
  assert.equal((await change(admin, mod, heir.seat, { position: 'Heir' })).body.position, 'Heir');
});

test('only callers who can see a hidden mod can list its team', async () => {
  const mod = await api.aMod({ visible: 0 });
  await (await api.as(await api.aUser())).refused(getModTeamMembers, { params: at(mod) }, 404, 15022);
});
