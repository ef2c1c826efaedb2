// Runs on one database: a browser sees no difference.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { builtSite } from '../src/commands/site-build.ts';
import { composeWorker } from '../src/composition/compose.ts';
import { followUserOperation } from '../src/people/follows/operations.ts';
import { startApi } from './api.ts';
import { findChromium, launchChromium } from './chromium.ts';
import { beyondWindow, described, scriptsRun, signInByMail, VISITS, visiting } from './site-visits.ts';
import { aDevice } from './sockets.ts';

const found = findChromium();
const skip = 'reason' in found ? found.reason : false;
const api = await startApi({ site: builtSite(), settings: { MODSTEAD_JOBS: 'off' } });
const worker = composeWorker(api.app());
const origin = 'https://localhost';
const game = await api.aGame({ name: 'Skyhaven' });

let browser: Promise<Browser> | undefined;
after(async () => (await browser)?.close());
const launched = () => {
  browser ??= launchChromium(found as { path: string }, api, { hosts: `MAP localhost 127.0.0.1:${api.port}` });
  return browser;
};

const submit = (page: Page, action: string) => page.locator(`form[action="?/${action}"] button`).first().click();

const fits = async (page: Page) => assert.equal(await beyondWindow(page), 0, page.url());

// While one page is drawn, the service answers another.
describe('in Chromium', { concurrency: 2 }, () => {
  for (const visit of VISITS)
    test(`a visitor signs in, uses their account, exports and deletes it, ${described(visit)}`, {
      skip,
    }, async () => {
      const { page, problems } = await visiting(await launched(), visit);
      const email = `journey.${visit.locale.toLowerCase()}@example.org`;
      await page.goto(`${origin}/account`);
      await fits(page);
      await signInByMail(api, page, email);
      await page.waitForURL(`${origin}/account`);
      if (visit.javaScriptEnabled) await scriptsRun(page);
      await page.locator('#field-username').fill(`Wren ${visit.locale}`);
      await submit(page, 'profile');
      await page.locator('main .inside [role=status]').waitFor();
      const png = await sharp({ create: { width: 64, height: 64, channels: 3, background: '#2a7' } })
        .png()
        .toBuffer();
      await page.locator('#field-avatar').setInputFiles({ name: 'me.png', mimeType: 'image/png', buffer: png });
      await submit(page, 'avatar');
      await page.locator('button[formaction="?/removeAvatar"]').waitFor();

      await page.goto(`${origin}/account/tokens`);
      await page.locator('#field-name').fill('CI');
      await submit(page, 'add');
      await page.locator('code').waitFor();
      await submit(page, 'revoke');
      await page.locator('form[action="?/revoke"]').waitFor({ state: 'detached' });
      await fits(page);

      await page.goto(`${origin}/agree`);
      await fits(page);
      await page.locator('main form button').first().click();
      await page.waitForURL(`${origin}/`);
      await page.locator('a[href^="/agree"]').waitFor({ state: 'detached' });

      await page.goto(`${origin}/account/data`);
      await submit(page, 'export');
      await page.locator('form[action="?/export"]').waitFor({ state: 'detached' });
      await worker.runDue();
      const exported = page.locator('a[href*="/exports/"]');
      // With scripts the page asks by itself. The worker of another visit may still be making this archive.
      if (!visit.javaScriptEnabled)
        do await page.goto(`${origin}/account/data`);
        while (!(await exported.isVisible()));
      await exported.waitFor();
      await submit(page, 'close');
      await page.locator('#field-confirmation').fill('someone.else@example.org');
      await submit(page, 'delete');
      await page.locator('#field-confirmation-error').waitFor();
      await fits(page);
      await page.locator('#field-confirmation').fill(email);
      await submit(page, 'delete');
      await page.waitForURL(`${origin}/goodbye`);
      await page.goto(`${origin}/account`);
      await page.waitForURL(/\/sign-in\?return=/);
      assert.deepEqual(problems, []);
      await page.context().close();
    });

  test('no page of a visitor is wider than a small screen', { skip }, async () => {
    const { page, problems } = await visiting(await launched(), VISITS[1]!);
    await page.goto(`${origin}/library`);
    await signInByMail(api, page, 'small.screen@example.org');
    await page.waitForURL(`${origin}/library`);
    const sections = ['security', 'connections', 'notifications', 'people', 'purchases'].map(
      (name) => `/account/${name}`,
    );
    for (const path of [...sections, '/library', '/notifications', '/messages', '/messages/new']) {
      await page.goto(origin + path);
      await fits(page);
    }
    assert.deepEqual(problems, []);
    await page.context().close();
  });

  test('the bell and the list follow the notifications of a visitor in all their tabs', { skip }, async () => {
    const { page, problems } = await visiting(await launched(), VISITS[0]!);
    const email = 'bell@example.org';
    await page.goto(`${origin}/notifications`);
    await signInByMail(api, page, email);
    await page.waitForURL(`${origin}/notifications`);
    const other = await page.context().newPage();
    await other.goto(`${origin}/library`);
    for (const tab of [page, other]) await tab.locator('#svelte-announcer').waitFor({ state: 'attached' });
    const { query } = api.app().db;
    const { id } = await query.selectFrom('users').select('id').where('email', '=', email).executeTakeFirstOrThrow();
    const follower = await api.aUser();
    const following = { params: { user_id: follower.id }, body: { user_id: id } };
    await (await api.as(follower)).call(followUserOperation, following);
    for (const tab of [page, other])
      await tab.locator('a.count[href="/notifications"] span', { hasText: '1' }).waitFor();
    await page.locator('li.unread', { hasText: follower.username }).waitFor();
    await submit(page, 'readAll');
    for (const tab of [page, other])
      await tab.locator('a.count[href="/notifications"] span').waitFor({ state: 'detached' });
    // The other tab takes over the stream of the one that had it.
    await page.close();
    const again = await api.aUser();
    await (await api.as(again)).call(followUserOperation, { ...following, params: { user_id: again.id } });
    await other.locator('a.count[href="/notifications"] span', { hasText: '1' }).waitFor();
    assert.deepEqual(problems, []);
    await other.context().close();
  });

  for (const visit of VISITS)
    test(`a device is let in by its code from the site, and its sign-in ends there, ${described(visit)}`, {
      skip,
    }, async () => {
      const { page, problems } = await visiting(await launched(), visit);
      const device = await aDevice(api.service, { host: `g-${game.id}.ws.localhost` });
      device.send({ operation: 'device_login', context: { game_id: game.id } });
      const code = String((await device.nextMessage()).context['code']);
      await page.goto(`${origin}/connect?code=${code}`);
      await page.locator('main button').click();
      await signInByMail(api, page, `couch.${visit.locale.toLowerCase()}@example.org`);
      await page.locator('#code').waitFor();
      await page.locator('main button').click();
      await fits(page);
      await page.locator('button[value=allow]').click();
      assert.equal((await device.nextMessage()).operation, 'access_token');
      await device.close();
      await page.goto(`${origin}/account/security`);
      await page.getByText('Skyhaven').waitFor();
      await submit(page, 'endDevice');
      await page.locator('form[action="?/endDevice"]').waitFor({ state: 'detached' });
      assert.deepEqual(problems, []);
      await page.context().close();
    });
});
