// Runs on one database: a browser sees no difference.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { builtSite } from '../src/commands/site-build.ts';
import { getModerationQueue } from '../src/moderation/moderation/operations.ts';
import { accessibilityProblems } from '../tools/site-pages.ts';
import { startApi } from './api.ts';
import { Browser as Visitor } from './browser.ts';
import { findChromium, launchChromium } from './chromium.ts';
import { scriptsRun } from './site-visits.ts';

const found = findChromium();
const skip = 'reason' in found ? found.reason : false;
const api = await startApi({ site: builtSite() });
const origin = 'https://localhost';
/** Long enough that only a hang exceeds it, even on a busy machine. */
const HANG_MS = 300_000;

let browser: Browser | undefined;
after(() => browser?.close());

async function aPage(email: string) {
  browser ??= await launchChromium(found as { path: string }, api, { hosts: `MAP localhost 127.0.0.1:${api.port}` });
  const context = await browser.newContext({ locale: 'en-US' });
  context.setDefaultTimeout(HANG_MS);
  const visitor = new Visitor(api);
  await visitor.signIn('/account', email);
  await context.addCookies([...visitor.cookies].map(([name, value]) => ({ name, value, url: origin, secure: true })));
  return context.newPage();
}

test('in Chromium a moderator decides on 50 items with the keyboard alone, undoes one, and claims the next', {
  skip,
}, async () => {
  const moderator = await api.aUser({ email: 'moderator@example.org' });
  const game = await api.aGame({ settings: { curation_option: 2 } });
  await api.joins(moderator, game, 1);
  const owner = await api.aUser();
  for (let count = 0; count < 52; count += 1)
    await api.aFile(await api.aMod({ game, owner, accepted: false, name: `Mod ${count}` }));
  const client = await api.as(moderator);
  const params = { game_id: game.id };
  const waiting = async () => (await client.call(getModerationQueue, { params })).body.result_total;
  const page = await aPage('moderator@example.org');
  await page.goto(`${origin}/g/${encodeURIComponent(game.name_id)}/admin/moderation`);
  await page.getByText('52 wait').waitFor();
  await scriptsRun(page);
  assert.deepEqual(await accessibilityProblems(page), []);
  await page.keyboard.press('j');
  await page.keyboard.press('k');
  for (let decided = 1; decided <= 50; decided += 1) {
    // Every tenth is denied with a ready-made reason, which the keyboard chooses.
    if (decided % 10 === 0) {
      await page.keyboard.press('d');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
    } else await page.keyboard.press('a');
    await page.getByText(new RegExp(`^${52 - decided} waits?\\b`)).waitFor();
  }
  assert.equal(await waiting(), 2);
  await page.keyboard.press('u');
  await page.getByText('1 decision was undone.').waitFor();
  assert.equal(await waiting(), 3);
  await page.keyboard.press('t');
  await page.waitForURL(/\?mine/);
  await page.getByText('Claimed by you').nth(2).waitFor();
  assert.deepEqual(await accessibilityProblems(page), []);

  await page.goto(`${origin}/g/${encodeURIComponent(game.name_id)}/admin/moderation`);
  await page.getByText('3 wait').waitFor();
  await api.aFile(await api.aMod({ game, owner, accepted: false, name: 'Latest' }));
  await page.getByText('4 wait').waitFor();
});
