import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import { type Client, type Game, startApi, type User } from '../../../test/api.ts';
import { aClient } from '../../../test/browser.ts';
import { codesSentTo } from '../../../test/mails.ts';
import { gogTicket, type SteamTicketContent, startPlatforms, steamTicket } from '../../../test/platforms.ts';
import { deleteGameOperation, getGame } from '../../catalogue/games/operations.ts';
import { getMod, getMods } from '../../catalogue/mods/operations.ts';
import { composeWorker } from '../../composition/compose.ts';
import { muteAUser } from '../../people/mutes/operations.ts';
import { addStaffMember } from '../../people/staff/operations.ts';
import { getAuthenticatedUser, getUser } from '../../people/users/operations.ts';
import { setUserStatus, USER_BANNED } from '../../people/users/users.ts';
import type { AnyOperation } from '../../platform/http/operation.ts';
import { deleteAUser, mergeOwnAccount } from '../accounts/operations.ts';
import { delegationToken, oauthToken } from '../oauth/operations.ts';
import {
  addConnection,
  authenticateViaDiscord,
  authenticateViaFacebook,
  authenticateViaGogGalaxy,
  authenticateViaItchio,
  authenticateViaOculus,
  authenticateViaSteam,
  authenticateViaUdt,
  deleteConnection,
  deleteGamePortal,
  disconnectUser,
  editGamePortal,
  getConnections,
  getGamePortals,
  meAuthenticate,
  meRegister,
} from './operations.ts';

const platforms = await startPlatforms();
const api = await startApi({ settings: { ...platforms.settings, MODSTEAD_JOBS: 'off' } });
const worker = composeWorker(api.app());
const steamKey = randomBytes(32);
const gogKey = randomBytes(32);

const game = await api.aGame();
const key = api.withKey(game);
const administrator = await api.as(game.owner);
const setUp = async (of: Game, portal: string, body: Record<string, string>) =>
  (await api.as(of.owner)).call(editGamePortal, { params: { game_id: of.id, portal }, body });
await setUp(game, 'steam', { app_id: '480', ticket_key: steamKey.toString('hex') });
await setUp(game, 'gog', { client_id: '46700618453700513', ticket_key: gogKey.toString('base64url') });
await setUp(game, 'discord', { client_id: '1234' });
await setUp(game, 'facebook', { app_id: '99', app_secret: 'facebook secret' });
await setUp(game, 'itchio', { itch_game_id: '3' });
await setUp(game, 'oculus', { quest_app_id: '7', quest_app_secret: 'quest secret' });

let people = 76_561_197_960_287_930n;
const newSteamId = () => {
  people += 1n;
  return people;
};
const ticketOf = (content: Partial<SteamTicketContent> = {}) =>
  steamTicket({ key: steamKey, appId: 480, issued: api.clock.now(), steamId: newSteamId(), ...content });
const agreed = (fields: Record<string, string>) => ({ body: { ...fields, terms_agreed: true } });

async function signInBySteam(content: Partial<SteamTicketContent> = {}, more: Record<string, string> = {}) {
  const answer = await key.call(authenticateViaSteam, agreed({ appdata: ticketOf(content), ...more }));
  assert.equal(answer.status, 200, answer.text);
  return api.withToken(answer.body.access_token);
}
const userOf = async (client: Client) => (await client.call(getAuthenticatedUser)).body;

/** The code in the last mail to this address. */
const codeSentTo = (email: string): string => codesSentTo(api, email).at(-1) ?? '';

beforeEach(() => {
  platforms.on('/api/v10/oauth2/@me', ({ headers }) =>
    headers.authorization === 'Bearer good'
      ? {
          json: {
            application: { id: '1234' },
            user: { id: '55', username: 'grace', global_name: 'Grace H', avatar: 'a1' },
          },
        }
      : { status: 401, json: { message: '401: Unauthorized' } },
  );
});

