import assert from 'node:assert/strict';
import { test } from 'node:test';
import sharp from 'sharp';
import { startApi } from '../../../test/api.ts';
import { mailsTo } from '../../../test/mails.ts';
import { anotherService, exchange, requestOf, untilReceived } from '../../../test/wire.ts';
import { composeWorker } from '../../composition/compose.ts';
import { requestEmailSecurityCode } from '../../signin/mailed-codes/operations.ts';
import { getAudit } from '../../studio/audit/operations.ts';
import { addSiteIcon, deleteSiteIcon, editSite, getSite } from './operations.ts';

const api = await startApi({ settings: { MODSTEAD_RATE_LIMITS: 'off', MODSTEAD_JOBS: 'off' } });
const worker = composeWorker(api.app());
const admin = await api.as(await api.aUser({ admin: true }));
const icon = await sharp({ create: { width: 128, height: 128, channels: 3, background: 'teal' } })
  .png()
  .toBuffer();

const shown = async () => (await admin.call(getSite)).body;

/** The first test of this file, before the site has a name. */
test('a site that nobody has named has the name and colours of the program', async () => {
  const { name, summary, accent, style_url, icon } = await shown();
  assert.deepEqual([name, summary, accent, style_url, icon], ['Modstead', '', '#1f5fbf', null, null]);
});

test('an administrator names the site, and every process shows it', async (t) => {
  const other = await anotherService(api);
  t.after(() => other.stop());
  const asked = requestOf('GET /v1/site', {});
  const nameElsewhere = async () => (await exchange(api, asked, { port: other.port })).body.name;
  assert.equal(await nameElsewhere(), 'Modstead');
  const body = { name: 'Sky Harbour', summary: 'Mods for airships', accent: '#FF6600' };
  const { body: saved } = await admin.call(editSite, { body });
  assert.deepEqual([saved.name, saved.summary, saved.accent], ['Sky Harbour', 'Mods for airships', '#ff6600']);
  assert.deepEqual((await shown()).name, 'Sky Harbour');
  await untilReceived(other.apps.production.db, async () => (await nameElsewhere()) === 'Sky Harbour');
  const page = await api.request('GET', '/sign-in');
  assert.match(page.text, /<title>[^<]+ · Sky Harbour<\/title>/);
  const [, style] = /href="[^"]*(\/look\.css\?accent=ff6600)"/.exec(page.text)!;
  const css = await api.request('GET', style!);
  assert.match(String(css.headers['content-type']), /^text\/css/);
  assert.ok(css.text.includes('--accent:'));
  assert.equal((await api.request('GET', '/look.css?accent=nothing')).status, 404);
});

test('a change of one part leaves the others, and the audit log has it', async () => {
  await admin.call(editSite, { body: { name: 'First', summary: 'Stays' } });
  const { body } = await admin.call(editSite, { body: { name: 'Second' } });
  assert.deepEqual([body.name, body.summary], ['Second', 'Stays']);
  const [last] = (await admin.call(getAudit, { query: { action: 'site.edit', _sort: '-id', _limit: 1 } })).body.data;
  assert.deepEqual(last!.data, { name: 'Second' });
});

test('changes at the same time are not lost', async () => {
  await Promise.all([
    admin.call(editSite, { body: { name: 'Together' } }),
    admin.call(editSite, { body: { summary: 'At once' } }),
    admin.call(editSite, { body: { accent: '#123456' } }),
  ]);
  const { name, summary, accent } = await shown();
  assert.deepEqual([name, summary, accent], ['Together', 'At once', '#123456']);
});

test('mails come in the name of the site', async () => {
  await admin.call(editSite, { body: { name: 'Sky Harbour' } });
  const game = await api.aGame();
  const asked = await api.withKey(game).call(requestEmailSecurityCode, { body: { email: 'sailor@example.org' } });
  assert.equal(asked.status, 200);
  assert.equal(mailsTo(api, 'sailor@example.org')[0]?.from, 'Sky Harbour');
});

test('the icon is shown in three sizes until it is removed, and its file outlives the review of unused pictures', async () => {
  const { body } = await admin.call(addSiteIcon, { files: { icon: { filename: 'icon.png', bytes: icon } } });
  const path = new URL(body.icon!.thumb_64x64).pathname;
  assert.equal((await api.request('GET', path)).status, 200);
  api.clock.advance(10_000);
  await worker.runDue();
  assert.equal((await api.request('GET', path)).status, 200);
  assert.match((await api.request('GET', '/sign-in')).text, new RegExp(`<img src="${path}"`));
  assert.equal((await admin.call(deleteSiteIcon)).status, 204);
  assert.equal((await shown()).icon, null);
  api.clock.advance(10_000);
  await worker.runDue();
  assert.equal((await api.request('GET', path)).status, 404);
});

test('names are one line, colours are colours, and only administrators decide', async () => {
  for (const body of [{ name: 'Two\nlines' }, { name: '' }, { name: 'x'.repeat(51) }, { accent: 'red' }])
    await admin.refused(editSite, { body }, 422, 13_009);
  const stranger = await api.as(await api.aUser());
  await stranger.refused(editSite, { body: { name: 'Mine' } }, 403, 17_012);
  await stranger.refused(deleteSiteIcon, {}, 403, 17_012);
  assert.equal((await (await api.as(await api.aUser())).call(getSite)).status, 200);
});
