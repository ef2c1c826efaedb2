// Runs on one database: access is decided from declarations and credentials.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operations } from '../src/composition/resources.ts';
import { powerOf } from '../src/platform/access/admission.ts';
import type { TokenScope } from '../src/platform/access/caller.ts';
import { type AnyOperation, isEventStream } from '../src/platform/http/operation.ts';
import { addGameServerToken, editGameServerSettings } from '../src/signin/server-tokens/operations.ts';
import { type Client, startApi } from './api.ts';
import { anAppOf, serviceOf } from './browser.ts';
import { assertNone } from './hand-tables.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off', MODSTEAD_RATE_LIMITS: 'off' } });
const staff = await api.aUser({ admin: true });
const leader = await api.aUser();
const player = await api.aUser();
const [game, other] = [await api.aGame({ owner: leader }), await api.aGame({ owner: leader })];

type Access = AnyOperation['declaration']['access'];
interface Asked {
  readonly access: Access;
  readonly method: string;
  readonly inGame: boolean;
}
/** The error reference of the gate, or undefined if it admits the caller and the resource's own rules decide. */
type Gate = (asked: Asked) => number | undefined;

const isForKeys = ({ access, method }: Asked) =>
  access.kind === 'reader' && (method === 'GET' || access.keyWrites === true || access.byPost === true);

const nobody: Gate = ({ access }) =>
  access.kind === 'anyone' || ('link' in access && access.link) ? undefined : 11_000;
const key: Gate = (asked) => {
  const { kind } = asked.access;
  if (kind === 'service') return 11_060;
  return kind === 'anyone' || kind === 'authentication' || isForKeys(asked) ? undefined : 11_059;
};

/** `otherGame`: the token belongs to another game than the one in the path. */
function person(where: 'site' | 'here' | 'otherGame'): Gate {
  return ({ access, inGame }) => {
    if (access.kind === 'authentication') return 11_000;
    if (access.kind === 'service') return 11_060;
    const power = powerOf(access);
    if (where === 'site') return undefined;
    if (power === 'account' || power === 'staff' || (power === 'team' && !inGame)) return 12_004;
    return power === 'team' && where === 'otherGame' ? 11_104 : undefined;
  };
}

function application(where: 'here' | 'otherGame' | 'everywhere'): Gate {
  return ({ access, inGame }) => {
    if (access.kind === 'authentication') return 11_000;
    if (access.kind === 'service') return 11_060;
    const power = powerOf(access);
    if (power === 'personal') return where === 'everywhere' ? undefined : 11_104;
    if (power !== 'content') return 12_004;
    return access.kind === 'user' && inGame && where === 'otherGame' ? 11_104 : undefined;
  };
}

function service(where: 'here' | 'otherGame', ...scopes: TokenScope[]): Gate {
  return ({ access, inGame }) => {
    if (access.kind === 'authentication') return 11_000;
    if (access.kind === 'anyone' && !access.named) return undefined;
    if (access.kind === 'user' && !access.service) return 11_059;
    const needed: readonly TokenScope[] =
      access.kind === 'service'
        ? [access.scope, ...access.besides]
        : access.kind === 'user'
          ? [access.service!]
          : [access.kind === 'reader' && access.keyWrites ? 'write' : 'read'];
    const lacking = needed.find((scope) => !scopes.includes(scope));
    if (lacking) return lacking === 'read' ? 11_004 : 11_003;
    return access.kind === 'user' && inGame && where === 'otherGame' ? 11_104 : undefined;
  };
}

const isContent = (access: Access) => (access.kind === 'reader' || access.kind === 'anyone') && access.content === true;

function server(where: 'here' | 'otherGame'): Gate {
  return ({ access, inGame }) => {
    if (access.kind === 'authentication') return 11_000;
    if (access.kind === 'anyone' && !access.named) return undefined;
    if (access.kind === 'service') return 11_060;
    if (access.kind === 'user') return access.service ? 11_003 : 11_059;
    // A signed link is asked about after the credentials were refused.
    if (!isContent(access)) return 'link' in access && access.link ? undefined : 11_004;
    return inGame && where === 'otherGame' ? 11_104 : undefined;
  };
}

const visitor: Gate = (asked) => (isContent(asked.access) && asked.inGame ? undefined : nobody(asked));

const serverOf = async (owned: typeof game): Promise<Client> => {
  const params = { game_id: owned.id };
  const { body } = await (await api.as(leader)).call(addGameServerToken, { params, body: { name: 'Server' } });
  return api.withToken(body.access_token);
};
const opened = await api.aGame({ owner: leader });
await (await api.as(leader)).call(editGameServerSettings, {
  params: { game_id: opened.id },
  body: { anonymous_access: true },
});

