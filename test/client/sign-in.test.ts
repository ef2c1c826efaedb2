// Runs on one database: the client talks to the API alone.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import {
  type Client,
  exchangeEmailCode,
  finishOauth,
  isApiError,
  OauthReturnError,
  refreshingToken,
  requestEmailCode,
  type SignIn,
  signInWithDelegation,
  signInWithPortal,
  signOut,
  startDeviceSignIn,
  startOauth,
  startSocketSignIn,
} from '../../client/src/index.ts';
import { DEVICE_GRANT } from '../../src/signin/oauth/clients.ts';
import { startApi } from '../api.ts';
import { aClient, Browser, decideOnDevice, REDIRECT } from '../browser.ts';
import { codesSentTo } from '../mails.ts';
import { steamTicket } from '../platforms.ts';
import { clientOf } from './fetching.ts';

const api = await startApi();
const game = await api.aGame();
const client = clientOf(api, { key: game.api_key });
const me = (signIn: SignIn) => client.with({ token: signIn.accessToken }).call('GET /me');
const wasRefused = (ref: number) => (error: unknown) => isApiError(error, ref);
let people = 0;
const anAddress = () => `client-${++people}@example.org`;

const decide = (code: string, decision: 'allow' | 'deny') => decideOnDevice(api, code, decision, anAddress());

test('a mailed code signs in, and signing out ends the token', async () => {
  const email = anAddress();
  const request = await requestEmailCode(client, { email });
  const signIn = await exchangeEmailCode(client, request, ` ${codesSentTo(api, email).at(-1)} `);
  assert.equal(typeof (await me(signIn)).id, 'number');
  await assert.rejects(exchangeEmailCode(client, request, 'AAAAA'), wasRefused(11014));
  await signOut(client.with({ token: signIn.accessToken }));
  await assert.rejects(me(signIn), wasRefused(11005));
});

test('a device waits as long as the service asks until the user allows it or denies it', async () => {
  const device = await aClient(api, { gameId: game.id, grants: [DEVICE_GRANT] });
  const waits: number[] = [];
  const decisions: (() => Promise<void>)[] = [];
  const patient = client.with({
    retry: {
      wait: async (milliseconds) => {
        waits.push(milliseconds / 1000);
        // The first poll finds nothing yet, and the second one comes too early.
        if (waits.length !== 2) api.clock.advance(milliseconds / 1000);
        if (waits.length === 3) await decisions.shift()!();
      },
    },
  });
  for (const decision of ['allow', 'deny'] as const) {
    waits.length = 0;
    const { code, url, urlWithCode, finished } = await startDeviceSignIn(patient, { clientId: device.client_id });
    assert.deepEqual([url, urlWithCode], ['https://localhost/connect', `https://localhost/connect?code=${code}`]);
    decisions.push(() => decide(code, decision));
    if (decision === 'allow') assert.equal(typeof (await me(await finished)).id, 'number');
    else await assert.rejects(finished, (error) => isApiError(error) && error.oauthError === 'access_denied');
    assert.deepEqual(waits, [5, 5, 10]);
  }
});

class TrustingSocket extends WebSocket {
  constructor() {
    const options = { ca: readFileSync(api.service.certificateFile!), servername: 'localhost' };
    super(`wss://127.0.0.1:${api.port}/ws`, { ...options, headers: { host: 'localhost' } });
  }
}
const Socket = TrustingSocket as unknown as typeof globalThis.WebSocket;

test('a device without a registered client signs in over a WebSocket', async () => {
  const { code, urlWithCode, finished } = await startSocketSignIn(client, { gameId: game.id, WebSocket: Socket });
  assert.equal(urlWithCode, `https://localhost/connect?code=${code}`);
  await decide(code, 'allow');
  assert.equal(typeof (await me(await finished)).id, 'number');
  const denied = await startSocketSignIn(client, { gameId: game.id, WebSocket: Socket });
  await decide(denied.code, 'deny');
  await assert.rejects(denied.finished, wasRefused(11098));
  await assert.rejects(startSocketSignIn(client, { gameId: 999_999, WebSocket: Socket }), wasRefused(14001));
  const controller = new AbortController();
  const left = await startSocketSignIn(client, { gameId: game.id, WebSocket: Socket }, controller);
  controller.abort(new Error('left'));
  await assert.rejects(left.finished, /left/);
});

test('OAuth with PKCE signs in, and the token is refreshed once for all calls that need it', async () => {
  const registered = await aClient(api, { gameId: game.id, requiresPkce: true });
  const pending = await startOauth(client, { clientId: registered.client_id, redirectUri: REDIRECT });
  const { pathname, search } = new URL(pending.url);
  const browser = new Browser(api);
  const consent = await browser.signIn(pathname + search, anAddress());
  const back = (await browser.submit(consent, { decision: 'allow' })).headers.location!;
  const forged = new URL(back);
  forged.searchParams.set('state', 'of another page');
  await assert.rejects(finishOauth(client, pending, forged), OauthReturnError);
  const secret = { clientSecret: registered.client_secret };
  const signIn = await finishOauth(client, pending, back, secret);
  const stored: (SignIn | undefined)[] = [];
  const token = refreshingToken(client, signIn, {
    clientId: registered.client_id,
    redirectUri: REDIRECT,
    ...secret,
    onChange: (changed) => void stored.push(changed),
  });
  const user: Client = client.with({ token });
  const { id } = await user.call('GET /me');
  await signOut(client.with({ token: signIn.accessToken }));
  const both = await Promise.all([user.call('GET /me'), user.call('GET /me')]);
  assert.deepEqual([both.map((each) => each.id), stored.length], [[id, id], 1]);
  assert.notEqual(stored[0]?.accessToken, signIn.accessToken);
});

test('a portal signs in once the user has agreed to the terms, and a delegation token elsewhere', async () => {
  const key = randomBytes(32);
  const administrator = clientOf(api, { token: (await api.as(game.owner)).token });
  await administrator.call('PUT /games/{game_id}/portals/{portal}', {
    game_id: game.id,
    portal: 'steam',
    app_id: '480',
    ticket_key: key.toString('hex'),
  });
  const ticket = () => steamTicket({ key, appId: 480, issued: api.clock.now(), steamId: 76_561_197_960_287_999n });
  await assert.rejects(signInWithPortal(client, 'steam', { appdata: ticket() }), wasRefused(11074));
  const signIn = await signInWithPortal(client, 'steam', { appdata: ticket(), terms_agreed: true });
  const { id } = await me(signIn);
  const { token } = await client.with({ token: signIn.accessToken }).call('POST /me/s2s/oauth/token');
  const delegated = await signInWithDelegation(client, token, { termsAgreed: true });
  assert.equal((await me(delegated)).id, id);
});
