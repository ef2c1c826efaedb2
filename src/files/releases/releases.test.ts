import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Mod, startApi } from '../../../test/api.ts';
import { aClient, Browser } from '../../../test/browser.ts';
import { type Mail, mailsTo } from '../../../test/mails.ts';
import { zipOf } from '../../../test/zips.ts';
import { getModEvents } from '../../catalogue/events/operations.ts';
import { deleteModOperation, getMod } from '../../catalogue/mods/operations.ts';
import {
  acceptTeamInvite,
  addModTeamMember,
  deleteModTeamMember,
  getModTeamMembers,
  getTeamInvites,
  updateModTeamMember,
} from '../../catalogue/teams/operations.ts';
import { composeWorker } from '../../composition/compose.ts';
import { getAuthenticatedUser } from '../../people/users/operations.ts';
import { issueToken } from '../../platform/access/credentials.ts';
import {
  changeEmail,
  closeOwnAccount,
  deleteOwnAccount,
  lockAUser,
  mergeOwnAccount,
  requestEmailChange,
} from '../../signin/accounts/operations.ts';
import {
  addModfileOperation,
  deleteModfileOperation,
  editModfileOperation,
  getUserModfiles,
} from '../modfiles/operations.ts';
import {
  addReleaseConfirmation,
  deleteReleaseConfirmation,
  getReleaseConfirmation,
  getReleases,
  requestReleaseConfirmationCode,
} from './operations.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
const worker = composeWorker(api.app());
let people = 0;

/** The mails to an address, oldest first, after all due jobs have run. */
async function arrivedAt(email: string): Promise<Mail[]> {
  await worker.runDue();
  return mailsTo(api, email);
}

const linkIn = ({ text }: Mail): string | undefined => /\/release\?token=[\w-]{43}/.exec(text)?.[0];

const linksTo = async (email: string): Promise<string[]> =>
  (await arrivedAt(email)).flatMap((mail) => linkIn(mail) ?? []);

const codeOf = ({ subject }: Mail): string => /: ([A-Z2-9]{8})$/.exec(subject)![1]!;

async function someone({ guarded = true, ...more }: { guarded?: boolean; language?: string } = {}) {
  const email = `release-${++people}@example.org`;
  const user = { email, ...(await api.aUser({ email, ...more })) };
  const client = await api.as(user);
  if (guarded) assert.equal((await client.call(addReleaseConfirmation)).status, 204);
  return { ...user, email, client };
}

type Person = Awaited<ReturnType<typeof someone>>;

const pathOf = (mod: Pick<Mod, 'id' | 'game_id'>) => ({ game_id: mod.game_id, mod_id: mod.id });

async function upload({ client }: Pick<Person, 'client'>, mod: Mod, filename = 'airship.zip', body = {}) {
  const files = { filedata: { filename, bytes: zipOf({ 'readme.txt': api.unique('Text') }) } };
  const added = await client.call(addModfileOperation, { params: pathOf(mod), files, body });
  assert.equal(added.status, 201, added.text);
  return added.body;
}

async function liveFileOf({ client }: Pick<Person, 'client'>, mod: Mod): Promise<number | undefined> {
  return (await client.call(getMod, { params: pathOf(mod) })).body.modfile?.id;
}

/** A user that confirms releases, with a file that waits. */
async function waiting() {
  const ada = await someone();
  const mod = await api.aMod({ owner: ada });
  const file = await upload(ada, mod);
  const [link] = await linksTo(ada.email);
  assert.ok(link);
  return { ada, mod, file, link };
}

const confirmIn = async (browser: Browser, link: string, decision = 'confirm') =>
  browser.submit(await browser.get(link), { decision });

test('by default users do not confirm releases, and files go live at once', async () => {
  const ada = await someone({ guarded: false });
  const mod = await api.aMod({ owner: ada });
  assert.deepEqual((await ada.client.call(getReleaseConfirmation)).body, { wanted: false });
  const file = await upload(ada, mod);
  assert.equal(await liveFileOf(ada, mod), file.id);
  assert.deepEqual(await linksTo(ada.email), []);
});

