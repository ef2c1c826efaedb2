import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi } from '../../../test/api.ts';
import { setupCode } from '../../people/staff/first-owner.ts';
import { getAccounts, getSetup, setUpSite } from '../../people/staff/operations.ts';
import { lockAUser } from '../../signin/accounts/operations.ts';
import { getSessionsOfUser } from '../../signin/sessions/operations.ts';
import { addSession } from '../../signin/sessions/sessions.ts';
import { getInstallation, getParkedJobs } from './operations.ts';

const api = await startApi({
  settings: { MODSTEAD_JOBS: 'off', MODSTEAD_SMTP_URL: 'smtp://user:swordfish@127.0.0.1:1' },
  filesOnDisk: true,
});

/** Before anybody is staff: the first test of this file needs an installation without. */
test('an installation tells that it needs an owner until it has one', async () => {
  const visitor = api.withKey(await api.aGame());
  assert.equal((await visitor.call(getSetup, {})).body.is_needed, true);
  const body = { code: setupCode(api.app()), email: 'owner@example.org', username: 'Owner' };
  assert.equal((await visitor.call(setUpSite, { body })).status, 204);
  assert.equal((await visitor.call(getSetup, {})).body.is_needed, false);
  await visitor.refused(setUpSite, { body: { ...body, email: 'thief@example.org' } }, 403, 17013);
});

test('administrators see each part of the installation, and the settings without secrets', async () => {
  const admin = await api.as(await api.aUser({ admin: true }));
  const { body, text } = await admin.call(getInstallation, {});
  const state = Object.fromEntries(body.parts.map(({ part, ok }) => [part, ok]));
  // Nobody listens at the address of the mail server.
  const healthy = { database: true, storage: true, mail: false, scanner: true, disk: true, certificate: true };
  assert.deepEqual(state, healthy);
  const mail = body.parts.find(({ part }) => part === 'mail')!;
  assert.deepEqual([mail.detail, mail.original !== ''], ['', true]);
  const inGerman = (await admin.call(getInstallation, { headers: { 'accept-language': 'de' } })).body.parts;
  const said = Object.fromEntries(inGerman.map(({ part, detail }) => [part, detail]));
  assert.match(said['database']!, /^(?:SQLite|PostgreSQL), \d+ Migrationen$/);
  assert.match(said['disk']!, /^[\d.]+(?:,\d)? von [\d.]+(?:,\d)? GB frei$/);
  assert.deepEqual([said['storage'], said['scanner']], ['In einem lokalen Ordner', 'Aus']);
  assert.ok(!text.includes('swordfish'));
  const setting = body.settings.find(({ name }) => name === 'MODSTEAD_SMTP_URL')!;
  assert.equal(setting.value, '***');
  const stranger = await api.as(await api.aUser());
  for (const operation of [getInstallation, getParkedJobs, getAccounts])
    await stranger.refused(operation, {}, 403, 17012);
});

test('jobs that failed permanently are listed without what they carry', async () => {
  const admin = await api.as(await api.aUser({ admin: true }));
  const { db, jobs } = api.app();
  await db.write((transaction) => jobs.enqueue(transaction, 'test.parked', { code: 'ABCDE' }));
  await db.write(({ query }) =>
    query
      .updateTable('jobs')
      .set({ state: 'parked', last_error: 'Error: refused' })
      .where('kind', '=', 'test.parked')
      .execute(),
  );
  const { body, text } = await admin.call(getParkedJobs, {});
  assert.deepEqual(
    body.data.map(({ kind, last_error }) => [kind, last_error]),
    [['test.parked', 'Error: refused']],
  );
  assert.ok(!text.includes('ABCDE'));
});

test('administrators find an account by its address, see where it is signed in, and end that with a lock', async () => {
  const admin = await api.as(await api.aUser({ admin: true }));
  const stolen = await api.aUser({ email: 'stolen@example.org' });
  await api.app().db.write((transaction) => addSession(api.app(), transaction, stolen.id, 'Firefox'));
  const { data } = (await admin.call(getAccounts, { query: { email: 'stolen@example.org' } })).body;
  assert.equal(data.length, 1);
  const params = { user_id: data[0]!.user.id };
  const sessions = async () => (await admin.call(getSessionsOfUser, { params })).body.result_total;
  assert.equal(await sessions(), 1);
  assert.equal((await admin.call(lockAUser, { params })).status, 204);
  assert.equal(await sessions(), 0);
  const [locked] = (await admin.call(getAccounts, { query: { email: 'stolen@example.org' } })).body.data;
  assert.ok(locked!.date_locked > 0);
});