for (const version of [1, 2] as const)
  test(`Steam: an encrypted app ticket of version ${version} signs in the same user each time`, async () => {
    const steamId = newSteamId();
    const first = await userOf(await signInBySteam({ steamId, version }));
    const second = await userOf(await signInBySteam({ steamId, version }));
    assert.equal(second.id, first.id);
    const { data } = (await (await signInBySteam({ steamId })).call(getConnections)).body;
    assert.deepEqual(
      data.map(({ portal, portal_user_id, game_id }) => ({ portal, portal_user_id, game_id })),
      [{ portal: 'steam', portal_user_id: String(steamId), game_id: 0 }],
    );
  });

test('Steam: tickets that are damaged, too old, from the future, already used or made with another key or game are refused', async () => {
  const now = api.clock.now();
  const tickets = [
    ticketOf({ key: randomBytes(32) }),
    ticketOf({ appId: 481 }),
    ticketOf({ damage: 'crc' }),
    ticketOf({ damage: 'digest' }),
    ticketOf({ issued: now - 86_400 }),
    ticketOf({ issued: now + 61 }),
    ticketOf({ expires: now - 61 }),
    Buffer.from('no ticket').toString('base64'),
    Buffer.from([0x2a, 0xff, 0xff, 0xff, 0x7f]).toString('base64'),
    'Ā',
  ];
  const whole = Buffer.from(ticketOf(), 'base64');
  for (const at of [0, 3, 20, 60, whole.length - 1]) {
    const broken = Buffer.from(whole);
    broken.writeUInt8(broken.readUInt8(at) ^ 0x41, at);
    tickets.push(broken.toString('base64'));
  }
  for (const appdata of tickets) await key.refused(authenticateViaSteam, agreed({ appdata }), 401, 11018);
  const used = ticketOf();
  await key.call(authenticateViaSteam, agreed({ appdata: used }));
  api.clock.advance(61);
  await key.refused(authenticateViaSteam, agreed({ appdata: used }), 401, 11018);
  const disguised = Buffer.concat([Buffer.from(used, 'base64'), Buffer.from([9 * 8, 1])]).toString('base64');
  await key.refused(authenticateViaSteam, agreed({ appdata: disguised }), 401, 11018);
});

test('Steam: a game with a Web API key reads names, and a failure is reported', async () => {
  const named = await api.aGame();
  await setUp(named, 'steam', { app_id: '480', ticket_key: steamKey.toString('hex'), web_api_key: 'web key' });
  const path = '/ISteamUser/GetPlayerSummaries/v2/';
  platforms.on(path, ({ query }) => ({
    json: {
      response: {
        players: [
          { steamid: query.get('steamids'), personaname: 'Gra\u202Ece', avatarfull: 'https://a.example/a.jpg' },
        ],
      },
    },
  }));
  const signedIn = await api.withKey(named).call(authenticateViaSteam, agreed({ appdata: ticketOf() }));
  const { username } = await userOf(api.withToken(signedIn.body.access_token));
  assert.equal(username, 'Gra ce');
  const called = async (personaname: string) => {
    platforms.on(path, ({ query }) => ({
      json: { response: { players: [{ steamid: query.get('steamids'), personaname }] } },
    }));
    const { body } = await api.withKey(named).call(authenticateViaSteam, agreed({ appdata: ticketOf() }));
    return userOf(api.withToken(body.access_token));
  };
  assert.equal((await called('Gr\u0430 ce')).username, 'Gr\u0430 ce 2');
  for (const name of ['Modstead', 'deleted 7']) assert.match((await called(name)).name_id, /^player-[0-9a-f]{8}$/);
  assert.match((await called('The Admin')).username, /^player-/);
  for (const reply of [
    () => 'no answer' as const,
    () => ({ status: 403, json: {} }),
    () => ({ json: { response: {} } }),
  ]) {
    platforms.on(path, reply);
    await api.withKey(named).refused(authenticateViaSteam, agreed({ appdata: ticketOf() }), 401, 11020);
  }
});

