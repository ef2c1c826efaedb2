// Runs on one database: a browser sees no difference.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { after, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import * as openid from 'openid-client';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { builtSite } from '../src/commands/site-build.ts';
import { setupCode } from '../src/people/staff/first-owner.ts';
import { accessibilityProblems } from '../tools/site-pages.ts';
import { startApi } from './api.ts';
import { findChromium, launchChromium } from './chromium.ts';
import { codesSentTo } from './mails.ts';
import { scriptsRun } from './site-visits.ts';

const found = findChromium();
const skip = 'reason' in found ? found.reason : false;
const port = await freePort();
const api = await startApi({
  site: builtSite(),
  settings: {
    MODSTEAD_PORT: String(port),
    MODSTEAD_PUBLIC_PORT: String(port),
    MODSTEAD_JOBS: 'off',
  },
});
const trusted = getCACertificates();
setDefaultCACertificates([readFileSync(api.service.certificateFile!, 'utf8')]);
after(() => setDefaultCACertificates(trusted));
const origin = `https://localhost:${port}`;
const REDIRECT = 'https://client.example/callback';
/** As the form suggests. */
const OVERLAP_SECONDS = 86_400;
/** Long enough that only a hang exceeds it, even on a busy machine. */
const HANG_MS = 300_000;

async function freePort(): Promise<number> {
  const server = createSocketServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: free } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return free;
}

let browser: Browser | undefined;
after(() => browser?.close());

async function aPage(): Promise<Page> {
  browser ??= await launchChromium(found as { path: string }, api, { hosts: 'MAP * 127.0.0.1' });
  const context = await browser.newContext({ locale: 'en-US' });
  context.setDefaultTimeout(HANG_MS);
  return context.newPage();
}

/** Signs in on the page that asks for it. */
async function signIn(page: Page, email: string): Promise<void> {
  await page.getByLabel('Email address').fill(email);
  await page.getByRole('button', { name: 'Send code' }).click();
  await page.getByLabel('Code from the email').waitFor();
  await page.getByLabel('Code from the email').fill(codesSentTo(api, email).at(-1)!);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** axe-core finds nothing on the page as it is. */
const sound = async (page: Page) => assert.deepEqual(await accessibilityProblems(page), [], page.url());

const click = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).first().click();
const secretNamed = (page: Page, label: string) =>
  page.locator(`dt:text-is("${label}") + dd code`).first().textContent() as Promise<string>;

test('from an empty installation to an application that signs a user in, whose secret is rotated without an outage', {
  skip,
}, async () => {
  const page = await aPage();
  await page.goto(origin);
  await page.waitForURL(/\/setup/);
  await sound(page);
  await page.locator('[name=code]').fill(setupCode(api.app()));
  await page.locator('[name=username]').fill('Operator');
  await page.locator('main [name=email]').fill('operator@example.org');
  await click(page, 'Continue');
  // Both pages ask for an address.
  await page.waitForURL(/\/sign-in/);
  await signIn(page, 'operator@example.org');
  await page.getByRole('heading', { name: 'Step 2: name and look' }).waitFor();
  await sound(page);
  await page.locator('main [name=name]').fill('Sky Harbour');
  await page.locator('main [name=summary]').fill('Mods for airships');
  // Too bright for links on white: pages use a shade of it.
  await page.locator('[name=accent]').fill('#ffcc00');
  await page.locator('link[href="/look.css?accent=ffcc00"]').waitFor({ state: 'attached' });
  await click(page, 'Continue');
  await page.getByRole('heading', { name: 'Step 3: the first game' }).waitFor();
  await sound(page);
  assert.equal(await page.title(), 'Set up your site · Sky Harbour');
  assert.equal((await page.locator('header .brand').textContent())!.trim(), 'Sky Harbour');
  await page.locator('form[action="?/game"] [name=name]').fill('Skyfarers');
  await page.locator('[name=summary]').fill('Airships and islands');
  const picture = { create: { width: 1280, height: 720, channels: 3 as const, background: '#336699' } };
  const buffer = await sharp(picture).png().toBuffer();
  await page.locator('[name=logo]').setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer });
  for (const box of await page.locator('form[action="?/game"] input[type=checkbox]').all()) await box.check();
  await click(page, 'Add the game');
  await page.getByRole('heading', { name: 'Unreal' }).waitFor();
  await sound(page);
  await page.getByRole('link', { name: 'To the game’s dashboard' }).click();

  await page.getByRole('link', { name: 'OAuth applications' }).first().click();
  const form = page.locator('form[action="?/add"]');
  await form.locator('[name=name]').fill('Skyport');
  await form.locator('[name=redirect_uris]').fill(REDIRECT);
  await form.getByRole('button', { name: 'Add', exact: true }).click();
  await page.locator('dt:text-is("Client secret")').waitFor();
  const id = await secretNamed(page, 'Client ID');
  const secret = await secretNamed(page, 'Client secret');

  const config = await openid.discovery(new URL(origin), id, secret, undefined, { algorithm: 'oauth2' });
  const verifier = openid.randomPKCECodeVerifier();
  const state = openid.randomState();
  const asked = openid.buildAuthorizationUrl(config, {
    redirect_uri: REDIRECT,
    scope: 'read write',
    state,
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  const player = await aPage();
  const back = player.waitForRequest((request) => request.url().startsWith(REDIRECT));
  await player.goto(asked.href);
  await signIn(player, 'player@example.org');
  await player.getByRole('button', { name: /Allow/ }).click();
  const checks = { pkceCodeVerifier: verifier, expectedState: state };
  const tokens = await openid.authorizationCodeGrant(config, new URL((await back).url()), checks);
  const whoIs = async (token: string) =>
    (await fetch(`${origin}/v1/me`, { headers: { authorization: `Bearer ${token}` } })).status;
  assert.equal(await whoIs(tokens.access_token), 200);

  await page.locator('summary', { hasText: 'New secret' }).click();
  await page.locator('form[action="?/secret"]').getByRole('button').click();
  await page.getByText(/The secret before this one is valid until/).waitFor();
  await sound(page);
  const next = await secretNamed(page, 'Client secret');
  assert.notEqual(next, secret);
  const renewed = await openid.discovery(new URL(origin), id, next, undefined, { algorithm: 'oauth2' });
  const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token!, { redirect_uri: REDIRECT });
  assert.equal(await whoIs(tokens.access_token), 200, 'tokens of the old secret stay valid');
  const last = await openid.refreshTokenGrant(renewed, refreshed.refresh_token!, { redirect_uri: REDIRECT });
  assert.equal(await whoIs(last.access_token), 200);
  api.clock.advance(OVERLAP_SECONDS);
  await assert.rejects(openid.refreshTokenGrant(config, last.refresh_token!, { redirect_uri: REDIRECT }));
  const lasting = await openid.refreshTokenGrant(renewed, last.refresh_token!, { redirect_uri: REDIRECT });
  assert.equal(await whoIs(lasting.access_token), 200);
});

