import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, assertRefused, startApi } from '../../../test/api.ts';
import { codesSentTo, mailsOf } from '../../../test/mails.ts';
import { composeWorker } from '../../composition/compose.ts';
import { getAuthenticatedUser } from '../../people/users/operations.ts';
import { MailError } from '../../platform/mail/mail.ts';
import { lockAUser, unlockAUser } from '../accounts/operations.ts';
import { exchangeEmailSecurityCode, requestEmailSecurityCode } from './operations.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
const game = await api.aGame();
const client = api.withKey(game);
const worker = composeWorker(api.app());
let people = 0;
const anAddress = () => `player-${++people}@example.org`;

async function aCode(email: string): Promise<string> {
  const answer = await client.call(requestEmailSecurityCode, { body: { email } });
  assert.equal(answer.status, 200, answer.text);
  return codesSentTo(api, email).at(-1)!;
}

const exchange = (security_code: string, more: Record<string, number> = {}) =>
  client.call(exchangeEmailSecurityCode, { body: { security_code, ...more } });
const refused = (security_code: string, ref: number, status = 401) =>
  client.refused(exchangeEmailSecurityCode, { body: { security_code } }, status, ref);

test('a five-character code works once, in any case', async () => {
  const code = await aCode(anAddress());
  assert.match(code, /^[A-Z2-9]{5}$/);
  const { body } = await exchange(` ${code.toLowerCase()} `);
  assert.equal(body.date_expires, api.clock.now() + 365 * 86_400);
  assert.equal((await api.withToken(body.access_token).call(getAuthenticatedUser)).status, 200);
  await refused(code, 11011);
});

test('of sixteen clients that redeem a code at the same time, one gets a token', async () => {
  const code = await aCode(anAddress());
  const answers = await Promise.all(Array.from({ length: 16 }, () => exchange(code)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(15).fill(401)]);
});

test('a code expires after exactly fifteen minutes', async () => {
  const email = anAddress();
  const code = await aCode(email);
  api.clock.advance(15 * 60);
  await refused(code, 11012);
  const next = await aCode(email);
  api.clock.advance(15 * 60 - 1);
  assert.equal((await exchange(next)).status, 200);
});

test('a code is bound to the API key that requested it', async () => {
  const code = await aCode(anAddress());
  const other = api.withKey(await api.aGame());
  await other.refused(exchangeEmailSecurityCode, { body: { security_code: code } }, 401, 11013);
  assert.equal((await exchange(code)).status, 200);
});

test('the fifth wrong guess ends the code', async () => {
  const code = await aCode(anAddress());
  for (let tries = 0; tries < 5; tries += 1) await refused('22222', 11014);
  await refused(code, 11014);
});

test('four wrong guesses do not end the code', async () => {
  const code = await aCode(anAddress());
  for (let tries = 0; tries < 4; tries += 1) await refused('22222', 11014);
  assert.equal((await exchange(code)).status, 200);
});

test('a requested token expiry is used if it is sooner, and ignored if it is past or too late', async () => {
  const now = api.clock.now();
  for (const [wished, given] of [
    [now + 60, now + 60],
    [now - 1, now + 365 * 86_400],
    [now + 366 * 86_400, now + 365 * 86_400],
  ] as const)
    assert.equal((await exchange(await aCode(anAddress()), { date_expires: wished })).body.date_expires, given);
});

test('the answer does not reveal whether an address has an account', async () => {
  const known = anAddress();
  await api.aUser({ email: known });
  const shape = ({ status, headers, text }: Answer) => [
    status,
    headers['content-length'],
    text.replace(/"handle":"[\w-]{43}"/, ''),
  ];
  const ask = (email: string) => client.call(requestEmailSecurityCode, { body: { email } });
  assert.deepEqual(shape(await ask(known)), shape(await ask(anAddress())));
});

test('a mailbox gets four mails per network in fifteen minutes; then the answer is 429, and the last code stays valid', async () => {
  const email = anAddress();
  const ask = () => client.call(requestEmailSecurityCode, { body: { email } });
  for (let i = 0; i < 4; i += 1) assert.equal((await ask()).status, 200);
  const refusal = await ask();
  assertRefused(refusal, 429, 11009);
  assert.equal(refusal.headers['retry-after'], '900');
  const codes = codesSentTo(api, email);
  assert.equal(codes.length, 4);
  assert.equal((await exchange(codes.at(-1)!)).status, 200);
  api.clock.advance(15 * 60);
  await aCode(email);
  assert.equal(codesSentTo(api, email).length, 5);
});

test('a mail that cannot be sent leaves no code', async () => {
  const before = mailsOf(api).length;
  const answer = await client.call(requestEmailSecurityCode, { body: { email: '"a b"@example.org' } });
  assert.equal(answer.status, 422);
  const { mail } = api.app();
  const { send } = mail;
  mail.send = () => Promise.reject(new Error('the post is closed'));
  try {
    await client.refused(requestEmailSecurityCode, { body: { email: anAddress() } }, 500, 11064);
  } finally {
    mail.send = send;
  }
  assert.equal(mailsOf(api).length, before);
});

test('a code waits for a mail server that is away, encrypted, and ends with its life', async (t) => {
  const { mail, db } = api.app();
  const { send } = mail;
  t.after(() => {
    mail.send = send;
  });
  mail.send = () => Promise.reject(new MailError('the server does not answer', { permanent: false }));
  const [email, late] = [anAddress(), anAddress()];
  const ask = () => client.call(requestEmailSecurityCode, { body: { email } });
  assert.equal((await ask()).status, 200);
  await worker.runDue();
  const waiting = await db.query.selectFrom('jobs').select('payload').where('kind', '=', 'mails.code-later').execute();
  assert.equal(waiting.length, 1);
  assert.doesNotMatch(waiting[0]!.payload, /@|code/);
  mail.send = send;
  api.clock.advance(60);
  await worker.runDue();
  assert.equal((await exchange(codesSentTo(api, email).at(-1)!)).status, 200);
  mail.send = () => Promise.reject(new MailError('the server does not answer', { permanent: false }));
  assert.equal((await client.call(requestEmailSecurityCode, { body: { email: late } })).status, 200);
  await worker.runDue();
  mail.send = send;
  api.clock.advance(16 * 60);
  await worker.runDue();
  assert.deepEqual(codesSentTo(api, late), []);
  mail.send = () => Promise.reject(new MailError('no such mailbox', { permanent: true }));
  await client.refused(requestEmailSecurityCode, { body: { email: anAddress() } }, 500, 11064);
});

test('a locked account is signed out everywhere and cannot sign in until it is unlocked', async () => {
  const email = anAddress();
  const ada = await api.aUser({ email });
  const before = await api.as(ada);
  const operator = await api.as(await api.aUser({ admin: true }));
  const params = { user_id: ada.id };
  assert.equal((await operator.call(lockAUser, { params })).status, 204);
  await before.refused(getAuthenticatedUser, {}, 401, 11005);
  await refused(await aCode(email), 17053, 403);
  await operator.call(unlockAUser, { params });
  assert.equal((await exchange(await aCode(email))).status, 200);
});