test('GOG: tickets of the game sign in; others are refused', async () => {
  const [id, client, now] = ['46987466337914189', '46700618453700513', api.clock.now()];
  const path = `/users/${id}`;
  platforms.on(path, () => ({ json: { id, username: 'Grace', avatar: { medium: 'https://a.example/g.png' } } }));
  const appdata = gogTicket(gogKey, [id, client, now, 'more']);
  assert.equal((await key.call(authenticateViaGogGalaxy, agreed({ appdata }))).status, 200);
  for (const wrong of [
    gogTicket(randomBytes(32), [id, client, now]),
    gogTicket(gogKey, [id, '1', now]),
    gogTicket(gogKey, [id, client, now - 86_400]),
    gogTicket(gogKey, [id, client, now + 61]),
    gogTicket(gogKey, [12, client, now]),
    gogTicket(gogKey, []),
    'AAAA',
  ])
    await key.refused(authenticateViaGogGalaxy, agreed({ appdata: wrong }), 401, 11021);
  platforms.down(path);
  await key.refused(authenticateViaGogGalaxy, agreed({ appdata: gogTicket(gogKey, [id, client, now]) }), 401, 11023);
  const bare = api.withKey(await api.aGame());
  await bare.refused(authenticateViaGogGalaxy, agreed({ appdata }), 403, 11022);
  await bare.refused(authenticateViaSteam, agreed({ appdata }), 403, 11019);
});

test('Discord: only a token of the game’s own application signs in', async () => {
  const signedIn = await key.call(authenticateViaDiscord, agreed({ discord_token: 'good' }));
  assert.equal((await userOf(api.withToken(signedIn.body.access_token))).username, 'Grace H');
  await key.refused(authenticateViaDiscord, agreed({ discord_token: 'bad' }), 401, 11032);
  const path = '/api/v10/oauth2/@me';
  platforms.on(path, () => ({ json: { application: { id: '666' }, user: { id: '55' } } }));
  await key.refused(authenticateViaDiscord, agreed({ discord_token: 'good' }), 401, 11032);
  platforms.on(path, () => ({ json: { application: { id: '1234' } } }));
  await key.refused(authenticateViaDiscord, agreed({ discord_token: 'good' }), 401, 11043);
  platforms.down(path);
  await key.refused(authenticateViaDiscord, agreed({ discord_token: 'good' }), 401, 11043);
  const bare = api.withKey(await api.aGame());
  await bare.refused(authenticateViaDiscord, agreed({ discord_token: 'good' }), 401, 11032);
});

test('Facebook: the token is first inspected with the game’s secret', async () => {
  const debug = (data: object) =>
    platforms.on('/v23.0/debug_token', ({ query }) =>
      query.get('access_token') === '99|facebook secret' ? { json: { data } } : { status: 400, json: {} },
    );
  platforms.on('/v23.0/me', () => ({
    json: { id: '5', name: 'Grace', picture: { data: { url: 'https://a.example/f' } } },
  }));
  const sent = agreed({ facebook_token: 'token' });
  debug({ is_valid: true, app_id: '99', user_id: '5' });
  assert.equal((await key.call(authenticateViaFacebook, sent)).status, 200);
  debug({ is_valid: true, app_id: '98', user_id: '5' });
  await key.refused(authenticateViaFacebook, sent, 401, 11058);
  debug({ is_valid: false, app_id: '99' });
  await key.refused(authenticateViaFacebook, sent, 401, 11058);
  debug({ is_valid: true, app_id: '99', user_id: '6' });
  await key.refused(authenticateViaFacebook, sent, 401, 11067);
  platforms.down('/v23.0/debug_token');
  await key.refused(authenticateViaFacebook, sent, 401, 11067);
});

test('itch.io: the token must have been issued to this game', async () => {
  const answers = (json: object) => platforms.on('/api/1/jwt/me', () => ({ json }));
  const api_key = { type: 'jwt', issuer: { game_id: 3 } };
  const sent = agreed({ itchio_token: 'token' });
  answers({ user: { id: 12, username: 'grace' }, api_key });
  assert.equal((await key.call(authenticateViaItchio, sent)).status, 200);
  answers({ user: { id: 12 }, api_key: { issuer: { game_id: 4 } } });
  await key.refused(authenticateViaItchio, sent, 401, 11032);
  answers({ errors: ['invalid token'] });
  await key.refused(authenticateViaItchio, sent, 401, 11032);
  answers({ api_key });
  await key.refused(authenticateViaItchio, sent, 401, 11031);
  platforms.down('/api/1/jwt/me');
  await key.refused(authenticateViaItchio, sent, 401, 11031);
});

