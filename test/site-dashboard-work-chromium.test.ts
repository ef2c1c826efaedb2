// Runs on one database: a browser sees no difference.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { editGameOperation } from '../src/catalogue/games/operations.ts';
import { addModOperation, editModByPut, getMod } from '../src/catalogue/mods/operations.ts';
import { builtSite } from '../src/commands/site-build.ts';
import { composeWorker } from '../src/composition/compose.ts';
import { jobHandlers } from '../src/composition/resources.ts';
import { editModfileOperation } from '../src/files/modfiles/operations.ts';
import { getAuthenticatedUser } from '../src/people/users/operations.ts';
import { accessibilityProblems } from '../tools/site-pages.ts';
import { type Game, startApi, type User } from './api.ts';
import { Browser as Visitor } from './browser.ts';
import { findChromium, launchChromium } from './chromium.ts';
import { scriptsRun } from './site-visits.ts';
import { zipOf } from './zips.ts';

const found = findChromium();
const skip = 'reason' in found ? found.reason : false;
const api = await startApi({
  site: builtSite(),
  settings: { MODSTEAD_JOBS: 'off', MODSTEAD_EGRESS_ALLOW: '127.0.0.1/32' },
});
/** Other schedules are off, because a day of simulated time would run them many times. */
const handlers = jobHandlers.map((each) => (each.kind.startsWith('webhooks.') ? each : { ...each, every: 0 }));
const worker = composeWorker(api.app(), handlers);
const origin = 'https://localhost';
/** Long enough that only a hang exceeds it, even on a busy machine. */
const HANG_MS = 300_000;
const [MODERATOR, MANAGER, ADMINISTRATOR] = [1, 4, 8];

let browser: Browser | undefined;
after(() => browser?.close());

const emailOf = () => `${api.unique('user').replaceAll(' ', '.')}@example.org`;

async function aPage(email: string): Promise<Page> {
  browser ??= await launchChromium(found as { path: string }, api, { hosts: `MAP localhost 127.0.0.1:${api.port}` });
  const context = await browser.newContext({ locale: 'en-US' });
  context.setDefaultTimeout(HANG_MS);
  const visitor = new Visitor(api);
  await visitor.signIn('/account', email);
  await context.addCookies([...visitor.cookies].map(([name, value]) => ({ name, value, url: origin, secure: true })));
  return context.newPage();
}

/** Its scripts run, and axe-core finds nothing. */
async function sound(page: Page): Promise<void> {
  await scriptsRun(page);
  assert.deepEqual(await accessibilityProblems(page), [], page.url());
}

/** A page of the game's dashboard, for a new member of its team. */
async function aMember(game: Game, level: number) {
  const email = emailOf();
  await api.joins(await api.aUser({ email }), game, level);
  const page = await aPage(email);
  const open = async (path: string) => {
    await page.goto(`${origin}/g/${encodeURIComponent(game.name_id)}/admin${path}`);
    await sound(page);
  };
  return { page, open };
}

/** The row of a table with this text. */
const rowWith = (page: Page, text: string) => page.locator('tbody tr', { hasText: text });

async function submitting(game: Game, user: User) {
  const client = await api.as(user);
  const picture = { create: { width: 512, height: 288, channels: 3 as const, background: '#345' } };
  const logo = { filename: 'logo.png', bytes: await sharp(picture).png().toBuffer() };
  return (name: string) =>
    client.call(addModOperation, {
      params: { game_id: game.id },
      body: { name, summary: 'Flies' },
      files: { logo },
    });
}

