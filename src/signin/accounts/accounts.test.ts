import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi } from '../../../test/api.ts';
import { aClient } from '../../../test/browser.ts';
import { codesSentTo, mailsTo } from '../../../test/mails.ts';
import { getModTeamMembers } from '../../catalogue/teams/operations.ts';
import { composeWorker } from '../../composition/compose.ts';
import { addReleaseConfirmation } from '../../files/releases/operations.ts';
import { banUser, unbanUser } from '../../moderation/user-bans/operations.ts';
import { getUsersMuted, muteAUser } from '../../people/mutes/operations.ts';
import { getAccount, getAuthenticatedUser, getUser } from '../../people/users/operations.ts';
import { issueToken } from '../../platform/access/credentials.ts';
import { exchangeEmailSecurityCode, requestEmailSecurityCode } from '../mailed-codes/operations.ts';
import { deleteConnection, getConnections } from '../portals/operations.ts';
import {
  changeEmail,
  closeOwnAccount,
  deleteAUser,
  deleteOwnAccount,
  getAccountContents,
  lockAUser,
  mergeAUser,
  mergeOwnAccount,
  reopenOwnAccount,
  requestEmailChange,
} from './operations.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
const worker = composeWorker(api.app());
const game = await api.aGame();
const key = api.withKey(game);
let people = 0;
const anAddress = () => `life-${++people}@example.org`;

async function someone(more: { admin?: boolean } = {}) {
  const email = anAddress();
  const user = await api.aUser({ email, ...more });
  return { ...user, email, client: await api.as(user) };
}

test('a user changes their email address with codes from the old and the new one', async () => {
  const { client, email } = await someone();
  const next = anAddress();
  const asked = await client.call(requestEmailChange, { body: { email: next.toUpperCase() } });
  assert.equal(asked.status, 200, asked.text);
  const [old_code, new_code] = [codesSentTo(api, email).at(-1)!, codesSentTo(api, next).at(-1)!];
  await client.refused(changeEmail, { body: { new_code } }, 404, 11066);
  await client.refused(changeEmail, { body: { new_code: old_code, old_code: new_code } }, 404, 11066);
  assert.equal((await client.call(changeEmail, { body: { new_code, old_code } })).status, 204);
  assert.equal((await client.call(getAccount)).body.email, next);
  await client.refused(changeEmail, { body: { new_code, old_code } }, 404, 11066);
});

test('the old address is notified of the change once the mail server is reachable again', async (t) => {
  const { client, email } = await someone();
  const next = anAddress();
  await client.call(requestEmailChange, { body: { email: next } });
  const body = { old_code: codesSentTo(api, email).at(-1)!, new_code: codesSentTo(api, next).at(-1)! };
  await worker.runDue();
  const { mail } = api.app();
  const { send } = mail;
  t.after(() => {
    mail.send = send;
  });
  mail.send = () => Promise.reject(new Error('the post is closed'));
  assert.equal((await client.call(changeEmail, { body })).status, 204);
  await worker.runDue();
  const sent: string[] = [];
  mail.send = async ({ to }) => void sent.push(to);
  api.clock.advance(60);
  await worker.runDue();
  assert.deepEqual(sent, [email]);
});

test('a token and a key of a deleted account get the error for deleted accounts, even after its rows are erased', async () => {
  const { email, client, api_key } = await someone();
  await client.call(closeOwnAccount);
  assert.equal((await client.call(deleteOwnAccount, { body: { email } })).status, 204);
  const own = api.withKey({ api_key });
  for (const day of [0, 2]) {
    await worker.runDue();
    api.clock.advance(day * 86_400);
    await worker.runDue();
    await client.refused(getAuthenticatedUser, {}, 401, 11006);
    await own.refused(getUser, { params: { user_id: 1 } }, 401, 11006);
  }
});

test('codes for a new address are limited to one a minute, expire after 15 minutes, and end at the fifth wrong guess', async () => {
  const { client, email } = await someone();
  const next = anAddress();
  const ask = { body: { email: next } };
  await client.call(requestEmailChange, ask);
  const again = await client.refused(requestEmailChange, ask, 429, 11065);
  assert.equal(again.headers['retry-after'], '60');
  const codes = () => ({ old_code: codesSentTo(api, email).at(-1)!, new_code: codesSentTo(api, next).at(-1)! });
  api.clock.advance(900);
  await client.refused(changeEmail, { body: codes() }, 404, 11066);
  await client.call(requestEmailChange, ask);
  for (let tries = 0; tries < 5; tries += 1)
    await client.refused(changeEmail, { body: { ...codes(), new_code: '22222' } }, 404, 11066);
  await client.refused(changeEmail, { body: codes() }, 404, 11066);
});

