import assert from 'node:assert/strict';
import { test } from 'node:test';
import { editGameOperation } from '../src/catalogue/games/operations.ts';
import { builtSite } from '../src/commands/site-build.ts';
import { addModRating } from '../src/community/ratings/operations.ts';
import { subscribeToMod } from '../src/community/subscriptions/operations.ts';
import { flushDownloads, queueDownload } from '../src/files/downloads/counting.ts';
import { setupCode } from '../src/people/staff/first-owner.ts';
import { joinStaff } from '../src/people/staff/staff.ts';
import { STAFF_LEVELS } from '../src/platform/access/staff.ts';
import { sessionHash } from '../src/records/metrics/signing.ts';
import { addMetricsSecret, startSession } from '../src/studio/metrics/operations.ts';
import { startApi } from './api.ts';
import { Browser } from './browser.ts';

const api = await startApi({ site: builtSite() });
const csrfOf = (text: string) => /name="csrf" value="([^"]+)"/.exec(text)![1]!;

/** Before anybody is staff: the first test of this file needs an installation without. */
test('an empty installation gets its owner by the code of its start, once', async () => {
  const browser = new Browser(api);
  const page = await browser.get('/setup');
  assert.equal(page.status, 200);
  const fields = { username: 'Operator', email: 'operator@example.org' };
  const csrf = csrfOf(page.text);
  const send = (more: object) => browser.post('/setup?/owner', { csrf, ...fields, ...more });
  const wrong = await send({ code: 'x' });
  assert.equal(wrong.status, 422);
  const done = await send({ code: setupCode(api.app()) });
  assert.equal(done.status, 303, done.text);
  assert.match(done.headers.location ?? '', /^\/sign-in/);
  const again = await send({ email: 'thief@example.org', code: setupCode(api.app()) });
  assert.equal(again.status, 403);
  const owner = new Browser(api);
  const staff = await owner.signIn('/admin', 'operator@example.org');
  assert.equal(staff.status, 200, staff.text);
});

const game = await api.aGame();
const base = `/g/${encodeURIComponent(game.name_id)}/admin`;

/** A browser of a new user with this level in the game's team, or in the site's staff. */
async function aMember(level: number, staff = 0): Promise<Browser> {
  const email = `${api.unique('member').replaceAll(' ', '.')}@example.org`;
  const user = await api.aUser({ email });
  if (level > 0) await api.joins(user, game, level);
  if (staff > 0)
    await api
      .app()
      .db.write((transaction) => joinStaff(transaction, { userId: user.id, level: staff, addedBy: 0, now: 0 }));
  const browser = new Browser(api);
  await browser.signIn('/account', email);
  return browser;
}

const [stranger, moderator, manager, administrator] = [
  await aMember(0),
  await aMember(1),
  await aMember(4),
  await aMember(8),
];

const PAGES = {
  1: [
    '',
    '/moderation',
    '/moderation/files',
    '/moderation/reports',
    '/moderation/deleted',
    '/moderation/stats',
    '/rules',
    '/rules/decisions',
    '/words',
    '/file-types',
    '/restrictions',
    '/findings',
    '/team',
    '/plan',
    '/cooking',
    '/audit',
    '/money/queue',
    '/money/partners',
    '/money/terms',
  ],
  4: ['/settings', '/look', '/platforms', '/tags', '/previews'],
  8: [
    '/keys',
    '/oauth',
    '/portals',
    '/servers',
    '/webhooks',
    '/money/packs',
    '/money/stores',
    '/money/transactions',
    '/money/refunds',
    '/money/payouts',
    '/money/reconciliation',
  ],
} as const;

test('each page of a game’s dashboard shows for its level, and is offered to no lower one', async () => {
  const menu = (await moderator.get(base)).text;
  for (const path of PAGES[1]) assert.equal((await moderator.get(base + path)).status, 200, path);
  for (const path of PAGES[4]) {
    assert.equal((await manager.get(base + path)).status, 200, path);
    assert.ok(!menu.includes(`href="${base}${path}"`), path);
  }
  for (const path of PAGES[8]) {
    const { status, text } = await administrator.get(base + path);
    assert.equal(status, 200, `${path} ${text.slice(0, 500)}`);
    assert.ok(!menu.includes(`href="${base}${path}"`), path);
  }
  for (const path of ['', '/settings', '/oauth', '/moderation'])
    assert.equal((await stranger.get(base + path)).status, 403, path);
  assert.equal((await new Browser(api).get(base)).status, 303);
});