test('Meta: the platform redeems a nonce for an id that is valid in this game only', async () => {
  const sent = agreed({ device: 'quest', nonce: 'n', user_id: '12345678901234567', access_token: 't' });
  const validates = (is_valid: boolean) =>
    platforms.on('/user_nonce_validate', ({ form }) => ({
      json: { is_valid: is_valid && form.get('access_token') === 'OC|7|quest secret' && form.get('nonce') === 'n' },
    }));
  platforms.on('/me', () => ({ json: { id: '12345678901234567', alias: 'Grace' } }));
  validates(true);
  const signedIn = await key.call(authenticateViaOculus, sent);
  const { data } = (await api.withToken(signedIn.body.access_token).call(getConnections)).body;
  assert.deepEqual([data[0]?.portal, data[0]?.game_id, data[0]?.display_name], ['oculus', game.id, 'Grace']);
  validates(false);
  await key.refused(authenticateViaOculus, sent, 401, 11032);
  validates(true);
  platforms.on('/me', () => ({ json: { id: '1' } }));
  await key.refused(authenticateViaOculus, sent, 401, 11026);
  platforms.down('/user_nonce_validate');
  await key.refused(authenticateViaOculus, sent, 401, 11026);
  await key.refused(authenticateViaOculus, { body: { ...sent.body, device: 'rift' } }, 403, 11024);
  await api.withKey(await api.aGame()).refused(authenticateViaOculus, sent, 403, 11025);
});

test('keys of users, of deleted games and of the sandbox cannot sign in through portals', async () => {
  const sent = agreed({ appdata: ticketOf() });
  await api.withKey(await api.aUser()).refused(authenticateViaSteam, sent, 403, 11016);
  await api.withKey(await api.aUser()).refused(authenticateViaUdt, {}, 403, 11016);
  const sandboxed = await api.aGame({}, 'sandbox');
  await api.withKey(sandboxed).refused(authenticateViaSteam, sent, 403, 11017);
  const gone = await api.aGame();
  const operator = await api.as(await api.aUser({ admin: true }));
  assert.equal((await operator.call(deleteGameOperation, { params: { game_id: gone.id } })).status, 204);
  await api.withKey(gone).refused(authenticateViaSteam, sent, 401, 14001);
});

test('a user agrees to the terms once', async () => {
  const steamId = newSteamId();
  const sent = () => ({ body: { appdata: ticketOf({ steamId }) } });
  await key.refused(authenticateViaSteam, sent(), 403, 11074);
  await signInBySteam({ steamId });
  assert.equal((await key.call(authenticateViaSteam, sent())).status, 200);
});

test('a requested expiry is used unless it is past or too late', async () => {
  const now = api.clock.now();
  for (const [wished, end] of [
    [now + 60, now + 60],
    [now - 1, now + 31_536_000],
    [now + 31_536_001, now + 31_536_000],
  ]) {
    const sent = agreed({ appdata: ticketOf(), date_expires: String(wished) });
    assert.equal((await key.call(authenticateViaSteam, sent)).body.date_expires, end);
  }
});

test('banned users are refused on every portal', async () => {
  const steamId = newSteamId();
  const { id } = await userOf(await signInBySteam({ steamId }));
  await setUserStatus(api.app(), id, USER_BANNED);
  await key.refused(authenticateViaSteam, agreed({ appdata: ticketOf({ steamId }) }), 401, 11007);
});

