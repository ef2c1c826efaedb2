import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { sql } from 'kysely';
import { editGameOperation, getGames } from '../src/catalogue/games/operations.ts';
import { operations } from '../src/composition/resources.ts';
import { getAuthenticatedUser } from '../src/people/users/operations.ts';
import { setUserStatus, USER_ACTIVE, USER_BANNED, USER_DELETED } from '../src/people/users/users.ts';
import { TOKEN_LIFETIME_SECONDS } from '../src/platform/access/credentials.ts';
import type { Environment } from '../src/platform/config/addresses.ts';
import { TokenExpiry } from '../src/platform/http/objects.ts';
import type { AnyOperation } from '../src/platform/http/operation.ts';
import type { Mail } from '../src/platform/mail/mail.ts';
import { logout } from '../src/signin/accounts/operations.ts';
import { exchangeEmailSecurityCode, requestEmailSecurityCode } from '../src/signin/mailed-codes/operations.ts';
import { assertRefused, type Client, type ErrorAnswer, START, startApi } from './api.ts';
import { codesSentTo } from './mails.ts';
import { anotherService, exchange, requestOf, untilReceived } from './wire.ts';

const api = await startApi();
const game = await api.aGame();
const person = await api.aUser();
const FORM = 'application/x-www-form-urlencoded';

const gamesWith = (query: string, headers: Record<string, string> = {}) =>
  api.request('GET', `/v1/games${query && `?${query}`}`, { headers });

async function reads(query: string, headers: Record<string, string> = {}): Promise<void> {
  assert.equal((await gamesWith(query, headers)).status, 200);
}

async function refuses(ref: number, query: string, headers: Record<string, string> = {}, status = 401): Promise<void> {
  assertRefused(await gamesWith(query, headers), status, ref);
}

/** Requests a code with this client's key and reads it from the mail. */
async function codeFor(client: Client, email: string, at = api): Promise<string> {
  assert.equal((await client.call(requestEmailSecurityCode, { body: { email } })).status, 200);
  return codesSentTo(at, email, client.environment).at(-1)!;
}

const redeem = (client: Client, security_code: string, more: Record<string, string | number> = {}) =>
  client.call(exchangeEmailSecurityCode, { body: { security_code, ...more } });

test('keys of games and of users can read', async () => {
  await reads(`api_key=${game.api_key}`);
  await reads(`api_key=${person.api_key}`);
});

test('a missing, a malformed and an unknown key get different errors', async () => {
  await refuses(11000, '');
  await refuses(11000, 'api_key=');
  for (const malformed of ['short', 'a'.repeat(31), 'a'.repeat(33), `${'a'.repeat(31)}-`, `${'a'.repeat(31)}%00`])
    await refuses(11001, `api_key=${malformed}`);
  await refuses(11002, `api_key=${'a'.repeat(32)}`);
  await refuses(11002, `api_key=${game.api_key.toUpperCase()}`);
});

test('a revoked key is unknown immediately', async () => {
  const { id, api_key } = await api.aGame();
  await reads(`api_key=${api_key}`);
  await api.app().db.write(async (transaction) => {
    await transaction.query.updateTable('api_keys').set({ date_revoked: START }).where('game_id', '=', id).execute();
    transaction.changed('access');
  });
  await refuses(11002, `api_key=${api_key}`);
});

test('a key anywhere but in the query is ignored', async () => {
  const { api_key } = await api.aGame();
  await reads(`api_key=${api_key}`);
  await refuses(11000, '', { 'x-api-key': api_key });
  await refuses(11000, '', { authorization: api_key });
  await refuses(11000, '', { authorization: `Basic ${api_key}` });
  await refuses(11000, '', { cookie: `api_key=${api_key}` });
  await refuses(11000, `api_key[]=${api_key}`);
  await refuses(11005, '', { authorization: `Bearer ${api_key}` });
  await refuses(11005, `api_key=${api_key}`, { authorization: `Bearer ${api_key}` });
  const headers = { 'content-type': FORM };
  const inBody = { headers, body: `api_key=${api_key}&email=a%40example.com` };
  assertRefused(await api.request('POST', '/v1/oauth/emailrequest', inBody), 401, 11000);
});

test('a key can read and sign in, and nothing else', async () => {
  const params = { game_id: game.id };
  await api.withKey(game).refused(editGameOperation, { params, body: { summary: 'x' } }, 401, 11059);
  await api.withKey(game).refused(getAuthenticatedUser, {}, 401, 11059);
  await api.nobody().refused(getAuthenticatedUser, {}, 401, 11000);
});

