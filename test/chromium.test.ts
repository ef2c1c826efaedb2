// Runs on one database: a browser sees no difference.
import assert from 'node:assert/strict';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { builtSite } from '../src/commands/site-build.ts';
import { localCertificate } from '../src/platform/http/certificate.ts';
import { editGamePortal } from '../src/signin/portals/operations.ts';
import { startApi } from './api.ts';
import { aClient, asking, authorizePath, REDIRECT } from './browser.ts';
import { findChromium, launchChromium } from './chromium.ts';
import { codesSentTo } from './mails.ts';
import { startPlatforms } from './platforms.ts';
import { aDevice } from './sockets.ts';

const found = findChromium();
const skip = 'reason' in found ? found.reason : false;
const api = await startApi();
const site = `https://localhost:${api.port}`;
const platforms = await startPlatforms();
/** A second site whose users sign in with accounts of the first one, which acts as a studio. */
const mods = await startApi({
  site: builtSite(),
  settings: {
    MODSTEAD_DOMAIN: 'mods.localhost',
    MODSTEAD_EGRESS_ALLOW: '127.0.0.1/32,::1/128',
    MODSTEAD_EGRESS_CA: api.service.certificateFile,
    MODSTEAD_PORTAL_ADDRESSES: `itchio=${platforms.url},oculus=${platforms.url}`,
  },
});
/** Stands in for the client’s own site and for the pages of portals: one click redirects back with a URL fragment. */
const portals = createServer(await localCertificate(join(mods.folder, 'portals'), 'itch.io'), (request, response) => {
  const { searchParams } = new URL(request.url!, 'https://itch.io');
  response.writeHead(200, { 'content-type': 'text/html' });
  const answer = answersOf[request.headers.host!]?.(searchParams.get('state'));
  if (answer === undefined) return void response.end('Back at the client');
  const back = `${searchParams.get('redirect_uri')}#${answer}`;
  response.end(`<a href="${back.replaceAll('&', '&amp;')}">Allow</a>`);
});
const answersOf: Record<string, (state: string | null) => string> = {
  'itch.io': (state) => `access_token=of-itch&state=${state}`,
  'auth.oculus.com': () => Buffer.from(JSON.stringify({ code: 'of-grace', org_scoped_id: '99' })).toString('base64'),
};
await new Promise<void>((resolve) => portals.listen(0, '127.0.0.1', resolve));
after(() => portals.close());
let browser: Browser | undefined;
after(() => browser?.close());

/** Long enough that only a hang exceeds it, even on a busy machine. */
const HANG_MS = 300_000;

/** A page in a new profile. */
async function aPage(options: { javaScriptEnabled?: boolean; colorScheme?: 'light' | 'dark' } = {}): Promise<Page> {
  const { port } = portals.address() as AddressInfo;
  const rules = [
    'MAP localhost 127.0.0.1',
    `MAP mods.localhost 127.0.0.1:${mods.port}`,
    ...[...Object.keys(answersOf), 'client.example'].map((host) => `MAP ${host} 127.0.0.1:${port}`),
  ];
  browser ??= await launchChromium(found as { path: string }, api, {
    hosts: rules.join(', '),
    others: [mods.port, port],
  });
  const context = await browser.newContext({ locale: 'en-US', ...options });
  context.setDefaultTimeout(HANG_MS);
  return context.newPage();
}

/** The errors in the console of a page. */
function problemsOn(page: Page): string[] {
  const problems: string[] = [];
  page.on('console', (message) => {
    // A Chromium with windows asks for an icon to show in its tab, and a service without a site has none.
    const isIcon = message.location().url.endsWith('/favicon.ico');
    if (message.type() === 'error' && !isIcon) problems.push(message.text());
  });
  return problems;
}

async function signIn(page: Page, email: string): Promise<void> {
  await page.getByLabel('Email address').fill(email);
  await page.getByRole('button', { name: 'Send code' }).click();
  await page.getByRole('heading', { name: 'Check your email' }).waitFor();
  await page.getByLabel('Code from the email').fill(codesSentTo(api, email).at(-1)!.toLowerCase());
  await page.getByRole('button', { name: 'Sign in' }).click();
}

