import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, startApi } from '../../../test/api.ts';
import { LANGUAGES } from '../../platform/localisation/languages.ts';
import { agree, hasAgreed } from './acceptances.ts';
import {
  acceptAgreement,
  addAgreementVersion,
  deleteAgreementVersion,
  editAgreementVersion,
  getAgreementVersion,
  getAgreementVersions,
  getCurrentAgreement,
  getUserAgreements,
  terms,
} from './operations.ts';

const api = await startApi();
const game = await api.aGame();
const key = api.withKey(game);
const admin = await api.as(await api.aUser({ admin: true }));

const current = (type: number) => key.call(getCurrentAgreement, { params: { agreement_type_id: type } });
const at = (id: number) => ({ agreement_version_id: id });

async function aDraft(type: number, name = api.unique('Cookies')): Promise<number> {
  const body = { type, name, changelog: 'New', description: '<p>Words</p>' };
  const answer = await admin.call(addAgreementVersion, { body });
  assert.equal(answer.status, 201, answer.text);
  return answer.body.id;
}

const putInForce = (id: number) => admin.call(editAgreementVersion, { params: at(id), body: { is_active: true } });

async function inForce(type: number, name?: string): Promise<number> {
  const id = await aDraft(type, name);
  const answer = await putInForce(id);
  assert.equal(answer.status, 200, answer.text);
  return id;
}

const accept = (client: Client, id: number) => client.call(acceptAgreement, { body: { agreement_version_id: id } });

test('a new site has terms, a privacy policy, and terms for games, sales and refunds', async () => {
  for (const type of [1, 2, 3, 5, 8]) {
    const { body } = await current(type);
    assert.deepEqual([body.type, body.is_active, body.user.id, body.user.username], [type, true, 0, 'Modstead']);
    assert.match(body.description, /^<(h2|p)>/);
  }
});

test('an agreement of an unknown type, or without a version in force, is not found', async () => {
  await key.refused(getCurrentAgreement, { params: { agreement_type_id: 10 } }, 400, 14022);
  await key.refused(getAgreementVersions, { params: { agreement_type_id: 10 } }, 400, 14022);
  await key.refused(getCurrentAgreement, { params: { agreement_type_id: 9 } }, 404, 14000);
  await key.refused(getAgreementVersion, { params: at(999_999) }, 404, 14000);
});

test('only the site staff see a draft, and everyone sees it once it is in force', async () => {
  const reader = await api.as(await api.aUser());
  const id = await aDraft(4);
  const shown = async (client: Client) =>
    (await client.call(getAgreementVersions, { params: { agreement_type_id: 4 } })).body.data.map((each) => each.id);
  assert.deepEqual([await shown(key), await shown(admin)], [[], [id]]);
  for (const client of [key, reader]) await client.refused(getAgreementVersion, { params: at(id) }, 403, 14019);
  const { body } = await admin.call(getAgreementVersion, { params: at(id) });
  assert.deepEqual([body.is_active, body.is_latest, body.date_live], [false, false, 0]);
  await putInForce(id);
  for (const client of [key, reader]) {
    const version = (await client.call(getAgreementVersion, { params: at(id) })).body;
    assert.deepEqual([version.is_active, version.is_latest, version.date_live], [true, true, api.clock.now()]);
    assert.deepEqual(await shown(client), [id]);
  }
  assert.equal((await current(4)).body.id, id);
});

test('versions link to the previous and the next one, without drafts and deleted ones', async () => {
  const [first, draft, second, third] = [await inForce(6), await aDraft(6), await inForce(6), await inForce(6)];
  const neighbours = async (id: number) => {
    const { adjacent_versions, is_latest } = (await admin.call(getAgreementVersion, { params: at(id) })).body;
    return [adjacent_versions.previous?.id ?? null, adjacent_versions.next?.id ?? null, is_latest];
  };
  assert.deepEqual(await neighbours(first), [null, second, false]);
  assert.deepEqual(await neighbours(draft), [first, second, false]);
  assert.deepEqual(await neighbours(third), [second, null, true]);
  assert.equal((await admin.call(deleteAgreementVersion, { params: at(second) })).status, 204);
  assert.deepEqual(await neighbours(third), [first, null, true]);
  await key.refused(getAgreementVersion, { params: at(second) }, 404, 14000);
});