test('a token takes precedence over a key in the same request, even an invalid key', async () => {
  const { token } = await api.as(person);
  const headers = { authorization: `Bearer ${token}` };
  for (const query of ['', `api_key=${game.api_key}`, 'api_key=bad', `api_key=${'a'.repeat(32)}`])
    assert.equal((await api.request('GET', `/v1/me?${query}`, { headers })).status, 200);
});

test('a valid key in the same request does not make up for an invalid token', async () => {
  for (const value of ['Bearer wrong', `Bearer ${'x'.repeat(43)}`, 'bearer 0'])
    await refuses(11005, `api_key=${game.api_key}`, { authorization: value });
});

test('an empty token counts as no token', async () => {
  await reads(`api_key=${game.api_key}`, { authorization: 'Bearer ' });
  await reads(`api_key=${game.api_key}`, { authorization: 'Bearer' });
  await refuses(11000, '', { authorization: 'Bearer ' });
});

test('a token can do what its scopes allow', async () => {
  const reader = await api.as(game.owner, { scopes: ['read'] });
  const writer = await api.as(game.owner, { scopes: ['write'] });
  const change = { params: { game_id: game.id }, body: { summary: 'x' } };
  assert.equal((await reader.call(getGames)).status, 200);
  await reader.refused(editGameOperation, change, 403, 11003);
  await writer.refused(getGames, {}, 403, 11004);
  await writer.refused(getAuthenticatedUser, {}, 403, 11004);
  assert.equal((await writer.call(editGameOperation, change)).status, 200);
});

test('an expired token is refused, even for cached responses', async () => {
  const late = await startApi();
  const visitor = await late.as(await late.aUser(), { dateExpires: START + 100 });
  late.clock.advance(99);
  for (let i = 0; i < 2; i += 1) assert.equal((await visitor.call(getGames)).status, 200);
  late.clock.advance(1);
  await visitor.refused(getGames, {}, 401, 11005);
  await visitor.refused(getAuthenticatedUser, {}, 401, 11005);
});

test('signing out revokes that token immediately, and no other', async () => {
  const [here, there] = [await api.as(person), await api.as(person)];
  for (const client of [here, there, here]) assert.equal((await client.call(getGames)).status, 200);
  assert.equal((await here.call(logout)).status, 200);
  await here.refused(getGames, {}, 401, 11005);
  await here.refused(getAuthenticatedUser, {}, 401, 11005);
  await here.refused(logout, {}, 401, 11005);
  assert.equal((await there.call(getAuthenticatedUser)).status, 200);
});

test('signing out revokes a token in another process as soon as that process receives the change', async (t) => {
  const other = await anotherService(api);
  t.after(() => other.stop());
  const visitor = await api.as(person);
  const request = requestOf('GET /v1/me', { Authorization: `Bearer ${visitor.token}` });
  assert.equal((await exchange(api, request, { port: other.port })).status, 200);
  await visitor.call(logout);
  const asked = () => exchange(api, request, { port: other.port });
  await untilReceived(other.apps.production.db, async () => (await asked()).status !== 200);
  assert.equal((await asked()).ref, 11005);
});

test('banned and deleted users are refused, with the tokens and keys they already had', async () => {
  for (const [status, ref] of [
    [USER_DELETED, 11006],
    [USER_BANNED, 11007],
  ] as const) {
    const gone = await api.aUser();
    const client = await api.as(gone);
    for (const each of [client, api.withKey(gone)]) assert.equal((await each.call(getGames)).status, 200);
    await setUserStatus(api.app(), gone.id, status);
    for (const each of [client, api.withKey(gone)]) await each.refused(getGames, {}, 401, ref);
    await setUserStatus(api.app(), gone.id, USER_ACTIVE);
    assert.equal((await client.call(getGames)).status, 200);
  }
});

test('a banned user cannot sign in again', async () => {
  const banned = await api.aUser({ email: 'banned@example.com' });
  await setUserStatus(api.app(), banned.id, USER_BANNED);
  const client = api.withKey(game);
  const code = await codeFor(client, 'banned@example.com');
  const answer = await client.send('POST', '/oauth/emailexchange', { body: `security_code=${code}` });
  assertRefused(answer, 401, 11007);
});

test('a token expires at the requested time if that is within bounds, otherwise after a year', async () => {
  const client = api.withKey(game);
  const latest = START + TOKEN_LIFETIME_SECONDS;
  for (const [wished, given] of [
    [START + 60, START + 60],
    [latest, latest],
    [latest + 1, latest],
    [START, latest],
    [START - 1, latest],
    [0, latest],
    [-5, latest],
    ['', latest],
    ['9007199254740993', latest],
    ['1e30', latest],
    ['-1e30', latest],
    ['1e400', latest],
    [`${START}.5`, latest],
    [`${START + 60}.5`, START + 60],
  ] as const) {
    const answer = await redeem(client, await codeFor(client, `life${wished}@example.com`), { date_expires: wished });
    assert.deepEqual([answer.status, answer.body.date_expires], [200, given], `${wished}`);
  }
});