test('only the new address learns that it already has an account', async () => {
  const [ada, bob] = [await someone(), await someone()];
  const free = await ada.client.call(requestEmailChange, { body: { email: anAddress() } });
  const { client } = await someone();
  const taken = await client.call(requestEmailChange, { body: { email: bob.email } });
  assert.deepEqual([taken.status, taken.text], [free.status, free.text]);
  assert.deepEqual(codesSentTo(api, bob.email), []);
});

test('a user cannot take an address that another account took in the meantime', async () => {
  const { client, email } = await someone();
  const next = anAddress();
  await client.call(requestEmailChange, { body: { email: next } });
  const body = { old_code: codesSentTo(api, email).at(-1)!, new_code: codesSentTo(api, next).at(-1)! };
  await api.aUser({ email: next });
  await client.refused(changeEmail, { body }, 400, 11015);
});

test('a closed account is hidden from others and can be reopened', async () => {
  const { id, client } = await someone();
  assert.equal((await client.call(closeOwnAccount)).status, 204);
  await key.refused(getUser, { params: { user_id: id } }, 404, 17000);
  assert.equal((await client.call(getUser, { params: { user_id: id } })).status, 200);
  await client.refused(closeOwnAccount, {}, 403, 17020);
  assert.equal((await client.call(reopenOwnAccount)).status, 204);
  assert.equal((await key.call(getUser, { params: { user_id: id } })).status, 200);
});

test('a user deletes a closed account that leads nothing by confirming its address', async () => {
  const { id, email, client, api_key } = await someone();
  const body = { email: ` ${email.toUpperCase()}` };
  const mod = await api.aMod({ game });
  await api.joinsMod({ id }, mod, 4);
  await client.refused(deleteOwnAccount, { body }, 403, 17002);
  await client.call(closeOwnAccount);
  await client.refused(deleteOwnAccount, { body: { email: 'other@example.org' } }, 403, 17003);
  assert.equal((await client.call(deleteOwnAccount, { body })).status, 204);
  await client.refused(getAuthenticatedUser, {}, 401, 11006);
  await api.withKey({ api_key }).refused(getUser, { params: { user_id: id } }, 401, 11006);
  await key.refused(getUser, { params: { user_id: id } }, 404, 17000);
  const team = await key.call(getModTeamMembers, { params: { game_id: game.id, mod_id: mod.id } });
  assert.deepEqual(
    team.body.data.map(({ user }) => user.id),
    [mod.owner.id],
  );
  const row = await api.app().db.query.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  assert.deepEqual([row.email, row.username, row.birth_date], [null, `deleted-${id}`, null]);
  const newcomer = await api.aUser({ email });
  assert.notEqual(newcomer.id, id);
});

test('users who lead a game or a mod, and staff, cannot delete their account', async () => {
  const [ada, bob, operator] = [await someone(), await someone(), await someone({ admin: true })];
  await api.aMod({ game, owner: ada });
  await api.aGame({ owner: bob });
  for (const { client, email } of [ada, bob]) {
    await client.call(closeOwnAccount);
    await client.refused(deleteOwnAccount, { body: { email } }, 403, 17001);
  }
  await operator.client.refused(closeOwnAccount, {}, 403, 17020);
  await operator.client.refused(deleteOwnAccount, { body: { email: operator.email } }, 403, 17004);
});

test('only staff can lock and delete other users', async () => {
  const [ada, bob, operator] = [await someone(), await someone(), await someone({ admin: true })];
  const params = { user_id: ada.id };
  for (const each of [lockAUser, deleteAUser]) {
    await bob.client.refused(each, { params }, 403, 17012);
    await operator.client.refused(each, { params: { user_id: operator.id } }, 403, 17023);
    await operator.client.refused(each, { params: { user_id: 999_999 } }, 404, 17000);
  }
  assert.equal((await operator.client.call(deleteAUser, { params })).status, 204);
  await operator.client.refused(deleteAUser, { params }, 400, 11051);
});