test('a manager writes a rule, tries it on earlier submissions, enables it, sees it deny, and replays that', {
  skip,
}, async () => {
  const game = await api.aGame();
  const submit = await submitting(game, await api.aUser());
  for (const name of ['The first casino', 'An airship']) assert.equal((await submit(name)).status, 201);
  const { page, open } = await aMember(game, MANAGER);
  await open('/rules');
  const form = page.locator('form[action="?/add"]');
  await form.locator('[name=name]').fill('No casinos');
  await form.locator('[name=verdict][value=deny]').check();
  await form.locator('[name=message]').fill('No gambling here.');
  await form.getByLabel('Condition 1: fact').fill('payload.name');
  await form.getByLabel('Condition 1: comparison').selectOption('ends with');
  await form.getByLabel('Condition 1: value').fill('casino');
  await form.getByRole('button', { name: 'Dry run' }).click();
  await page.getByText('It matches 1 of the last 2 submissions. Nothing was changed.').waitFor();
  await page.getByRole('region', { name: 'Dry run' }).getByText('The first casino').waitFor();
  await page.getByText('Add the first rule below.').waitFor();
  await sound(page);

  await form.getByRole('button', { name: 'Add', exact: true }).click();
  await rowWith(page, 'No casinos').getByText('Disabled').waitFor();
  assert.equal(await form.locator('[name=name]').inputValue(), '', 'the form is ready for another rule');
  assert.equal(await form.getByLabel('Condition 1: value').inputValue(), '');
  assert.equal((await submit('The second casino')).status, 201, 'a disabled rule decides nothing');
  await rowWith(page, 'No casinos').getByRole('button', { name: 'Enable' }).click();
  await rowWith(page, 'No casinos').getByRole('button', { name: 'Disable' }).waitFor();
  await sound(page);

  const denied = await submit('The third casino');
  assert.equal(denied.status, 403, denied.text);
  assert.match(denied.text, /No gambling here\./);
  assert.equal((await submit('Casino airship')).status, 201, 'it does not end like that');
  await page.getByRole('link', { name: 'Decisions' }).click();
  await page.getByRole('link', { name: 'Deny: the submission is refused' }).click();
  await page.waitForURL(/verdict=deny/);
  const decision = rowWith(page, 'The third casino');
  await decision.waitFor();
  assert.equal(await page.locator('tbody tr').count(), 1);
  await sound(page);
  await decision.getByRole('link', { name: 'Replay' }).click();
  await page.getByText('evaluated again: Deny: the submission is refused. The result is the same.').waitFor();
  assert.equal(await page.locator('tbody tr').count(), 1, 'the list is filtered as before');
  await sound(page);
});

/** The server of a studio, which answers with `status`. */
async function aReceiver() {
  const receiver = { got: [] as string[], status: 500, url: '' };
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += chunk));
    request.on('end', () => {
      receiver.got.push(JSON.parse(text).event_type);
      response.writeHead(receiver.status).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => {
    server.close();
    server.closeAllConnections();
  });
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  return receiver;
}

const DAY = 86_400;

test('an administrator adds a webhook, finds the delivery that failed for a day, and replays it', {
  skip,
}, async () => {
  const game = await api.aGame();
  const receiver = await aReceiver();
  const { page, open } = await aMember(game, ADMINISTRATOR);
  await open('/webhooks');
  const form = page.locator('form[action="?/add"]');
  await form.locator('[name=name]').fill('Studio');
  await form.locator('[name=url]').fill(receiver.url);
  await form.locator('[name=events][value=MOD_EDITED]').check();
  await form.getByRole('button', { name: 'Add', exact: true }).click();
  await page.locator('dt:text-is("Signing secret") + dd code').waitFor();
  await sound(page);

  const mod = await api.aMod({ game });
  const params = { game_id: game.id, mod_id: mod.id };
  await (await api.as(mod.owner)).call(editModByPut, { params, body: { summary: 'Better' } });
  await worker.runDue();
  for (let hour = 0; hour <= DAY / 3_600; hour += 1) {
    api.clock.advance(3_600);
    await worker.runDue();
  }
  assert.ok(receiver.got.length > 5);
  await page.getByRole('link', { name: 'Deliveries' }).click();
  const delivery = rowWith(page, 'Mod edited');
  await delivery.getByText('Parked').waitFor();
  await delivery.getByText('500').waitFor();
  await sound(page);

  receiver.status = 200;
  receiver.got.length = 0;
  await delivery.getByRole('button', { name: 'Replay' }).click();
  await delivery.getByText('Waiting').waitFor();
  await worker.runDue();
  assert.deepEqual(receiver.got, ['MOD_EDITED']);
  await page.reload();
  await delivery.getByText('Delivered').waitFor();
  await sound(page);
});