test('every operation that returns an access token accepts a requested expiry', () => {
  const issuing = (operations as readonly AnyOperation[]).filter(
    ({ declaration }) => 'access_token' in (declaration.returns.schema.shape ?? {}),
  );
  assert.ok(issuing.length > 15);
  for (const { declaration } of issuing)
    assert.equal(declaration.body?.shape.date_expires, TokenExpiry, declaration.id);
});

test('a requested expiry that is no timestamp is refused, and the code stays valid', async () => {
  const client = api.withKey(game);
  const code = await codeFor(client, 'garbage@example.com');
  for (const wished of ['soon', 'NaN', 'Infinity', '0x10', '1 2']) {
    const answer = await redeem(client, code, { date_expires: wished });
    assertRefused(answer, 422, 13009);
    assert.deepEqual(Object.keys((answer.body as unknown as ErrorAnswer).error.errors!), ['date_expires']);
  }
  assert.equal((await redeem(client, code)).status, 200);
});

test('a code signs in only once', async () => {
  const client = api.withKey(game);
  const code = await codeFor(client, 'once@example.com');
  const { body } = await redeem(client, ` ${code.toLowerCase()} `);
  assert.equal((await api.withToken(body.access_token).call(getAuthenticatedUser)).status, 200);
  assertRefused(await redeem(client, code), 401, 11011);
});

test('every sign-in with one mail address leads to the same user', async () => {
  const client = api.withKey(game);
  const idOf = async (email: string) => {
    assert.equal((await client.call(requestEmailSecurityCode, { body: { email } })).status, 200);
    const { body } = await redeem(client, codesSentTo(api, 'same@example.com').at(-1)!);
    return (await api.withToken(body.access_token).call(getAuthenticatedUser)).body.id;
  };
  assert.equal(await idOf('same@example.com'), await idOf('Same@Example.COM'));
});

test('a code is valid for fifteen minutes', async () => {
  const late = await startApi();
  const client = late.withKey(await late.aGame());
  const code = await codeFor(client, 'late@example.com', late);
  late.clock.advance(15 * 60 - 1);
  const other = await codeFor(client, 'other@example.com', late);
  late.clock.advance(1);
  assertRefused(await redeem(client, code), 401, 11012);
  assert.equal((await redeem(client, other)).status, 200);
});

test('a new code replaces the previous one', async () => {
  const client = api.withKey(game);
  const first = await codeFor(client, 'again@example.com');
  const second = await codeFor(client, 'again@example.com');
  assertRefused(await redeem(client, first), 401, 11012);
  assert.equal((await redeem(client, second)).status, 200);
});

test('a code is bound to the key that requested it', async () => {
  const asking = api.withKey(game);
  const code = await codeFor(asking, 'bound@example.com');
  assertRefused(await redeem(api.withKey(await api.aGame()), code), 401, 11013);
  assert.equal((await redeem(asking, code)).status, 200);
});

test('after five wrong attempts the correct code is refused', async () => {
  const client = api.withKey(await api.aGame());
  const code = await codeFor(client, 'guess@example.com');
  const wrong = ['AAAAA', 'BBBBB', 'CCCCC', 'DDDDD', 'EEEEE', 'FFFFF'].filter((guess) => guess !== code);
  for (const guess of wrong.slice(0, 5)) assertRefused(await redeem(client, guess), 401, 11014);
  assertRefused(await redeem(client, code), 401, 11014);
});

test('after four wrong attempts the correct code still works', async () => {
  const client = api.withKey(await api.aGame());
  const code = await codeFor(client, 'careful@example.com');
  const wrong = ['AAAAA', 'BBBBB', 'CCCCC', 'DDDDD', 'EEEEE'].filter((guess) => guess !== code);
  for (const guess of wrong.slice(0, 4)) assertRefused(await redeem(client, guess), 401, 11014);
  assert.equal((await redeem(client, code)).status, 200);
});

test('many concurrent redemptions of a code produce one token', async () => {
  const client = api.withKey(await api.aGame());
  const code = await codeFor(client, 'race@example.com');
  const answers = await Promise.all(Array.from({ length: 20 }, () => redeem(client, code)));
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
});