test('sixteen concurrent first sign-ins of one user create one account, and those of sixteen namesakes sixteen', async () => {
  const steamId = newSteamId();
  const clients = await Promise.all(Array.from({ length: 16 }, () => signInBySteam({ steamId })));
  const users = await Promise.all(clients.map(userOf));
  assert.equal(new Set(users.map(({ id }) => id)).size, 1);
  const namesakes = await api.aGame();
  await setUp(namesakes, 'steam', { app_id: '480', ticket_key: steamKey.toString('hex'), web_api_key: 'web key' });
  platforms.on('/ISteamUser/GetPlayerSummaries/v2/', ({ query }) => ({
    json: { response: { players: [{ steamid: query.get('steamids'), personaname: 'John Smith' }] } },
  }));
  const answers = await Promise.all(
    Array.from({ length: 16 }, () =>
      api.withKey(namesakes).call(authenticateViaSteam, agreed({ appdata: ticketOf() })),
    ),
  );
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
});

test('an email address is added once the user confirms it with the mailed code', async () => {
  const email = 'grace.portal@example.org';
  const client = await signInBySteam({}, { email });
  await worker.runDue();
  await client.refused(meAuthenticate, { body: { security_code: 'WRONG' } }, 401, 11014);
  assert.equal((await client.call(meAuthenticate, { body: { security_code: codeSentTo(email) } })).status, 200);
  await client.refused(meRegister, { body: { email: 'other@example.org' } }, 400, 11034);
  await client.refused(meAuthenticate, { body: { security_code: 'AAAAA' } }, 400, 11034);
  await key.refused(authenticateViaSteam, agreed({ appdata: ticketOf(), email }), 403, 11133);

  const second = await signInBySteam();
  await second.refused(meRegister, { body: { email } }, 400, 11015);
  const contested = 'contested@example.org';
  await second.call(meRegister, { body: { email: contested } });
  await api.aUser({ email: contested });
  await second.refused(meAuthenticate, { body: { security_code: codeSentTo(contested) } }, 400, 11015);
  await second.call(meRegister, { body: { email: 'late@example.org' } });
  api.clock.advance(900);
  await second.refused(meAuthenticate, { body: { security_code: codeSentTo('late@example.org') } }, 401, 11012);
  await second.call(meRegister, { body: { email: 'guessed@example.org' } });
  for (let guess = 0; guess < 5; guess += 1)
    await second.refused(meAuthenticate, { body: { security_code: 'WRONG' } }, 401, 11014);
  const right = { body: { security_code: codeSentTo('guessed@example.org') } };
  await second.refused(meAuthenticate, right, 401, 11014);
});

test('a user from a portal is a guest until they confirm an address: they cannot mute, be muted or join the staff', async () => {
  const guest = await signInBySteam();
  const { id } = await userOf(guest);
  const ada = await api.aUser({ email: 'ada.mutes@example.org' });
  const [asAda, owner] = [await api.as(ada), await api.as(await api.aUser({ admin: true }))];
  await guest.refused(muteAUser, { params: { user_id: ada.id } }, 403, 17036);
  await asAda.refused(muteAUser, { params: { user_id: id } }, 403, 17037);
  await owner.refused(addStaffMember, { body: { user_id: id, level: 1 } }, 403, 17018);
  const email = 'guest.no.more@example.org';
  await guest.call(meRegister, { body: { email } });
  await guest.call(meAuthenticate, { body: { security_code: codeSentTo(email) } });
  assert.equal((await guest.call(muteAUser, { params: { user_id: ada.id } })).status, 204);
  assert.equal((await asAda.call(muteAUser, { params: { user_id: id } })).status, 204);
  assert.equal((await owner.call(addStaffMember, { body: { user_id: id, level: 1 } })).status, 201);
});

test('accounts with an account on the same portal cannot be merged', async () => {
  // Signed in on the site, because a token of a game cannot change the account.
  const [one, other] = [
    await api.as(await userOf(await signInBySteam())),
    await api.as(await userOf(await signInBySteam())),
  ];
  await one.refused(mergeOwnAccount, { body: { access_token: other.token! } }, 400, 17028);
});