test('an authorized application cannot change or delete the account', async () => {
  const { id } = await someone();
  const { client_id: clientId } = await aClient(api);
  const app = api.app();
  const token = await app.db.write((transaction) => issueToken(app, transaction, { userId: id, clientId }));
  const client = api.withToken(token.access_token);
  for (const [operation, body] of [
    [requestEmailChange, { email: anAddress() }],
    [changeEmail, { new_code: 'AAAAA' }],
    [closeOwnAccount, undefined],
    [reopenOwnAccount, undefined],
    [deleteOwnAccount, { email: 'x' }],
    [mergeOwnAccount, { access_token: 'x' }],
  ] as const)
    await client.refused(operation, body ? { body } : {}, 403, 12004);
});

test('merging two accounts moves the contents of one to the other', async () => {
  const [ada, old, carl, dora] = [await someone(), await someone(), await someone(), await someone()];
  for (const { client } of [ada, old]) await client.call(muteAUser, { params: { user_id: carl.id } });
  await old.client.call(muteAUser, { params: { user_id: dora.id } });
  await old.client.call(muteAUser, { params: { user_id: ada.id } });
  const mod = await api.aMod({ game });
  await api.joinsMod(old, mod, 4);
  const merged = await ada.client.call(mergeOwnAccount, { body: { access_token: old.client.token! } });
  assert.equal(merged.status, 204, merged.text);
  await old.client.refused(getAuthenticatedUser, {}, 401, 11005);
  await ada.client.call(closeOwnAccount);
  await ada.client.refused(deleteOwnAccount, { body: { email: ada.email } }, 403, 17022);
  await composeWorker(api.app()).runDue();
  const muted = (await ada.client.call(getUsersMuted)).body.data.map(({ id }) => id);
  assert.deepEqual(muted, [carl.id, dora.id]);
  const team = await key.call(getModTeamMembers, { params: { game_id: game.id, mod_id: mod.id } });
  assert.deepEqual(
    team.body.data.map(({ user }) => user.id),
    [mod.owner.id, ada.id],
  );
  assert.equal((await ada.client.call(deleteOwnAccount, { body: { email: ada.email } })).status, 204);
});

test('an account without an address takes the address of the merged account', async () => {
  const old = await someone();
  const user = await api.aUser();
  const client = await api.as(user);
  await client.call(mergeOwnAccount, { body: { access_token: old.client.token! } });
  assert.equal((await client.call(getAccount)).body.email, old.email);
});

test('merging needs tokens of both accounts and is refused where others depend on the account', async () => {
  const [ada, leader, author, operator] = [
    await someone(),
    await someone(),
    await someone(),
    await someone({ admin: true }),
  ];
  await api.aGame({ owner: leader });
  await api.aMod({ game, owner: author });
  const merge = (access_token: string, status: number, ref: number, into = ada) =>
    into.client.refused(mergeOwnAccount, { body: { access_token } }, status, ref);
  await merge('made-up', 401, 12004);
  await merge((await api.as(leader, { scopes: ['read'] })).token!, 401, 12004);
  await merge(ada.client.token!, 400, 17027);
  await merge(operator.client.token!, 403, 17019);
  await merge(ada.client.token!, 403, 17019, operator);
  await merge(leader.client.token!, 403, 17029);
  await merge(author.client.token!, 403, 17041);
  await ada.client.refused(mergeOwnAccount, { body: { code: 'AAAAA' } }, 422, 13009);
  assert.equal((await ada.client.call(getAuthenticatedUser)).status, 200);
});

const linked = (user_id: number, portal: string, portal_id: string, game_id = 0) =>
  api.app().db.write(async (transaction) => {
    const shown = { display_name: `${portal} ${portal_id}`, avatar: '', date_added: 0, date_used: 0 };
    await transaction.query
      .insertInto('portal_accounts')
      .values({ user_id, portal, portal_id, game_id, ...shown })
      .execute();
  });

test('accounts that sell cannot be merged', async () => {
  const [ada, seller] = [await someone(), await someone()];
  await api
    .app()
    .db.write(({ query }) =>
      query.updateTable('users').set({ monetization_status: 1 }).where('id', '=', seller.id).execute(),
    );
  const into = (to: typeof ada, from: typeof ada) =>
    to.client.refused(mergeOwnAccount, { body: { access_token: from.client.token! } }, 403, 17043);
  await into(ada, seller);
  await into(seller, ada);
});