test('T23: a file of a user that confirms releases waits for the link in the mail', async () => {
  const ada = await someone();
  const mod = await api.aMod({ owner: ada, name: 'Airship' });
  const file = await upload(ada, mod, 'hull.zip', { version: '1.2\nAll is well' });
  assert.equal(await liveFileOf(ada, mod), undefined);
  const { data } = (await ada.client.call(getReleases)).body;
  const now = api.clock.now();
  assert.deepEqual(
    data.map(({ id, ...rest }) => rest),
    [
      {
        ...pathOf(mod),
        modfile_id: file.id,
        released_by: ada.id,
        confirmed_by: ada.id,
        date_added: now,
        date_expires: now + 86_400,
      },
    ],
  );
  assert.deepEqual(
    (await ada.client.call(getUserModfiles)).body.data.map(({ id }) => id),
    [file.id],
  );
  const [mail, ...more] = await arrivedAt(ada.email);
  assert.deepEqual([mail?.subject, more.length], ['Shall this file of “Airship” go live?', 0]);
  for (const told of [
    /File: hull\.zip \(1\.2 All is well\)\n/,
    /When: 20\d\d-\d\d-\d\d \d\d:\d\d UTC/,
    /address: 127\.0\.0\.1/,
  ])
    assert.match(mail!.text, told);

  const [link] = await linksTo(ada.email);
  const browser = new Browser(api);
  const page = await browser.get(link!);
  assert.equal(page.status, 200);
  for (const told of [/hull\.zip/, /Airship/, /127\.0\.0\.1/, /This was not me/]) assert.match(page.text, told);
  assert.equal(await liveFileOf(ada, mod), undefined, 'looking at the page releases nothing');
  const done = await browser.submit(page, { decision: 'confirm' });
  assert.match(done.text, /The file is released/);
  assert.equal(await liveFileOf(ada, mod), file.id);
  assert.deepEqual((await ada.client.call(getReleases)).body.data, []);
  const subjects = (await arrivedAt(ada.email)).map(({ subject }) => subject);
  assert.ok(subjects.includes('A file of “Airship” went live'), 'the team gets its mail');
});

test('T23: a confirmed release acts like any other: the first file accepts the mod, later ones add events', async () => {
  const ada = await someone();
  const mod = await api.aMod({ owner: ada, accepted: false });
  const first = await upload(ada, mod);
  assert.equal((await ada.client.call(getMod, { params: pathOf(mod) })).body.status, 0);
  await confirmIn(new Browser(api), (await linksTo(ada.email))[0]!);
  const accepted = (await ada.client.call(getMod, { params: pathOf(mod) })).body;
  assert.deepEqual([accepted.status, accepted.modfile?.id], [1, first.id]);

  const changes = async () => {
    const { data } = (await ada.client.call(getModEvents, { params: pathOf(mod) })).body;
    return data.filter(({ event_type }) => event_type === 'MODFILE_CHANGED').length;
  };
  const before = await changes();
  const second = await upload(ada, mod, 'second.zip', { active: false });
  assert.equal((await linksTo(ada.email)).length, 1, 'an inactive file needs no confirmation');
  const params = { ...pathOf(mod), file_id: second.id };
  const edited = await ada.client.call(editModfileOperation, { params, body: { active: true } });
  assert.equal(edited.status, 200);
  assert.deepEqual([await liveFileOf(ada, mod), await changes()], [first.id, before]);
  await confirmIn(new Browser(api), (await linksTo(ada.email))[1]!);
  assert.deepEqual([await liveFileOf(ada, mod), await changes()], [second.id, before + 1]);
  await ada.client.call(editModfileOperation, { params, body: { active: true, version: '2' } });
  assert.equal((await linksTo(ada.email)).length, 2, 'a live file needs no confirmation');
});

test('a repeated release within a minute sends one mail; a later one sends another, and only its link is valid', async () => {
  const { ada, mod, file, link } = await waiting();
  const again = { params: { ...pathOf(mod), file_id: file.id }, body: { active: true } };
  await ada.client.call(editModfileOperation, again);
  assert.deepEqual(await linksTo(ada.email), [link]);
  api.clock.advance(60);
  await ada.client.call(editModfileOperation, again);
  const [, newer] = await linksTo(ada.email);
  assert.equal((await new Browser(api).get(link)).status, 404);
  assert.equal((await new Browser(api).get(newer!)).status, 200);
});

