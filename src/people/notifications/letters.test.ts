import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, type Mod, startApi, type User } from '../../../test/api.ts';
import { Browser } from '../../../test/browser.ts';
import { type Mail, mailsTo } from '../../../test/mails.ts';
import { modComments } from '../../community/comments/operations.ts';
import { addMessage, addMessageThread } from '../../community/messages/operations.ts';
import { composeWorker } from '../../composition/compose.ts';
import { MailError } from '../../platform/mail/mail.ts';
import { blockAUser } from '../blocks/operations.ts';
import { editMailings } from '../mailings/operations.ts';
import { muteAUser } from '../mutes/operations.ts';
import { mailPerson } from './letters.ts';
import { readNotifications, updateNotificationSettings } from './operations.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
const worker = composeWorker(api.app());
const DAY = 86_400;
let people = 0;

async function arrived({ email }: { email: string }): Promise<Mail[]> {
  await worker.runDue();
  return mailsTo(api, email);
}

/** A user with a mod and an address, who is notified of comments in this way. */
async function anAuthor(mode: 'off' | 'site' | 'email' | 'digest', language = 'en') {
  const email = `told-${++people}@example.org`;
  const owner = await api.aUser({ email, language });
  const [mod, client] = [await api.aMod({ owner }), await api.as(owner)];
  await client.call(updateNotificationSettings, { body: { comment: mode } });
  return { email, owner, mod, client };
}

async function comment(mod: Mod, by?: User): Promise<{ client: Client; id: number; user: User }> {
  const user = by ?? (await api.aUser());
  const client = await api.as(user);
  const params = { game_id: mod.game_id, mod_id: mod.id };
  const content = `Nice, number ${++people}`;
  return { client, user, id: (await client.call(modComments.add, { params, body: { content } })).body.id };
}

test('the mode email sends a mail at once, as text and HTML, with links to the subject and to unsubscribe', async () => {
  const author = await anAuthor('email');
  const { user } = await comment(author.mod, await api.aUser({ username: '<b>Eve</b>' }));
  const [mail, ...more] = await arrived(author);
  assert.deepEqual([mail!.subject, more], ['New notifications from localhost: 1', []]);
  assert.ok(mail!.text.includes(`- ${user.username} commented on “${author.mod.name}”.`), mail!.text);
  assert.match(mail!.text, new RegExp(`https://localhost/g/\\S+/m/${author.mod.name_id}`));
  assert.ok(mail!.html!.includes('&lt;b&gt;Eve&lt;/b&gt; commented'), mail!.html!);
  assert.equal(mail!.html!.includes('<b>'), false);
  assert.ok(mail!.html!.includes(`<a href="${mail!.optOut!}">`));
  assert.equal((await arrived(author)).length, 1);
});

test('the mode site sends no mail', async () => {
  for (const mode of ['site', 'off'] as const) {
    const author = await anAuthor(mode);
    await comment(author.mod);
    api.clock.advance(2 * DAY);
    assert.deepEqual(await arrived(author), []);
  }
});

test('a daily mail contains all notifications of a day, once, and a day without any has no mail', async () => {
  const author = await anAuthor('digest');
  const [one, other] = [await comment(author.mod), await comment(author.mod)];
  assert.deepEqual(await arrived(author), []);
  api.clock.advance(DAY);
  const [mail, ...more] = await arrived(author);
  assert.deepEqual(more, []);
  for (const { user } of [one, other]) assert.ok(mail!.text.includes(user.username));
  for (let day = 0; day < 3; day++) {
    api.clock.advance(DAY);
    assert.equal((await arrived(author)).length, 1);
  }
  await comment(author.mod);
  api.clock.advance(DAY);
  assert.equal((await arrived(author)).length, 2);
});

test('a mail is in the language of its recipient', async () => {
  const leads: Record<string, string> = {
    de: 'Das ist neu für dich',
    fr: 'Voici ce qu’il y a de nouveau',
    es: 'Esto es nuevo para ti',
    ja: 'の新着情報です',
    'zh-CN': '上的新消息',
  };
  for (const [language, lead] of Object.entries(leads)) {
    const author = await anAuthor('email', language);
    await comment(author.mod);
    const [mail] = await arrived(author);
    assert.ok(mail!.text.includes(lead) && mail!.html!.includes(lead), mail!.text);
  }
});

test('notifications that were read, removed, or caused by a user muted or blocked since are not mailed', async () => {
  const read = await anAuthor('digest');
  await comment(read.mod);
  await read.client.call(readNotifications);
  const deleted = await anAuthor('digest');
  const { client, id } = await comment(deleted.mod);
  await client.call(modComments.remove, {
    params: { game_id: deleted.mod.game_id, mod_id: deleted.mod.id, comment_id: id },
  });
  const [muter, blocker] = [await anAuthor('digest'), await anAuthor('digest')];
  await muter.client.call(muteAUser, { params: { user_id: (await comment(muter.mod)).user.id } });
  await blocker.client.call(blockAUser, { params: { user_id: (await comment(blocker.mod)).user.id } });
  api.clock.advance(DAY);
  for (const author of [read, deleted, muter, blocker]) assert.deepEqual(await arrived(author), []);
});

test('banned, deleted and closed accounts get no mail, not even about earlier events', async () => {
  for (const change of [{ status: 4 }, { status: 3 }, { date_closed: 1 }]) {
    const author = await anAuthor('email');
    await comment(author.mod);
    await api.app().db.write(async ({ query }) => {
      await query.updateTable('users').set(change).where('id', '=', author.owner.id).execute();
    });
    assert.deepEqual(await arrived(author), []);
  }
});

