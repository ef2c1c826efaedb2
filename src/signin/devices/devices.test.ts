import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, startApi } from '../../../test/api.ts';
import { aClient, Browser } from '../../../test/browser.ts';
import { codesSentTo } from '../../../test/mails.ts';
import { aDevice, type Device, refusedDevice } from '../../../test/sockets.ts';
import { composeService } from '../../composition/compose.ts';
import { getAuthenticatedUser } from '../../people/users/operations.ts';
import { setUserStatus, USER_BANNED } from '../../people/users/users.ts';
import { createLog } from '../../platform/runtime/log.ts';
import { systemRandom } from '../../platform/runtime/random.ts';
import { DEVICE_GRANT } from '../oauth/clients.ts';
import { oauthDeviceAuthorization, oauthToken } from '../oauth/operations.ts';

const api = await startApi();
const game = await api.aGame({ name: 'Sky <Haven>' });
const HOST = `g-${game.id}.ws.localhost`;
let people = 0;
const anAddress = () => `device-${++people}@example.org`;

async function aLogin(): Promise<{ device: Device; code: string; context: Record<string, unknown> }> {
  const device = await aDevice(api.service, { host: HOST });
  device.send({ operation: 'device_login', context: { game_id: game.id } });
  const { operation, context } = await device.nextMessage();
  assert.equal(operation, 'device_login', JSON.stringify(context));
  return { device, code: String(context['code']), context };
}

/** Signs in on another device, types the code, and returns the consent page. */
async function typed(browser: Browser, code: string, email = anAddress()): Promise<Answer> {
  const sent = await browser.submit(await browser.get('/connect'), { code });
  assert.equal(sent.status, 303, sent.text);
  const asked = await browser.submit(await browser.get(sent.headers.location!), { email });
  const back = await browser.submit(asked, { code: codesSentTo(api, email).at(-1) });
  const form = await browser.get(back.headers.location!);
  assert.match(form.text, new RegExp(`value="${code.toUpperCase()}"`));
  return browser.submit(form, { code });
}

test('a device shows a code, a user allows it in a browser, and the token arrives on the same socket', async () => {
  const { device, code, context } = await aLogin();
  assert.match(code, /^[A-Z2-9]{5}$/);
  assert.deepEqual(context, {
    code,
    date_expires: api.clock.now() + 900,
    display_url: 'localhost/connect',
    login_url: 'https://localhost/connect',
  });
  const browser = new Browser(api);
  const question = await typed(browser, code.toLowerCase());
  assert.match(question.text, /Sky &lt;Haven&gt;/);
  assert.match(question.text, new RegExp(code));
  const done = await browser.submit(question, { decision: 'allow' });
  assert.match(done.text, /The device is signed in/);
  const { operation, context: token } = await device.nextMessage();
  assert.equal(operation, 'access_token');
  assert.deepEqual(Object.keys(token).sort(), ['access_token', 'code', 'date_expires']);
  assert.equal(token['date_expires'], api.clock.now() + 365 * 86_400);
  const me = await api.withToken(String(token['access_token'])).call(getAuthenticatedUser);
  assert.equal(me.status, 200);
  await device.close();
});

test('the path /ws on the host of a game and on the sandbox opens a socket, too', async () => {
  const other = await api.aGame({}, 'sandbox');
  for (const [host, path, id] of [
    [`g-${game.id}.localhost`, '/ws', game.id],
    [`g-${other.id}.test.localhost`, '/ws', other.id],
    ['localhost', '/ws', game.id],
  ] as const) {
    const device = await aDevice(api.service, { host, path });
    // Shipped clients that use the host of a game send no game id.
    device.send({ operation: 'device_login', ...(host === 'localhost' && { context: { game_id: id } }) });
    assert.equal((await device.nextMessage()).operation, 'device_login');
    await device.close();
  }
});

test('a device that the user denies receives the denial where it waits for the token', async () => {
  const { device, code } = await aLogin();
  const browser = new Browser(api);
  const denied = await browser.submit(await typed(browser, code), { decision: 'deny' });
  assert.match(denied.text, /was not signed in/);
  assert.deepEqual(await device.failed(), { operation: 'access_token', code: 403, ref: 11098 });
  await device.close();
});