test('T23: a link is valid once, for a day, and only unchanged', async () => {
  const { ada, mod, file, link } = await waiting();
  const [first, second] = [new Browser(api), new Browser(api)];
  const pages = [await first.get(link), await second.get(link)];
  const answers = await Promise.all([
    first.submit(pages[0]!, { decision: 'confirm' }),
    second.submit(pages[1]!, { decision: 'confirm' }),
  ]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 404]);
  assert.equal(await liveFileOf(ada, mod), file.id);
  assert.equal((await first.get(link)).status, 404);

  const late = await waiting();
  const browser = new Browser(api);
  const page = await browser.get(late.link);
  const forged = late.link.slice(0, -1) + (late.link.endsWith('A') ? 'B' : 'A');
  for (const wrong of [forged, '/release', '/release?token=', '/release?token[]=x'])
    assert.equal((await browser.get(wrong)).status, 404, wrong);
  assert.equal((await browser.submit(page, { decision: 'confirm', csrf: 'x' })).status, 403);
  assert.equal((await browser.submit(page, { decision: 'whatever' })).status, 404);
  api.clock.advance(86_400);
  assert.equal((await browser.get(late.link)).status, 404);
  assert.equal((await browser.submit(page, { decision: 'confirm' })).status, 404);
  assert.equal(await liveFileOf(late.ada, late.mod), undefined);
  assert.deepEqual((await late.ada.client.call(getReleases)).body.data, []);
  await worker.runDue();
  assert.deepEqual(await api.app().db.query.selectFrom('releases').select('id').execute(), []);
});

test('T23: a signed-in user neither sees nor confirms the release of another user', async () => {
  const { ada, mod, link } = await waiting();
  const bob = await someone({ guarded: false });
  const open = new Browser(api);
  const page = await open.get(link);
  const browser = new Browser(api);
  await browser.signIn('/account/link', bob.email);
  assert.equal((await browser.get(link)).status, 404);
  const [, csrf] = /name="csrf" value="([^"]+)"/.exec((await browser.get('/connect')).text)!;
  const token = link.split('=')[1]!;
  assert.equal((await browser.post('/release', { csrf, token, decision: 'confirm' })).status, 404);
  assert.equal((await browser.post('/release', { csrf, token, decision: 'refuse' })).status, 404);
  assert.equal(await liveFileOf(ada, mod), undefined);
  assert.equal((await open.submit(page, { decision: 'confirm' })).status, 200);
});

test('T23: “this was not me” signs the account out everywhere and drops its releases', async () => {
  const ada = await someone();
  const signedIn = new Browser(api);
  await signedIn.signIn('/account/link', ada.email);
  const mod = await api.aMod({ owner: ada });
  await upload(ada, mod);
  await upload(ada, mod, 'other.zip');
  const [link, other] = await linksTo(ada.email);
  const done = await confirmIn(new Browser(api), link!, 'refuse');
  assert.match(done.text, /signed out everywhere/);
  await ada.client.refused(getAuthenticatedUser, {}, 401, 11005);
  assert.equal((await signedIn.get('/account/link')).status, 303);
  for (const gone of [link!, other!]) assert.equal((await new Browser(api).get(gone)).status, 404);
  const anew = await api.as(ada);
  assert.deepEqual((await anew.call(getReleases)).body.data, []);
  assert.deepEqual((await anew.call(getReleaseConfirmation)).body, { wanted: true });
  assert.equal(await liveFileOf({ client: anew }, mod), undefined);
});

test('T23: a token alone does not end the confirmation; it needs the code from the mail, once, in time, within five attempts', async () => {
  const ada = await someone();
  const end = (code: string) => ({ body: { code } });
  const newest = async () => codeOf((await arrivedAt(ada.email)).at(-1)!);
  await ada.client.refused(deleteReleaseConfirmation, end('AAAAA'), 401, 11014);
  assert.equal((await ada.client.call(requestReleaseConfirmationCode)).status, 200);
  await ada.client.refused(requestReleaseConfirmationCode, {}, 429, 11065);
  const late = await newest();
  api.clock.advance(900);
  await ada.client.refused(deleteReleaseConfirmation, end(late), 401, 11014);
  await ada.client.call(requestReleaseConfirmationCode);
  for (let guess = 0; guess < 5; guess += 1)
    await ada.client.refused(deleteReleaseConfirmation, end('00000'), 401, 11014);
  await ada.client.refused(deleteReleaseConfirmation, end(await newest()), 401, 11014);
  api.clock.advance(60);
  await ada.client.call(requestReleaseConfirmationCode);
  const good = await newest();
  assert.equal((await ada.client.call(addReleaseConfirmation)).status, 204);
  assert.equal((await ada.client.call(deleteReleaseConfirmation, end(good.toLowerCase()))).status, 204);
  assert.deepEqual((await ada.client.call(getReleaseConfirmation)).body, { wanted: false });
  await ada.client.call(addReleaseConfirmation);
  await ada.client.refused(deleteReleaseConfirmation, end(good), 401, 11014);
  const mod = await api.aMod({ owner: ada });
  await upload(ada, mod);
  assert.equal(await liveFileOf(ada, mod), undefined);
});