/** A game with a member of this level, signed in. */
async function aMember(level: number) {
  const email = `${api.unique('member').replaceAll(' ', '.')}@example.org`;
  const user = await api.aUser({ email });
  const game = await api.aGame();
  await api.joins(user, game, level);
  const page = await aPage();
  const open = async (path: string) => {
    await page.goto(`${origin}/g/${encodeURIComponent(game.name_id)}/admin${path}`);
    if (page.url().includes('/sign-in')) await signIn(page, email);
    await scriptsRun(page);
  };
  return { page, open };
}

test('a manager changes settings, is told what is wrong, and follows the game to its new address', {
  skip,
}, async () => {
  const { page, open } = await aMember(4);
  await open('/settings');
  const settings = page.locator('form', { has: page.locator('[name=at][value=about]') });
  await settings.locator('[name=summary]').fill('Airships over the islands');
  await settings.locator('[name=other_urls]').fill('Forum nowhere');
  await settings.getByRole('button').click();
  await settings.getByRole('alert').first().waitFor();
  await settings.locator('[name=other_urls]').fill('Forum https://forum.example.org');
  await settings.getByRole('button').click();
  await page.getByText('Done.').first().waitFor();
  await sound(page);
  await settings.locator('[name=name_id]').fill('moved-away');
  await settings.getByRole('button').click();
  await page.waitForURL(`${origin}/g/moved-away/admin/settings`);
  assert.equal(await settings.locator('[name=summary]').inputValue(), 'Airships over the islands');
});

test('a form that was refused before scripts ran and is refused again says why, and keeps what was typed', {
  skip,
}, async () => {
  const { page, open } = await aMember(4);
  await open('/settings');
  await page.route('**/*.js', (route) => route.abort());
  await page.reload();
  const settings = page.locator('form', { has: page.locator('[name=at][value=about]') });
  await settings.locator('[name=summary]').fill('Airships over the islands');
  await settings.locator('[name=other_urls]').fill('Forum nowhere');
  await page.unroute('**/*.js');
  await settings.getByRole('button').click();
  await page.waitForURL(/settings\?\/save$/);
  await scriptsRun(page);
  await settings.locator('[name=other_urls]').fill('Forum elsewhere');
  await settings.getByRole('button').click();
  await page.waitForURL(/settings$/);
  await settings.getByRole('alert').first().waitFor();
  assert.equal(await settings.locator('[name=other_urls]').inputValue(), 'Forum elsewhere');
  assert.equal(await settings.locator('[name=summary]').inputValue(), 'Airships over the islands');
});