test('only the site staff add, change and delete versions', async () => {
  const anyone = await api.as(await api.aUser());
  const id = await aDraft(7);
  const body = { type: 7, name: 'Mine', description: 'All yours is mine' };
  await anyone.refused(addAgreementVersion, { body }, 403, 14020);
  for (const any of [id, 999_999]) {
    await anyone.refused(editAgreementVersion, { params: at(any), body: { is_active: true } }, 403, 14021);
    await anyone.refused(deleteAgreementVersion, { params: at(any) }, 403, 14023);
  }
  await admin.refused(addAgreementVersion, { body: { ...body, type: 10 } }, 400, 14022);
  await admin.refused(editAgreementVersion, { params: at(999_999), body: { name: 'None' } }, 404, 25002);
  await admin.refused(deleteAgreementVersion, { params: at(999_999) }, 404, 25002);
});

test('a version in force can be neither put in force again, nor changed, nor deleted', async () => {
  const id = await inForce(7);
  await admin.refused(editAgreementVersion, { params: at(id), body: { is_active: true } }, 400, 14025);
  await admin.refused(editAgreementVersion, { params: at(id), body: { name: 'Other' } }, 400, 14025);
  await admin.refused(deleteAgreementVersion, { params: at(id) }, 403, 14024);
});

test('a draft can be rewritten; a version that was in force keeps its text, and can come into force again', async () => {
  const id = await aDraft(7);
  const body = { name: 'Biscuits', description: '<p onclick="x()">Crumbs</p><script>y()</script>' };
  const edited = (await admin.call(editAgreementVersion, { params: at(id), body })).body;
  assert.deepEqual([edited.name, edited.description, edited.changelog], ['Biscuits', '<p>Crumbs</p>', 'New']);
  await putInForce(id);
  await inForce(7);
  const answer = await admin.refused(editAgreementVersion, { params: at(id), body: { name: 'Crackers' } }, 422, 13009);
  assert.deepEqual(Object.keys(answer.body.error.errors ?? {}), ['name']);
  assert.equal((await putInForce(id)).body.is_active, true);
  assert.equal((await current(7)).body.id, id);
});

test('of concurrent requests to put versions in force, exactly one takes effect', async () => {
  const ids = await Promise.all(Array.from({ length: 8 }, () => aDraft(9)));
  const answers = await Promise.all(ids.map(putInForce));
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  const { body } = await key.call(getAgreementVersions, { params: { agreement_type_id: 9 } });
  assert.equal(body.data.filter(({ is_active }) => is_active).length, 1);
  assert.equal(body.result_total, 8);
});

test('users accept the version in force once, and find it in their list', async () => {
  const ada = await api.as(await api.aUser());
  const { id } = (await current(3)).body;
  const answers = await Promise.all(Array.from({ length: 5 }, () => accept(ada, id)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 400, 400, 400, 400]);
  await ada.refused(acceptAgreement, { body: { agreement_version_id: id } }, 400, 25003);
  const { body } = await ada.call(getUserAgreements);
  assert.deepEqual(
    body.data.map((each) => [each.agreement_version_id, each.type, each.is_active, each.date_added]),
    [[id, 3, true, api.clock.now()]],
  );
  assert.equal((await (await api.as(await api.aUser())).call(getUserAgreements)).body.result_total, 0);
});

test('a user cannot accept a draft, a past version or a missing one', async () => {
  const ada = await api.as(await api.aUser());
  const past = await inForce(6);
  await inForce(6);
  await ada.refused(acceptAgreement, { body: { agreement_version_id: await aDraft(6) } }, 403, 25001);
  await ada.refused(acceptAgreement, { body: { agreement_version_id: past } }, 422, 13009);
  await ada.refused(acceptAgreement, { body: { agreement_version_id: 999_999 } }, 404, 25002);
});

