import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtSite } from '../src/commands/site-build.ts';
import { composeWorker } from '../src/composition/compose.ts';
import { purchase } from '../src/money/purchases/operations.ts';
import { joinStaff } from '../src/people/staff/staff.ts';
import { STAFF_LEVELS } from '../src/platform/access/staff.ts';
import { flushTraffic, recordTraffic } from '../src/records/traffic/traffic.ts';
import { startApi } from './api.ts';
import { Browser } from './browser.ts';
import { aBuyer, aPack, aPaidMod, aSellingGame, buyPack, choose } from './money.ts';
import { startPlatforms } from './platforms.ts';

const platforms = await startPlatforms();
const api = await startApi({
  site: builtSite(),
  settings: { ...platforms.settings, MODSTEAD_PAYMENTS: 'simulated', MODSTEAD_JOBS: 'off' },
});
const app = api.app();
const worker = composeWorker(app);
const csrfOf = (text: string) => /name="csrf" value="([^"]+)"/.exec(text)![1]!;

async function aVisitor(
  more: { level?: number; staff?: number; language?: string } = {},
): Promise<{ id: number; browser: Browser }> {
  const email = `${api.unique('visitor').replaceAll(' ', '.')}@example.org`;
  const user = await api.aUser({ email, ...(more.language && { language: more.language }) });
  if (more.level) await api.joins(user, game, more.level);
  if (more.staff)
    await app.db.write((transaction) =>
      joinStaff(transaction, { userId: user.id, level: more.staff!, addedBy: 0, now: 0 }),
    );
  const browser = new Browser(api);
  await browser.signIn('/account', email);
  return { id: user.id, browser };
}

const game = await aSellingGame(api);
const base = `/g/${encodeURIComponent(game.name_id)}/admin`;
const { browser: studio } = await aVisitor({ level: 8 });
const { browser: manager } = await aVisitor({ level: 4 });
const { browser: chief } = await aVisitor({ staff: STAFF_LEVELS.administrator });
const { browser: helper } = await aVisitor({ staff: STAFF_LEVELS.moderator });

/** Sends a form of a page, as its own page would. */
async function sends(browser: Browser, path: string, action: string, fields: Record<string, string | number>) {
  const csrf = csrfOf((await browser.get(path)).text);
  return browser.post(`${path}?/${action}`, { csrf, ...fields });
}

