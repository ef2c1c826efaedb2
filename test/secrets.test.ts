import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { sql } from 'kysely';
import { addOwnToken, rotateOwnKey } from '../src/resources/credentials/operations.ts';
import { authenticateClient } from '../src/resources/oauth/clients.ts';
import { delegationToken } from '../src/resources/oauth/operations.ts';
import { encodeForm, startApi } from './api.ts';
import { aClient, asking, authorizePath, Browser, codesSentTo, REDIRECT, returned } from './browser.ts';

const api = await startApi();

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile());
}

/** Everything that the databases hold, as text. */
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

test('no code, token, key, cookie or client secret is in the database, the files or the log', async () => {
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
  const made = (await me.call(addOwnToken, { body: { name: 'x', scopes: ['read'] } })).body.access_token;
  const { api_key } = (await me.call(rotateOwnKey)).body;
  const delegation = (await me.call(delegationToken)).body.token;
  await api.request('GET', `/v1/games?api_key=${api_key}`, { headers: { referer: `https://x/?code=${code}` } });
  await api.request('GET', `/oauth/authorize?client_secret=${client.client_secret}&code=${code}`);
  await api.request('GET', `/v1/me?access_token=${made}`, { headers: { authorization: `Bearer ${made}x` } });
  const secrets = [code, first.access_token, first.refresh_token, second.access_token, second.refresh_token];
  secrets.push(service.access_token, me.token!, made, api_key, person.api_key, delegation, client.client_secret);
  secrets.push(...browser.cookies.values(), 'canary-state');
  assert.ok(secrets.every((secret) => secret.length > 10));
  api.app().log.flush();
  const places = { database: await rows(), log: api.logLines.join('\n') } as Record<string, string>;
  for (const file of filesUnder(api.folder)) places[file] = readFileSync(file, 'latin1');
  assert.match(places['database']!, /canary@example\.org/);
  assert.match(places['log']!, /oauth\/token/);
  for (const [place, text] of Object.entries(places))
    for (const secret of secrets) assert.equal(text.includes(secret), false, `${place} holds ${secret}`);
  const [mailed] = codesSentTo(api, email);
  for (const [place, text] of Object.entries(places))
    if (!place.includes('mail')) assert.equal(text.includes(`"${mailed}"`), false, place);
});

test('a wrong secret takes as long as an unknown client', async () => {
  const { client_id } = await aClient(api);
  const app = api.app();
  const times: Record<'wrong' | 'unknown', number[]> = { wrong: [], unknown: [] };
  const measure = async (kind: keyof typeof times, id: number) => {
    const before = performance.now();
    await authenticateClient(app, id, 'wrong').catch(() => {});
    times[kind].push(performance.now() - before);
  };
  for (let i = 0; i < 600; i += 1) {
    await measure('wrong', client_id);
    await measure('unknown', 999_999);
  }
  const median = (values: number[]) => values.slice(100).sort((a, b) => a - b)[Math.floor((values.length - 100) / 2)]!;
  const [wrong, unknown] = [median(times.wrong), median(times.unknown)];
  // Loose, as machines are busy: what is looked for is a check that is left out, not the row that is read.
  assert.ok(wrong < unknown * 4 && unknown < wrong * 4, `${wrong} ms against ${unknown} ms`);
});
