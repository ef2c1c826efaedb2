import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, startApi } from './api.ts';
import { aClient, asking, authorizePath, Browser, returned } from './browser.ts';
import { codesSentTo } from './mails.ts';

const api = await startApi();
const client = await aClient(api, { name: 'Sky <b>port</b>' });
const PATH = authorizePath(asking(client));
let people = 0;
const anAddress = () => `reader-${++people}@example.org`;

test('a user signs in by mail, allows a client, and is redirected with a code', async () => {
  const browser = new Browser(api);
  const consent = await browser.signIn(PATH, anAddress());
  assert.equal(consent.status, 200);
  assert.match(consent.text, /Sky &lt;b&gt;port&lt;\/b&gt;/);
  assert.match(consent.text, /src="\/files\/placeholder\/icon\/thumb_64x64\.png"/);
  assert.equal((await api.request('GET', '/files/placeholder/icon/thumb_64x64.png')).status, 200);
  const allowed = await browser.submit(consent, { decision: 'allow' });
  assert.equal(allowed.status, 303);
  assert.ok(returned(allowed).get('code'));
});

test('cookies are bound to this host and HTTPS, and hidden from scripts and other sites', async () => {
  const browser = new Browser(api);
  const email = anAddress();
  const form = await browser.get('/sign-in');
  const asked = await browser.submit(form, { email });
  const signedIn = await browser.submit(asked, { code: codesSentTo(api, email).at(-1) });
  const cookies = [...(form.headers['set-cookie'] ?? []), ...(signedIn.headers['set-cookie'] ?? [])];
  assert.equal(cookies.length, 4);
  for (const cookie of cookies)
    assert.match(
      cookie,
      /^__Host-modstead_(?:visit|session|browser)=[\w-]{43}; Path=\/; Max-Age=\d+; Secure; HttpOnly; SameSite=Lax$/,
    );
  const sandbox = await new Browser(api, 'sandbox').get('/sign-in');
  assert.match(sandbox.headers['set-cookie']![0]!, /^__Host-modstead_test_visit=/);
  assert.match(sandbox.text, /Test environment/);
});

test('no page can be framed, runs scripts, or leaks a referrer', async () => {
  const browser = new Browser(api);
  const pages = [await browser.get('/sign-in'), await browser.signIn(PATH, anAddress())];
  pages.push(await browser.get('/sign-out'), await browser.get('/oauth/authorize'));
  pages.push(await browser.get('/account/link'), await browser.get('/sign-in/studio/1?code=x&state=y'));
  for (const { headers, text } of pages) {
    const policy = String(headers['content-security-policy']);
    assert.match(policy, /^default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.equal(headers['x-frame-options'], 'DENY');
    assert.equal(headers['referrer-policy'], 'no-referrer');
    assert.equal(headers['cache-control'], 'no-store');
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.doesNotMatch(text, /<script|style="|\bon\w+=/);
    assert.match(text, /^<!doctype html>\n<html lang="en" dir="ltr">/);
    assert.equal(text.match(/<h1>/g)?.length, 1);
  }
  const style = await browser.get('/pages.css');
  assert.deepEqual([style.status, style.headers['content-type']], [200, 'text/css; charset=utf-8']);
});

function isForgery(answer: Answer): void {
  assert.equal(answer.status, 403, answer.text);
  assert.match(answer.text, /11095/);
  assert.equal(answer.headers.location, undefined);
}

test('a form is accepted only with the token of this browser and from this site', async () => {
  const browser = new Browser(api);
  const consent = await browser.signIn(PATH, anAddress());
  const [, csrf] = /name="csrf" value="([^"]+)"/.exec(consent.text)!;
  const stranger = new Browser(api);
  const [, foreign] = /name="csrf" value="([^"]+)"/.exec((await stranger.get('/sign-in')).text)!;
  isForgery(await browser.post(PATH, { decision: 'allow' }));
  isForgery(await browser.post(PATH, { decision: 'allow', csrf: 'x' }));
  isForgery(await browser.post(PATH, { decision: 'allow', csrf: foreign }));
  isForgery(await browser.post(PATH, { decision: 'allow', csrf }, { origin: 'https://evil.example' }));
  isForgery(await browser.post(PATH, { decision: 'allow', csrf }, { origin: 'null' }));
  for (const site of ['cross-site', 'same-site', 'none'])
    isForgery(await browser.post(PATH, { decision: 'allow', csrf }, { origin: 'null', 'sec-fetch-site': site }));
  isForgery(await browser.post('/sign-in', { email: anAddress() }));
  isForgery(await browser.post('/sign-out', {}));
  const origin = `https://localhost:${api.port}`;
  assert.equal((await browser.post(PATH, { decision: 'allow', csrf }, { origin })).status, 303);
  const hidden = { origin: 'null', 'sec-fetch-site': 'same-origin' };
  assert.equal((await browser.post(PATH, { decision: 'allow', csrf }, hidden)).status, 303);
});