test('a studio sees its transactions and disputes, and refunds a purchase from the list', async () => {
  const { buyer, user } = await aBuyer(api, game);
  const sold = await aPaidMod(api, game, { price: 40 });
  await buyer.call(purchase, { params: sold.params, body: { idempotent_key: 'once' } });
  const disputed = await buyPack(api, buyer, game, await aPack(api, game, { price: 777 }));
  await choose(api, disputed.checkout_url, 'dispute');
  const rows = (html: string) =>
    [...html.matchAll(/<td class="option[^"]*">(?:<!--[^>]*-->)*([^<]+)/g)].map(([, kind]) => kind);
  const all = await studio.get(`${base}/money/transactions`);
  assert.deepEqual(rows(all.text), ['Payment disputed', 'Token pack sold', 'Mod bought', 'Token pack sold']);
  const disputes = await studio.get(`${base}/money/transactions?kind=disputes`);
  assert.deepEqual(rows(disputes.text), ['Payment disputed']);
  assert.match(disputes.text, /\$7\.77/);
  assert.equal((await manager.get(`${base}/money/transactions`)).status, 403);
  assert.equal((await manager.get(`${base}/money/refunds`)).status, 403);
  const list = await studio.get(`${base}/money/refunds?user_id=${user.id}`);
  const [, purchase_id] = /name="purchase_id" value="(\d+)"/.exec(list.text)!;
  const fields = { at: `refund-${purchase_id}`, purchase_id: purchase_id!, reason: 'Broken' };
  const done = await sends(studio, `${base}/money/refunds`, 'refund', fields);
  assert.equal(done.status, 200, done.text.slice(0, 300));
  assert.ok(!(await studio.get(`${base}/money/refunds?user_id=${user.id}`)).text.includes('name="purchase_id"'));
});

test('the staff check the books, and see refused and slow requests', async () => {
  const started = await sends(chief, '/admin/books', 'check', { at: 'check' });
  assert.equal(started.status, 200, started.text.slice(0, 300));
  assert.match((await chief.get('/admin/books')).text, />Waiting</);
  await worker.runDue();
  assert.match((await chief.get('/admin/books')).text, />Right</);
  recordTraffic.onLimited(app, 'aw/203.0.113.7');
  recordTraffic.onSlow(app, {
    operation: 'get-mods',
    method: 'GET',
    path: '/v1/games/9/mods',
    status: 200,
    milliseconds: 4321,
  });
  await flushTraffic(app);
  assert.match((await chief.get('/admin/limits')).text, /203\.0\.113\.7/);
  const slow = (await chief.get('/admin/slow')).text;
  assert.match(slow, /4,321/);
  assert.match(slow, /\/v1\/games\/9\/mods/);
  for (const path of ['/admin/books', '/admin/limits', '/admin/slow']) {
    assert.equal((await helper.get(path)).status, 403, path);
    assert.equal((await studio.get(path)).status, 403, path);
  }
  const forged = { csrf: csrfOf((await helper.get('/account')).text) };
  assert.equal((await helper.post('/admin/books?/check', forged)).status, 403);
});

test('a token of a game server is shown once, and ends when it is revoked', async () => {
  const path = `${base}/servers`;
  const added = await sends(studio, path, 'add', {
    at: 'add',
    name: 'Event server',
    mod_ids: '',
    requests_per_minute: 50,
  });
  assert.equal(added.status, 200, added.text.slice(0, 300));
  const [, token] = /Token<\/dt>\s*<dd[^>]*><code[^>]*>([^<]+)</.exec(added.text)!;
  const reads = () =>
    api.request('GET', `/v1/games/${game.id}/mods`, { headers: { authorization: `Bearer ${token}` } });
  assert.equal((await reads()).status, 200);
  const later = (await studio.get(path)).text;
  assert.ok(!later.includes(token!) && later.includes('Event server'));
  const [, server_token_id] = /name="server_token_id" value="(\d+)"/.exec(later)!;
  await sends(studio, path, 'revoke', { server_token_id: server_token_id! });
  assert.equal((await reads()).status, 401);
  await sends(studio, path, 'anonymous', { anonymous_access: 'true' });
  assert.match((await studio.get(path)).text, /name="anonymous_access"[^>]* checked/);
  const wrong = await sends(studio, path, 'add', { at: 'add', name: 'Wrong', mod_ids: 'x' });
  assert.equal(wrong.status, 422);
  assert.equal((await manager.get(path)).status, 403);
});

test('a portal is tested step by step', async () => {
  platforms.on('/api/v10/oauth2/token', () => ({ status: 401, json: { error: 'invalid_client' } }));
  platforms.on('/oauth2/authorize', () => ({ json: {} }));
  const path = `${base}/portals`;
  await sends(studio, path, 'save', {
    at: 'discord',
    portal: 'discord',
    client_id: '1',
    client_secret: 'old',
    web: 'true',
  });
  const { status, text } = await sends(studio, path, 'test', { at: 'test-discord', portal: 'discord' });
  assert.equal(status, 200, text.slice(0, 300));
  const badges = [...text.matchAll(/(Works|Does not work)(?:<!--[^>]*-->)*<\/[^>]*>(?:<!--[^>]*-->|\s)*([^<]+)/g)].map(
    ([, ok, step]) => [ok, step!.trim()],
  );
  assert.deepEqual(badges, [
    ['Works', 'Sign-in on the web is set up'],
    ['Works', 'The portal shows its page'],
    ['Does not work', 'The portal knows the client and its secret'],
  ]);
});

const inEnglish = (text: string) => new RegExp(`<span [^>]*lang="en" dir="ltr" translate="no">${text}</span>`);

test('a page says in its language what the service found, and marks the words of others as English', async () => {
  const { browser } = await aVisitor({ level: 8, staff: STAFF_LEVELS.administrator, language: 'de' });
  const path = `${base}/portals`;
  const tested = (await sends(browser, path, 'test', { at: 'test-discord', portal: 'discord' })).text;
  assert.match(tested, />Das Portal antwortet mit einem Fehler\.</);
  assert.match(tested, inEnglish('invalid_client'));
  await app.db.write(async (transaction) => {
    await app.jobs.enqueue(transaction, 'test.parked', {});
    const failed = { state: 'parked', last_error: 'the bucket is gone' } as const;
    await transaction.query.updateTable('jobs').set(failed).where('kind', '=', 'test.parked').execute();
    await transaction.query
      .updateTable('ledger_accounts')
      .set({ balance: 7 })
      .where('kind', '=', 'token_sales')
      .execute();
  });
  assert.match((await browser.get('/admin/jobs')).text, inEnglish('the bucket is gone'));
  await sends(browser, '/admin/books', 'check', { at: 'check' });
  await worker.runDue();
  const books = (await browser.get('/admin/books')).text;
  assert.match(books, /<p[^>]*>Konto \d+ hat einen Saldo von 7 und \d+ Einträge; erwartet waren/);
  assert.match((await browser.get('/admin/installation')).text, /, \d+ Migrationen</);
});

test('the staff merge two accounts of one person', async () => {
  const [lost, kept] = [await aVisitor(), await aVisitor()];
  const path = `/admin/users/${lost.id}`;
  const asked = { user_id: lost.id, into: kept.id, reason: 'The mailbox is lost' };
  const forged = { csrf: csrfOf((await helper.get('/account')).text), ...asked };
  assert.equal((await helper.post(`${path}?/merge`, forged)).status, 403);
  assert.match((await chief.get(path)).text, /Merge into another account/);
  const done = await sends(chief, path, 'merge', { at: 'merge', ...asked });
  assert.deepEqual([done.status, done.headers.location], [303, `/admin/users/${kept.id}`], done.text.slice(0, 300));
  assert.equal((await lost.browser.get('/library')).status, 303);
  assert.equal((await kept.browser.get('/library')).status, 200);
});
