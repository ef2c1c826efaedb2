// Runs on one database: a browser sees no difference.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { builtSite } from '../src/commands/site-build.ts';
import { getGameReports } from '../src/moderation/reports/operations.ts';
import { startApi } from './api.ts';
import { findChromium, launchChromium } from './chromium.ts';
import { beyondWindow, described, scriptsRun, signInByMail, textsFor, VISITS, visiting } from './site-visits.ts';

const found = findChromium();
const skip = 'reason' in found ? found.reason : false;
const api = await startApi({ site: builtSite() });
const origin = 'https://localhost';
const EVIL = '<img src=x onerror="document.title=`taken`"><script>document.title="taken"</script>';
const game = await api.aGame({ name: 'Skyfarers' });
const mod = await api.aMod({ game, name: `Better Rivers ${EVIL}`, description: `<p>Rivers <b>flow</b>.</p>${EVIL}` });
await api.aFile(mod);
await api.counted();

let browser: Promise<Browser> | undefined;
after(async () => (await browser)?.close());
const launched = () => {
  const hosts = `MAP localhost 127.0.0.1:${api.port}, MAP *.localhost 127.0.0.1:${api.port}`;
  browser ??= launchChromium(found as { path: string }, api, { hosts });
  return browser;
};

const link = (page: Page, name: RegExp | string) => page.getByRole('link', { name }).first();
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).first();

/** Each language in both ways. */
const JOURNEYS = VISITS.flatMap((visit) => [true, false].map((javaScriptEnabled) => ({ ...visit, javaScriptEnabled })));

// While one page is drawn, the service answers another.
describe('in Chromium', { concurrency: 2 }, () => {
  for (const visit of JOURNEYS)
    test(`a player finds a mod, subscribes, downloads, rates, comments and reports, ${described(visit)}`, {
      skip,
    }, async () => {
      const { page, problems } = await visiting(await launched(), visit);
      const t = { ...textsFor(visit, 'browse'), ...textsFor(visit, 'mod') };
      const reporting = textsFor(visit, 'report');
      /** With scripts the page is ready once they run; a click before them would be answered by another page. */
      const ready = async () => (visit.javaScriptEnabled ? scriptsRun(page) : undefined);
      const name = `${visit.locale} ${visit.javaScriptEnabled ? 'scripted' : 'plain'}`;

      await page.goto(`${origin}/g/${game.name_id}`);
      await ready();
      await page.getByRole('searchbox').fill('rivers');
      await page.getByRole('searchbox').press('Enter');
      await page.waitForURL(/[?&]q=rivers/);
      await link(page, /Better Rivers/).click();
      await page.getByRole('heading', { level: 1, name: /Better Rivers/ }).waitFor();
      await link(page, t['signInToTakePart']!).click();
      await signInByMail(api, page, `${name.replace(' ', '.').toLowerCase()}@example.org`);

      await button(page, t['unsubscribe']!).or(button(page, t['subscribe']!)).waitFor();
      await ready();
      await button(page, t['subscribe']!).click();
      await button(page, t['unsubscribe']!).waitFor();
      const downloading = page.waitForEvent('download');
      await link(page, new RegExp(`^${t['download']!.split('{')[0]}`)).click();
      assert.equal((await downloading).suggestedFilename(), 'example.zip');
      if (visit.javaScriptEnabled) await page.getByText(t['downloaded']!).waitFor();
      await button(page, t['rateUp']!).click();
      await page.locator('button[aria-pressed=true]', { hasText: t['rateUp']! }).waitFor();
      await page.getByLabel(t['comment']!, { exact: true }).fill(`It *flows* in ${name} ${EVIL}`);
      await button(page, t['send']!).click();
      await page.getByRole('article').filter({ hasText: name }).waitFor();
      assert.equal(await beyondWindow(page), 0);

      await page.locator('aside').getByRole('link', { name: t['report']! }).click();
      await page.getByLabel(reporting['summary']!).fill(`Stolen, says ${name}`);
      await button(page, reporting['send']!).click();
      await page.getByText(reporting['sent']!).waitFor();
      await page.goto(`${origin}/library`);
      await link(page, /Better Rivers/).waitFor();
      assert.doesNotMatch(await page.title(), /^taken/);
      assert.deepEqual(problems, []);
      const reports = (await (await api.as(game.owner)).call(getGameReports, { params: { game_id: game.id } })).body
        .data;
      assert.ok(reports.some(({ summary }) => summary.includes(name)));
      await page.context().close();
    });
});