function isInvalidCode(answer: Answer): void {
  assert.equal(answer.status, 401, answer.text);
  assert.match(answer.text, /11097/);
}

test('a code that is wrong, used, expired or of a disconnected device admits no device', async () => {
  const browser = new Browser(api);
  const { device, code } = await aLogin();
  await browser.submit(await typed(browser, code), { decision: 'allow' });
  assert.equal((await device.nextMessage()).operation, 'access_token');
  const form = await browser.get('/connect');
  isInvalidCode(await browser.submit(form, { code }));
  isInvalidCode(await browser.submit(form, { code: 'AAAAA' }));
  isInvalidCode(await browser.submit(form, { code: 'x' }));
  isInvalidCode(await browser.submit(form, { code: 'AAAAA', decision: 'allow' }));
  const left = await aLogin();
  await left.device.close();
  await api.app().db.write(async () => {});
  // The disconnection is recorded in a transaction of its own.
  while ((await browser.submit(form, { code: left.code })).status !== 401);
  const late = await aLogin();
  const question = await browser.submit(form, { code: late.code });
  assert.equal(question.status, 200);
  api.clock.advance(900);
  isInvalidCode(await browser.submit(question, { decision: 'allow' }));
  api.app().db.changes.everythingChanged();
  assert.deepEqual(await late.device.failed(), { operation: 'access_token', code: 401, ref: 11097 });
  for (const each of [device, late.device]) await each.close();
});

test('a device is not admitted without the CSRF token of the page or without a sign-in', async () => {
  const { device, code } = await aLogin();
  const browser = new Browser(api);
  const question = await typed(browser, code);
  const forged = await browser.post('/connect', { code, decision: 'allow' });
  assert.deepEqual([forged.status, /11095/.test(forged.text)], [403, true]);
  const stranger = new Browser(api);
  const sent = await stranger.submit(await stranger.get('/connect'), { code, decision: 'allow' });
  assert.equal(sent.headers.location, `/sign-in?return=${encodeURIComponent(`/connect?code=${code}`)}`);
  assert.equal((await browser.submit(question, { decision: 'allow' })).status, 200);
  assert.equal((await device.nextMessage()).operation, 'access_token');
  await device.close();
});

test('a code is decided once, however many requests confirm it at the same time', async () => {
  const { device, code } = await aLogin();
  const browser = new Browser(api);
  const question = await typed(browser, code);
  const answers = await Promise.all(Array.from({ length: 16 }, () => browser.submit(question, { decision: 'allow' })));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(15).fill(401)]);
  assert.equal((await device.nextMessage()).operation, 'access_token');
  device.send({ operation: 'heartbeat', context: {} });
  assert.deepEqual(await device.nextMessage(), { operation: 'heartbeat', context: {} });
  await device.close();
});

test('an unknown message gets an error, and the socket stays open', async () => {
  const device = await aDevice(api.service, { host: HOST });
  device.send({ operation: 'make_tea' });
  assert.deepEqual(await device.failed(), { operation: 'make_tea', code: 400, ref: 11101 });
  for (const text of ['{', '[]', '{"messages":[]}', '{"messages":[{"operation":1}]}']) {
    device.socket.send(text);
    assert.equal((await device.failed()).ref, 11101, text);
  }
  device.socket.send(Buffer.from([1, 2]));
  assert.equal((await device.failed()).ref, 11101);
  device.send({ operation: 'device_login', context: { game_id: 999_999 } });
  assert.equal((await device.failed()).ref, 11104);
  device.send({ operation: 'heartbeat' });
  assert.equal((await device.nextMessage()).operation, 'heartbeat');
  await device.close();
});

test('a device login for an unknown game is refused', async () => {
  const device = await aDevice(api.service, { host: 'localhost', path: '/ws' });
  for (const context of [{}, { game_id: 'x' }, { game_id: -1 }, { game_id: 999_999 }]) {
    device.send({ operation: 'device_login', context });
    assert.deepEqual(await device.failed(), { operation: 'device_login', code: 404, ref: 14001 });
  }
  await device.close();
});

