import assert from 'node:assert/strict';
import { editGameOperation } from '../src/catalogue/games/operations.ts';
import { acceptAgreement, getCurrentAgreement } from '../src/people/agreements/operations.ts';
import { AGREEMENT_TYPES } from '../src/people/agreements/types.ts';
import type { Environment } from '../src/platform/config/addresses.ts';
import { allowAuthorization, reviewAuthorization } from '../src/signin/oauth/authorization.ts';
import { addClient, type IssuedClient, type NewClient } from '../src/signin/oauth/clients.ts';
import { type Answer, type Api, type Client, encodeForm, type Game, type User } from './api.ts';
import { codesSentTo } from './mails.ts';

type Fields = Record<string, string | number | undefined>;

/** A browser without scripts: it stores cookies and submits forms. */
export class Browser {
  readonly #api: Api;
  readonly environment: Environment;
  readonly cookies = new Map<string, string>();
  readonly headers: Record<string, string>;

  constructor(api: Api, environment: Environment = 'production', headers: Record<string, string> = {}) {
    this.#api = api;
    this.environment = environment;
    this.headers = headers;
  }

  async #send(method: string, path: string, body?: string, headers: Record<string, string> = {}): Promise<Answer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await this.#api.request(method, path, {
      headers: { accept: 'text/html', ...this.headers, ...(cookie && { cookie }), ...headers },
      ...(body !== undefined && { body }),
      host: this.#api.host(this.environment),
    });
    for (const line of answer.headers['set-cookie'] ?? []) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      if (/Max-Age=0/.test(line)) this.cookies.delete(name!);
      else this.cookies.set(name!, value!);
    }
    return answer;
  }

  get(path: string): Promise<Answer> {
    return this.#send('GET', path);
  }

  post(path: string, form: Fields, headers: Record<string, string> = {}): Promise<Answer> {
    return this.#send('POST', path, encodeForm(form), {
      'content-type': 'application/x-www-form-urlencoded',
      ...headers,
    });
  }

  /** Fills in and submits the form of a page. */
  submit(page: Answer, fields: Fields = {}): Promise<Answer> {
    const action = unescaped(/<form method="post" action="([^"]*)"/.exec(page.text)![1]!);
    const hidden = [...page.text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
    return this.post(action, {
      ...Object.fromEntries(hidden.map(([, name, value]) => [name, unescaped(value!)])),
      ...fields,
    });
  }

  /** Completes the sign-in in front of a page, and returns the page. */
  async signIn(path: string, email: string): Promise<Answer> {
    const sent = await this.get(path);
    assert.equal(sent.status, 303, sent.text);
    const form = await this.get(sent.headers.location!);
    const asked = await this.submit(form, { email });
    assert.equal(asked.status, 200, asked.text);
    const code = codesSentTo(this.#api, email, this.environment).at(-1)!;
    const signedIn = await this.submit(asked, { code });
    assert.equal(signedIn.status, 303, signedIn.text);
    return this.get(signedIn.headers.location!);
  }
}

const unescaped = (text: string): string => text.replace(/&(?:amp|quot|lt|gt|#39);/g, (entity) => ENTITIES[entity]!);

const ENTITIES: Record<string, string> = { '&amp;': '&', '&quot;': '"', '&lt;': '<', '&gt;': '>', '&#39;': "'" };

export const REDIRECT = 'https://client.example/callback';

export const authorizePath = (query: Fields): string => `/oauth/authorize?${encodeForm(query)}`;

/** The parameters that part 1 of the specification requires in an authorization request. */
export const asking = (client: IssuedClient, more: Fields = {}): Fields => ({
  client_id: client.client_id,
  grant_type: 'authorization_code',
  response_type: 'code',
  scope: 'read write',
  redirect_uri: REDIRECT,
  state: 'a state',
  ...more,
});

export async function aClient(
  api: Api,
  client: Partial<NewClient> = {},
  environment: Environment = 'production',
): Promise<IssuedClient> {
  const app = api.app(environment);
  const gameId = client.gameId ?? (await api.aGame({}, environment)).id;
  const { name = api.unique('Skyport'), redirectUris = [REDIRECT] } = client;
  const grants = client.grants ?? ['authorization_code', 'refresh_token', 'client_credentials'];
  return app.db.write((transaction) => addClient(app, transaction, { ...client, gameId, name, redirectUris, grants }));
}

/** The query parameters of the redirect to the client. */
export const returned = ({ headers }: Answer): URLSearchParams => new URL(headers.location!).searchParams;

const tokenFor = async (api: Api, { client_id, client_secret }: IssuedClient, fields: Fields): Promise<Client> => {
  const answer = await api.request('POST', '/v1/oauth/token', {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: encodeForm({ client_id, client_secret, ...fields }),
  });
  assert.equal(answer.status, 200, answer.text);
  return api.withToken((answer.body as { access_token: string }).access_token);
};

/** Redeems a code, and returns a client with the user's token. */
export const redeemed = (api: Api, client: IssuedClient, code: string): Promise<Client> =>
  tokenFor(api, client, { grant_type: 'authorization_code', code, redirect_uri: REDIRECT });

/** An application of the game that the user has authorised. */
export async function anAppOf(
  api: Api,
  user: User,
  game: Game,
  { allGames = false, scopes = ['read', 'write'] }: { allGames?: boolean; scopes?: string[] } = {},
): Promise<Client> {
  const app = api.app();
  const client = await aClient(api, { gameId: game.id });
  const asked = asking(client, { scope: scopes.join(' '), client_id: String(client.client_id), state: undefined });
  const parameters = asked as Record<string, string>;
  const reviewed = await reviewAuthorization(app, { parameters, repeated: [], language: 'en' });
  assert.ok(reviewed.kind === 'consent');
  const location = await allowAuthorization(app, { user_id: user.id, epoch: 0 }, reviewed, { allGames });
  return redeemed(api, client, new URL(location).searchParams.get('code')!);
}

/** The backend of the game, with a service token of these scopes. */
export const serviceOf = async (api: Api, game: Game, scope: string): Promise<Client> =>
  tokenFor(api, await aClient(api, { gameId: game.id }), { grant_type: 'client_credentials', scope });

/** The owner agrees to the terms for games, and staff accepts the game. */
export async function accept(api: Api, game: { id: number; owner: { id: number } }): Promise<void> {
  const owner = await api.as(game.owner);
  const { id } = (await owner.call(getCurrentAgreement, { params: { agreement_type_id: AGREEMENT_TYPES.GAME } })).body;
  await owner.call(acceptAgreement, { body: { agreement_version_id: id } });
  const staff = await api.as(await api.aUser({ admin: true }));
  const accepted = await staff.call(editGameOperation, { params: { game_id: game.id }, body: { status: 1 } });
  assert.equal(accepted.status, 200, accepted.text);
}

/** A user signs in, types the code that a device shows, and decides. */
export async function decideOnDevice(api: Api, code: string, decision: 'allow' | 'deny', email: string): Promise<void> {
  const browser = new Browser(api);
  const sent = await browser.submit(await browser.get('/connect'), { code });
  const asked = await browser.submit(await browser.get(sent.headers.location!), { email });
  const back = await browser.submit(asked, { code: codesSentTo(api, email).at(-1) });
  const question = await browser.submit(await browser.get(back.headers.location!), { code });
  assert.equal((await browser.submit(question, { decision })).status, 200);
}
