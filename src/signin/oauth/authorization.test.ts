import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, type Client, type Game, type Mod, startApi } from '../../../test/api.ts';
import {
  aClient,
  accept,
  asking,
  authorizePath,
  Browser,
  REDIRECT,
  redeemed,
  returned,
} from '../../../test/browser.ts';
import { editModOperation } from '../../catalogue/mods/operations.ts';
import type { IssuedClient } from './clients.ts';

const api = await startApi({ writesRows: true });
let people = 0;
const anAddress = () => `asked-${++people}@example.org`;

type Fields = Record<string, string | number | undefined>;

const ask = (client: IssuedClient, more: Fields = {}, headers: Record<string, string> = {}) =>
  new Browser(api, 'production', headers).get(authorizePath(asking(client, more)));

async function aGameWithClient(accepted = true): Promise<{ game: Game; client: IssuedClient }> {
  const game = await api.aGame({ accepted });
  return { game, client: await aClient(api, { gameId: game.id }) };
}

/** The page returns to the client only by a link, which carries the client’s error. */
function isWayBack(answer: Answer, error: string): void {
  assert.deepEqual([answer.status, answer.headers.location], [400, undefined], answer.text);
  const link = /<a class="button quiet"[^>]* href="([^"]+)">Return to client\.example</.exec(answer.text)?.[1];
  const { origin, searchParams } = new URL(link!.replaceAll('&amp;', '&'));
  assert.deepEqual(
    [origin, searchParams.get('error'), searchParams.get('state')],
    [new URL(REDIRECT).origin, error, 'a state'],
  );
}

/** Shows omitted fields as null. */
const shown = (_: string, value: unknown) => (value === undefined ? null : value);

const specified: [Fields, string][] = [
  [{ grant_type: undefined }, 'invalid_request'],
  [{ response_type: undefined }, 'invalid_request'],
  [{ scope: undefined }, 'invalid_request'],
  [{ grant_type: 'password' }, 'unsupported_grant_type'],
  [{ scope: 'read admin' }, 'invalid_scope'],
];

for (const [fields, error] of specified)
  test(`T52: ${JSON.stringify(fields, shown)} gets an error page for a client of an unaccepted game, and a redirect for an accepted one`, async () => {
    const { game, client } = await aGameWithClient(false);
    isWayBack(await ask(client, fields), error);
    await accept(api, game);
    const answer = await ask(client, fields);
    assert.deepEqual([answer.status, returned(answer).get('error')], [302, error]);
  });

const challenge = 'a'.repeat(43);
const malformed: [Fields, string][] = [
  [{ response_type: 'token' }, 'unsupported_response_type'],
  [{ response_type: 'code token' }, 'unsupported_response_type'],
  [{ code_challenge: challenge }, 'invalid_request'],
  [{ code_challenge: challenge, code_challenge_method: 'plain' }, 'invalid_request'],
  [{ code_challenge: 'a'.repeat(42), code_challenge_method: 'S256' }, 'invalid_request'],
  [{ code_challenge_method: 'S256' }, 'invalid_request'],
];

for (const [fields, error] of malformed)
  test(`T52: the bad request ${JSON.stringify(fields)} does not redirect, whichever client it names`, async () => {
    for (const accepted of [true, false]) isWayBack(await ask((await aGameWithClient(accepted)).client, fields), error);
  });

test('T52: a repeated parameter does not redirect', async () => {
  const { client } = await aGameWithClient();
  const path = authorizePath(asking(client));
  for (const again of ['scope=read', 'grant_type=authorization_code', 'grant_type=password'])
    isWayBack(await new Browser(api).get(`${path}&${again}`), 'invalid_request');
  const standard = await aClient(api, { standard: true });
  const twice = `${authorizePath(asking(standard))}&grant_type=authorization_code`;
  isWayBack(await new Browser(api).get(twice), 'invalid_request');
  for (const again of [`redirect_uri=${encodeURIComponent('https://evil.example/')}`, 'client_id=1']) {
    const answer = await new Browser(api).get(`${path}&${again}`);
    assert.deepEqual([answer.status, answer.headers.location], [400, undefined]);
    assert.doesNotMatch(answer.text, /client\.example/);
  }
});

test('a decision is answered with 303, so that the browser does not resend the form', async () => {
  for (const accepted of [true, false])
    for (const decision of ['allow', 'deny']) {
      const browser = new Browser(api);
      const { client } = await aGameWithClient(accepted);
      const consent = await browser.signIn(authorizePath(asking(client)), anAddress());
      const answer = await browser.submit(consent, { decision });
      assert.equal(answer.status, 303, answer.text);
      assert.equal(returned(answer).has('code'), decision === 'allow');
    }
});

