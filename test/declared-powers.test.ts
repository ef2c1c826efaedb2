// Runs on one database: powers are declarations.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operations } from '../src/composition/resources.ts';
import { joinStaff } from '../src/people/staff/staff.ts';
import { powerOf } from '../src/platform/access/admission.ts';
import { HOLDERS, type Power } from '../src/platform/access/powers.ts';
import { STAFF_LEVELS } from '../src/platform/access/staff.ts';
import { type AnyOperation, isEventStream } from '../src/platform/http/operation.ts';
import { type Client, START, startApi } from './api.ts';
import { anAppOf } from './browser.ts';
import { assertNone, assertRows } from './hand-tables.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off', MODSTEAD_RATE_LIMITS: 'off' } });

/** The operations that need a user's token. */
const personal = operations.filter(({ declaration: { access } }) => access.kind === 'user');
const ofPower = (...powers: Power[]) =>
  personal.filter(({ declaration }) => powers.includes(powerOf(declaration.access)));

const owner = await api.aUser();
await api
  .app()
  .db.write((transaction) =>
    joinStaff(transaction, { userId: owner.id, level: STAFF_LEVELS.owner, addedBy: 0, now: START }),
  );
const [game, other] = [await api.aGame({ owner }), await api.aGame({ owner })];

const WORDS: Record<string, string> = {
  portal: 'steam',
  content: 'mods',
  cook_uuid: '00000000-0000-4000-8000-000000000000',
  plan: 'basic',
};

/** The gate runs before the input is validated, so an empty request suffices. */
function pathOf({ declaration: { path } }: AnyOperation, gameId: number): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) =>
    name === 'game_id' ? String(gameId) : (WORDS[name] ?? '999999'),
  );
}

async function refOf(client: Client, operation: AnyOperation, gameId: number): Promise<number> {
  // An event stream that opens does not end.
  const isStream = isEventStream(operation.declaration.returns);
  if (isStream && (await client.send('HEAD', pathOf(operation, gameId))).status === 200) return 0;
  const answer = await client.send(operation.declaration.method, pathOf(operation, gameId));
  assert.ok(answer.status < 500, `${operation.declaration.id}: ${answer.text}`);
  const { error } = (answer.body ?? {}) as { error?: { error_ref: number } };
  return error?.error_ref ?? 0;
}

async function refsOf(client: Client, asked: readonly AnyOperation[], gameId: number) {
  const found: Record<string, number> = {};
  for (const operation of asked) found[operation.declaration.id] = await refOf(client, operation, gameId);
  return found;
}

const all = (asked: readonly AnyOperation[], ref: number) =>
  Object.fromEntries(asked.map(({ declaration }) => [declaration.id, ref]));

const namesGame = ({ declaration: { path } }: AnyOperation) => path.includes('{game_id}');
const GATES = [12_004, 11_104];

test('an application’s token with every scope, authorised by the site’s owner, opens only content', async () => {
  const app = await anAppOf(api, owner, game, { allGames: true });
  const closed = ofPower('profile', 'money', 'team', 'account', 'staff');
  assert.deepEqual(await refsOf(app, closed, game.id), all(closed, 12_004));
  const open = await refsOf(app, ofPower('content', 'personal'), game.id);
  assert.deepEqual(
    Object.entries(open).filter(([, ref]) => GATES.includes(ref)),
    [],
  );
});

test('an application’s token is refused by operations that accept visitors but are not content', async () => {
  const named = operations.filter(
    ({ declaration: { access } }) => access.kind === 'anyone' && access.named && powerOf(access) !== 'content',
  );
  assert.ok(named.length > 0);
  const app = await anAppOf(api, owner, game, { allGames: true });
  assert.deepEqual(await refsOf(app, named, game.id), all(named, 12_004));
});

test('an application with access to its own game opens nothing in another game or beyond games', async () => {
  const app = await anAppOf(api, owner, game);
  const inOtherGame = [...ofPower('content').filter(namesGame), ...ofPower('personal')];
  assert.deepEqual(await refsOf(app, inOtherGame, other.id), all(inOtherGame, 11_104));
  const own = await refsOf(app, ofPower('content'), game.id);
  assert.deepEqual(
    Object.entries(own).filter(([, ref]) => GATES.includes(ref)),
    [],
  );
});