test('a moderator looks into a file for a platform, approves it there, and its author makes it live', {
  skip,
}, async () => {
  const game = await api.aGame();
  const platforms = ['windows', 'ps5'].flatMap((platform, index) => [
    [`platforms[${index}][platform]`, platform],
    [`platforms[${index}][moderated]`, Number(platform === 'ps5')],
    [`platforms[${index}][locked]`, 0],
  ]);
  const inGame = { game_id: game.id };
  await (await api.as(game.owner)).call(editGameOperation, { params: inGame, body: Object.fromEntries(platforms) });
  const mod = await api.aMod({ game });
  const archive = zipOf({ 'airship/engine.lua': 'return 1' });
  const file = await api.aFile(mod, { filename: 'airship.zip', archive });
  const author = await api.as(mod.owner);
  const params = { ...inGame, mod_id: mod.id };
  const liveOnConsole = async () => {
    const { body } = await author.call(getMod, { params, headers: { 'X-Modio-Platform': 'ps5' } });
    return (body.modfile as { id?: number }).id;
  };
  assert.equal(await liveOnConsole(), undefined);

  const { page, open } = await aMember(game, MODERATOR);
  await open('/moderation/files');
  await rowWith(page, 'airship.zip').getByText('PlayStation 5').waitFor();
  await page.getByRole('link', { name: 'airship.zip' }).click();
  await page.getByText('airship/engine.lua').waitFor();
  await sound(page);
  await page.goBack();
  await page.getByLabel('Choose airship.zip').check();
  await page.getByRole('button', { name: 'Approve the chosen' }).click();
  await page.getByText('1 decision was made.').waitFor();
  await page.getByText('Nothing waits. Well done.').waitFor();
  await sound(page);

  for (const active of [false, true])
    await author.call(editModfileOperation, { params: { ...params, file_id: file.id }, body: { active } });
  assert.equal(await liveOnConsole(), file.id);
});

test('staff find a stolen account, see the session of the thief, and lock it, which ends that session', {
  skip,
}, async () => {
  const [email, staffEmail] = [emailOf(), emailOf()];
  const victim = await api.aUser({ email, username: 'Robbed Rosa' });
  await api.aUser({ email: staffEmail, admin: true });
  const token = await api.as(victim);
  const thief = new Visitor(api, 'production', { 'user-agent': 'Burglar/1.0' });
  assert.equal((await thief.signIn('/account', email)).status, 200);

  const page = await aPage(staffEmail);
  await page.goto(`${origin}/admin/users`);
  await sound(page);
  await page.getByLabel('Name, email address or ID').fill('robbed');
  await page.keyboard.press('Enter');
  await page.waitForURL(/user=robbed/);
  assert.equal(await page.locator('tbody tr').count(), 1);
  await sound(page);
  await page.getByRole('link', { name: 'Robbed Rosa' }).click();
  await page.getByRole('heading', { level: 1, name: 'Robbed Rosa' }).waitFor();
  await rowWith(page, 'Burglar/1.0').waitFor();
  await sound(page);
  assert.equal((await thief.get('/account')).status, 200);
  await page.locator('summary', { hasText: 'Lock the account' }).click();
  await page.getByText('Signs Robbed Rosa out everywhere').waitFor();
  await sound(page);
  await page.getByRole('button', { name: 'Lock the account' }).click();
  await page.getByText(/^Locked since/).waitFor();
  assert.equal(await rowWith(page, 'Burglar/1.0').count(), 0);
  await rowWith(page, 'users.lock').waitFor();
  await sound(page);

  const refused = await thief.get('/account');
  assert.deepEqual([refused.status, /^\/sign-in/.test(refused.headers.location ?? '')], [303, true]);
  assert.equal((await token.call(getAuthenticatedUser)).status, 401);
});