test('a client that sends too many messages gets an error and is then disconnected', async () => {
  const device = await aDevice(api.service, { host: HOST });
  for (let i = 0; i < 20; i += 1) {
    device.send({ operation: 'heartbeat' });
    assert.equal((await device.nextMessage()).operation, 'heartbeat');
  }
  device.send({ operation: 'heartbeat' });
  assert.deepEqual(await device.failed(), { operation: 'heartbeat', code: 429, ref: 11102 });
  api.clock.advance(61);
  device.send({ operation: 'heartbeat' });
  assert.equal((await device.nextMessage()).operation, 'heartbeat');
  for (let i = 0; i < 5; i += 1) device.send(...Array(10).fill({ operation: 'heartbeat' }));
  assert.equal(await device.closed, 1008);
  const large = await aDevice(api.service, { host: HOST });
  large.socket.send('x'.repeat(5_000));
  assert.equal(await large.closed, 1009);
});

test('a socket accepts games that name one of our hosts, and refuses pages of other sites', async () => {
  const foreign = { host: HOST, headers: { origin: 'https://evil.example' } };
  assert.deepEqual(await refusedDevice(api.service, foreign), { status: 403, ref: 11100 });
  assert.deepEqual(await refusedDevice(api.service, { host: HOST, headers: { origin: 'null' } }), {
    status: 403,
    ref: 11100,
  });
  assert.deepEqual(await refusedDevice(api.service, { host: 'g-1.ws.evil.example' }), { status: 403, ref: 11100 });
  await (await aDevice(api.service, { host: HOST, headers: { origin: 'https://localhost' } })).close();
});

test('a request at the socket path that is no WebSocket handshake is refused', async () => {
  for (const [host, path] of [
    [HOST, '/'],
    ['localhost', '/ws'],
  ] as const) {
    const { status, body } = (await api.request('GET', path, { host })) as Answer<{ error: { error_ref: number } }>;
    assert.deepEqual([status, body.error.error_ref], [400, 11099]);
  }
  const upgrade = { connection: 'upgrade', upgrade: 'h2c' };
  assert.equal((await api.request('GET', '/v1/ping', { headers: upgrade })).status, 200);
});

test('an idle socket is closed, and one that waits for a decision is not', async () => {
  const idle = await aDevice(api.service, { host: HOST });
  const { device: waiting } = await aLogin();
  api.clock.advance(40);
  for (const each of [idle, waiting]) each.socket.ping();
  await new Promise((resolve) => waiting.socket.once('pong', resolve));
  await new Promise((resolve) => setImmediate(resolve));
  api.clock.advance(40);
  const next = await aDevice(api.service, { host: HOST });
  assert.equal(await idle.closed, 1000);
  waiting.send({ operation: 'heartbeat' });
  assert.equal((await waiting.nextMessage()).operation, 'heartbeat');
  for (const each of [waiting, next]) await each.close();
});

const poll = (client: { client_id: number }, device_code: string) =>
  api.nobody().call(oauthToken, { body: { client_id: client.client_id, grant_type: DEVICE_GRANT, device_code } });

const errorOf = ({ status, body }: Answer<unknown>) => {
  const { error, error_ref } = body as { error: string; error_ref?: number };
  return [status, error, error_ref];
};

