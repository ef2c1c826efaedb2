import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import sharp from 'sharp';
import { editGameOperation } from '../src/catalogue/games/operations.ts';
import { collectionComments, guideComments, modComments } from '../src/community/comments/operations.ts';
import { addMessageThread } from '../src/community/messages/operations.ts';
import { composeWorker } from '../src/composition/compose.ts';
import { operations } from '../src/composition/resources.ts';
import { addModfileOperation } from '../src/files/modfiles/operations.ts';
import { submitReportOperation } from '../src/moderation/reports/operations.ts';
import { acceptAgreement, getCurrentAgreement } from '../src/people/agreements/operations.ts';
import type { Database, Tables, Transaction } from '../src/platform/database/database.ts';
import { DUPLICATE_WINDOW_SECONDS } from '../src/platform/database/duplicate-requests.ts';
import { ApiError } from '../src/platform/errors/catalogue.ts';
import type { AnyOperation } from '../src/platform/http/operation.ts';
import { type Answer, assertRefused, type CallInput, startApi } from './api.ts';
import { assertRows } from './hand-tables.ts';
import { anotherService } from './wire.ts';
import { zipOf } from './zips.ts';

const REPEATED = 17_011;

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off', MODSTEAD_TRUST_PROXY: '127.0.0.1' } });
const beside = api.beside(await anotherService(api));
const picture = await sharp({ create: { width: 640, height: 360, channels: 3, background: '#345' } })
  .png()
  .toBuffer();
const logo = { logo: { filename: 'logo.png', bytes: picture } };

/** Staff, leader of the game and owner of the mod, so that only the repetition can be refused. */
const ada = await api.aUser({ admin: true });
const asAda = await api.as(ada);
const game = await api.aGame({ owner: ada });
const inGame = { game_id: game.id };
const mod = await api.aMod({ game, owner: ada });
const ofMod = { ...inGame, mod_id: mod.id };
const guide = await api.aGuide({ game });
const friend = await api.aUser();
const COOKING = { 'platforms[0][platform]': 'windows', 'platforms[1][platform]': 'ps5', 'platforms[1][locked]': true };
await asAda.call(editGameOperation, { params: inGame, body: COOKING });
{
  const { body } = await asAda.call(getCurrentAgreement, { params: { agreement_type_id: 3 } });
  await asAda.call(acceptAgreement, { body: { agreement_version_id: body.id } });
}
const letter = { subject: 'Hello', content: 'How are you?', user_ids: [friend.id] };
const thread = { thread_id: (await asAda.call(addMessageThread, { body: letter })).body.id };
const collection = {
  ...inGame,
  collection_id: (
    await asAda.call(operationOf('add-collection'), { params: inGame, body: { name: 'Best', mod_ids: [mod.id] } })
  ).body.id,
};

interface CreatingRequest {
  /** The table that gets a row. */
  readonly table: keyof Tables;
  readonly input: () => CallInput;
}
const archive = (name: string) => ({ filedata: { filename: `${name}.zip`, bytes: zipOf({ 'a.txt': name }) } });
const described = (name: string) => ({ name: api.unique(name), summary: 'How it is done, in short' });
const commented = (params: Record<string, number>) => () => ({ params, body: { content: api.unique('Hello') } });