test('T23: a token alone does not bypass the confirmation through another address, token or account', async () => {
  const ada = await someone();
  const mallory = await someone({ guarded: false });
  const mod = await api.aMod();
  await api.joinsMod(ada, mod, 4);
  const email = `mallory-${ada.id}@example.org`;
  await ada.client.call(requestEmailChange, { body: { email } });
  const new_code = codeOf((await arrivedAt(email)).at(-1)!);
  await ada.client.refused(changeEmail, { body: { new_code } }, 404, 11066);
  await ada.client.refused(changeEmail, { body: { new_code, old_code: new_code } }, 404, 11066);

  const gaveUp = { body: { access_token: ada.client.token! } };
  await mallory.client.refused(mergeOwnAccount, gaveUp, 400, 17035);
  assert.equal((await ada.client.call(getAuthenticatedUser)).status, 200);
  const code = codeOf((await arrivedAt(ada.email)).at(-1)!);
  await mallory.client.refused(mergeOwnAccount, { body: { email: ada.email, code: 'AAAAA' } }, 401, 11014);

  const { client_id } = await aClient(api, { gameId: mod.game_id });
  const app = api.app();
  const { access_token } = await app.db.write((transaction) =>
    issueToken(app, transaction, { userId: ada.id, clientId: client_id, gameId: mod.game_id }),
  );
  const let_in = api.withToken(access_token);
  await let_in.refused(addReleaseConfirmation, {}, 403, 12004);
  await let_in.refused(requestReleaseConfirmationCode, {}, 403, 12004);
  await upload({ client: let_in }, mod);
  assert.equal(await liveFileOf(ada, mod), undefined);
  assert.match((await arrivedAt(ada.email)).at(-1)!.text, /Signed in with: Skyport \d+, 20/);

  const alone = await someone();
  await alone.client.call(closeOwnAccount);
  await alone.client.refused(deleteOwnAccount, { body: { email: alone.email } }, 403, 17022);

  // With the mailbox the account can be merged, and the confirmation stays.
  assert.equal((await mallory.client.call(mergeOwnAccount, { body: { email: ada.email, code } })).status, 204);
  assert.deepEqual((await mallory.client.call(getReleaseConfirmation)).body, { wanted: true });
});

async function joins(newcomer: Person, mod: Mod, by: Person, level = 4): Promise<void> {
  const body = { email: newcomer.email, level };
  assert.equal((await by.client.call(addModTeamMember, { params: pathOf(mod), body })).status, 201);
  const [invite] = (await newcomer.client.call(getTeamInvites)).body.data;
  assert.equal((await newcomer.client.call(acceptTeamInvite, { params: { invite_id: invite!.id } })).status, 200);
}

test('T23: a member whom a user with confirmation adds to a team releases nothing without that user’s confirmation', async () => {
  const ada = await someone();
  const [mallory, accomplice] = [await someone({ guarded: false }), await someone({ guarded: false })];
  const mod = await api.aMod({ owner: ada });
  await joins(mallory, mod, ada);
  await joins(accomplice, mod, mallory);
  for (const newcomer of [mallory, accomplice]) await upload(newcomer, mod);
  assert.equal(await liveFileOf(ada, mod), undefined);
  assert.deepEqual([await linksTo(mallory.email), await linksTo(accomplice.email)], [[], []]);
  const told = new RegExp(`Released by: ${mallory.username}\\n[^]*You let ${mallory.username} into the team`);
  const mail = (await arrivedAt(ada.email)).find(({ text }) => told.test(text));
  assert.ok(mail);
  const [own] = (await mallory.client.call(getReleases)).body.data;
  assert.deepEqual([own?.released_by, own?.confirmed_by], [mallory.id, ada.id]);
  assert.equal((await ada.client.call(getReleases)).body.result_total, 2);

  assert.equal((await confirmIn(new Browser(api), linkIn(mail)!)).status, 200);
  assert.equal(await liveFileOf(ada, mod), own!.modfile_id);
  const next = await upload(mallory, mod);
  assert.equal(await liveFileOf(ada, mod), next.id, 'a member is trusted after one confirmation');
  await upload(accomplice, mod);
  const fresh = await someone({ guarded: false });
  const given = { body: { access_token: accomplice.client.token! } };
  assert.equal((await fresh.client.call(mergeOwnAccount, given)).status, 204);
  await worker.runDue();
  await upload(fresh, mod);
  assert.equal(await liveFileOf(ada, mod), next.id);
});

