import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, assertRefused, type ErrorAnswer, encodeForm, type Game, startApi } from '../../../test/api.ts';
import { Browser } from '../../../test/browser.ts';
import { codesSentTo } from '../../../test/mails.ts';

// The test sets the client address of each request, as a trusted proxy does.
const api = await startApi({ settings: { MODSTEAD_TRUST_PROXY: '127.0.0.1' } });
const game = await api.aGame();
let people = 0;
const anAddress = () => `mailbox-${++people}@example.org`;

type Fields = Record<string, string | number | undefined>;

const sendFrom = (ip: string, path: string, fields: Fields, of: Game = game): Promise<Answer> =>
  api.proxied('POST', `/v1/oauth/${path}?api_key=${of.api_key}`, {
    headers: { 'x-forwarded-for': ip, 'content-type': 'application/x-www-form-urlencoded' },
    body: encodeForm(fields),
  });
const request = (ip: string, email: string, more: Fields = {}) => sendFrom(ip, 'emailrequest', { email, ...more });
const exchange = (ip: string, security_code: string, more: Fields = {}, of = game) =>
  sendFrom(ip, 'emailexchange', { security_code, ...more }, of);
const refOf = ({ status, body }: Answer) => `${status} ${(body as ErrorAnswer).error?.error_ref ?? ''}`.trim();

async function codeFrom(ip: string, email: string, more: Fields = {}): Promise<{ code: string; handle: string }> {
  const answer = await request(ip, email, more);
  assert.equal(answer.status, 200, answer.text);
  return { code: codesSentTo(api, email).at(-1)!, handle: (answer.body as { handle: string }).handle };
}

async function signIn(ip: string, email: string): Promise<{ handle: string }> {
  const { code, handle } = await codeFrom(ip, email);
  assert.equal((await exchange(ip, code, { handle })).status, 200);
  return { handle };
}

const four = (n: number) => `203.0.${n >> 8}.${n & 255}`;
const six = (n: number, host = 'a') => `2001:db8:${(n >> 8).toString(16)}:${(n & 255).toString(16)}::${host}`;
const wrong = (n: number) => `22${String(n).padStart(3, '2').replace(/[01]/g, '7')}`;

test('a thousand guesses from other addresses hit no code, and even the right code is refused there', async () => {
  const email = anAddress();
  const { code } = await codeFrom('198.51.100.1', email);
  const guess = (n: number) => exchange(n % 2 ? four(n) : six(n), wrong(n), n % 3 ? {} : { email });
  for (let n = 0; n < 1000; n += 50) {
    const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => guess(n + index)));
    for (const answer of answers) assert.match(refOf(answer), /^(401 11014|429 11009)$/);
  }
  assert.match(refOf(await exchange('192.0.2.9', code)), /^401 11014$/);
  assert.match(refOf(await exchange('192.0.2.9', code, { email })), /^401 11014$/);
  assert.equal((await exchange('198.51.100.1', code)).status, 200, 'the requester gets in');
});

test('the guess limit applies to a whole network and to the networks of one site', async () => {
  const answers: string[] = [];
  for (let n = 0; n < 200; n += 1) answers.push(refOf(await exchange(`2001:db8:ffff:${n % 4}::${n + 1}`, wrong(n))));
  assert.equal(answers.filter((answer) => answer === '401 11014').length, 120);
  assert.equal(answers.at(-1), '429 11009');
  const inOne: string[] = [];
  for (let n = 0; n < 40; n += 1) inOne.push(refOf(await exchange(`2001:dc0:eeee:1::${n + 1}`, wrong(n))));
  assert.equal(inOne.filter((answer) => answer === '401 11014').length, 30);
});

test('five wrong guesses with the handle end the code for the handle, and guesses of others do not', async () => {
  const email = anAddress();
  const { code, handle } = await codeFrom('198.51.100.2', email, { code_length: 8 });
  assert.match(code, /^[A-Z2-9]{8}$/);
  for (let n = 0; n < 5; n += 1) assertRefused(await exchange('198.51.100.2', wrong(n)), 401, 11014);
  assertRefused(await exchange('198.51.100.2', code), 401, 11014);
  assert.equal((await exchange('192.0.2.77', `${code.slice(0, 4)}-${code.slice(4)}`, { handle })).status, 200);
  const other = await codeFrom('198.51.100.2', anAddress());
  for (let n = 0; n < 5; n += 1) assertRefused(await exchange(four(n), wrong(n), { handle: other.handle }), 401, 11014);
  assertRefused(await exchange('198.51.100.9', other.code, { handle: other.handle }), 401, 11014);
});

