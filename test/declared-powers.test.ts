import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operations } from '../src/composition/resources.ts';
import { joinStaff } from '../src/people/staff/staff.ts';
import { powerOf } from '../src/platform/access/admission.ts';
import { HOLDERS, type Power } from '../src/platform/access/powers.ts';
import { STAFF_LEVELS } from '../src/platform/access/staff.ts';
import type { AnyOperation } from '../src/platform/http/operation.ts';
import { type Client, START, startApi } from './api.ts';
import { anAppOf } from './browser.ts';
import { assertNone, assertRows } from './rows.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off', MODSTEAD_RATE_LIMITS: 'off' } });

/** The operations that a person's token opens, and not only a key. */
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
};

/** The gate stands before everything that a request brings, so that an empty one meets it. */
function pathOf({ declaration: { path } }: AnyOperation, gameId: number): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) =>
    name === 'game_id' ? String(gameId) : (WORDS[name] ?? '999999'),
  );
}

async function refOf(client: Client, operation: AnyOperation, gameId: number): Promise<number> {
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

test('an application’s token with every scope, of the site’s owner, opens nothing but content', async () => {
  const app = await anAppOf(api, owner, game, { allGames: true });
  const closed = ofPower('profile', 'team', 'account', 'staff');
  assert.deepEqual(await refsOf(app, closed, game.id), all(closed, 12_004));
  const open = await refsOf(app, ofPower('content', 'personal'), game.id);
  assert.deepEqual(
    Object.entries(open).filter(([, ref]) => GATES.includes(ref)),
    [],
  );
});

test('an application’s token is refused where visitors are named and content is not meant', async () => {
  const named = operations.filter(
    ({ declaration: { access } }) => access.kind === 'anyone' && access.named && powerOf(access) !== 'content',
  );
  assert.ok(named.length > 0);
  const app = await anAppOf(api, owner, game, { allGames: true });
  assert.deepEqual(await refsOf(app, named, game.id), all(named, 12_004));
});

test('an application that was let into its game alone opens nothing in another, nor what is beyond games', async () => {
  const app = await anAppOf(api, owner, game);
  const elsewhere = [...ofPower('content').filter(namesGame), ...ofPower('personal')];
  assert.deepEqual(await refsOf(app, elsewhere, other.id), all(elsewhere, 11_104));
  const own = await refsOf(app, ofPower('content'), game.id);
  assert.deepEqual(
    Object.entries(own).filter(([, ref]) => GATES.includes(ref)),
    [],
  );
});

test('a token of a sign-in in one game opens no account, no site, and no other game', async () => {
  const inGame = await api.as(owner, { gameId: game.id });
  const closed = [...ofPower('account', 'staff'), ...ofPower('team').filter((each) => !namesGame(each))];
  assert.deepEqual(await refsOf(inGame, closed, game.id), all(closed, 12_004));
  const elsewhere = ofPower('team').filter(namesGame);
  assert.deepEqual(await refsOf(inGame, elsewhere, other.id), all(elsewhere, 11_104));
});

/** What sounds like power over people, keys, money, moderation or settings. */
const ADMINISTRATIVE =
  /\bteam|previewer|\/preview$|restriction|moderation|report|audit|staff|\bbans?\b|\/lock|api-key|token|secret|oauth|me\/sessions|webhook|stream|rules|wordlist|portal|connection|runner|cloud-cooking|file-types|findings|metrics|agreement|export|email|mailing|merge|close|account|releases|wallet|purchase|payout|\/settings/;

/** Why an operation that sounds like it is content all the same. */
const CONTENT_BECAUSE: Record<string, string> = {
  logout: 'ends no token but the one that is shown',
  'register-game-previewer': 'a person follows a link that they were given',
  'register-mod-previewer': 'a person follows a link that they were given',
  'get-user-purchases': 'tells what the person may install; it spends nothing',
  'get-moderation-state': 'tells an author what became of their own content',
  'appeal-moderation-decision': 'an author says something about their own content',
};

test('what sounds administrative is not content, unless it is said why', () => {
  const sounding = ofPower('content').filter(({ declaration: { id, path, tag } }) =>
    ADMINISTRATIVE.test(`${path} ${tag.toLowerCase()} ${id}`),
  );
  const ids = sounding.map(({ declaration }) => declaration.id);
  assertNone(
    ids.filter((id) => !CONTENT_BECAUSE[id]),
    'These sound like more than content: declare another power in their access, or say in CONTENT_BECAUSE in test/declared-powers.test.ts why they are content.',
  );
});

test('what changes a game itself, and not something in it, is not content', () => {
  const ofGame = ofPower('content').filter(
    ({ declaration: { method, path } }) => method !== 'GET' && /^\/games(\/\{game_id\}(\/[\w-]+)?)?$/.test(path),
  );
  const ids = ofGame.map(({ declaration }) => declaration.id).sort();
  const intoGames = ['add-collection', 'add-guide', 'add-mod', 'register-game-previewer'];
  assertNone(
    ids.filter((id) => !intoGames.includes(id)),
    'These change a game by a token for content: declare another power in their access, or, where they only add to the game, add them to intoGames in this test.',
  );
  assert.deepEqual(ids, intoGames);
});

/** What is content, names no game and cannot be narrowed to one: why an application may have it all the same. */
const BEYOND_GAMES: Record<string, string> = {
  logout: 'ends no token but the one that is shown',
  'get-authenticated-user': 'who it is that let the application in',
  'get-resource-owner': 'tells what everyone sees who sees the thing',
  'get-user-followers': 'public',
  'get-user-following': 'public',
  'me-get-followers': 'the same as the public list',
  'get-me-following': 'the same as the public list',
};

test('every list of a person’s content can be narrowed to the game of an application', () => {
  const wide = ofPower('content').filter((operation) => {
    const { list } = operation.declaration;
    return !namesGame(operation) && !list?.columns[list.game ?? 'game_id'];
  });
  const row = (id: string) => `'${id}': 'why applications may have it'; or give its list a column game_id`;
  assertRows(
    { is: 'BEYOND_GAMES in test/declared-powers.test.ts', rows: Object.keys(BEYOND_GAMES), row },
    wide.map(({ declaration }) => declaration.id),
  );
});

test('the API’s description tells the power of every operation, and which tokens hold it', async () => {
  const { body } = await api.request('GET', '/v1/openapi.json');
  const { paths } = body as { paths: Record<string, Record<string, Record<string, unknown>>> };
  for (const { declaration } of personal) {
    const told = paths[declaration.path]![declaration.method.toLowerCase()]!;
    assert.equal(told['x-power'], powerOf(declaration.access), declaration.id);
    const held = Object.keys(told['x-credentials'] as object).sort();
    const holders = Object.entries(HOLDERS[powerOf(declaration.access)]).filter(([, says]) => says);
    assert.deepEqual(held, holders.map(([origin]) => origin).sort(), declaration.id);
  }
});