/** A request that creates something, for each operation with `once`. */
const CREATING: Record<string, CreatingRequest> = {
  'add-game': { table: 'games', input: () => ({ body: described('Game'), files: logo }) },
  'add-mod': { table: 'mods', input: () => ({ params: inGame, body: described('Mod'), files: logo }) },
  'add-modfile': {
    table: 'modfiles',
    input: () => ({ params: ofMod, body: { platforms: ['windows'] }, files: archive(api.unique('file')) }),
  },
  'add-source-modfile': {
    table: 'modfiles',
    input: () => ({ params: ofMod, body: { platforms: ['ps5'] }, files: archive(api.unique('source')) }),
  },
  'add-guide': {
    table: 'guides',
    input: () => ({
      params: inGame,
      body: { ...described('Guide'), description: 'Like this.', tags: ['how'] },
      files: logo,
    }),
  },
  'add-collection': { table: 'collections', input: () => ({ params: inGame, body: { name: api.unique('List') } }) },
  'add-mod-comment': { table: 'comments', input: commented(ofMod) },
  'add-guide-comment': { table: 'comments', input: commented({ ...inGame, guide_id: guide.id }) },
  'add-collection-comment': { table: 'comments', input: commented(collection) },
  'add-message-thread': {
    table: 'message_threads',
    input: () => ({ body: { ...letter, content: api.unique('Hello') } }),
  },
  'add-message': { table: 'messages', input: () => ({ params: thread, body: { content: api.unique('Hello') } }) },
  'submit-report': {
    table: 'reports',
    input: () => ({ body: { resource: 'users', id: friend.id, type: 0, summary: api.unique('Rude') } }),
  },
  'add-oauth-client': {
    table: 'oauth_clients',
    input: () => ({ params: inGame, body: { name: api.unique('Backend'), grants: ['client_credentials'] } }),
  },
  'add-own-token': {
    table: 'access_tokens',
    input: () => ({ body: { name: api.unique('Script'), scopes: ['read'] } }),
  },
  'add-agreement-version': {
    table: 'agreement_versions',
    input: () => ({ body: { type: 1, name: api.unique('Terms'), description: 'Be kind.' } }),
  },
  'add-game-token-pack': {
    table: 'token_packs',
    input: () => ({ params: inGame, body: { name: api.unique('Pack'), tokens: 100, price: 199 } }),
  },
  'add-game-server-token': {
    table: 'server_tokens',
    input: () => ({ params: inGame, body: { name: api.unique('Server') } }),
  },
  'add-game-webhook': {
    table: 'webhooks',
    input: () => ({ params: inGame, body: { name: api.unique('Hook'), url: 'https://example.org/' } }),
  },
  'add-metrics-secret': { table: 'metrics_secrets', input: () => ({ params: inGame }) },
  'add-game-rule': {
    table: 'game_rules',
    input: () => ({ params: inGame, body: { name: api.unique('Rule'), when: '{"all":[]}', verdict: 'report' } }),
  },
  'add-cook-runner': {
    table: 'cook_runners',
    input: () => ({ params: inGame, body: { name: api.unique('Mill'), platforms: ['ps5'] } }),
  },
};

/** Operations that return 201 without `once`, and why a second call creates nothing. */
const NOT_ONCE: Record<string, string> = {
  'add-ledger-check': 'the check that waits is returned',
  'add-own-api-key': 'a user has one: 11078',
  'add-game-tag-options': 'a group of tags has one name',
  'add-mod-tags': 'a mod has a tag at most once',
  'add-mod-kvp-metadata': 'a mod has a pair at most once',
  'add-mod-media': 'an image is identified by its content, a link by its URL',
  'add-game-previewer': 'a user is invited once',
  'register-game-previewer': 'a user is invited once',
  'add-mod-previewer': 'a user is invited once',
  'register-mod-previewer': 'a user is invited once',
  'add-staff-member': 'a user has one level: 17016',
  'add-address-ban': 'a network is banned once: 29501',
  'add-mod-dependencies': 'a mod depends on another at most once',
  'follow-collection': 'a user follows once; the second response is 200',
  'add-collection-rating': 'a user has one rating: 15028',
  'add-mod-team-member': 'a user is invited once: 15058',
  'add-game-team-member': 'a user is invited once: 14034',
  'subscribe-to-mod': 'a user subscribes once; the second response is 200',
  'add-mod-rating': 'a user has one rating: 15028',
  'accept-agreement': 'a version is accepted once: 25003',
  'add-connection': 'an account of a platform is linked once: 11068',
};

function operationOf(id: string): AnyOperation {
  return operations.find(({ declaration }) => declaration.id === id)!;
}

const rowsOf = async (table: keyof Tables): Promise<number> => {
  const { rows } = await api
    .app()
    .db.query.selectFrom(table)
    .select(({ fn }) => fn.countAll<number>().as('rows'))
    .executeTakeFirstOrThrow();
  return Number(rows);
};