test('an authorization request is not granted without a decision or without a signed-in user', async () => {
  const browser = new Browser(api);
  const consent = await browser.signIn(PATH, anAddress());
  assert.equal((await browser.submit(consent)).status, 400);
  const stranger = new Browser(api);
  const [, csrf] = /name="csrf" value="([^"]+)"/.exec((await stranger.get('/sign-in')).text)!;
  const sent = await stranger.post(PATH, { decision: 'allow', csrf });
  assert.equal(sent.status, 303);
  assert.match(sent.headers.location!, /^\/sign-in\?return=%2Foauth%2Fauthorize/);
});

for (const target of [
  'https://evil.example/',
  '//evil.example/',
  '/\\evil.example/',
  '\\\\evil.example',
  'javascript:alert(1)',
  '/a\nb',
  '/\t/evil.example',
  ' /x',
  'evil',
])
  test(`signing in redirects only within this site, not to ${JSON.stringify(target)}`, async () => {
    const browser = new Browser(api);
    const email = anAddress();
    const asked = await browser.submit(await browser.get('/sign-in'), { email, return: target });
    const signedIn = await browser.submit(asked, { code: codesSentTo(api, email).at(-1), return: target });
    assert.deepEqual([signedIn.status, signedIn.headers.location], [303, '/sign-in']);
    const page = await browser.get(`/sign-in?return=${encodeURIComponent(target)}`);
    assert.deepEqual([page.status, page.headers.location], [200, undefined]);
  });

test('T12: signing out, unsubscribing and refused client requests redirect to no other site', async () => {
  const browser = new Browser(api);
  const evil = 'return=https%3A%2F%2Fevil.example&redirect_uri=https%3A%2F%2Fevil.example&next=//evil.example';
  for (const path of ['/sign-out', '/unsubscribe', '/oauth/authorize', '/account/link', '/connect'])
    for (const page of [await browser.get(`${path}?${evil}`), await browser.get(`${path}?error=x&${evil}`)])
      assert.doesNotMatch(page.headers.location ?? '', /^(?:https?:)?\/\/evil/, path);
  const signedOut = await browser.submit(await browser.get(`/sign-out?${evil}`), {
    return: 'https://evil.example',
  });
  assert.deepEqual([signedOut.status, signedOut.headers.location], [200, undefined]);
});

test('a code is valid only in the browser that requested it', async () => {
  const [victim, thief] = [new Browser(api), new Browser(api)];
  const email = anAddress();
  const asked = await victim.submit(await victim.get('/sign-in'), { email });
  const code = codesSentTo(api, email).at(-1);
  const stolen = await thief.submit(await thief.get('/sign-in'), { email, code });
  assert.equal(stolen.status, 422);
  assert.equal((await victim.submit(asked, { code })).status, 303);
});

test('after five wrong codes the correct one is refused too', async () => {
  const browser = new Browser(api);
  const email = anAddress();
  const asked = await browser.submit(await browser.get('/sign-in'), { email });
  for (let i = 0; i < 5; i += 1) assert.equal((await browser.submit(asked, { code: 'AAAAA' })).status, 422);
  const refused = await browser.submit(asked, { code: codesSentTo(api, email).at(-1) });
  assert.equal(refused.status, 422);
  assert.match(refused.text, /role="alert"/);
});

test('the page shows an invalid mail address with what the user typed', async () => {
  const browser = new Browser(api);
  const answer = await browser.submit(await browser.get('/sign-in'), { email: '"><script>' });
  assert.equal(answer.status, 422);
  assert.match(answer.text, /value="&quot;&gt;&lt;script&gt;"/);
  assert.match(answer.text, /aria-invalid="true"/);
});