test('a merge moves portal accounts at once, unless both accounts use the same portal', async () => {
  const [ada, old] = [await someone(), await someone()];
  await linked(ada.id, 'steam', 'one');
  await linked(old.id, 'psn', 'two');
  await linked(old.id, 'sso', 'three', 1);
  await linked(ada.id, 'sso', 'three', 2);
  const body = { access_token: old.client.token! };
  await linked(old.id, 'steam', 'four');
  await ada.client.refused(mergeOwnAccount, { body }, 400, 17028);
  assert.equal((await old.client.call(deleteConnection, { params: { portal: 'steam' } })).status, 204);
  assert.equal((await ada.client.call(mergeOwnAccount, { body })).status, 204);
  const connections = (await ada.client.call(getConnections)).body.data.map(({ portal }) => portal);
  assert.deepEqual(connections.toSorted(), ['psn', 'sso', 'sso', 'steam']);
  const shown = await key.call(getUser, { params: { user_id: ada.id }, headers: { 'x-modio-portal': 'psn' } });
  assert.equal(shown.body.display_name_portal, 'psn two');
});

test('a user can merge an account with a code sent to its address', async () => {
  const [ada, old, eve] = [await someone(), await someone(), await someone()];
  const ask = { body: { email: old.email.toUpperCase() } };
  await ada.client.refused(mergeOwnAccount, { body: { email: ada.email } }, 400, 17027);
  await ada.client.refused(mergeOwnAccount, ask, 400, 17035);
  const code = codesSentTo(api, old.email).at(-1)!;
  // The code works only for the account that requested it, and only for merging.
  const body = { email: old.email, code };
  await eve.client.refused(mergeOwnAccount, { body }, 401, 11014);
  await key.refused(exchangeEmailSecurityCode, { body: { security_code: code } }, 401, 11014);
  await ada.client.refused(mergeOwnAccount, { body: { ...body, code: '22222' } }, 401, 11014);
  assert.equal((await ada.client.call(mergeOwnAccount, { body })).status, 204);
  await old.client.refused(getAuthenticatedUser, {}, 401, 11005);
  await ada.client.refused(mergeOwnAccount, { body }, 401, 11014);
});

test('a merge request does not reveal whether an address has an account', async () => {
  const [ada, old] = [await someone(), await someone()];
  const [there, free] = [old.email, anAddress()];
  const answers = [];
  for (const email of [there, free])
    answers.push(await ada.client.refused(mergeOwnAccount, { body: { email } }, 400, 17035));
  assert.equal(answers[0]!.text, answers[1]!.text);
  const body = { email: free, code: codesSentTo(api, free).at(-1)! };
  await ada.client.refused(mergeOwnAccount, { body }, 401, 11014);
});

test('a merge code expires after 15 minutes and ends at the fifth wrong guess', async () => {
  const [ada, old] = [await someone(), await someone()];
  const { email } = old;
  const code = async () => {
    await ada.client.refused(mergeOwnAccount, { body: { email } }, 400, 17035);
    return codesSentTo(api, email).at(-1)!;
  };
  const late = await code();
  api.clock.advance(900);
  await ada.client.refused(mergeOwnAccount, { body: { email, code: late } }, 401, 11012);
  const guessed = await code();
  for (let tries = 0; tries < 5; tries += 1)
    await ada.client.refused(mergeOwnAccount, { body: { email, code: '22222' } }, 401, 11014);
  api.clock.advance(60);
  await ada.client.refused(mergeOwnAccount, { body: { email, code: guessed } }, 401, 11014);
});

test('a user cannot escape a ban or a lock by merging accounts', async () => {
  const [ada, banned, locked] = [await someone(), await someone(), await someone()];
  const { db } = api.app();
  await db.write(({ query }) => query.updateTable('users').set({ status: 4 }).where('id', '=', banned.id).execute());
  const operator = await someone({ admin: true });
  await operator.client.call(lockAUser, { params: { user_id: locked.id } });
  const merge = (access_token: string, status: number, ref: number) =>
    ada.client.refused(mergeOwnAccount, { body: { access_token } }, status, ref);
  await merge(banned.client.token!, 401, 11007);
  await merge(locked.client.token!, 401, 12004);
});