test('in Chromium a user signs in, allows a client, and returns to it with a code', { skip }, async () => {
  const client = await aClient(api, { name: 'Skyport' });
  const page = await aPage();
  const problems = problemsOn(page);
  await page.goto(site + authorizePath(asking(client)));
  await signIn(page, 'browser@example.org');
  await page.getByRole('heading', { name: 'Allow Skyport to use your account?' }).waitFor();
  // The heading appears before the image and the style sheet are loaded.
  await page.waitForLoadState('load');
  assert.equal(await page.evaluate('document.images[0].naturalWidth'), 64);
  assert.notEqual(await page.evaluate('getComputedStyle(document.querySelector("main")).borderRadius'), '0px');
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.waitForURL(`${REDIRECT}?**`);
  const query = new URL(page.url()).searchParams;
  assert.ok(query.get('code'));
  assert.deepEqual([query.get('state'), query.get('iss')], ['a state', 'https://localhost']);
  assert.deepEqual(problems, []);
  await page.goto(`${site}/sign-out`);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
  const left = (await page.context().cookies()).map(({ name }) => name);
  assert.deepEqual(left, ['__Host-modstead_browser']);
});

test('in Chromium without scripts and in dark mode a user denies a client', { skip }, async () => {
  const client = await aClient(api, { name: 'Cloud Atlas' });
  const page = await aPage({ javaScriptEnabled: false, colorScheme: 'dark' });
  await page.goto(site + authorizePath(asking(client)));
  await signIn(page, 'careful@example.org');
  await page.getByRole('button', { name: 'Deny' }).click();
  await page.waitForURL(`${REDIRECT}?**`);
  assert.equal(new URL(page.url()).searchParams.get('error'), 'access_denied');
});

test('in Chromium without scripts a user signs in with a studio account', { skip }, async () => {
  const game = await mods.aGame({ name: 'Skyhaven' });
  const client = await aClient(api, {
    name: 'Mods of Skyhaven',
    redirectUris: [`https://mods.localhost/sign-in/studio/${game.id}`],
    grants: ['authorization_code'],
  });
  await (await mods.as(game.owner)).call(editGamePortal, {
    params: { game_id: game.id, portal: 'sso' },
    body: {
      authorize_url: `${site}/oauth/authorize?grant_type=authorization_code`,
      token_url: `${site}/v1/oauth/token`,
      userinfo_url: `${site}/v1/me`,
      client_id: client.client_id,
      client_secret: client.client_secret,
      scopes: 'read',
      portal_id_claim: 'id',
      display_name_claim: 'username',
      issuer: 'https://localhost',
    },
  });
  const page = await aPage({ javaScriptEnabled: false });
  const problems = problemsOn(page);
  await page.goto(`https://mods.localhost/account/link?game=${game.id}`);
  await page.getByRole('link', { name: `Continue with the studio’s account at localhost:${api.port}` }).click();
  await signIn(page, 'studio.player@example.org');
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.getByRole('heading', { name: 'Agree to the terms' }).waitFor();
  await page.getByRole('button', { name: 'I agree', exact: false }).click();
  await page.getByRole('heading', { name: 'Linked accounts' }).waitFor();
  assert.equal(page.url(), `https://mods.localhost/account/link?game=${game.id}`);
  const person = await api
    .app()
    .db.query.selectFrom('users')
    .select('username')
    .where('email', '=', 'studio.player@example.org')
    .executeTakeFirstOrThrow();
  await page.getByText(`SSO · ${person.username}`).waitFor();
  assert.deepEqual(problems, []);
});

test('in Chromium a user enters the code of a device and signs in, and the device gets a token', { skip }, async () => {
  const game = await api.aGame({ name: 'Skyhaven' });
  const device = await aDevice(api.service, { host: `g-${game.id}.ws.localhost` });
  device.send({ operation: 'device_login', context: { game_id: game.id } });
  const code = String((await device.nextMessage()).context['code']);
  const page = await aPage({ javaScriptEnabled: false });
  await page.goto(`${site}/connect`);
  await page.getByLabel('Code on the device').fill(code.toLowerCase());
  await page.getByRole('button', { name: 'Continue' }).click();
  await signIn(page, 'couch@example.org');
  await page.getByRole('heading', { name: 'Connect a device' }).waitFor();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { name: 'Sign in on the device?' }).waitFor();
  await page.getByText(`shows the code ${code} wants to use Skyhaven`).waitFor();
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.getByRole('heading', { name: 'The device is signed in' }).waitFor();
  assert.equal((await device.nextMessage()).operation, 'access_token');
  await device.close();
});