test('known and unknown mail addresses get the same page', async () => {
  const known = anAddress();
  await api.aUser({ email: known });
  const shapeOf = async (email: string) => {
    const browser = new Browser(api);
    const { status, text } = await browser.submit(await browser.get('/sign-in'), { email });
    return [status, text.replaceAll(email, 'E').replace(/name="csrf" value="[^"]+"/, '')];
  };
  assert.deepEqual(await shapeOf(known), await shapeOf(anAddress()));
});

test('signing out ends the session, even for a copy of its cookie', async () => {
  const browser = new Browser(api);
  await browser.signIn(PATH, anAddress());
  const copy = new Browser(api);
  for (const [name, value] of browser.cookies) copy.cookies.set(name, value);
  assert.equal((await copy.get(PATH)).status, 200);
  const signedOut = await browser.submit(await browser.get('/sign-out'));
  assert.match(signedOut.text, /You are signed out/);
  // The browser stays known, so that a flood of other requests cannot block its next sign-in.
  assert.deepEqual([...browser.cookies.keys()], ['__Host-modstead_browser']);
  assert.equal((await copy.get(PATH)).status, 303);
});

for (const [language, title] of [
  ['de', 'Anmelden'],
  ['fr', 'Se connecter'],
  ['es', 'Iniciar sesión'],
  ['ja', 'サインイン'],
  ['zh-CN', '登录'],
  ['th', 'เข้าสู่ระบบ'],
  ['ar', 'Sign in'],
])
  test(`pages are in ${language}, or in English if it is not translated`, async () => {
    const { text } = await new Browser(api, 'production', { 'accept-language': language! }).get('/sign-in');
    assert.ok(text.includes(`<h1>${title}</h1>`));
  });

test('pages exist only on the site, and accept only their methods', async () => {
  const onGame = await api.request('GET', PATH, { host: 'g-1.localhost' });
  assert.equal(onGame.status, 404);
  const put = await api.request('PUT', '/sign-in', { body: 'x' });
  assert.deepEqual([put.status, put.headers.allow], [405, 'GET, HEAD, POST']);
  const json = await api.request('POST', '/sign-in', { headers: { 'content-type': 'application/json' }, body: '{}' });
  assert.equal(json.status, 415);
  const head = await api.request('HEAD', '/sign-in');
  assert.deepEqual([head.status, head.text], [200, '']);
});

test('the API ignores cookies', async () => {
  const browser = new Browser(api);
  await browser.signIn(PATH, anAddress());
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  assert.equal((await api.request('GET', '/v1/me', { headers: { cookie } })).status, 401);
});

test('sandbox and production share no session', async () => {
  const sandboxed = await aClient(api, {}, 'sandbox');
  const browser = new Browser(api, 'sandbox');
  const consent = await browser.signIn(authorizePath(asking(sandboxed)), anAddress());
  const query = returned(await browser.submit(consent, { decision: 'allow' }));
  assert.equal(query.get('iss'), 'https://test.localhost');
  const production = new Browser(api);
  for (const [name, value] of browser.cookies) production.cookies.set(name.replace('test_', ''), value);
  assert.equal((await production.get(PATH)).status, 303);
});

test('forms have a rate limit per address', async () => {
  const limited = await startApi({ settings: { MODSTEAD_RATE_LIMITS: 'page-sign-in=3' } });
  const browser = new Browser(limited);
  const form = await browser.get('/sign-in');
  for (let i = 0; i < 3; i += 1) assert.equal((await browser.submit(form, { email: 'none' })).status, 422);
  const refused = await browser.submit(form, { email: 'none' });
  assert.equal(refused.status, 429);
  assert.match(String(refused.headers['retry-after']), /^\d+$/);
});

test('every mail is previewed in every language, without a script and without a gap', async () => {
  const list = await api.request('GET', '/styleguide/mails');
  const links = [...list.text.matchAll(/href="(\/styleguide\/mails\/[^"]+)"/g)].map(([, path]) => path!);
  const english = links.filter((path) => path.endsWith('language=en'));
  assert.ok(english.length >= 15, list.text);
  for (const path of [...english, ...links.filter((each) => each.endsWith('=ja'))]) {
    const { status, text, headers } = await api.request('GET', path);
    assert.equal(status, 200, path);
    assert.doesNotMatch(text, /\{\w+\}|undefined|<script/, path);
    assert.match(String(headers['content-security-policy']), /default-src 'none'; style-src 'unsafe-inline'/);
  }
  assert.equal((await api.request('GET', '/styleguide/mails/mail_opt_out')).status, 404);
});
