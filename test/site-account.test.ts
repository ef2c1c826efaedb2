import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { builtSite } from '../src/commands/site-build.ts';
import { modComments } from '../src/community/comments/operations.ts';
import { addMessageThread, getMessageThreads } from '../src/community/messages/operations.ts';
import { subscribeToMod } from '../src/community/subscriptions/operations.ts';
import { composeWorker } from '../src/composition/compose.ts';
import { addAgreementVersion, editAgreementVersion, getCurrentAgreement } from '../src/people/agreements/operations.ts';
import { getUsersBlocked } from '../src/people/blocks/operations.ts';
import { followUserOperation } from '../src/people/follows/operations.ts';
import { getNotifications } from '../src/people/notifications/operations.ts';
import { getAuthenticatedUser } from '../src/people/users/operations.ts';
import { flushTraffic } from '../src/records/traffic/traffic.ts';
import { getOwnTokens } from '../src/signin/credentials/operations.ts';
import { deleteSession, getSessions } from '../src/signin/sessions/operations.ts';
import { type Answer, startApi } from './api.ts';
import { Browser } from './browser.ts';
import { EventListener } from './event-streams.ts';
import { codesSentTo } from './mails.ts';

const api = await startApi({ site: builtSite(), settings: { MODSTEAD_JOBS: 'off' } });
const worker = composeWorker(api.app());

type Fields = Record<string, string | number | undefined>;

const anAddress = () => `${api.unique('visitor').replace(' ', '-')}@example.org`;

/** A signed-in visitor of the site, and what they can do on its pages. */
async function visitor() {
  const email = anAddress();
  const user = await api.aUser({ email });
  const browser = new Browser(api);
  const first = await browser.signIn('/account', email);
  assert.equal(first.status, 200, first.text);
  const csrf = csrfIn(first);
  const act = (path: string, action: string, fields: Fields = {}) => {
    const [base, query] = path.split('?');
    return browser.post(`${base}?/${action}${query ? `&${query}` : ''}`, { csrf, ...fields });
  };
  return { user, email, browser, csrf, act, client: await api.as(user) };
}

const csrfIn = ({ text }: Answer) => /name="csrf" value="([^"]+)"/.exec(text)![1]!;
const isRefusal = ({ status, text }: Answer) => status >= 400 && status < 500 && text.includes('role="alert"');
const lastCode = (email: string) => codesSentTo(api, email).at(-1)!;