test('in Chromium a user signs in with itch.io, whose token leaves the address bar', { skip }, async () => {
  const game = await mods.aGame({ name: 'Skyhaven' });
  const params = { game_id: game.id, portal: 'itchio' };
  const body = { itch_game_id: '3', client_id: 'itch-client' };
  await (await mods.as(game.owner)).call(editGamePortal, { params, body });
  const scopes = ['profile:me', 'game:view:ownership'];
  platforms.on('/credentials/info', () => ({ json: { type: 'key', scopes } }));
  platforms.on('/games/3/ownership', () => ({ json: { owns: true } }));
  platforms.on('/profile', () => ({ json: { user: { id: 12, username: 'grace', display_name: 'Grace' } } }));
  const page = await aPage();
  const problems = problemsOn(page);
  await page.goto(`https://mods.localhost/account/connections?game=${game.id}&portal=itchio&login=auto`);
  await page.getByRole('link', { name: 'Allow' }).click();
  await page.getByRole('heading', { name: 'Agree to the terms' }).waitFor();
  assert.equal(page.url(), `https://mods.localhost/sign-in/itchio/${game.id}`);
  assert.equal(platforms.asked.findLast(({ path }) => path === '/profile')?.headers.authorization, 'Bearer of-itch');
  await page.getByRole('button', { name: 'I agree', exact: false }).click();
  await page.locator('li', { hasText: 'itch.io' }).getByText('· Grace').waitFor();
  assert.equal(page.url(), `https://mods.localhost/account/connections?game=${game.id}&portal=itchio&login=auto`);
  assert.deepEqual(problems, []);
  const { entries } = await (await page.context().newCDPSession(page)).send('Page.getNavigationHistory');
  const addresses = entries.map(({ url }) => url);
  assert.ok(addresses.some((address) => address.startsWith('https://itch.io/user/oauth')));
  assert.ok(!addresses.some((address) => address.includes('of-itch')), `the history has the token: ${addresses}`);
  const stuck = await aPage();
  // If the form gets no response, the page and its address stay.
  const posted = stuck.waitForRequest((request) => request.method() === 'POST');
  await stuck.route('**/sign-in/itchio/*', (route) =>
    route.request().method() === 'POST' ? route.fulfill({ status: 204 }) : route.continue(),
  );
  await stuck.goto(`https://mods.localhost/sign-in?game=${game.id}&portal=itchio&login=auto`);
  await stuck.getByRole('link', { name: 'Allow' }).click();
  assert.match((await posted).postData()!, /fragment=access_token%3Dof-itch%26state%3D/);
  assert.equal(stuck.url(), `https://mods.localhost/sign-in/itchio/${game.id}`);
  const quiet = await aPage({ javaScriptEnabled: false });
  await quiet.goto(`https://mods.localhost/sign-in?game=${game.id}&portal=itchio&login=auto`);
  await quiet.getByRole('link', { name: 'Allow' }).click();
  await quiet.getByText('Signing in with itch.io needs JavaScript').waitFor();
  await quiet.getByRole('link', { name: 'Sign in' }).click();
  await quiet.getByLabel('Email address').waitFor();
});

test('in Chromium a user signs in with Meta and confirms that the account is theirs', { skip }, async () => {
  const game = await mods.aGame({ name: 'Skyhaven' });
  const params = { game_id: game.id, portal: 'oculus' };
  const body = { quest_app_id: '7', quest_app_secret: 'quest secret', organization_id: '42' };
  await (await mods.as(game.owner)).call(editGamePortal, { params, body });
  platforms.on('/sso_authorize_code', () => ({ json: { oauth_token: 'of-meta' } }));
  platforms.on('/me', () => ({ json: { id: '77', alias: 'Grace', org_scoped_id: '99' } }));
  const page = await aPage();
  const problems = problemsOn(page);
  await page.goto(`https://mods.localhost/account/link?game=${game.id}&portal=oculus&login=auto`);
  await page.getByRole('link', { name: 'Allow' }).click();
  await page.getByText('Meta says that you are Grace.').waitFor();
  assert.equal(page.url(), `https://mods.localhost/sign-in/oculus/${game.id}`);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { name: 'Agree to the terms' }).waitFor();
  await page.getByRole('button', { name: 'I agree', exact: false }).click();
  await page.getByText('Meta · Grace').waitFor();
  assert.deepEqual(problems, []);
});