type Write = Database['write'];

/** Wraps the next write of each database. */
function around(dbs: readonly Database[], wrap: (write: Write) => Write): void {
  for (const db of dbs) {
    const { write } = db;
    const once: Write = (work) => {
      Object.assign(db, { write });
      return wrap(write)(work);
    };
    Object.assign(db, { write: once });
  }
}

/** Makes the two writes start together: each waits for the other. */
function meetingAtTheWrite(dbs: readonly Database[]): void {
  const met = Promise.withResolvers<void>();
  let missing = dbs.length;
  around(dbs, (write) => async (work) => {
    missing -= 1;
    if (missing === 0) met.resolve();
    await met.promise;
    return write(work);
  });
}

/** Whether this transaction creates the resource; requests also write others, such as visit counters. */
const hasMade = async ({ query }: Transaction): Promise<boolean> => {
  const now = api.clock.now();
  const rows = await query.selectFrom('made_once').select('location').where('date_added', '=', now).execute();
  return rows.some(({ location }) => location !== '');
};

const dbs = [api.app().db, beside.app().db];
const locationOf = (answer: Answer<unknown>) => answer.headers['location'];

beforeEach(() => api.clock.advance(10 * DUPLICATE_WINDOW_SECONDS));

test('each operation that creates something declares `once` or creates nothing the second time', () => {
  const once = operations.filter(({ declaration }) => declaration.once);
  const idsOf = (those: typeof operations) => those.map(({ declaration }) => declaration.id);
  const making = idsOf(operations.filter(({ declaration }) => declaration.returns.status === 201));
  assertRows(
    {
      name: 'CREATING in test/duplicate-requests.test.ts',
      rows: Object.keys(CREATING),
      row: (id) => `'${id}': { table: 'the table that gets a row', input: … }, since its declaration says "once"`,
    },
    idsOf(once),
  );
  assertRows(
    {
      name: 'NOT_ONCE in test/duplicate-requests.test.ts',
      rows: Object.keys(NOT_ONCE),
      row: (id) => `'${id}': 'why a second call makes nothing'; or declare "once: true" in its operation`,
    },
    making.filter((id) => !idsOf(once).includes(id)),
  );
  for (const { declaration } of once) assert.ok(declaration.method === 'POST' && !declaration.raw, declaration.id);
});