test('a user who has agreed to the terms is asked again when a new version comes into force', async () => {
  const app = api.app();
  const ada = await api.aUser();
  assert.equal(await hasAgreed(app.db, ada.id), false);
  await app.db.write((transaction) => agree(app, transaction, ada.id));
  assert.equal(await hasAgreed(app.db, ada.id), true);
  await app.db.write((transaction) => agree(app, transaction, ada.id));
  const before = (await current(1)).body.id;
  const id = await inForce(1, 'Terms of Use');
  assert.equal(await hasAgreed(app.db, ada.id), false);
  const { body } = await (await api.as(ada)).call(getUserAgreements, { query: { type: 1 } });
  assert.deepEqual(
    body.data.map(({ agreement_version_id, is_active }) => [agreement_version_id, is_active]),
    [[before, false]],
  );
  assert.equal((await accept(await api.as(ada), id)).status, 201);
  assert.equal(await hasAgreed(app.db, ada.id), true);
});

test('consent for one game does not cover others', async () => {
  const app = api.app();
  const ada = await api.aUser();
  await app.db.write((transaction) => agree(app, transaction, ada.id, game.id));
  const answers = [game.id, game.id + 1, undefined].map((id) => hasAgreed(app.db, ada.id, id));
  assert.deepEqual(await Promise.all(answers), [true, false, false]);
});

const dialog = (headers: Record<string, string> = {}) => key.call(terms, { headers });

test('the terms dialog has a text of its own in each of the 22 languages', async () => {
  const texts = new Map<string, string>();
  for (const language of LANGUAGES) {
    const { body } = await dialog({ 'accept-language': language });
    texts.set(language, body.plaintext);
    assert.doesNotMatch(JSON.stringify(body), /[{]\w+[}]/, language);
    assert.ok(body.plaintext.includes(body.buttons.agree.text), language);
    for (const name of ['terms', 'privacy'] as const) {
      assert.ok(body.plaintext.includes(body.links[name].text), language);
      assert.ok(body.html.includes(`<a href="${body.links[name].url}">${body.links[name].text}</a>`), language);
    }
    assert.notEqual(body.buttons.agree.text, body.buttons.disagree.text);
  }
  assert.equal(texts.size, 22);
  assert.equal(new Set([...texts.values()]).size, 22);
  assert.match((await dialog({ 'accept-language': 'ar' })).body.html, /^<p dir="rtl">/);
});

test('the terms dialog names the platform that the account comes from', async () => {
  const plain = (await dialog()).body;
  assert.doesNotMatch(plain.plaintext, /Steam|avatar/);
  const steam = (await dialog({ 'x-modio-portal': 'Steam' })).body;
  assert.match(steam.plaintext, /your Steam display name, avatar and ID/);
  const german = (await dialog({ 'x-modio-portal': 'XboxLive', 'accept-language': 'de' })).body;
  assert.match(german.plaintext, /ID von Xbox/);
  assert.match(german.links.terms.url, /\/legal\/terms\?no_links=true$/);
  assert.equal((await dialog({ 'x-modio-portal': 'sso' })).body.plaintext, plain.plaintext);
  assert.deepEqual(
    Object.values(plain.links).map(({ required }) => required),
    [false, true, true, false, false, false],
  );
});

test('the links of the dialog lead to pages with the texts in force, without links for consoles', async () => {
  const id = await aDraft(8, 'Refunds & <returns>');
  const description = '<p>Ask <a href="https://example.org/">us</a>.</p>';
  await admin.call(editAgreementVersion, { params: at(id), body: { description, is_active: true } });
  const { links } = (await dialog()).body;
  const { pathname } = new URL(links.refund.url);
  const page = await api.request('GET', pathname);
  assert.equal(page.status, 200);
  assert.match(page.headers['content-type'] ?? '', /^text\/html/);
  assert.match(String(page.headers['content-security-policy']), /default-src 'none'.*frame-ancestors 'none'/);
  assert.match(page.text, /<h1>Refunds &amp; &lt;returns&gt;<\/h1>/);
  assert.match(page.text, /<a href="https:\/\/example.org\/"[^>]*>us<\/a>/);
  const console = await api.request('GET', `${pathname}?no_links=true`);
  assert.match(console.text, /<p>Ask us\.<\/p>/);
  for (const name of ['terms', 'privacy', 'monetization'] as const)
    assert.equal((await api.request('GET', new URL(links[name].url).pathname)).status, 200);
  for (const none of ['/legal/', '/legal/constructor', '/legal/direct-debit/x'])
    assert.equal((await api.request('GET', none)).status, 404);
});