/** Every form action of the signed-in pages, with the address of its page. */
const ACTIONS = globSync('site/src/routes/(me)/**/+page.server.ts', {
  cwd: new URL('..', import.meta.url).pathname,
}).flatMap((file) => {
  const source = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
  const path = file.replace(/^site\/src\/routes\/\(me\)|\/\+page\.server\.ts$/g, '').replace('[thread]', '1');
  const [, declared = ''] = /export const actions = \{([\s\S]*?)\n?\};/.exec(source) ?? [];
  const names = declared.includes('\n')
    ? [...declared.matchAll(/^ {2}(?:async )?(\w+)[:,(]/gm)].map(([, name]) => name!)
    : declared.split(',').flatMap((name) => name.trim() || []);
  return names.map((name) => ({ path, name }));
});

test('every form is refused without the token of its browser, and to visitors who are not signed in', async () => {
  assert.ok(ACTIONS.length > 40, JSON.stringify(ACTIONS));
  const { browser } = await visitor();
  const stranger = new Browser(api);
  const csrf = csrfIn(await stranger.get('/sign-in'));
  for (const { path, name } of ACTIONS) {
    const address = name === 'default' ? path : `${path}?/${name}`;
    assert.equal((await browser.post(address, {})).status, 403, address);
    assert.equal((await browser.post(address, { csrf: 'forged' })).status, 403, address);
    assert.equal((await browser.post(address, { csrf })).status, 403, address);
    const answer = await stranger.post(address, { csrf });
    if (answer.status === 303) assert.match(answer.headers.location!, /^\/sign-in\?/, address);
    else assert.ok([401, 404].includes(answer.status), `${address} ${answer.status}`);
  }
});

test('ids of other people are refused by the API, and nothing changes', async () => {
  const [me, other, third] = [await visitor(), await visitor(), await visitor()];
  await other.act('/account/tokens', 'add', { name: 'mine', 'scopes[]': 'read', days: 30 });
  const [session] = (await other.client.call(getSessions)).body.data;
  const token = (await other.client.call(getOwnTokens)).body.data.find(({ name }) => name === 'mine')!;
  await third.client.call(addMessageThread, { body: { subject: 'Ours', content: 'Hi', user_ids: [other.user.id] } });
  const [thread] = (await third.client.call(getMessageThreads)).body.data;
  const [notification] = (await other.client.call(getNotifications)).body.data;
  assert.ok(session && token && thread && notification);
  for (const [path, action, fields] of [
    ['/account/security', 'endSession', { session_id: session.id }],
    ['/account/security', 'endDevice', { token_id: token.id }],
    ['/account/tokens', 'revoke', { token_id: token.id }],
    ['/account/connections', 'revoke', { token_id: token.id }],
    ['/account/purchases', 'refund', { payment_id: 1 }],
    ['/account/people', 'unfollow', { my_id: other.user.id, user_id: third.user.id }],
    ['/notifications', 'mark', { notification_id: notification.id, is_read: 'true' }],
    ['/notifications', 'remove', { notification_id: notification.id }],
    ['/messages', 'join', { thread_id: thread.id }],
  ] as const)
    assert.ok(isRefusal(await me.act(path, action, fields)), `${path} ${action}`);
  const path = `/messages/${thread.id}`;
  for (const { status } of [await me.act(path, 'send', { content: 'Hello' }), await me.browser.get(path)])
    assert.ok([403, 404].includes(status), String(status));
  assert.equal((await other.browser.get('/account')).status, 200);
  assert.equal((await other.client.call(getNotifications)).body.data[0]!.is_read, false);
});

test('the profile is edited, and each error of the API is beside its field', async () => {
  const { act, client } = await visitor();
  const refused = await act('/account', 'profile', { username: 'x', name_id: 'Not Good', country: 'DE' });
  assert.equal(refused.status, 422, refused.text);
  for (const field of ['username', 'name_id']) {
    assert.match(refused.text, new RegExp(`<p class="error[^"]*" id="field-${field}-error">[^<]+`));
    assert.match(refused.text, new RegExp(`id="field-${field}"[^>]*aria-invalid="true"`));
  }
  assert.match(refused.text, /value="Not Good"/);
  const name = api.unique('Wren').replace(' ', '-');
  const done = await act('/account', 'profile', { username: name, name_id: name.toLowerCase(), language: 'de' });
  // The next page is in the chosen language.
  assert.equal(done.status, 303, done.text);
  const me = (await client.call(getAuthenticatedUser)).body;
  assert.deepEqual([me.username, me.language, me.country], [name, 'de', '']);
  await act('/account', 'preferences', { hide_profile: 'true' });
  assert.equal((await client.call(getAuthenticatedUser)).body.privacy_options, 2);
});

test('a new account has the language of its browser, and the site has that of the account', async () => {
  const email = anAddress();
  const german = new Browser(api, 'production', { 'accept-language': 'de' });
  const first = await german.signIn('/account', email);
  assert.match(first.text, /<html lang="de"/);
  const elsewhere = new Browser(api, 'production', { 'accept-language': 'fr' });
  const there = await elsewhere.signIn('/account', email);
  assert.match(there.text, /<html lang="de"/);
  const saved = await elsewhere.post('/account?/profile', { csrf: csrfIn(there), language: 'ja' });
  assert.equal(saved.status, 303, saved.text);
  const japanese = await elsewhere.get(saved.headers.location!);
  assert.match(japanese.text, /<html lang="ja"[\s\S]*role="status"/);
  assert.match((await german.get('/account')).text, /<html lang="ja"/);
  // The API answers pages in the same language, in its errors as well.
  const refused = await german.post('/account?/profile', { csrf: csrfIn(await german.get('/account')), username: '' });
  assert.match(refused.text, /id="field-username-error"[^>]*>[^<]*[ぁ-んァ-ヶ]/);
  const somebody = new Browser(api, 'production', { 'accept-language': 'fr' });
  assert.match((await somebody.get('/games')).text, /<html lang="fr"/);
});

test('tokens and keys are shown once, and end when they are revoked', async () => {
  const { act, browser, client } = await visitor();
  const empty = await act('/account/tokens', 'add', { name: '', days: 30 });
  assert.match(empty.text, /id="field-name-error"/);
  const made = await act('/account/tokens', 'add', { name: 'CI <b>', 'scopes[]': 'read', days: 30 });
  const secret = /<code[^>]*>([^<]{40,})<\/code>/.exec(made.text)![1]!;
  const page = await browser.get('/account/tokens');
  assert.ok(!page.text.includes(secret) && page.text.includes('CI &lt;b'));
  await api.withToken(secret).call(getAuthenticatedUser);
  const { id } = (await client.call(getOwnTokens)).body.data.find(({ name }) => name === 'CI <b>')!;
  await act('/account/tokens', 'revoke', { token_id: id });
  await api.withToken(secret).refused(getAuthenticatedUser, {}, 401, 11005);
  const [one, two] = [await act('/account/tokens', 'rotateKey'), await act('/account/tokens', 'rotateKey')];
  const keyIn = ({ text }: Answer) => /<code[^>]*>(\w{32,})<\/code>/.exec(text)?.[1];
  assert.ok(keyIn(one) && keyIn(two) && keyIn(one) !== keyIn(two));
});

test('releases are confirmed by mail with a button, and end with a code', async () => {
  const { act, browser, email } = await visitor();
  const path = '/account/security';
  assert.match((await act(path, 'guard')).text, /confirmed them by email/);
  const asked = await act(path, 'askRelease');
  assert.equal(asked.status, 303);
  assert.match((await browser.get(asked.headers.location!.split('#')[0]!)).text, /name="code"/);
  assert.ok(isRefusal(await act(path, 'unguard', { code: '00000' })));
  assert.match((await act(path, 'unguard', { code: lastCode(email) })).text, /go live at once/);
});

test('the email address changes with the codes of both, and signing out ends sessions', async () => {
  const { act, browser, email, client } = await visitor();
  const path = '/account/security';
  assert.match((await act(path, 'askEmail', { email: 'nonsense' })).text, /id="field-email-error"/);
  const next = anAddress();
  assert.equal((await act(path, 'askEmail', { email: next })).status, 303);
  const codes = { new_code: lastCode(next), old_code: lastCode(email) };
  assert.ok(isRefusal(await act(path, 'changeEmail', { ...codes, new_code: 'AAAAA' })));
  const changed = await act(path, 'changeEmail', codes);
  assert.equal(changed.status, 200, changed.text);
  assert.ok(changed.text.includes(next));
  assert.equal((await act(path, 'endAll')).status, 303);
  assert.equal((await browser.get(path)).status, 303);
  await client.refused(getAuthenticatedUser, {}, 401, 11005);
});

test('a user gets a copy of their data, closes the account and deletes it', async () => {
  const { act, browser, email } = await visitor();
  const path = '/account/data';
  assert.doesNotMatch((await browser.get(path)).text, /\?\/delete/);
  assert.equal((await act(path, 'export')).status, 200);
  assert.ok(isRefusal(await act(path, 'export')));
  await worker.runDue();
  const [, link] = /href="([^"]*\/exports\/[^"]+)"/.exec((await browser.get(path)).text)!;
  const file = await api.request('GET', new URL(link!).pathname);
  assert.ok(file.text.includes(email));
  assert.match((await act(path, 'close')).text, /\?\/delete/);
  assert.doesNotMatch((await act(path, 'reopen')).text, /\?\/delete/);
  await act(path, 'close');
  const wrong = await act(path, 'delete', { confirmation: 'wrong@example.org' });
  assert.ok(isRefusal(wrong) && wrong.text.includes('id="field-confirmation-error"'), wrong.text);
  const deleted = await act(path, 'delete', { confirmation: email });
  assert.deepEqual([deleted.status, deleted.headers.location], [303, '/goodbye']);
  assert.equal((await browser.get('/goodbye')).status, 200);
  assert.equal((await browser.get(path)).status, 303);
});

test('another account is merged with the code that was mailed to it', async () => {
  const [me, other] = [await visitor(), await visitor()];
  const asked = await me.act('/account/data', 'askMerge', { email: other.email });
  assert.equal(asked.status, 303, asked.text);
  const form = await me.browser.get(`/account/data${asked.headers.location!.split('#')[0]!}`);
  assert.ok(form.text.includes(other.email) && form.text.includes('?/merge'));
  assert.ok(isRefusal(await me.act('/account/data', 'merge', { email: other.email, code: 'AAAAA' })));
  const merged = await me.act('/account/data', 'merge', { email: other.email, code: lastCode(other.email) });
  assert.equal(merged.status, 200, merged.text);
  assert.equal((await other.browser.get('/account')).status, 303);
});

test('the terms are asked for once, and again in a new version', async () => {
  const { browser, csrf } = await visitor();
  const asks = async () => (await browser.get('/library')).text.includes('href="/agree?return=');
  const agree = async () => {
    const { text } = await browser.get('/agree?return=%2Flibrary');
    for (const [, version] of text.matchAll(/name="version" value="(\d+)"/g))
      await browser.post('/agree', { csrf, version, return: '//evil.example' }).then(({ status, headers }) => {
        assert.deepEqual([status, headers.location], [303, '/']);
      });
  };
  assert.ok(await asks());
  await agree();
  assert.ok(!(await asks()));
  const staff = await api.as(await api.aUser({ admin: true }));
  const { body: current } = await staff.call(getCurrentAgreement, { params: { agreement_type_id: 1 } });
  const { body: next } = await staff.call(addAgreementVersion, {
    body: { type: 1, name: current.name, changelog: 'Shorter <i>', description: '<p>Be kind.</p>' },
  });
  await staff.call(editAgreementVersion, {
    params: { agreement_version_id: next.id },
    body: { is_active: true },
  });
  assert.ok(await asks());
  assert.match((await browser.get('/agree')).text, /Shorter &lt;i/);
  await agree();
  assert.ok(!(await asks()));
});

test('a hint in the address of any page starts the sign-in, and a signed-in visitor stays', async () => {
  const game = await api.aGame();
  for (const path of ['/', `/g/${game.name_id}`, '/library', '/account']) {
    const hinted = `${path}?portal=steam&login=auto`;
    const { status, headers } = await api.request('GET', hinted);
    const expected = `/sign-in?${new URLSearchParams({ return: hinted })}`;
    assert.deepEqual([status, headers.location], [303, expected]);
    assert.equal((await api.request('GET', expected)).status, 200);
  }
  assert.equal((await api.request('GET', `/g/${game.name_id}?portal=steam`)).status, 200);
  const { browser } = await visitor();
  assert.equal((await browser.get(`/g/${game.name_id}?portal=steam&login=auto`)).status, 200);
  const linking = await browser.get(`/account?game=${game.id}&portal=steam&login=auto`);
  assert.deepEqual([linking.status, linking.headers.location], [303, `/account/link?game=${game.id}`]);
});

test('notifications name what they are about, count in the header, and are marked and removed', async () => {
  const me = await visitor();
  const game = await api.aGame();
  const mod = await api.aMod({ game, owner: me.user, name: 'Sky <b>' });
  await me.client.call(getNotifications);
  const other = await visitor();
  await other.client.call(modComments.add, { params: { game_id: game.id, mod_id: mod.id }, body: { content: 'Nice' } });
  const shown = await me.browser.get('/notifications');
  assert.match(shown.text, new RegExp(`href="/g/${game.name_id}/m/${mod.name_id}#comments"`));
  assert.match(shown.text, /Sky &lt;b/);
  assert.match(shown.text, /aria-label="Notifications, \d+ unread"/);
  const [{ id } = { id: 0 }] = (await me.client.call(getNotifications)).body.data;
  await me.act('/notifications', 'mark', { notification_id: id, is_read: 'true' });
  assert.equal((await me.client.call(getNotifications)).body.data[0]!.is_read, true);
  await me.act('/notifications', 'mark', { notification_id: id, is_read: 'false' });
  await me.act('/notifications', 'readAll');
  assert.match((await me.browser.get('/notifications?show=unread')).text, /aria-label="Notifications"/);
  await me.act('/notifications', 'remove', { notification_id: id });
  assert.deepEqual((await me.client.call(getNotifications)).body.data, []);
  const settings = await me.act('/account/notifications', 'kinds', { comment: 'off', reply: 'nonsense' });
  assert.match(settings.text, /id="field-reply-error"/);
});

test('a visitor’s stream of notifications ends with their session', async () => {
  const me = await visitor();
  const cookie = [...me.browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const listen = (headers: Record<string, string>) =>
    EventListener.open<{ count?: number; kind?: string }>(api, '/notifications/live', 'none', { headers });
  const heard = await listen({ cookie });
  assert.equal((await heard.next())!.data.count, 0);
  const isFollowed = async () => {
    const follower = await visitor();
    const input = { params: { user_id: follower.user.id }, body: { user_id: me.user.id } };
    await follower.client.call(followUserOperation, input);
  };
  await isFollowed();
  assert.equal((await heard.next())!.data.kind, 'follower');
  assert.equal((await heard.next())!.data.count, 1);
  const sessions = (await me.client.call(getSessions)).body.data;
  for (const { id } of sessions) await me.client.call(deleteSession, { params: { session_id: id } });
  await isFollowed();
  assert.equal(await heard.next(), undefined);
  await flushTraffic(api.app());
  const slow = await api.app().db.query.selectFrom('slow_requests').select('path').execute();
  assert.ok(!slow.some(({ path }) => path === '/notifications/live'), 'a stream is not slow because it lasts');
  const refused = await listen({ cookie });
  assert.equal(refused.response.statusCode, 401);
  refused.close();
});

test('people write to each other, and report and block', async () => {
  const [me, other] = [await visitor(), await visitor()];
  const path = `/messages/new?to=${other.user.id}`;
  assert.ok((await me.browser.get(path)).text.includes(other.user.username));
  const empty = await me.browser.post(path, { csrf: me.csrf, user_ids: other.user.id, subject: '', content: 'Hi' });
  assert.match(empty.text, /id="field-subject-error"/);
  const sent = await me.browser.post(path, {
    csrf: me.csrf,
    user_ids: other.user.id,
    subject: 'Rivers <b>',
    content: 'Hello <script>alert(1)</script>',
  });
  assert.equal(sent.status, 303, sent.text);
  const thread = sent.headers.location!;
  const invites = await other.browser.get('/messages');
  assert.match(invites.text, /Rivers &lt;b/);
  await other.act('/messages', 'join', { thread_id: thread.split('/').at(-1) });
  const read = await other.browser.get(thread);
  assert.match(read.text, /Hello/);
  assert.doesNotMatch(read.text, /<script>alert/);
  assert.equal((await other.act(thread, 'send', { content: 'Hello too' })).status, 200);
  assert.match((await me.browser.get('/messages')).text, /1 unread message/);
  await me.act(thread, 'read');
  assert.doesNotMatch((await me.browser.get('/messages')).text, /unread message/);
  assert.equal((await me.act(thread, 'report', { user_id: other.user.id, type: 3, summary: 'Rude' })).status, 200);
  assert.equal((await me.act(thread, 'block', { user_id: other.user.id })).status, 200);
  assert.deepEqual(
    (await me.client.call(getUsersBlocked)).body.data.map(({ id }) => id),
    [other.user.id],
  );
  assert.ok((await me.browser.get('/account/people?list=blocked')).text.includes(other.user.username));
  await me.act('/account/people?list=blocked', 'unblock', { user_id: other.user.id });
  assert.deepEqual((await me.client.call(getUsersBlocked)).body.data, []);
});

test('the library filters by game, says what is new since the last visit, and takes back an unsubscription', async () => {
  const me = await visitor();
  const [one, two] = [await api.aMod(), await api.aMod()];
  for (const mod of [one, two]) {
    await api.aFile(mod);
    await me.client.call(subscribeToMod, { params: { game_id: mod.game_id, mod_id: mod.id }, body: {} });
  }
  const first = await me.browser.get('/library');
  assert.ok(first.text.includes(one.name) && first.text.includes(two.name));
  assert.doesNotMatch(first.text, /New version/);
  const filtered = await me.browser.get(`/library?game=${one.game_id}`);
  assert.ok(filtered.text.includes(one.name) && !filtered.text.includes(`/m/${two.name_id}`));
  me.browser.cookies.set('library_visits', '1000.2000');
  const later = await me.browser.get('/library');
  assert.match(later.text, /2 mods were updated since your last visit/);
  assert.match(later.text, /New version/);
  assert.equal((await me.browser.get('/library?show=updated')).status, 200);
  const ended = await me.act(`/library?game=${one.game_id}`, 'unsubscribe', {
    game_id: one.game_id,
    mod_id: one.id,
    name: one.name,
  });
  assert.match(ended.text, /\?\/subscribe/);
  await me.act('/library', 'subscribe', { game_id: one.game_id, mod_id: one.id, name: one.name });
  assert.ok((await me.browser.get('/library')).text.includes(`/m/${one.name_id}`));
  for (const view of ['collections', 'purchased'])
    assert.equal((await me.browser.get(`/library?view=${view}`)).status, 200);
});

test('the pages outside of the site have its colours', async () => {
  const declared = (css: string) =>
    new Map([...css.matchAll(/(--[\w-]+): (#\w{6})/g)].map(([, name = '', value]) => [name, value]));
  const tokens = readFileSync(new URL('../site/src/tokens.css', import.meta.url), 'utf8');
  const pages = (await api.request('GET', '/pages.css')).text;
  for (const scheme of [0, 1]) {
    const [ours, site] = [pages, tokens].map((css) => declared(css.split('prefers-color-scheme: dark')[scheme]!));
    assert.ok(ours!.size > 10);
    for (const [name, value] of ours!) assert.equal(value, site!.get(name), name);
  }
});
