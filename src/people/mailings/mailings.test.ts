import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi } from '../../../test/api.ts';
import { Browser } from '../../../test/browser.ts';
import { type Mail, mailsTo } from '../../../test/mails.ts';
import { addModTeamMember } from '../../catalogue/teams/operations.ts';
import { composeWorker } from '../../composition/compose.ts';
import { editMailings, getMailings, optOutOfEmails } from './operations.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
const worker = composeWorker(api.app());
let people = 0;
const anAddress = () => `invited-${++people}@example.org`;

/** Invites an address to a team, and returns all mails that it has received. */
async function invited(email: string): Promise<Mail[]> {
  const mod = await api.aMod();
  const params = { game_id: mod.game_id, mod_id: mod.id };
  await (await api.as(mod.owner)).call(addModTeamMember, { params, body: { email, level: 1 } });
  await worker.runDue();
  return mailsTo(api, email);
}

const hashOf = ({ optOut }: Mail) => new URL(optOut!).searchParams.get('hash')!;

test('one-click unsubscribe ends invitations to an address, with or without an account', async () => {
  const email = anAddress();
  const [mail] = await invited(email);
  const { pathname, search } = new URL(mail!.optOut!);
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const answer = await api.request('POST', pathname + search, { headers, body: 'List-Unsubscribe=One-Click' });
  assert.equal(answer.status, 200, answer.text);
  assert.equal((await invited(email)).length, 1);
});

test('the link in the text asks for confirmation, and then unsubscribes', async () => {
  const email = anAddress();
  const [mail] = await invited(email);
  const link = new URL(/https:\/\/\S+\/unsubscribe\S+/.exec(mail!.text)![0]);
  const browser = new Browser(api);
  const page = await browser.get(link.pathname + link.search);
  assert.match(page.text, /Stop these emails\?/);
  assert.equal((await invited(email)).length, 2);
  assert.match((await browser.submit(page)).text, /These emails are stopped/);
  assert.equal((await invited(email)).length, 2);
});

test('a forged, expired or foreign link unsubscribes nobody', async () => {
  const email = anAddress();
  const hash = hashOf((await invited(email))[0]!);
  const forged = hash.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
  for (const wrong of ['x', forged, `A${hash}`])
    await api.nobody().refused(optOutOfEmails, { body: { hash: wrong } }, 400, 17024);
  const other = await api.as(await api.aUser({ email: anAddress() }));
  await other.refused(optOutOfEmails, { body: { hash } }, 403, 17026);
  api.clock.advance(365 * 86_400);
  await api.nobody().refused(optOutOfEmails, { body: { hash } }, 400, 17025);
  assert.equal((await invited(email)).length, 2);
});

test('users choose in their account whether they get such mails', async () => {
  const email = anAddress();
  const client = await api.as(await api.aUser({ email }));
  assert.deepEqual((await client.call(getMailings)).body, { wanted: true });
  assert.equal((await client.call(editMailings, { body: { wanted: false } })).status, 204);
  assert.deepEqual((await client.call(getMailings)).body, { wanted: false });
  assert.equal((await invited(email)).length, 0);
  await client.call(editMailings, { body: { wanted: true } });
  assert.equal((await invited(email)).length, 1);
  const nameless = await api.as(await api.aUser());
  assert.deepEqual((await nameless.call(getMailings)).body, { wanted: false });
  await nameless.refused(editMailings, { body: { wanted: false } }, 422, 17034);
});
