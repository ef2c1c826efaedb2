import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { sql } from 'kysely';
import { addOwnToken, rotateOwnKey } from '../src/signin/credentials/operations.ts';
import { requestEmailSecurityCode } from '../src/signin/mailed-codes/operations.ts';
import { authenticateClient } from '../src/signin/oauth/clients.ts';
import { delegationToken } from '../src/signin/oauth/operations.ts';
import { editGamePortal } from '../src/signin/portals/operations.ts';
import { encodeForm, startApi } from './api.ts';
import { aClient, asking, authorizePath, Browser, REDIRECT, returned } from './browser.ts';
import { codesSentTo } from './mails.ts';
import { startPlatforms } from './platforms.ts';
import { workOf } from './work.ts';

const studio = await startPlatforms();
const api = await startApi({ settings: { ...studio.settings, MODSTEAD_JOBS: 'off' } });

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile());
}

/** The content of the databases as text. */
async function rows(): Promise<string> {
  const { db } = api.app();
  const schema =
    db.dialect === 'postgres'
      ? sql<{ name: string }>`select tablename as name from pg_tables where schemaname = 'public'`
      : sql<{ name: string }>`select name from sqlite_master where type = 'table'`;
  const tables = (await schema.execute(db.query)).rows;
  const texts = tables.map(async ({ name }) => {
    const all = await sql`select * from ${sql.table(name)}`.execute(db.query);
    return JSON.stringify(all.rows);
  });
  return (await Promise.all(texts)).join('\n');
}

/** Signs in through a studio, and returns every secret that was exchanged. */
async function secretsOfStudio(): Promise<string[]> {
  const game = await api.aGame();
  const set = 'canary-studio-client-secret';
  const params = { game_id: game.id, portal: 'sso' };
  const body = {
    authorize_url: 'https://id.studio.example/authorize',
    token_url: `${studio.url}/token`,
    userinfo_url: `${studio.url}/userinfo`,
    client_id: 'mods',
    client_secret: set,
  };
  assert.equal((await (await api.as(game.owner)).call(editGamePortal, { params, body })).status, 200);
  const bought = 'canary-studio-access-token';
  studio.on('/token', () => ({
    json: { access_token: bought, token_type: 'bearer', refresh_token: 'canary-refresh' },
  }));
  studio.on('/userinfo', () => ({ json: { sub: 'canary-person', name: 'Canary' } }));
  const browser = new Browser(api);
  const before = [...browser.cookies.values()];
  const left = await browser.get(`/sign-in?game=${game.id}&portal=studio&login=auto`);
  const state = new URL(left.headers.location!).searchParams.get('state')!;
  const page = await browser.get(`/sign-in/studio/${game.id}?code=canary-studio-code&state=${state}`);
  const [, token] = /name="token" value="([^"]+)"/.exec(page.text)!;
  // At this point the database contains a sign-in that waits for consent.
  const waiting = await rows();
  assert.ok(!waiting.includes(token!) && !waiting.includes('canary-person'));
  assert.equal((await browser.submit(page, { decision: 'agree' })).status, 303);
  const verifier = studio.asked.findLast(({ path }) => path === '/token')!.form.get('code_verifier')!;
  // A second sign-in is left unfinished, so that its row is searched too.
  const open = await new Browser(api).get(`/sign-in?game=${game.id}&portal=studio&login=auto`);
  const openState = new URL(open.headers.location!).searchParams.get('state')!;
  return [
    set,
    bought,
    'canary-refresh',
    'canary-studio-code',
    state,
    openState,
    token!,
    verifier,
    ...before,
    ...browser.cookies.values(),
  ];
}