test('a token of a sign-in in one game opens no account, site or other game', async () => {
  const inGame = await api.as(owner, { gameId: game.id });
  const closed = [...ofPower('account', 'staff'), ...ofPower('team').filter((each) => !namesGame(each))];
  assert.deepEqual(await refsOf(inGame, closed, game.id), all(closed, 12_004));
  const inOtherGame = ofPower('team').filter(namesGame);
  assert.deepEqual(await refsOf(inGame, inOtherGame, other.id), all(inOtherGame, 11_104));
});

/** Words that suggest power over users, keys, money, moderation or settings. */
const ADMINISTRATIVE =
  /\bteam|previewer|\/preview$|restriction|moderation|report|audit|staff|\bbans?\b|\/lock|api-key|token|secret|oauth|me\/sessions|webhook|stream|rules|wordlist|portal|connection|runner|cloud-cooking|file-types|findings|metrics|agreement|export|email|mailing|merge|close|account|releases|wallet|purchase|payout|\/settings/;

/** Why an operation that matches ADMINISTRATIVE is content nevertheless. */
const CONTENT_BECAUSE: Record<string, string> = {
  logout: 'ends no token but the one that is shown',
  'register-game-previewer': 'a user follows a link that they received',
  'register-mod-previewer': 'a user follows a link that they received',
  'get-user-purchases': 'lists what the user may install; it spends nothing',
  'get-mod-metrics': 'shows a team how often its own mod is used',
  'export-mod-metrics': 'shows a team how often its own mod is used',
  'get-moderation-state': 'shows authors the state of their own content',
  'appeal-moderation-decision': 'an author comments on a decision about their own content',
};

test('an operation that looks administrative is not content, unless a reason is given', () => {
  const sounding = ofPower('content').filter(({ declaration: { id, path, tag } }) =>
    ADMINISTRATIVE.test(`${path} ${tag.toLowerCase()} ${id}`),
  );
  const ids = sounding.map(({ declaration }) => declaration.id);
  assertNone(
    ids.filter((id) => !CONTENT_BECAUSE[id]),
    'These look like more than content: declare another power in their access, or give the reason in CONTENT_BECAUSE in test/declared-powers.test.ts.',
  );
});

test('an operation that changes a game itself is not content', () => {
  const ofGame = ofPower('content').filter(
    ({ declaration: { method, path } }) => method !== 'GET' && /^\/games(\/\{game_id\}(\/[\w-]+)?)?$/.test(path),
  );
  const ids = ofGame.map(({ declaration }) => declaration.id).sort();
  const intoGames = ['add-collection', 'add-guide', 'add-mod', 'register-game-previewer'];
  assertNone(
    ids.filter((id) => !intoGames.includes(id)),
    'These change a game with a token for content: declare another power in their access, or, if they only add to the game, add them to intoGames in this test.',
  );
  assert.deepEqual(ids, intoGames);
});

/** Content that belongs to no game: why an application may access it nevertheless. */
const BEYOND_GAMES: Record<string, string> = {
  logout: 'ends no token but the one that is shown',
  'get-authenticated-user': 'identifies the user who authorised the application',
  'get-resource-owner': 'shows what everyone sees who can see the resource',
  'get-user-followers': 'public',
  'get-user-following': 'public',
  'me-get-followers': 'the same as the public list',
  'get-me-following': 'the same as the public list',
};

test('every list of a user’s content can be restricted to the game of an application', () => {
  const wide = ofPower('content').filter((operation) => {
    const { list } = operation.declaration;
    return !namesGame(operation) && !list?.columns[list.game ?? 'game_id'];
  });
  const row = (id: string) => `'${id}': 'why applications may have it'; or give its list a column game_id`;
  assertRows(
    { name: 'BEYOND_GAMES in test/declared-powers.test.ts', rows: Object.keys(BEYOND_GAMES), row },
    wide.map(({ declaration }) => declaration.id),
  );
});

test('the OpenAPI document states the power of every operation and which tokens have it', async () => {
  const { body } = await api.request('GET', '/v1/openapi.json');
  const { paths } = body as { paths: Record<string, Record<string, Record<string, unknown>>> };
  for (const { declaration } of personal) {
    const described = paths[declaration.path]![declaration.method.toLowerCase()]!;
    assert.equal(described['x-power'], powerOf(declaration.access), declaration.id);
    const tokens = Object.keys(described['x-credentials'] as object).sort();
    const holders = Object.entries(HOLDERS[powerOf(declaration.access)]).filter(([, says]) => says);
    assert.deepEqual(tokens, holders.map(([origin]) => origin).sort(), declaration.id);
  }
});
