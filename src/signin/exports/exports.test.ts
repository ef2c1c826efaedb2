import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi } from '../../../test/api.ts';
import { manyUsers } from '../../../test/bulk-rows.ts';
import { mailsTo } from '../../../test/mails.ts';
import { composeWorker } from '../../composition/compose.ts';
import { muteAUser } from '../../people/mutes/operations.ts';
import { closeOwnAccount, deleteOwnAccount } from '../accounts/operations.ts';
import { getExport, requestExport } from './operations.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
const worker = composeWorker(api.app());

test('a user can request an export once a day and download it for a week', async () => {
  const email = 'curious@example.org';
  const ada = await api.aUser({ email, username: 'Curious' });
  const other = await api.aUser();
  const mod = await api.aMod({ owner: ada });
  const client = await api.as(ada);
  await client.call(muteAUser, { params: { user_id: other.id } });
  await client.refused(getExport, {}, 404, 14000);
  const asked = await client.call(requestExport);
  assert.equal(asked.status, 202, asked.text);
  assert.equal((await client.call(getExport)).body.download_url, null);
  const again = await client.refused(requestExport, {}, 429, 17005);
  assert.equal(again.headers['retry-after'], '86400');
  await worker.runDue();
  const url = new URL((await client.call(getExport)).body.download_url!);
  assert.ok(mailsTo(api, email).some(({ text }) => text.includes(url.href)));
  const file = await api.request('GET', url.pathname);
  assert.equal(file.status, 200);
  assert.match(String(file.headers['content-disposition']), /my-data\.json/);
  const data = JSON.parse(file.text);
  assert.equal(data.users[0].email, email);
  assert.deepEqual(data.mutes, [{ muted_id: other.id, date_added: api.clock.now() }]);
  assert.equal(data.mods[0].id, mod.id);
  assert.ok(!file.text.includes('digest') && !file.text.includes(client.token!));
  assert.equal((await api.request('GET', `${url.pathname}x`)).status, 404);
  assert.equal((await api.request('GET', url.pathname.replace(/\d+\./, '999.'))).status, 404);
  api.clock.advance(86_400);
  assert.equal((await client.call(requestExport)).status, 202);
  api.clock.advance(7 * 86_400);
  assert.equal((await api.request('GET', url.pathname)).status, 404);
  await worker.runDue();
  assert.deepEqual(await Array.fromAsync(api.app().storage.list('exports/')), []);
});

test('an export of many rows contains each row once', async () => {
  const ada = await api.aUser();
  const client = await api.as(ada);
  const many = Array.from({ length: 450 }, (_, index) => index + 1);
  const muted = await manyUsers(api.app(), many.length);
  await api.app().db.write(async ({ query }) => {
    const event = { user_id: ada.id, game_id: 1, event_type: 'USER_SUBSCRIBE', date_added: api.clock.now() };
    for (const mod_id of many)
      await query
        .insertInto('user_events')
        .values({ ...event, mod_id })
        .execute();
    for (const muted_id of muted)
      await query.insertInto('mutes').values({ user_id: ada.id, muted_id, date_added: 1 }).execute();
  });
  await client.call(requestExport);
  await worker.runDue();
  const url = new URL((await client.call(getExport)).body.download_url!);
  const data = JSON.parse((await api.request('GET', url.pathname)).text);
  assert.deepEqual(
    data.user_events.map(({ mod_id }: { mod_id: number }) => mod_id),
    many,
  );
  assert.deepEqual(
    data.mutes.map(({ muted_id }: { muted_id: number }) => muted_id),
    muted,
  );
});

test('an export that is being written when its account ends is discarded', async () => {
  const ada = await api.aUser({ email: 'leaving@example.org' });
  const client = await api.as(ada);
  const { storage } = api.app();
  const before = await Array.fromAsync(storage.list('exports/'));
  await client.call(requestExport);
  const { put } = storage;
  const interrupted = storage as { put: typeof storage.put };
  interrupted.put = async (...values) => {
    interrupted.put = put;
    const written = await put.apply(storage, values);
    await client.call(closeOwnAccount);
    assert.equal((await client.call(deleteOwnAccount, { body: { email: 'leaving@example.org' } })).status, 204);
    return written;
  };
  await worker.runDue();
  assert.deepEqual(await Array.fromAsync(storage.list('exports/')), before);
  const rows = api.app().db.query.selectFrom('data_exports').selectAll().where('user_id', '=', ada.id);
  assert.deepEqual(await rows.execute(), []);
});