for (const [id, { table, input }] of Object.entries(CREATING)) {
  const operation = operationOf(id);

  test(`of two equal concurrent requests to ${id} in two processes one creates the resource and the other gets its location`, async () => {
    const sent = input();
    const before = await rowsOf(table);
    meetingAtTheWrite(dbs);
    const asToo = beside.withToken(asAda.token!);
    const answers = await Promise.all([asAda.call(operation, sent), asToo.call(operation, sent)]);
    const [first, second] = answers.sort((one, other) => one.status - other.status) as [Answer, Answer];
    assert.equal(first.status, 201, first.text);
    assertRefused(second, 409, REPEATED);
    assert.match(locationOf(first)!, /^https:\/\//);
    assert.equal(locationOf(second), locationOf(first));
    if (id !== 'add-metrics-secret') assert.equal(await rowsOf(table), before + 1);
    assertRefused(await asAda.call(operation, sent), 409, REPEATED);
    api.clock.advance(DUPLICATE_WINDOW_SECONDS + 1);
    assert.notEqual((await asAda.call(operation, sent)).status, 409);
  });
}

test('if the first request is rolled back, the second one that waits for it creates the resource', async () => {
  const sent = { params: ofMod, body: { content: api.unique('Hello') } };
  const [here, there] = dbs as [Database, Database];
  const { write } = here;
  const isHeld = Promise.withResolvers<void>();
  const failing = Promise.withResolvers<never>();
  const held: Write = (work) =>
    write(async (transaction) => {
      const value = await work(transaction);
      if (!(await hasMade(transaction))) return value;
      isHeld.resolve();
      return failing.promise;
    });
  Object.assign(here, { write: held });
  const first = asAda.call(modComments.add, sent);
  await isHeld.promise;
  Object.assign(here, { write });
  const begins = Promise.withResolvers<void>();
  around([there], (begin) => (work) => {
    begins.resolve();
    return begin(work);
  });
  const second = beside.withToken(asAda.token!).call(modComments.add, sent);
  await begins.promise;
  failing.reject(new ApiError('UNEXPECTED_SERVICE_OUTAGE'));
  assert.deepEqual([(await first).status, (await second).status], [503, 201]);
});

test('a refused request may be repeated immediately after its obstacle is gone', async () => {
  const sent = { params: ofMod, body: { content: '   ' } };
  await asAda.refused(modComments.add, sent, 422, 13_009);
  await asAda.refused(modComments.add, sent, 422, 13_009);
  const closed = await api.aMod({ game, owner: ada, community_options: 0 });
  const there = { params: { ...inGame, mod_id: closed.id }, body: { content: 'Hello' } };
  await asAda.refused(modComments.add, there, 403, 14_038);
  await asAda.call(operationOf('edit-mod-put'), { params: there.params, body: { community_options: 1 } });
  assert.equal((await asAda.call(modComments.add, there)).status, 201);
});

test('a deleted resource may be created again immediately', async () => {
  const sent = { params: ofMod, body: { content: api.unique('Hello') } };
  const { id } = (await asAda.call(modComments.add, sent)).body;
  await asAda.refused(modComments.add, sent, 409, REPEATED);
  await asAda.call(modComments.remove, { params: { ...ofMod, comment_id: id } });
  assert.equal((await asAda.call(modComments.add, sent)).status, 201);
});

test('a request with another text, path, file or user creates another resource', async () => {
  const body = { content: api.unique('Hello') };
  const again = { content: api.unique('Hello') };
  const added = [
    await asAda.call(modComments.add, { params: ofMod, body }),
    await asAda.call(modComments.add, { params: ofMod, body: again }),
    await asAda.call(guideComments.add, { params: { ...inGame, guide_id: guide.id }, body }),
    await asAda.call(collectionComments.add, { params: collection, body }),
    await (await api.as(friend)).call(modComments.add, { params: ofMod, body }),
  ];
  const file = { params: ofMod, body: { platforms: ['windows'] } };
  for (const name of ['one', 'other'])
    added.push((await asAda.call(addModfileOperation, { ...file, files: archive(name) })) as never);
  for (const answer of added) assert.equal(answer.status, 201, answer.text);
  assert.equal(new Set(added.map(locationOf)).size, added.length);
});

test('callers that share the key of a game are told apart by address', async () => {
  const report = { resource: 'mods', id: mod.id, type: 0, summary: api.unique('Wrong') };
  const { path } = submitReportOperation.declaration;
  const from = (address: string) =>
    api.proxied('POST', `/v1${path}?api_key=${game.api_key}`, {
      headers: { 'x-forwarded-for': address, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(Object.entries(report).map(([name, value]) => [name, String(value)])).toString(),
    });
  assert.equal((await from('192.0.2.1')).status, 201);
  assertRefused(await from('192.0.2.1'), 409, REPEATED);
  assert.notEqual((await from('192.0.2.2')).status, 409);
});

test('the same fields in another order, or in the query instead of the body, are the same request', async () => {
  const name = api.unique('List');
  assert.equal(
    (await asAda.call(operationOf('add-collection'), { params: inGame, body: { name, summary: 'Short' } })).status,
    201,
  );
  const other = { params: inGame, body: { summary: 'Short' }, query: { name } };
  await asAda.refused(operationOf('add-collection'), other, 409, REPEATED);
});

test('rows of duplicate detection are deleted when they expire', async () => {
  await asAda.call(modComments.add, { params: ofMod, body: { content: api.unique('Hello') } });
  assert.notEqual(await rowsOf('made_once'), 0);
  api.clock.advance(3_600);
  await composeWorker(api.app()).runDue();
  assert.equal(await rowsOf('made_once'), 0);
});