test('the consent page shows the owner and the age of the application, and marks it unverified until its game is accepted', async () => {
  const owner = await api.aUser({ username: 'Grace <Hopper>' });
  const game = await api.aGame({ name: 'Skyfarers & Co', owner, accepted: false });
  const client = await aClient(api, { gameId: game.id, name: 'Cloud Atlas' });
  const browser = new Browser(api);
  const path = authorizePath(asking(client));
  const consent = await browser.signIn(path, anAddress());
  assert.match(consent.text, /An application of Skyfarers &amp; Co, which Grace &lt;Hopper&gt; owns/);
  assert.match(consent.text, /Registered on January 15, 2027/);
  assert.match(consent.text, /This application is not verified/);
  await accept(api, game);
  const verified = await browser.get(path);
  assert.match(verified.text, /which Grace &lt;Hopper&gt; owns/);
  assert.doesNotMatch(verified.text, /not verified/);
});

test('an application acts only in its own game unless the user ticks all games', async () => {
  const { game, client } = await aGameWithClient();
  const email = anAddress();
  const person = await api.aUser({ email });
  const elsewhere = await api.aMod({ owner: person });
  const own = await api.aMod({ owner: person, game });
  const edits = (app: Client, mod: Mod) =>
    app.call(editModOperation, { params: { game_id: mod.game_id, mod_id: mod.id }, body: { summary: 'Better' } });
  const browser = new Browser(api);
  const path = authorizePath(asking(client));
  const consent = await browser.signIn(path, email);
  assert.match(
    consent.text,
    /<input type="checkbox" name="reach" value="all-games"> <span>Let it do this in all other/,
  );
  const decide = async (more: Fields) =>
    redeemed(api, client, returned(await browser.submit(consent, { decision: 'allow', ...more })).get('code')!);
  for (const more of [{}, { reach: '' }, { reach: 'own' }]) {
    const bound = await decide(more);
    assert.equal((await edits(bound, own)).status, 200);
    assert.equal((await edits(bound, elsewhere)).status, 403);
  }
  const free = await decide({ reach: 'all-games' });
  for (const mod of [own, elsewhere]) assert.equal((await edits(free, mod)).status, 200);
});

test('a registered redirect URI that newer rules refuse gets an error page, not a server error', async () => {
  const { client } = await aGameWithClient();
  for (const uri of [
    'https://client.example/\u0007',
    'https://client.example/a b',
    'https://clïent.example/',
    'nonsense',
  ]) {
    await api
      .app()
      .db.query.updateTable('oauth_clients')
      .set({ redirect_uris: JSON.stringify([uri]) })
      .where('id', '=', client.client_id)
      .execute();
    for (const more of [{}, { scope: undefined }]) {
      const answer = await ask(client, { redirect_uri: uri, ...more });
      assert.deepEqual([answer.status, answer.headers.location], [400, undefined], JSON.stringify(uri));
    }
  }
});

test('a standard client may omit grant_type, and no client may send a wrong one', async () => {
  const standard = await aClient(api, { standard: true });
  for (const grant_type of [undefined, '', 'authorization_code'])
    assert.equal((await ask(standard, { grant_type })).status, 303, String(grant_type));
  for (const grant_type of ['password', 'client_credentials', 'Authorization_code', 'authorization_code '])
    assert.equal(returned(await ask(standard, { grant_type })).get('error'), 'unsupported_grant_type', grant_type);
  const plain = await aClient(api);
  for (const grant_type of [undefined, ''])
    assert.equal(returned(await ask(plain, { grant_type })).get('error'), 'invalid_request', String(grant_type));
});

test('descriptions name the parameter, in the language of the request if its text is ASCII', async () => {
  const { client } = await aGameWithClient();
  const said = async (language: string, more: Fields) =>
    returned(await ask(client, more, { 'accept-language': language })).get('error_description');
  assert.equal(await said('en', { scope: undefined }), 'The scope is required.');
  assert.equal(await said('de', { scope: undefined }), 'Das Feld scope ist erforderlich.');
  assert.equal(await said('fr', { scope: undefined }), 'Le champ scope est obligatoire.');
  assert.equal(await said('fr', { grant_type: 'x' }), "Ce type d'autorisation n'est pas pris en charge. (grant_type)");
  assert.equal(await said('ja', { scope: undefined }), 'The scope is required.');
  assert.equal(await said('es', { grant_type: 'x' }), 'This grant type is not supported. (grant_type)');
});