test('of many concurrent guesses no more than five are compared', async () => {
  const email = anAddress();
  const { code, handle } = await codeFrom('198.51.100.3', email);
  await Promise.all(Array.from({ length: 20 }, (_, n) => exchange('198.51.100.3', wrong(n), { handle })));
  assertRefused(await exchange('198.51.100.3', code, { handle }), 401, 11014);
});

test('a client that changed its network names the mailbox, and only the requesting place learns that a code belongs to another key', async () => {
  const email = anAddress();
  const { code } = await codeFrom('198.51.100.4', email);
  const other = await api.aGame();
  assertRefused(await exchange('198.51.100.4', code, {}, other), 401, 11013);
  assertRefused(await exchange('192.0.2.4', code, {}, other), 401, 11014);
  assertRefused(await exchange('192.0.2.4', code), 401, 11014);
  assert.equal((await exchange('192.0.2.4', code, { email: email.toUpperCase() })).status, 200);
});

test('a user who signs in from the same network does not use up the guesses of others', async () => {
  const { code } = await codeFrom('198.51.100.5', anAddress());
  for (let n = 0; n < 6; n += 1) await signIn('198.51.100.5', anAddress());
  assert.equal((await exchange('198.51.100.5', code)).status, 200);
});

test('after ten wrong guesses in a day a mailbox gets longer codes, only for the place of the guesses', async () => {
  const email = anAddress();
  for (let n = 0; n < 10; n += 1) {
    if (n % 5 === 0) await codeFrom('198.18.0.1', email);
    assertRefused(await exchange('198.18.0.1', wrong(n)), 401, 11014);
  }
  assert.equal((await codeFrom('198.18.0.1', email)).code.length, 8);
  assert.equal((await codeFrom('198.19.0.1', email)).code.length, 5);
  api.clock.advance(86_400);
  assert.equal((await codeFrom('198.18.0.1', email)).code.length, 5);
});

test('a flood of requests from many networks is limited and does not block mails to places where the owner signed in', async () => {
  const email = anAddress();
  const { handle } = await signIn('198.51.100.6', email);
  const before = codesSentTo(api, email).length;
  const answers: string[] = [];
  for (let n = 0; n < 60; n += 1) answers.push(refOf(await request(n % 2 ? four(n * 37) : six(n * 37), email)));
  assert.ok(codesSentTo(api, email).length - before <= 12);
  assert.equal(answers.at(-1), '429 11009');
  // The game uses the same network, the device another one.
  const home = await codeFrom('198.51.100.6', email);
  assert.equal((await exchange('198.51.100.6', home.code)).status, 200);
  const abroad = await codeFrom('192.0.2.200', email, { handle });
  assert.equal((await exchange('192.0.2.200', abroad.code)).status, 200);
  assertRefused(await request('192.0.2.201', email), 429, 11009);
});

test('the requests of one network leave budget for another network', async () => {
  const email = anAddress();
  for (let n = 0; n < 20; n += 1) await request(`2001:db8:1:${n}::1`, email);
  assert.equal((await request('192.0.2.210', email)).status, 200);
});

test('a browser that was signed in before gets an eight-character code during a flood', async () => {
  const email = anAddress();
  const browser = new Browser(api);
  await browser.signIn('/account/link', email);
  await browser.submit(await browser.get('/sign-out'));
  for (let n = 0; n < 60; n += 1) await request(four(n * 41), email);
  const stranger = new Browser(api);
  const refused = await stranger.submit(await stranger.get('/sign-in'), { email });
  assert.equal(refused.status, 429);
  const asked = await browser.submit(await browser.get('/sign-in'), { email });
  assert.equal(asked.status, 200, asked.text);
  const code = codesSentTo(api, email).at(-1)!;
  assert.equal(code.length, 8);
  for (let n = 0; n < 20; n += 1) await exchange(four(n * 13), wrong(n), { email });
  assert.equal((await browser.submit(asked, { code })).status, 303);
});

test('a request from another place does not end the code of a user who is typing it', async () => {
  const email = anAddress();
  const { code } = await codeFrom('198.51.100.7', email);
  assert.equal((await request('192.0.2.220', email)).status, 200);
  assert.equal((await exchange('198.51.100.7', code)).status, 200);
});