test('the confirmation mail is sent once the mail server is reachable again', async (t) => {
  const email = 'patient.portal@example.org';
  const { mail } = api.app();
  const { send } = mail;
  t.after(() => {
    mail.send = send;
  });
  mail.send = () => Promise.reject(new Error('the post is closed'));
  const client = await signInBySteam({}, { email });
  await worker.runDue();
  await client.refused(meRegister, { body: { email } }, 500, 11064);
  mail.send = send;
  api.clock.advance(60);
  await worker.runDue();
  assert.equal((await client.call(meAuthenticate, { body: { security_code: codeSentTo(email) } })).status, 200);
});

const connect = (appdata: string): [AnyOperation, { params: { portal: string }; body: { appdata: string } }] => [
  addConnection,
  { params: { portal: 'steam' }, body: { appdata } },
];

test('a signed-in user links a portal and can sign in through it', async () => {
  const ada = await api.aUser({ email: 'ada.links@example.org' });
  const client = await api.as(ada, { gameId: game.id });
  const steamId = newSteamId();
  const linked = await client.call(...connect(ticketOf({ steamId })));
  assert.equal(linked.status, 201, linked.text);
  assert.equal((await userOf(await signInBySteam({ steamId }))).id, ada.id);
  await client.refused(...connect(ticketOf({ steamId })), 400, 11068);
  await client.refused(...connect(ticketOf()), 400, 11068);
  const other = await api.as(await api.aUser(), { gameId: game.id });
  await other.refused(...connect(ticketOf({ steamId })), 400, 17033);
  await other.refused(...connect(ticketOf({ key: randomBytes(32) })), 401, 11018);
  await other.refused(addConnection, { params: { portal: 'discord' }, body: { appdata: ticketOf() } }, 400, 11033);
  await other.refused(addConnection, { params: { portal: 'oculus' }, body: { nonce: 'n' } }, 422, 13009);
  const nowhere = await api.as(await api.aUser());
  await nowhere.refused(...connect(ticketOf()), 422, 13009);
  const sent = { params: { portal: 'steam' }, body: { appdata: ticketOf(), game_id: game.id } };
  assert.equal((await nowhere.call(addConnection, sent)).status, 201);
  await key.refused(addConnection, sent, 401, 11059);

  const params = { portal: 'steam' };
  assert.equal((await client.call(deleteConnection, { params })).status, 204);
  await client.refused(deleteConnection, { params }, 404, 17031);
});

test('the last way to sign in cannot be unlinked, not even by two concurrent requests', async () => {
  const client = await signInBySteam();
  await client.refused(deleteConnection, { params: { portal: 'steam' } }, 403, 17021);
  platforms.on('/api/v10/oauth2/@me', () => ({
    json: { application: { id: '1234' }, user: { id: '7001', username: 'x' } },
  }));
  await client.call(addConnection, { params: { portal: 'discord' }, body: { discord_token: 'good' } });
  const both = ['steam', 'discord'].map((portal) => client.call(deleteConnection, { params: { portal } }));
  const statuses = (await Promise.all(both)).map(({ status }) => status).sort();
  assert.deepEqual(statuses, [204, 403]);
});

async function backendOf(of: Game): Promise<Client> {
  const { client_id, client_secret } = await aClient(api, { gameId: of.id });
  const body = { grant_type: 'client_credentials', client_id, client_secret: client_secret!, scope: 'read write' };
  return api.withToken((await api.nobody().call(oauthToken, { body })).body.access_token);
}

async function delegationBy(user: User): Promise<string> {
  const client = await api.as(user, { gameId: game.id });
  return (await client.call(delegationToken)).body.token;
}

test('the game’s backend unlinks a portal for a user who delegated to it', async () => {
  const ada = await api.aUser({ email: 'ada.backend@example.org' });
  await (await api.as(ada, { gameId: game.id })).call(...connect(ticketOf()));
  const backend = await backendOf(game);
  const params = { portal_id: 'steam' };
  const headers = { 'X-Service-Delegation-Token': await delegationBy(ada) };
  await backend.refused(disconnectUser, { params }, 401, 11059);
  await (await backendOf(await api.aGame())).refused(disconnectUser, { params, headers }, 403, 11104);
  await backend.refused(disconnectUser, { params, headers: { 'X-Service-Delegation-Token': 'x' } }, 401, 12004);
  assert.equal((await backend.call(disconnectUser, { params, headers })).status, 204);
  await backend.refused(disconnectUser, { params, headers }, 400, 11069);
});