const reading: Gate = (asked) => {
  const { access, method } = asked;
  // Operations for everyone that let a team write look at the scope themselves.
  if (access.kind === 'anyone' && powerOf(access) === 'team' && method !== 'GET') return 11_003;
  if (access.kind !== 'authentication' && access.kind !== 'service' && 'scope' in access && access.scope === 'write')
    return 11_003;
  return person('site')(asked);
};

/** Every request names `game`, unless another is given; credentials of another game belong to `other`. */
const ACTORS: Record<string, readonly [Client, Gate, named?: typeof game]> = {
  nobody: [api.nobody(), nobody],
  'nobody in a game that is open to everyone': [api.nobody(), visitor, opened],
  'a server of the game': [await serverOf(game), server('here')],
  'a server of another game': [await serverOf(other), server('otherGame')],
  'a player who may only read': [await api.as(player, { scopes: ['read'] }), reading],
  'the key of the game': [api.withKey(game), key],
  'the key of another game': [api.withKey(other), key],
  'the key of a user': [api.withKey(player), key],
  'a player on the site': [await api.as(player), person('site')],
  'a player in the game': [await api.as(player, { gameId: game.id }), person('here')],
  'a player in another game': [await api.as(player, { gameId: other.id }), person('otherGame')],
  'the leader on the site': [await api.as(leader), person('site')],
  'the leader in the game': [await api.as(leader, { gameId: game.id }), person('here')],
  'the leader in another game': [await api.as(leader, { gameId: other.id }), person('otherGame')],
  'the site’s owner on the site': [await api.as(staff), person('site')],
  'the site’s owner in the game': [await api.as(staff, { gameId: game.id }), person('here')],
  'an application of the game': [await anAppOf(api, leader, game), application('here')],
  'an application of another game': [await anAppOf(api, leader, other), application('otherGame')],
  'an application with access to all games': [
    await anAppOf(api, leader, other, { allGames: true }),
    application('everywhere'),
  ],
  'an application of the site’s owner': [
    await anAppOf(api, staff, game, { allGames: true }),
    application('everywhere'),
  ],
  'a service with the scope read': [await serviceOf(api, game, 'read'), service('here', 'read')],
  'a service with the scope write': [await serviceOf(api, game, 'write'), service('here', 'write')],
  'a service with the scope update': [await serviceOf(api, game, 'update'), service('here', 'update')],
  'a service with the scope monetization': [
    await serviceOf(api, game, 'monetization'),
    service('here', 'monetization'),
  ],
  'a service of another game': [
    await serviceOf(api, other, 'read,write,update'),
    service('otherGame', 'read', 'write', 'update'),
  ],
};

const GATE_REFS = [11_003, 11_004, 11_104, 12_004];
const WORDS: Record<string, string> = {
  portal: 'steam',
  portal_id: 'steam',
  content: 'mods',
  cook_uuid: '00000000-0000-4000-8000-000000000000',
  plan: 'basic',
  claim_id: '00000000-0000-4000-8000-000000000000',
};

async function answerTo(client: Client, { declaration: { method, path, returns } }: AnyOperation, named: typeof game) {
  const target = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    name === 'game_id' ? String(named.id) : (WORDS[name] ?? '999999'),
  );
  return client.send(isEventStream(returns) ? 'HEAD' : method, target);
}

/** These would delete the resources that later requests need, or revoke the token in use. */
const ENDING = [
  'logout',
  'delete-sessions',
  'delete-game',
  'rotate-own-api-key',
  'delete-own-api-key',
  'rotate-game-api-key',
  'close-account',
];

for (const [name, [client, gate, named = game]] of Object.entries(ACTORS))
  test(`${name} is admitted or refused by every operation as it declares`, async () => {
    const wrong: string[] = [];
    for (const operation of operations) {
      const { id, access, method, path, returns } = operation.declaration;
      const expected = gate({ access, method, inGame: path.includes('{game_id}') });
      if (expected === undefined && ENDING.includes(id)) continue;
      const answer = await answerTo(client, operation, named);
      assert.ok(answer.status < 500, `${id}: ${answer.text}`);
      const ref = (answer.body as { error?: { error_ref: number } } | undefined)?.error?.error_ref ?? 0;
      // The response to a HEAD has no body, and so no reference.
      const isRight = isEventStream(returns)
        ? expected === undefined || answer.status >= 400
        : expected === undefined
          ? !GATE_REFS.includes(ref)
          : ref === expected;
      if (!isRight) wrong.push(`${id}: ${ref} instead of ${expected ?? 'an error of the resource'}`);
    }
    assertNone(
      wrong,
      `The responses to ${name} contradict "access" of the declaration. Correct the access, add a path parameter to WORDS, or add an operation that ends the actor to ENDING, in test/actors.test.ts.`,
    );
  });
