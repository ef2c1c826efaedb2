import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, encodeForm, startApi } from '../../../test/api.ts';
import { aClient, asking, authorizePath, Browser, REDIRECT, returned } from '../../../test/browser.ts';
import type { IssuedClient, NewClient } from './clients.ts';
import type { TokenAnswer } from './grants.ts';

const api = await startApi();
const client = await aClient(api);
let people = 0;

type Fields = Record<string, string | number | undefined>;

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const TOKEN = '/v1/oauth/token';

const send = (body: string, headers: Record<string, string> = {}, path = TOKEN) =>
  api.request('POST', path, { headers: { ...FORM, ...headers }, body });

const backend = (more: Fields = {}): Fields => ({ ...client, grant_type: 'client_credentials', ...more });

function isError(answer: Answer, error: string, description?: string | RegExp, status = 400): void {
  const body = answer.body as { error?: string; error_description?: string };
  assert.deepEqual([answer.status, body.error], [status, error], answer.text);
  assert.match(body.error_description ?? '', /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
  if (typeof description === 'string') assert.equal(body.error_description, description);
  if (description instanceof RegExp) assert.match(body.error_description!, description);
}

async function tokensOf(by: IssuedClient): Promise<Required<TokenAnswer>> {
  const browser = new Browser(api);
  const consent = await browser.signIn(authorizePath(asking(by)), `token-${++people}@example.org`);
  const code = returned(await browser.submit(consent, { decision: 'allow' })).get('code')!;
  const answer = await send(encodeForm({ ...by, grant_type: 'authorization_code', code, redirect_uri: REDIRECT }));
  assert.equal(answer.status, 200, answer.text);
  return answer.body as Required<TokenAnswer>;
}

test('a body that is no form gets 415, and an Accept other than JSON gets 406, as everywhere', async () => {
  const json = JSON.stringify(backend());
  const wrong = await send(json, { 'content-type': 'application/json' });
  isError(wrong, 'invalid_request', undefined, 415);
  assert.equal((wrong.body as { error_ref: number }).error_ref, 13006);
  const parts = '--x\r\nContent-Disposition: form-data; name="grant_type"\r\n\r\nclient_credentials\r\n--x--\r\n';
  isError(await send(parts, { 'content-type': 'multipart/form-data; boundary=x' }), 'invalid_request', undefined, 415);
  isError(await api.request('POST', TOKEN, { body: encodeForm(backend()) }), 'invalid_request', undefined, 415);
  isError(await send(encodeForm(backend()), { accept: 'text/html' }), 'invalid_request', undefined, 406);
  assert.equal((await send(encodeForm(backend()), { accept: 'application/json' })).status, 200);
});

test('a secret or any other parameter in the query is refused', async () => {
  const { client_id, client_secret } = client;
  const rest = { client_id, grant_type: 'client_credentials' };
  const query = encodeForm({ client_secret });
  const description = 'The client_secret must be in the body of the request, not in its address.';
  isError(await send(encodeForm(rest), {}, `${TOKEN}?${query}`), 'invalid_request', description);
  isError(await send(encodeForm(backend()), {}, `${TOKEN}?${query}`), 'invalid_request', description);
  isError(await api.request('POST', `${TOKEN}?${encodeForm(backend())}`), 'invalid_request', /client_secret/);
  isError(
    await send(encodeForm(backend()), {}, `${TOKEN}?grant_type=client_credentials`),
    'invalid_request',
    /grant_type/,
  );
  isError(
    await send('token=x', {}, `/v1/oauth/revoke?${encodeForm({ ...client })}`),
    'invalid_request',
    /client_secret/,
  );
  assert.equal((await send(encodeForm(backend()), {}, `${TOKEN}?api_key=x&utm_source=y`)).status, 200);
});

test('pages of other sites cannot read the answers of the token endpoint', async () => {
  const headers = { origin: 'https://elsewhere.example' };
  for (const path of [TOKEN, '/v1/oauth/revoke']) {
    const answer = await send(encodeForm(backend({ token: 'x' })), headers, path);
    assert.equal(answer.status, 200, answer.text);
    const preflight = { ...headers, 'access-control-request-method': 'POST' };
    for (const each of [answer, await api.request('OPTIONS', path, { headers: preflight })])
      assert.deepEqual(
        Object.keys(each.headers).filter((name) => name.startsWith('access-control-')),
        [],
      );
  }
  const open = await api.request('GET', '/v1/ping', { headers });
  assert.equal(open.headers['access-control-allow-origin'], '*');
});

for (const name of ['grant_type', 'client_id', 'client_secret', 'scope', 'something_else'])
  test(`sending ${name} twice is invalid_request`, async () => {
    const fields = backend({ scope: 'read', something_else: 'x' });
    const twice = `${encodeForm(fields)}&${encodeForm({ [name]: fields[name] })}`;
    isError(await send(twice), 'invalid_request', `The ${name} may be given only once.`);
    const json = `${encodeForm(fields)}&${encodeForm({ input_json: JSON.stringify({ [name]: fields[name] }) })}`;
    isError(await send(json), 'invalid_request', `The ${name} may be given only once.`);
  });

test('a credential in both the header and the body is refused', async () => {
  const { client_id, client_secret } = client;
  const authorization = `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`;
  const ask = (more: Fields) => send(encodeForm({ grant_type: 'client_credentials', ...more }), { authorization });
  assert.equal((await ask({})).status, 200);
  assert.equal((await ask({ client_id })).status, 200);
  isError(await ask({ client_secret }), 'invalid_request', /client_secret/);
  isError(await ask({ client_id: client_id + 1 }), 'invalid_request', /client_id/);
});

test('errors are 400 and name the parameter; only a wrong Authorization header gets 401', async () => {
  const { refresh_token } = await tokensOf(client);
  const ask = (fields: Fields, headers: Record<string, string> = {}) => send(encodeForm(fields), headers);
  const code = { ...client, grant_type: 'authorization_code' };
  const refresh = { ...client, grant_type: 'refresh_token', refresh_token };
  isError(await ask({ ...client }), 'invalid_request', 'The grant_type is required.');
  isError(await ask(backend({ grant_type: '' })), 'invalid_request', 'The grant_type is required.');
  isError(await ask(backend({ client_id: undefined })), 'invalid_request', 'The client_id is required.');
  isError(await ask(backend({ client_id: 'abc' })), 'invalid_request', 'The client_id must be a whole number.');
  isError(await ask(backend({ client_secret: '' })), 'invalid_request', 'The client_secret is required.');
  isError(await ask(code), 'invalid_request', 'The redirect_uri is required.');
  isError(await ask({ ...code, redirect_uri: REDIRECT }), 'invalid_request', 'The code is required.');
  isError(await ask({ ...code, redirect_uri: REDIRECT, code: 'x' }), 'invalid_grant', / \(code\)$/);
  isError(await ask({ ...refresh, redirect_uri: `${REDIRECT}x` }), 'invalid_grant', / \(redirect_uri\)$/);
  isError(
    await ask({ ...refresh, refresh_token: 'x', redirect_uri: REDIRECT }),
    'invalid_grant',
    / \(refresh_token\)$/,
  );
  isError(await ask(backend({ scope: 'all' })), 'invalid_scope', / \(scope\)$/);
  isError(await ask(backend({ grant_type: 'password' })), 'unsupported_grant_type', / \(grant_type\)$/);
  isError(await ask(backend({ client_secret: 'wrong' })), 'invalid_client', / \(client_secret\)$/);
  const authorization = `Basic ${Buffer.from(`${client.client_id}:wrong`).toString('base64')}`;
  const refused = await ask({ grant_type: 'client_credentials' }, { authorization });
  isError(refused, 'invalid_client', / \(client_secret\)$/, 401);
  assert.match(String(refused.headers['www-authenticate']), /^Basic /);
});

test('descriptions are in the language of the caller if the text is ASCII, otherwise in English', async () => {
  const said = async (language: string, fields: Fields) => {
    const answer = await send(encodeForm(fields), { 'accept-language': language });
    isError(answer, (answer.body as { error: string }).error);
    return (answer.body as { error_description: string }).error_description;
  };
  assert.equal(await said('de', { ...client }), 'Das Feld grant_type ist erforderlich.');
  assert.equal(await said('es', { ...client }), 'El campo grant_type es obligatorio.');
  assert.match(await said('fr', backend({ client_secret: 'x' })), /^L'application OAuth est inconnue/);
  assert.match(await said('de', backend({ scope: 'x' })), /^Der Geltungsbereich ist unbekannt/);
  assert.equal(await said('ja', { ...client }), 'The grant_type is required.');
  assert.match(await said('es', backend({ grant_type: 'x' })), /^This grant type is not supported/);
});

const refreshing = (by: IssuedClient, refresh_token: string, redirect_uri?: string) =>
  send(encodeForm({ ...by, grant_type: 'refresh_token', refresh_token, redirect_uri }));

test('a standard client may omit redirect_uri at a refresh, and no client may send a wrong one', async () => {
  const standard = await aClient(api, { standard: true } satisfies Partial<NewClient>);
  let { refresh_token } = await tokensOf(standard);
  for (const redirect_uri of [undefined, '', REDIRECT]) {
    const answer = await refreshing(standard, refresh_token, redirect_uri);
    assert.equal(answer.status, 200, answer.text);
    refresh_token = (answer.body as Required<TokenAnswer>).refresh_token;
  }
  for (const wrong of [`${REDIRECT}/`, 'https://evil.example/', ' '])
    isError(await refreshing(standard, refresh_token, wrong), 'invalid_grant', / \(redirect_uri\)$/);
  const plain = await tokensOf(client);
  for (const redirect_uri of [undefined, ''])
    isError(await refreshing(client, plain.refresh_token, redirect_uri), 'invalid_request', /redirect_uri/);
  assert.equal((await refreshing(client, plain.refresh_token, REDIRECT)).status, 200);
});

test('a form that is too large, malformed or empty gets a client error', async () => {
  isError(await send(`grant_type=${'a'.repeat(70_000)}`), 'invalid_request');
  isError(await send(Array.from({ length: 9_000 }, (_, i) => `a${i}=`).join('&')), 'invalid_request');
  isError(await send('&&&==&%%%=%'), 'invalid_request');
  isError(await send('input_json=%7B'), 'invalid_request');
  isError(await api.request('POST', TOKEN), 'invalid_request');
});