test('a delegation token signs its user in once they have agreed to the terms', async () => {
  const ada = await api.aUser();
  const headers = { 'X-Modio-Delegation-Token': await delegationBy(ada) };
  await key.refused(authenticateViaUdt, { headers }, 403, 11074);
  // The body that the C++ SDK sends (36).
  const agreed = await key.call(authenticateViaUdt, { headers, body: { terms_agreed: true, date_expires: 1e30 } });
  assert.equal((await userOf(api.withToken(agreed.body.access_token))).id, ada.id);
  assert.ok(agreed.body.date_expires > api.clock.now() + 86_400);
  await key.call(authenticateViaUdt, { headers });
  const client = await signInBySteam();
  const person = await userOf(client);
  const good = { headers: { 'X-Modio-Delegation-Token': await delegationBy(person as unknown as User) } };
  const signedIn = await key.call(authenticateViaUdt, good);
  assert.equal((await userOf(api.withToken(signedIn.body.access_token))).id, person.id);
  await key.refused(authenticateViaUdt, {}, 401, 11060);
  await key.refused(authenticateViaUdt, { headers: { 'X-Modio-Delegation-Token': '1.2.3.4.x' } }, 401, 11060);
  await api.withKey(await api.aGame()).refused(authenticateViaUdt, good, 403, 11104);
  api.clock.advance(900);
  await key.refused(authenticateViaUdt, good, 401, 11063);
});

test('a delegation token with another site’s key, a changed one, and one from the future get their own errors', async () => {
  const client = await signInBySteam();
  const person = await userOf(client);
  const token = await delegationBy(person as unknown as User);
  const sent = (altered: string) => ({ headers: { 'X-Modio-Delegation-Token': altered } });
  const sandboxed = await api.aGame({}, 'sandbox');
  const there = await api.as(sandboxed.owner, { gameId: sandboxed.id }, 'sandbox');
  const foreign = (await there.call(delegationToken)).body.token;
  await key.refused(authenticateViaUdt, sent(foreign), 401, 11061);
  const [name, tokenId, , ...rest] = token.split('.');
  await key.refused(authenticateViaUdt, sent([name, tokenId, game.owner.id, ...rest].join('.')), 401, 11060);
  await key.refused(authenticateViaUdt, sent(`${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`), 401, 11060);
  api.clock.advance(-60);
  assert.equal((await key.call(authenticateViaUdt, sent(token))).status, 200, 'clocks may differ a little');
  api.clock.advance(-1);
  await key.refused(authenticateViaUdt, sent(token), 401, 11062);
  const backend = await backendOf(game);
  await backend.refused(disconnectUser, { params: { portal_id: 'steam' }, ...sent(token) }, 401, 12004);
  api.clock.advance(61);
  assert.equal((await key.call(authenticateViaUdt, sent(token))).status, 200);
});