test('T23: the same applies to a member that is promoted to manager, and not to members that others added', async () => {
  const [ada, bob] = [await someone(), await someone({ guarded: false })];
  const mod = await api.aMod({ owner: ada });
  await joins(bob, mod, ada, 1);
  const seats = (await ada.client.call(getModTeamMembers, { params: pathOf(mod) })).body.data;
  const team_member_id = seats.find(({ user }) => user.id === bob.id)!.id;
  const params = { ...pathOf(mod), team_member_id };
  assert.equal((await ada.client.call(updateModTeamMember, { params, body: { level: 4 } })).status, 200);
  await upload(bob, mod);
  assert.equal(await liveFileOf(ada, mod), undefined);

  const carol = await someone({ guarded: false });
  const other = await api.aMod({ owner: carol });
  await api.joinsMod(ada, other, 4);
  await joins(bob, other, carol);
  const file = await upload(bob, other);
  assert.equal(await liveFileOf(carol, other), file.id);
});

test('a user that has lost the permission, or may not sign in, cannot confirm', async () => {
  const bob = await someone();
  const mod = await api.aMod();
  const owner = await api.as(mod.owner);
  await api.joinsMod(bob, mod, 4);
  await upload(bob, mod);
  const [link] = await linksTo(bob.email);
  const seats = (await owner.call(getModTeamMembers, { params: pathOf(mod) })).body.data;
  const { id } = seats.find(({ user }) => user.id === bob.id)!;
  assert.equal((await owner.call(deleteModTeamMember, { params: { ...pathOf(mod), team_member_id: id } })).status, 204);
  const refused = await confirmIn(new Browser(api), link!);
  assert.equal(refused.status, 404, 'outside the team the file is not there');
  assert.match(refused.text, /15010/);
  assert.equal(await liveFileOf({ client: owner }, mod), undefined);

  const locked = await waiting();
  const admin = await api.as(await api.aUser({ admin: true }));
  assert.equal((await admin.call(lockAUser, { params: { user_id: locked.ada.id } })).status, 204);
  assert.equal((await confirmIn(new Browser(api), locked.link)).status, 403);
});

test('a file that was deleted, recalled or removed with its mod no longer waits', async () => {
  const deleted = await waiting();
  const file = { ...pathOf(deleted.mod), file_id: deleted.file.id };
  assert.equal((await deleted.ada.client.call(deleteModfileOperation, { params: file })).status, 204);
  assert.equal((await new Browser(api).get(deleted.link)).status, 404);

  const recalled = await waiting();
  const params = { ...pathOf(recalled.mod), file_id: recalled.file.id };
  const browser = new Browser(api);
  const page = await browser.get(recalled.link);
  await recalled.ada.client.call(editModfileOperation, { params, body: { active: false } });
  assert.equal((await browser.submit(page, { decision: 'confirm' })).status, 404);
  assert.equal(await liveFileOf(recalled.ada, recalled.mod), undefined);

  const gone = await waiting();
  await gone.ada.client.call(deleteModOperation, { params: pathOf(gone.mod) });
  assert.equal((await confirmIn(new Browser(api), gone.link)).status, 403);
});

test('confirming releases needs an email address', async () => {
  const nobody = await api.as(await api.aUser());
  await nobody.refused(addReleaseConfirmation, {}, 422, 17034);
});

test('mails and pages about releases are in the language of their reader', async () => {
  const ada = await someone({ language: 'de' });
  await upload(ada, await api.aMod({ owner: ada }));
  const [mail] = await arrivedAt(ada.email);
  assert.match(mail!.text, /Eine Datei wartet auf deine Bestätigung/);
  const browser = new Browser(api, 'production', { 'accept-language': 'ja' });
  assert.match((await browser.get((await linksTo(ada.email))[0]!)).text, /このファイルを公開しますか/);
});

test('T21: neither the link nor the code is stored, logged, or part of a job', async () => {
  const { ada, link } = await waiting();
  await ada.client.call(requestReleaseConfirmationCode);
  const code = codeOf((await arrivedAt(ada.email)).at(-1)!);
  const secret = link.split('=')[1]!;
  await new Browser(api).get(link);
  const { query } = api.app().db;
  const rows = [
    ...(await query.selectFrom('releases').selectAll().execute()),
    ...(await query.selectFrom('release_guards').selectAll().execute()),
    ...(await query.selectFrom('jobs').selectAll().execute()),
  ];
  api.app().log.flush();
  for (const place of [JSON.stringify(rows), api.logLines.join('\n')])
    for (const hidden of [secret, `"${code}"`]) assert.ok(!place.includes(hidden), hidden);
  assert.ok(rows.some((row) => 'digest' in row && row.digest === api.app().secrets.digest(secret)));
});