test('one-click unsubscribe ends the mails in both modes, and opening the link does not', async () => {
  const boundary = '----one-click';
  const part = `--${boundary}\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--${boundary}--\r\n`;
  const forms = [
    { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'List-Unsubscribe=One-Click' },
    { headers: { 'content-type': `multipart/form-data; boundary=${boundary}` }, body: part },
  ];
  for (const form of forms) {
    const author = await anAuthor('email');
    await comment(author.mod);
    const { pathname, search } = new URL((await arrived(author))[0]!.optOut!);
    const page = await new Browser(api, 'production', { 'accept-language': 'de' }).get(pathname + search);
    assert.match(page.text, /Diese E-Mails abbestellen\?/);
    await comment(author.mod);
    assert.equal((await arrived(author)).length, 2);
    const answer = await api.request('POST', pathname + search, { ...form, host: 'localhost' });
    assert.equal(answer.status, 200, answer.text);
    await comment(author.mod);
    assert.equal((await arrived(author)).length, 2);
    await author.client.call(editMailings, { body: { wanted: true } });
    await comment(author.mod);
    assert.equal((await arrived(author)).length, 3);
  }
});

test('a POST that is no one-click unsubscribe, or has a forged link, ends nothing', async () => {
  const author = await anAuthor('email');
  await comment(author.mod);
  const { pathname, search } = new URL((await arrived(author))[0]!.optOut!);
  const post = (path: string, body: string) =>
    api.request('POST', path, {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body,
      host: 'localhost',
    });
  assert.equal((await post(pathname + search, 'List-Unsubscribe=Perhaps')).status, 403);
  assert.equal((await post(`${pathname}${search}x`, 'List-Unsubscribe=One-Click')).status, 400);
  await comment(author.mod);
  assert.equal((await arrived(author)).length, 2);
});

test('a process that dies before or after sending loses no mail and sends none twice', async () => {
  const author = await anAuthor('digest');
  const { user } = await comment(author.mod);
  api.clock.advance(DAY);
  const app = api.app();
  const away = { ...app.mail, send: () => Promise.reject(new MailError('away', { permanent: false })) };
  await assert.rejects(mailPerson({ ...app, mail: away }, author.owner.id), MailError);
  await assert.rejects(mailPerson({ ...app, mail: away }, author.owner.id), MailError);
  await mailPerson(app, author.owner.id);
  const [mail] = mailsTo(api, author.email);
  assert.ok(mail!.text.includes(user.username));
  // Simulates a process that died after sending and before storing that it did.
  await app.db.write(async ({ query }) => {
    await query
      .updateTable('notification_letters')
      .set({ date_sent: 0 })
      .where('user_id', '=', author.owner.id)
      .execute();
  });
  await comment(author.mod);
  await mailPerson(app, author.owner.id);
  assert.deepEqual(
    mailsTo(api, author.email).map(({ id, text }) => [id, text.split('\n').slice(0, 3)]),
    [[mail!.id, mail!.text.split('\n').slice(0, 3)]],
  );
});

test('mail to an address that does not exist is not retried for ever', async () => {
  const author = await anAuthor('email');
  await comment(author.mod);
  const app = api.app();
  let tries = 0;
  const send = async () => {
    tries += 1;
    throw new MailError('no such person', { permanent: true });
  };
  const refusing = { ...app.mail, send };
  await mailPerson({ ...app, mail: refusing }, author.owner.id);
  await mailPerson({ ...app, mail: refusing }, author.owner.id);
  assert.equal(tries, 1);
});

test('a user who got twenty mails within an hour gets the rest in the daily one', async () => {
  const author = await anAuthor('email');
  for (let round = 0; round < 22; round++) {
    await comment(author.mod);
    await worker.runDue();
  }
  assert.equal(mailsTo(api, author.email).length, 20);
  api.clock.advance(DAY);
  const mails = await arrived(author);
  assert.equal(mails.length, 21);
  assert.equal(mails.filter(({ subject }) => subject.endsWith(': 2')).length, 1);
});

test('sixteen concurrent comments are all mailed', async () => {
  const author = await anAuthor('email');
  const users = await Promise.all(Array.from({ length: 16 }, () => api.aUser()));
  await Promise.all(users.map((user) => comment(author.mod, user)));
  const text = (await arrived(author)).map((mail) => mail.text).join('\n');
  for (const { username } of users) assert.ok(text.includes(`${username} commented`), username);
});

test('each message of a conversation notifies again, without its text', async () => {
  const email = `told-${++people}@example.org`;
  const ada = await api.aUser({ email });
  await (await api.as(ada)).call(updateNotificationSettings, { body: { message: 'email' } });
  const bob = await api.as(await api.aUser());
  const body = { subject: 'Secret plan', content: 'Meet me at the bridge', user_ids: [ada.id] };
  const thread_id = (await bob.call(addMessageThread, { body })).body.id;
  assert.equal((await arrived({ email })).length, 1);
  await bob.call(addMessage, { params: { thread_id }, body: { content: 'At midnight' } });
  const mails = await arrived({ email });
  assert.equal(mails.length, 2);
  assert.equal(/plan|bridge|midnight/.test(JSON.stringify(mails)), false);
});