test('users show the name of the portal of the request', async () => {
  const ada = await api.aUser({ email: 'ada.names@example.org' });
  const mod = await api.aMod({ owner: ada, game });
  platforms.on('/api/v10/oauth2/@me', () => ({
    json: { application: { id: '1234' }, user: { id: '8001', username: 'ada_d' } },
  }));
  const client = await api.as(ada, { gameId: game.id });
  const one = { params: { game_id: game.id, mod_id: mod.id } };
  const all = { params: { game_id: game.id }, query: { id: mod.id } };
  const discord = { headers: { 'X-Modio-Portal': 'Discord' } };
  const names = async (more: object) => [
    (await key.call(getMod, { ...one, ...more })).body.submitted_by.display_name_portal,
    (await key.call(getMods, { ...all, ...more })).body.data[0]?.submitted_by.display_name_portal,
    (await key.call(getUser, { params: { user_id: ada.id }, ...more })).body.display_name_portal,
    (await client.call(getAuthenticatedUser, more)).body.display_name_portal,
  ];
  assert.deepEqual(await names(discord), [null, null, null, null]);
  await client.call(addConnection, { params: { portal: 'discord' }, body: { discord_token: 'good' } });
  assert.deepEqual(await names(discord), ['ada_d', 'ada_d', 'ada_d', 'ada_d']);
  assert.deepEqual(await names({}), [null, null, null, null]);
  assert.deepEqual(await names({ headers: { 'X-Modio-Portal': 'steam' } }), [null, null, null, null]);
  const own = await api.aGame({ owner: ada });
  const shown = await api.withKey(own).call(getGame, { params: { game_id: own.id }, ...discord });
  assert.equal(shown.body.submitted_by.display_name_portal, 'ada_d');
  await client.call(deleteConnection, { params: { portal: 'discord' } });
  assert.deepEqual(await names(discord), [null, null, null, null]);
});

test('administrators configure a portal; its secrets are never shown and stored encrypted', async () => {
  const params = { game_id: game.id, portal: 'facebook' };
  const { data } = (await administrator.call(getGamePortals, { params })).body;
  const facebook = data.find(({ portal }) => portal === 'facebook');
  assert.deepEqual([facebook?.settings, facebook?.secrets], [{ app_id: '99' }, ['app_secret']]);
  const rows = await api.app().db.query.selectFrom('portal_settings').selectAll().execute();
  assert.ok(!JSON.stringify(rows).includes('facebook secret'));
  assert.ok(!api.logLines.some((line) => line.includes('facebook secret') || line.includes(steamKey.toString('hex'))));

  const manager = await api.aUser();
  await api.joins(manager, game, 4);
  await (await api.as(manager)).refused(getGamePortals, { params }, 403, 14039);
  await (await api.as(manager)).refused(editGamePortal, { params, body: { app_id: '1' } }, 403, 14039);
  const fresh = { params: { game_id: (await api.aGame({ owner: game.owner })).id, portal: 'steam' } };
  const { error } = (
    await administrator.refused(editGamePortal, { ...fresh, body: { app_id: 'x', app_secret: 'y' } }, 422, 13009)
  ).body;
  assert.deepEqual(Object.keys(error.errors ?? {}).sort(), ['app_id', 'app_secret', 'ticket_key']);
  await administrator.refused(deleteGamePortal, fresh, 404, 14000);
  await administrator.call(editGamePortal, { ...fresh, body: { app_id: '480', ticket_key: 'ab'.repeat(32) } });
  const changed = await administrator.call(editGamePortal, { ...fresh, body: { app_id: '481' } });
  assert.deepEqual([changed.body.settings, changed.body.secrets], [{ app_id: '481' }, ['ticket_key']]);
  assert.equal((await administrator.call(deleteGamePortal, fresh)).status, 204);
});

test('a Steam account can register again after its account was deleted, unless it was banned', async () => {
  const operator = await api.as(await api.aUser({ admin: true }));
  for (const isBanned of [false, true]) {
    const steamId = newSteamId();
    const { id } = await userOf(await signInBySteam({ steamId }));
    if (isBanned) await setUserStatus(api.app(), id, USER_BANNED);
    assert.equal((await operator.call(deleteAUser, { params: { user_id: id } })).status, 204);
    const again = agreed({ appdata: ticketOf({ steamId }) });
    if (isBanned) await key.refused(authenticateViaSteam, again, 401, 11007);
    else assert.notEqual((await userOf(await signInBySteam({ steamId }))).id, id);
  }
});

test('a sign-in through a portal of a merged account reaches the remaining account', async () => {
  const steamId = newSteamId();
  const old = await signInBySteam({ steamId });
  const ada = await api.aUser();
  const body = { access_token: old.token! };
  assert.equal((await (await api.as(ada)).call(mergeOwnAccount, { body })).status, 204);
  assert.equal((await userOf(await signInBySteam({ steamId }))).id, ada.id);
});