test('a ban outlives the deleted account: its address cannot register again until the ban is lifted', async () => {
  const [old, operator] = [await someone(), await someone({ admin: true })];
  const params = { user_id: old.id };
  await linked(old.id, 'steam', 'banned-one');
  await operator.client.call(banUser, { params, body: { reason: 'Cheats' } });
  assert.equal((await operator.client.call(deleteAUser, { params })).status, 204);
  await composeWorker(api.app()).runDue();
  const signIn = async () => {
    await key.call(requestEmailSecurityCode, { body: { email: old.email } });
    return { body: { security_code: codesSentTo(api, old.email).at(-1)! } };
  };
  await key.refused(exchangeEmailSecurityCode, await signIn(), 401, 11007);
  const app = api.app();
  const kept = await app.db.query.selectFrom('remembered_bans').selectAll().where('user_id', '=', old.id).execute();
  assert.equal(kept.length, 2);
  assert.ok(!JSON.stringify(kept).includes(old.email));
  assert.equal((await operator.client.call(unbanUser, { params })).status, 204);
  await operator.client.refused(unbanUser, { params }, 404, 17000);
  assert.equal((await key.call(exchangeEmailSecurityCode, await signIn())).status, 200);
  // A user who was not banned can register again with the same address.
  const other = await someone();
  await operator.client.call(deleteAUser, { params: { user_id: other.id } });
  await key.call(requestEmailSecurityCode, { body: { email: other.email } });
  const body = { security_code: codesSentTo(api, other.email).at(-1)! };
  assert.equal((await key.call(exchangeEmailSecurityCode, { body })).status, 200);
});

test('an account that confirms releases by mail is not merged by the staff, who would get around its mailbox', async () => {
  const admin = await someone({ admin: true });
  const [guarded, other] = [await someone(), await someone()];
  assert.equal((await guarded.client.call(addReleaseConfirmation)).status, 204);
  const merge = { params: { user_id: guarded.id }, body: { into: other.id, reason: 'Asked by mail' } };
  await admin.client.refused(mergeAUser, merge, 403, 17_022);
});

test('administrators of the site merge two accounts of a person who lost one, and nobody else does', async () => {
  const admin = await someone({ admin: true });
  const [lost, kept, locked] = [await someone(), await someone(), await someone()];
  const muted = await someone();
  await lost.client.call(muteAUser, { params: { user_id: muted.id } });
  const reason = 'Both answered from the address of one order';
  const into = (from: number, to: number) => ({ params: { user_id: from }, body: { into: to, reason } });
  await kept.client.refused(mergeAUser, into(lost.id, kept.id), 403, 17012);
  await admin.client.refused(mergeAUser, into(lost.id, lost.id), 400, 17027);
  await admin.client.refused(mergeAUser, into(lost.id, admin.id), 403, 17019);
  await admin.client.refused(mergeAUser, into(lost.id, 999_999_999), 404, 17000);
  await admin.client.call(lockAUser, { params: { user_id: locked.id } });
  await admin.client.refused(mergeAUser, into(lost.id, locked.id), 403, 17053);
  const unreasoned = { params: { user_id: lost.id }, body: { into: kept.id } };
  await admin.client.refused(mergeAUser, unreasoned, 422, 13009);
  const contents = await admin.client.call(getAccountContents, { params: { user_id: lost.id } });
  assert.deepEqual([contents.body.subscriptions, contents.body.purchases], [0, 0]);
  await kept.client.refused(getAccountContents, { params: { user_id: lost.id } }, 403, 17012);
  assert.equal((await admin.client.call(mergeAUser, into(lost.id, kept.id))).status, 204);
  await worker.runDue();
  for (const { email } of [lost, kept])
    assert.equal(mailsTo(api, email).filter(({ text }) => /merged/.test(text)).length, 1);
  const { data } = (await kept.client.call(getUsersMuted)).body;
  assert.deepEqual(
    data.map(({ id }) => id),
    [muted.id],
  );
  assert.equal((await lost.client.call(getAuthenticatedUser)).status, 401);
  const entry = await api
    .app()
    .db.query.selectFrom('audit_log')
    .select(['user_id', 'data'])
    .where('action', '=', 'users.merge')
    .executeTakeFirstOrThrow();
  assert.deepEqual([entry.user_id, JSON.parse(entry.data)], [admin.id, { into: kept.id }]);
});
