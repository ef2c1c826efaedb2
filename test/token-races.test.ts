import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { getAuthenticatedUser } from '../src/people/users/operations.ts';
import { lockAUser, unlockAUser } from '../src/signin/accounts/operations.ts';
import { addOwnToken, deleteOwnToken, getOwnTokens } from '../src/signin/credentials/operations.ts';
import type { IssuedClient } from '../src/signin/oauth/clients.ts';
import { deleteOauthClient, rotateOauthClientSecret } from '../src/signin/oauth/operations.ts';
import { deleteSessions } from '../src/signin/sessions/operations.ts';
import { type Answer, type Client, encodeForm, type Game, startApi } from './api.ts';
import { aClient, asking, authorizePath, Browser, REDIRECT, returned } from './browser.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
const { db } = api.app();
/** SQLite has one writer, so transactions cannot overlap. */
const skip = db.dialect === 'sqlite';

const isSomeoneWaiting = async (): Promise<boolean> => {
  const waiting = sql<{ count: number }>`select count(*) as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  return Number((await waiting.execute(db.query)).rows[0]!.count) > 0;
};

/**
 * Runs the first request up to its commit, then the other one on a second connection, and commits the first.
 * If the other one waits for a lock of the first, the first is committed while it waits.
 */
async function overlapped<T>(first: () => Promise<T>, other: () => Promise<Answer>): Promise<[T, Answer]> {
  let racing: Promise<Answer> | undefined;
  let isOver = false;
  const processes = api.apps().map((app) => ({ db: app.db, write: app.db.write.bind(app.db) }));
  for (const process of processes) {
    const held: typeof db.write = (work) =>
      process.write(async (transaction) => {
        const result = await work(transaction);
        if (racing) return result;
        for (const each of processes) Object.assign(each.db, { write: each.write });
        racing = other().finally(() => {
          isOver = true;
        });
        while (!isOver && !(await isSomeoneWaiting()));
        return result;
      });
    Object.assign(process.db, { write: held });
  }
  const result = await first();
  assert.ok(racing, 'the first request never wrote');
  return [result, await racing];
}

const tokenRequest = (client: IssuedClient, fields: Record<string, string>) =>
  api.request('POST', '/v1/oauth/token', {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: encodeForm({ client_id: client.client_id, client_secret: client.client_secret, ...fields }),
  });

type Tokens = { access_token?: string; refresh_token?: string };

async function letIn(browser: Browser, client: IssuedClient, email: string): Promise<string> {
  const path = authorizePath(asking(client));
  const consent = await browser.signIn(path, email);
  return returned(await browser.submit(consent, { decision: 'allow' })).get('code')!;
}

const redeeming = (client: IssuedClient, code: string) =>
  tokenRequest(client, { grant_type: 'authorization_code', code, redirect_uri: REDIRECT });
const refreshing = (client: IssuedClient, { refresh_token }: Tokens) =>
  tokenRequest(client, { grant_type: 'refresh_token', refresh_token: refresh_token!, redirect_uri: REDIRECT });

let people = 0;

interface Scene {
  readonly game: Game;
  readonly client: IssuedClient;
  readonly code: string;
  readonly me: Client;
  readonly userId: number;
}

async function aScene(): Promise<Scene> {
  const email = `racer-${++people}@example.org`;
  const user = await api.aUser({ email });
  const game = await api.aGame();
  const client = await aClient(api, { gameId: game.id });
  const code = await letIn(new Browser(api), client, email);
  return { game, client, code, me: await api.as(user), userId: user.id };
}

const operator = await api.as(await api.aUser({ admin: true }));

/** Operations that revoke all tokens of a user or of a client. */
const ENDINGS: Record<string, (scene: Scene) => Promise<Answer>> = {
  'an operator locks the account': ({ userId }) => operator.call(lockAUser, { params: { user_id: userId } }),
  'its owner signs out everywhere': ({ me }) => me.call(deleteSessions),
  'the client gets a new secret': async ({ game, client: { client_id } }) =>
    (await api.as(game.owner)).call(rotateOauthClientSecret, { params: { game_id: game.id, client_id } }),
  'the client is removed': async ({ game, client: { client_id } }) =>
    (await api.as(game.owner)).call(deleteOauthClient, { params: { game_id: game.id, client_id } }),
};

const assertInvalid = async (answer: Answer, why: string): Promise<void> => {
  const { access_token } = (answer.body ?? {}) as Tokens;
  if (access_token === undefined) return;
  const { status } = await api.withToken(access_token).call(getAuthenticatedUser);
  assert.equal(status, 401, why);
};

for (const [ending, end] of Object.entries(ENDINGS)) {
  test(`a refresh that commits after ${ending} leaves no valid token`, { skip }, async () => {
    const scene = await aScene();
    const given = (await redeeming(scene.client, scene.code)).body as Tokens;
    const [refreshed, ended] = await overlapped(
      () => refreshing(scene.client, given),
      () => end(scene),
    );
    assert.ok(ended.status < 300, ended.text);
    await assertInvalid(refreshed, 'the token of the refresh');
    await operator.call(unlockAUser, { params: { user_id: scene.userId } });
    await assertInvalid(refreshed, 'the same after the lock was lifted');
  });

  test(`a code that is redeemed while ${ending} leaves no valid token and no usable refresh token`, {
    skip,
  }, async () => {
    const scene = await aScene();
    const [redeemed, ended] = await overlapped(
      () => redeeming(scene.client, scene.code),
      () => end(scene),
    );
    assert.ok(ended.status < 300, ended.text);
    await assertInvalid(redeemed, 'the token of the code');
    const given = redeemed.body as Tokens;
    if (given.refresh_token) await assertInvalid(await refreshing(scene.client, given), 'what its refresh token gives');
  });
}

test('a refresh that commits after the user revoked the grant leaves no valid token', { skip }, async () => {
  const scene = await aScene();
  const given = (await redeeming(scene.client, scene.code)).body as Tokens;
  const { data } = (await scene.me.call(getOwnTokens)).body;
  const token_id = data.find(({ client }) => client)!.id;
  const revoking = () => scene.me.call(deleteOwnToken, { params: { token_id } });
  const [refreshed, revoked] = await overlapped(() => refreshing(scene.client, given), revoking);
  assert.equal(revoked.status, 204, revoked.text);
  await assertInvalid(refreshed, 'the token of the refresh');
});

for (const ending of ['the client gets a new secret', 'the client is removed'])
  test(`a service token that commits after ${ending} is invalid`, { skip }, async () => {
    const scene = await aScene();
    const asked = () => tokenRequest(scene.client, { grant_type: 'client_credentials', scope: 'read' });
    const [given, ended] = await overlapped(asked, () => ENDINGS[ending]!(scene));
    assert.ok(ended.status < 300, ended.text);
    const { access_token } = given.body as Tokens;
    if (access_token) assert.equal((await api.withToken(access_token).send('GET', '/games')).status, 401);
  });

for (const ending of ['an operator locks the account', 'its owner signs out everywhere'])
  test(`a token that a user creates while ${ending} is invalid`, { skip }, async () => {
    const scene = await aScene();
    const wish = { body: { name: 'Mine', scopes: ['read'] } };
    const [made, ended] = await overlapped(
      () => scene.me.call(addOwnToken, wish),
      () => ENDINGS[ending]!(scene),
    );
    assert.ok(ended.status < 300, ended.text);
    await assertInvalid(made, 'the token that was made');
  });