test('T21: no code, token, key, cookie or secret is in the database, the files, the log or the metrics', async () => {
  const game = await api.aGame();
  const client = await aClient(api, { gameId: game.id });
  const browser = new Browser(api);
  const email = 'canary@example.org';
  const consent = await browser.signIn(authorizePath(asking(client, { state: 'canary-state' })), email);
  const code = returned(await browser.submit(consent, { decision: 'allow' })).get('code')!;
  const send = async (fields: Record<string, string>) => {
    const answer = await api.request('POST', '/v1/oauth/token', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: encodeForm({ ...client, redirect_uri: REDIRECT, ...fields }),
    });
    return answer.body as { access_token: string; refresh_token: string };
  };
  const first = await send({ grant_type: 'authorization_code', code });
  const second = await send({ grant_type: 'refresh_token', refresh_token: first.refresh_token });
  const service = await send({ grant_type: 'client_credentials' });
  const person = await api.aUser();
  const me = await api.as(person, { gameId: game.id });
  const made = (await (await api.as(person)).call(addOwnToken, { body: { name: 'x', scopes: ['read'] } })).body
    .access_token;
  const { api_key } = (await me.call(rotateOwnKey)).body;
  const delegation = (await me.call(delegationToken)).body.token;
  await api.request('GET', `/v1/games?api_key=${api_key}`, { headers: { referer: `https://x/?code=${code}` } });
  await api.request('GET', `/oauth/authorize?client_secret=${client.client_secret}&code=${code}`);
  await api.request('GET', `/v1/me?access_token=${made}`, { headers: { authorization: `Bearer ${made}x` } });
  const secrets = [code, first.access_token, first.refresh_token, second.access_token, second.refresh_token];
  secrets.push(service.access_token, me.token!, made, api_key, person.api_key, delegation, client.client_secret);
  secrets.push(...browser.cookies.values(), 'canary-state');
  secrets.push(...(await secretsOfStudio()));
  assert.ok(secrets.every((secret) => secret.length > 10));
  api.app().log.flush();
  const places = { database: await rows(), log: api.logLines.join('\n') } as Record<string, string>;
  places['figures'] = (await api.request('GET', '/metrics')).text;
  assert.match(places['figures'], /page-sign-in-sso/);
  for (const file of filesUnder(api.folder)) places[file] = readFileSync(file, 'latin1');
  assert.match(places['database']!, /canary@example\.org/);
  assert.match(places['log']!, /oauth\/token/);
  for (const [place, text] of Object.entries(places))
    for (const secret of secrets) assert.equal(text.includes(secret), false, `${place} contains ${secret}`);
  const [mailed] = codesSentTo(api, email);
  for (const [place, text] of Object.entries(places))
    if (!place.includes('mail')) assert.equal(text.includes(`"${mailed}"`), false, place);
});

test('T22: a wrong secret costs the same work as an unknown client', async () => {
  const { client_id } = await aClient(api);
  const app = api.app();
  const costOf = (id: number) => workOf(app, () => authenticateClient(app, id, 'wrong').catch(() => {}));
  assert.deepEqual(await costOf(client_id), await costOf(999_999));
});

test('T22: a request for a code costs the same work for an address with an account as for one without', async (t) => {
  api.stayInOneProcess(t);
  const app = api.app();
  await api.aUser({ email: 'known.work@example.org' });
  const key = api.withKey(await api.aGame());
  const asked = (email: string) => workOf(app, () => key.call(requestEmailSecurityCode, { body: { email } }));
  await asked('first.work@example.org');
  const known = await asked('known.work@example.org');
  assert.deepEqual(known, await asked('unknown.work@example.org'));
  assert.equal(known.mails, 1);
  const browser = new Browser(api);
  const form = await browser.get('/sign-in');
  const onPage = (email: string) => workOf(app, () => browser.submit(form, { email }));
  assert.deepEqual(await onPage('known.work@example.org'), await onPage('unknown.work@example.org'));
});

test('T22: a wrong code costs the same work whether or not its address has an account', async (t) => {
  api.stayInOneProcess(t);
  const app = api.app();
  const tried = async (email: string) => {
    const browser = new Browser(api);
    const asked = await browser.submit(await browser.get('/sign-in'), { email });
    return workOf(app, () => browser.submit(asked, { code: 'AAAAA' }));
  };
  await api.aUser({ email: 'known.try@example.org' });
  assert.deepEqual(await tried('known.try@example.org'), await tried('unknown.try@example.org'));
});

test('T22: digests are compared in constant time, and only equal ones match', () => {
  const { secrets } = api.app();
  const kept = secrets.digest('ABCDE');
  assert.equal(secrets.isDigestOf(kept, 'ABCDE'), true);
  for (const wrong of ['ABCDF', 'abcde', '', 'ABCDE ']) assert.equal(secrets.isDigestOf(kept, wrong), false);
  for (const short of ['', kept.slice(1), `${kept}x`]) assert.equal(secrets.isDigestOf(short, 'ABCDE'), false);
});