async function begun(client: { client_id: number }) {
  const answer = await api.nobody().call(oauthDeviceAuthorization, { body: { client_id: client.client_id } });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

test('over HTTP a device polls until it is allowed, within the polling interval', async () => {
  const client = await aClient(api, { name: 'Skyport TV', redirectUris: [], grants: [DEVICE_GRANT] });
  const { device_code, user_code, ...rest } = await begun(client);
  assert.deepEqual(rest, {
    verification_uri: 'https://localhost/connect',
    verification_uri_complete: `https://localhost/connect?code=${user_code}`,
    expires_in: 900,
    interval: 5,
  });
  assert.deepEqual(errorOf(await poll(client, device_code)), [400, 'authorization_pending', 11098]);
  assert.deepEqual(errorOf(await poll(client, device_code)), [400, 'slow_down', 11009]);
  api.clock.advance(9);
  assert.deepEqual(errorOf(await poll(client, device_code)), [400, 'slow_down', 11009]);
  const browser = new Browser(api);
  const question = await typed(browser, user_code);
  assert.match(question.text, /Skyport TV/);
  await browser.submit(question, { decision: 'allow' });
  api.clock.advance(10);
  const other = await aClient(api, { redirectUris: [], grants: [DEVICE_GRANT] });
  assert.deepEqual(errorOf(await poll(other, device_code)), [400, 'invalid_grant', 11005]);
  const given = await poll(client, device_code);
  assert.equal(given.status, 200, given.text);
  assert.equal((await api.withToken(given.body.access_token).call(getAuthenticatedUser)).status, 200);
  assert.deepEqual(errorOf(await poll(client, device_code)), [400, 'invalid_grant', 11005]);
});

test('over HTTP a device that is denied, expired or unknown gets no token', async () => {
  const client = await aClient(api, { redirectUris: [], grants: [DEVICE_GRANT] });
  const first = await begun(client);
  const browser = new Browser(api);
  await browser.submit(await typed(browser, first.user_code), { decision: 'deny' });
  assert.deepEqual(errorOf(await poll(client, first.device_code)), [400, 'access_denied', 11098]);
  const late = await begun(client);
  api.clock.advance(900);
  assert.deepEqual(errorOf(await poll(client, late.device_code)), [400, 'expired_token', 11097]);
  assert.deepEqual(errorOf(await poll(client, 'made-up')), [400, 'invalid_grant', 11005]);
  const stranger = await aClient(api);
  const asked = await api.nobody().call(oauthDeviceAuthorization, { body: { client_id: stranger.client_id } });
  assert.deepEqual(errorOf(asked), [400, 'unauthorized_client', 11075]);
  const unknown = await api.nobody().call(oauthDeviceAuthorization, { body: { client_id: 999_999 } });
  assert.deepEqual(errorOf(unknown), [400, 'invalid_client', 11075]);
  const wide = { client_id: client.client_id, scope: 'read monetization' };
  assert.deepEqual(errorOf(await api.nobody().call(oauthDeviceAuthorization, { body: wide })), [
    400,
    'invalid_scope',
    13009,
  ]);
});

test('a user who is banned after allowing a device does not get it a token', async () => {
  const client = await aClient(api, { redirectUris: [], grants: [DEVICE_GRANT] });
  const { device_code, user_code } = await begun(client);
  const browser = new Browser(api);
  const email = anAddress();
  await browser.submit(await typed(browser, user_code, email), { decision: 'allow' });
  const { id } = await api
    .app()
    .db.query.selectFrom('users')
    .select('id')
    .where('email', '=', email)
    .executeTakeFirstOrThrow();
  await setUserStatus(api.app(), id, USER_BANNED);
  assert.deepEqual(errorOf(await poll(client, device_code)), [400, 'invalid_grant', 11007]);
});

test('the decision reaches a device that is connected to another process', async () => {
  const { settings } = api.app();
  const beside = await composeService(
    { ...settings, port: 0, jobs: 'off' },
    { clock: api.clock, random: systemRandom, log: createLog('error', () => {}) },
  );
  try {
    const device = await aDevice(beside, { host: HOST });
    device.send({ operation: 'device_login', context: { game_id: game.id } });
    const { context } = await device.nextMessage();
    const browser = new Browser(api);
    const question = await typed(browser, String(context['code']));
    await browser.submit(question, { decision: 'allow' });
    assert.equal((await device.nextMessage()).operation, 'access_token');
    const ending = beside.stop();
    assert.equal(await device.closed, 1001);
    await ending;
  } finally {
    await beside.stop();
  }
});

test('an IP address can start a limited number of logins a minute, over any number of sockets', async () => {
  const limited = await startApi({ settings: { MODSTEAD_RATE_LIMITS: 'socket-device_login=2' } });
  const { id } = await limited.aGame();
  const host = `g-${id}.ws.localhost`;
  for (const ref of [undefined, undefined, 11102]) {
    const device = await aDevice(limited.service, { host });
    device.send({ operation: 'device_login' });
    if (ref === undefined) assert.equal((await device.nextMessage()).operation, 'device_login');
    else assert.deepEqual(await device.failed(), { operation: 'device_login', code: 429, ref });
    await device.close();
  }
});