test('a request for a code gets the same response whether or not the address has an account', async () => {
  await api.aUser({ email: 'known@example.com' });
  const client = api.withKey(game);
  const [known, unknown] = [
    await client.call(requestEmailSecurityCode, { body: { email: 'known@example.com' } }),
    await client.call(requestEmailSecurityCode, { body: { email: 'unknown@example.com' } }),
  ];
  const shapeOf = ({ status, body }: typeof known) => [status, body.message, body.handle.length];
  assert.deepEqual(shapeOf(known), shapeOf(unknown));
});

test('a mail that cannot be sent gives 11064, without the cause', async (t) => {
  const mail = api.app().mail as { -readonly [K in keyof Mail]: Mail[K] };
  const { send } = mail;
  t.after(() => {
    mail.send = send;
  });
  mail.send = async () => {
    throw new Error('smtp.internal refused');
  };
  const answer = await api
    .withKey(game)
    .refused(requestEmailSecurityCode, { body: { email: 'm@example.com' } }, 500, 11064);
  assert.doesNotMatch(answer.text, /internal/);
});

test('production does not accept a sandbox key, and identifies it as one when a user signs in', async () => {
  const { api_key } = await api.aGame({}, 'sandbox');
  await refuses(11002, `api_key=${api_key}`);
  const stranger = api.withKey({ api_key });
  await stranger.refused(requestEmailSecurityCode, { body: { email: 'a@example.com' } }, 403, 11017);
  await stranger.refused(exchangeEmailSecurityCode, { body: { security_code: 'AAAAA' } }, 403, 11017);
});

test('the sandbox does not accept a production key', async () => {
  const stranger = api.withKey(game, 'sandbox');
  await stranger.refused(getGames, {}, 401, 11002);
  await stranger.refused(requestEmailSecurityCode, { body: { email: 'a@example.com' } }, 401, 11002);
});

test('production and sandbox share no tokens, codes, users or games', async () => {
  const there = await api.aGame({ name: 'Sandbox Only' }, 'sandbox');
  const inSandbox = api.withKey(there, 'sandbox');
  const code = await codeFor(inSandbox, 'both@example.com');
  assertRefused(await redeem(api.withKey(game), code), 401, 11014);
  const { body: token } = await redeem(inSandbox, code);
  await api.withToken(token.access_token).refused(getGames, {}, 401, 11005);
  await (await api.as(person)).call(getGames);
  await api.withToken((await api.as(person)).token!, 'sandbox').refused(getGames, {}, 401, 11005);
  const listed = await inSandbox.call(getGames);
  assert.ok(listed.body.data.every(({ name }) => name === 'Sandbox Only' || name.startsWith('Example Game')));
  assert.ok(!listed.body.data.some(({ name }) => name === game.name));
  const emails = await api
    .app()
    .db.query.selectFrom('users')
    .select('email')
    .where('email', '=', 'both@example.com')
    .execute();
  assert.deepEqual(emails, []);
});

const TABLE_NAMES = {
  sqlite: `select name from sqlite_schema where type = 'table'`,
  postgres: `select tablename as name from pg_tables where schemaname = current_schema()`,
};

async function everyRow(environment: Environment): Promise<string> {
  const { dialect, query } = api.app(environment).db;
  const tables = await sql<{ name: string }>`${sql.raw(TABLE_NAMES[dialect])}`.execute(query);
  const rows = await Promise.all(tables.rows.map(({ name }) => sql`select * from ${sql.table(name)}`.execute(query)));
  return JSON.stringify(rows.map((result) => result.rows));
}

function* filesUnder(folder: string): Generator<string> {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) yield* filesUnder(path);
    else yield path;
  }
}

test('neither database nor files contain a key, token or code; a mail contains the code it delivers', async () => {
  for (const environment of ['production', 'sandbox'] as const) {
    const own = await api.aGame({}, environment);
    const client = api.withKey(own, environment);
    const code = await codeFor(client, 'stored@example.com');
    const { body } = await redeem(client, code);
    const issued = await api.as(own.owner, {}, environment);
    const secrets = [own.api_key, own.owner.api_key, body.access_token, issued.token!, code];
    const files = [...filesUnder(api.folder)].filter((path) => !path.includes('/mail/'));
    const stored = [await everyRow(environment), ...files.map((path) => readFileSync(path, 'latin1'))];
    assert.ok(stored[0]!.includes('stored@example.com'));
    for (const secret of secrets) assert.ok(!stored.some((text) => text.includes(secret)), secret);
  }
});

test('the digest of a production secret is not valid in the sandbox', () => {
  const [production, sandbox] = [api.app('production').secrets, api.app('sandbox').secrets];
  assert.notEqual(production.digest('secret'), sandbox.digest('secret'));
  assert.equal(sandbox.verify('file', 'a', production.sign('file', 'a')), false);
});