test('without scripts, long texts are in their fields, so that saving keeps them', async () => {
  const summary = 'Airships over the islands';
  await (await api.as(game.owner)).call(editGameOperation, { params: { game_id: game.id }, body: { summary } });
  const { text } = await manager.get(`${base}/settings`);
  assert.equal(/<textarea[^>]*name="summary"[^>]*>([^<]*)</.exec(text)![1], summary);
});

test('without scripts, a rule that was only tried or that is refused is still in the form', async () => {
  const csrf = csrfOf((await manager.get(`${base}/rules`)).text);
  const rule = { csrf, name: 'No casinos', verdict: 'deny', operations: 'add-mod' };
  const row = { 'field-0': 'payload.name', 'is-0': 'contains', 'value-0': 'casino <b>' };
  const tried = await manager.post(`${base}/rules?/dryRun`, { ...rule, ...row });
  assert.equal(tried.status, 200, tried.text);
  for (const text of [tried.text, (await manager.post(`${base}/rules?/add`, { ...rule, ...row, name: '' })).text]) {
    assert.match(text, /name="field-0"[^>]*value="payload.name"/);
    assert.match(text, /name="value-0"[^>]*value="casino &lt;b/);
    assert.match(text, /value="deny"[^>]*checked|checked[^>]*value="deny"/);
  }
  const broken = await manager.post(`${base}/rules?/add`, { ...rule, json: '{"all"' });
  assert.match(broken.text, /<textarea name="json"[^>]*>\{"all"/);
});

const FORGED = [
  ['/moderation?/take', { count: 1 }, 1],
  ['/moderation?/claim', { item: 'mods:1:1' }, 1],
  ['/moderation?/undo', { item: 'mods:1:1' }, 1],
  ['/oauth?/secret', { client_id: 1, overlap: 3600 }, 8],
  ['/settings?/save', { at: 'access', api_access_options: 1 }, 4],
  ['/settings?/remove', {}, 8],
  ['/platforms?/save', { windows: 'on' }, 4],
  ['/tags?/add', { name: 'Kind', type: 'dropdown', tags: 'a' }, 4],
  ['/words?/save', { denied: 'bad' }, 4],
  ['/rules?/add', { name: 'Rule', verdict: 'deny', json: '{"all":[]}' }, 4],
  ['/keys?/key', {}, 8],
  ['/oauth?/add', { name: 'Mine', redirect_uris: 'https://client.example/callback', grants: 'authorization_code' }, 8],
  ['/portals?/save', { portal: 'discord', client_id: '1' }, 8],
  ['/servers?/add', { name: 'Server' }, 8],
  ['/servers?/anonymous', { anonymous_access: 'true' }, 8],
  ['/portals?/test', { portal: 'discord' }, 8],
  ['/money/refunds?/refund', { purchase_id: 1, reason: 'Broken' }, 8],
  ['/webhooks?/add', { name: 'Hook', url: 'https://hook.example/' }, 8],
  ['/team?/invite', { email: 'x@example.org', level: 1 }, 4],
  ['/money/terms?/save', { at: 'returns', refund_days: 1 }, 8],
  ['/moderation?/decide', { item: 'mods:1:1', decision: 'delete' }, 1],
] as const;

test('a forged form is refused by the service, whatever the page offers', async () => {
  const below = { 1: stranger, 4: moderator, 8: manager } as const;
  for (const [path, fields, level] of FORGED) {
    const browser = below[level];
    const csrf = csrfOf((await browser.get('/account')).text);
    assert.equal((await browser.post(base + path, fields)).status, 403, path);
    const { status, text } = await browser.post(base + path, { csrf, ...fields });
    assert.equal(status, 403, `${path} ${text.slice(0, 300)}`);
  }
});

test('a form that is refused shows the error beside its field, and what was sent', async () => {
  const page = await administrator.get(`${base}/webhooks`);
  const sent = { csrf: csrfOf(page.text), at: 'add', name: 'Hook of ours', url: 'nonsense' };
  const { status, text } = await administrator.post(`${base}/webhooks?/add`, sent);
  assert.equal(status, 422);
  assert.match(text, /id="add-url-error"/);
  assert.match(text, /Hook of ours/);
});

test('an application gets its secret shown once, and counts its redirect URIs', async () => {
  const page = await administrator.get(`${base}/oauth`);
  const sent = {
    csrf: csrfOf(page.text),
    at: 'add',
    name: 'Skyport',
    redirect_uris: 'https://a.example/\r\nhttps://b.example/',
    grants: 'authorization_code',
  };
  const { status, text } = await administrator.post(`${base}/oauth?/add`, sent);
  assert.equal(status, 200, text.slice(0, 300));
  const [, secret] = /Client secret<\/dt>\s*<dd[^>]*><code[^>]*>([^<]+)</.exec(text)!;
  const later = await administrator.get(`${base}/oauth`);
  assert.ok(!later.text.includes(secret!));
  assert.match(later.text, /2 of 20/);
});

test('moderators decide on several items, with a reason in the language of the author', async () => {
  const curated = await api.aGame({ settings: { curation_option: 2 } });
  const author = await api.aUser();
  const mods = [
    await api.aMod({ game: curated, owner: author, accepted: false }),
    await api.aMod({ game: curated, owner: author, accepted: false }),
  ];
  for (const mod of mods) await api.aFile(mod);
  const email = `${api.unique('judge').replaceAll(' ', '.')}@example.org`;
  const judge = await api.aUser({ email });
  await api.joins(judge, curated, 1);
  const browser = new Browser(api);
  const path = `/g/${encodeURIComponent(curated.name_id)}/admin/moderation`;
  const page = await browser.signIn(path, email);
  assert.match(page.text, /2 wait/);
  const items = mods.map(({ id }) => `item=mods:${id}:${author.id}`).join('&');
  const body = `csrf=${encodeURIComponent(csrfOf(page.text))}&decision=deny&canned=spam&${items}`;
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const { status, text } = await api.request('POST', `${path}?/decide`, {
    headers: { cookie, accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' },
    body,
    host: api.host('production'),
  });
  assert.equal(status, 200, text.slice(0, 300));
  assert.match(text, /2 decisions were made/);
  const rows = await api
    .app()
    .db.query.selectFrom('moderation_decisions')
    .select('reason')
    .where('game_id', '=', curated.id)
    .execute();
  assert.deepEqual(
    rows.map(({ reason }) => reason),
    Array(2).fill('It is advertising, or the same thing again.'),
  );
});

/** The sum of a column of a plot's table in a page. */
function plotted(page: string, title: string, column = 1): number {
  const [, table] = new RegExp(`<caption[^>]*>${title}</caption>(.*?)</table>`, 's').exec(page)!;
  const rows = [...table!.matchAll(/<tr[^>]*><th scope="row"[^>]*>.*?<\/tr>/gs)].map(([row]) => row);
  assert.ok(rows.length > 0, title);
  const cells = (row: string) =>
    [...row.matchAll(/<td[^>]*>(?:<!--[^>]*-->)*([\d,]+)/g)].map(([, text]) => Number(text!.replace(',', '')));
  return rows.reduce((sum, row) => sum + cells(row)[column - 1]!, 0);
}

test('the numbers of each plot are those of the rows that it counts', async () => {
  const measured = await api.aGame();
  const email = `${api.unique('reader').replaceAll(' ', '.')}@example.org`;
  const reader = await api.aUser({ email });
  await api.joins(reader, measured, 1);
  const mods = [await api.aMod({ game: measured }), await api.aMod({ game: measured })];
  for (const mod of mods) await api.aFile(mod);
  const owner = await api.as(measured.owner);
  const { secret } = (await owner.call(addMetricsSecret, { params: { game_id: measured.id } })).body;
  for (let count = 0; count < 5; count += 1) {
    const mod = mods[count % 2]!;
    const params = { game_id: measured.id, mod_id: mod.id };
    const player = await api.as(await api.aUser());
    await player.call(subscribeToMod, { params });
    if (count > 0) await player.call(addModRating, { params, body: { rating: count === 1 ? -1 : 1 } });
    queueDownload(api.app(), { mod_id: mod.id, game_id: mod.game_id, platform: '', address: `198.51.100.${count}` });
    const report = {
      session_id: `s${count}`,
      session_ts: api.app().clock.now(),
      session_nonce: `n${count}`,
      session_order_id: 1,
    };
    const hash = sessionHash(secret, {
      ids: [],
      ts: report.session_ts,
      sessionId: report.session_id,
      nonce: report.session_nonce,
    });
    const started = await api.withKey(measured).call(startSession, { body: { ...report, session_hash: hash } });
    assert.equal(started.status, 204, started.text);
    await Promise.all(api.apps().map((app) => flushDownloads(app)));
    if (count % 2 === 1) api.clock.advance(86_400);
  }
  await api.counted();
  const { query } = api.app().db;
  const ratings = await query.selectFrom('ratings').select('rating').where('game_id', '=', measured.id).execute();
  const subscriptions = await query
    .selectFrom('subscriptions')
    .innerJoin('mods', 'mods.id', 'subscriptions.mod_id')
    .where('mods.game_id', '=', measured.id)
    .select('subscriptions.user_id')
    .execute();
  const stats = await query
    .selectFrom('mod_stats')
    .innerJoin('mods', 'mods.id', 'mod_stats.mod_id')
    .where('mods.game_id', '=', measured.id)
    .select('mod_stats.downloads_total')
    .execute();
  const sessions = await query.selectFrom('metrics_sessions').selectAll().where('game_id', '=', measured.id).execute();
  const browser = new Browser(api);
  const day = new Date(api.app().clock.now() * 1000).toISOString().slice(0, 10);
  const path = `/g/${encodeURIComponent(measured.name_id)}/admin`;
  await browser.signIn(path, email);
  const page = (await browser.get(`${path}?to=${day}`)).text;
  assert.deepEqual(
    {
      downloads: plotted(page, 'Downloads'),
      subscribers: plotted(page, 'New subscriptions'),
      sessions: plotted(page, 'Sessions'),
      positive: plotted(page, 'Ratings', 1),
      negative: plotted(page, 'Ratings', 2),
    },
    {
      downloads: stats.reduce((sum, { downloads_total }) => sum + downloads_total, 0),
      subscribers: subscriptions.length,
      sessions: sessions.length,
      positive: ratings.filter(({ rating }) => rating === 1).length,
      negative: ratings.filter(({ rating }) => rating === -1).length,
    },
  );
  // Each player was active on one day.
  assert.ok(plotted(page, 'Active users') >= 5);
  const [head, ...rows] = (await browser.get(`${path}/metrics.csv`)).text
    .trim()
    .split('\n')
    .map((line) => line.split(','));
  const inFile = rows.reduce((sum, row) => sum + Number(row[head!.indexOf('subscribers')]), 0);
  assert.equal(inFile, subscriptions.length);
});

test('the staff see their pages by level, and lock an account that was stolen', async () => {
  const [helper, chief] = [await aMember(0, STAFF_LEVELS.moderator), await aMember(0, STAFF_LEVELS.administrator)];
  for (const path of ['', '/games', '/staff', '/reports'])
    assert.equal((await helper.get(`/admin${path}`)).status, 200, path);
  for (const path of [
    '/users',
    '/bans',
    '/jobs',
    '/installation',
    '/money',
    '/books',
    '/limits',
    '/slow',
    '/plans',
    '/look',
    '/audit',
    '/agreements',
    '/agreements/1',
  ]) {
    assert.equal((await chief.get(`/admin${path}`)).status, 200, path);
    if (!path.startsWith('/agreements')) assert.equal((await helper.get(`/admin${path}`)).status, 403, path);
  }
  for (const path of ['', '/users', '/installation'])
    assert.equal((await administrator.get(`/admin${path}`)).status, 403, path);
  const victim = new Browser(api);
  await victim.signIn('/account', 'victim@example.org');
  const found = await chief.get('/admin/users?user=victim@example.org');
  const [path] = /\/admin\/users\/\d+/.exec(found.text)!;
  const user_id = path!.split('/').at(-1)!;
  const forged = { csrf: csrfOf((await helper.get('/account')).text), user_id };
  assert.equal((await helper.post(`${path}?/lock`, forged)).status, 403);
  const done = await chief.post(`${path}?/lock`, { csrf: csrfOf((await chief.get(path!)).text), user_id });
  assert.equal(done.status, 200, done.text.slice(0, 300));
  assert.match((await chief.get(path!)).text, /Locked since/);
  assert.equal((await victim.get('/library')).status, 303);
});
