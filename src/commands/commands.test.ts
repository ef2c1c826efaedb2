import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { startApi } from '../../test/api.ts';
import { assertRefusal, type Ended, runHere, runProgram, settingsOf } from '../../test/commands.ts';
import { aPack, aSellingGame, buyPack } from '../../test/money.ts';
import { getGame, getGames, getGameTagOptions } from '../catalogue/games/operations.ts';
import { editModByPut } from '../catalogue/mods/operations.ts';
import { addDemo } from '../demo/demo.ts';
import { addReleaseConfirmation, getReleaseConfirmation } from '../files/releases/operations.ts';
import { getAuthenticatedUser, getUser } from '../people/users/operations.ts';
import { audit, verifyAudit } from '../records/audit/audit.ts';

/** The commands use the databases and the data folder of this service. */
const api = await startApi({ settings: { MODSTEAD_PAYMENTS: 'simulated' } });
const beside: NodeJS.ProcessEnv = { ...settingsOf(api), MODSTEAD_RATE_LIMITS: 'off' };

const run = (args: readonly string[], settings: NodeJS.ProcessEnv = beside) => runHere(args, settings);

interface Printed {
  readonly id: number;
  readonly api_key: string;
  readonly api_url: string;
  readonly access_token: string;
  readonly date_expires: number;
  readonly client_id: number;
  readonly client_secret: string;
}

async function runJson<T = Printed>(...args: string[]): Promise<T> {
  return printed<T>(await run([...args, '--json']));
}

function printed<T>({ code, out, err }: Ended): T {
  assert.deepEqual({ code, err }, { code: 0, err: '' });
  assert.equal(out.trim().split('\n').length, 1);
  return JSON.parse(out) as T;
}

async function refuses(args: readonly string[], code: number, says: RegExp): Promise<void> {
  assertRefusal(await run(args), code, says);
}

// These two run in separate processes, as for an operator.
const addOwner = ['user', 'add', '--email', 'Owner@Example.com', '--username', 'Ada Lovelace', '--json'];
const owner = printed<Printed>(await runProgram(addOwner, beside));
const addGame = ['game', 'add', '--name', 'Engine', '--owner', String(owner.id), '--json'];
const game = printed<Printed>(await runProgram(addGame, beside));

test('user add prints a key that works at once', async () => {
  const { id, api_key } = owner;
  assert.deepEqual(owner, {
    id,
    name_id: 'ada-lovelace',
    username: 'Ada Lovelace',
    email: 'owner@example.com',
    api_key,
    api_url: `https://u-${id}.localhost/v1`,
  });
  const answer = await api.withKey(owner).call(getUser, { params: { user_id: id } });
  assert.equal(answer.status, 200);
});

test('an email address belongs to one user', async () => {
  const again = ['user', 'add', '--email', 'OWNER@example.com', '--username', 'Other'];
  await refuses(again, 1, /^The email address OWNER@example.com is taken/);
  await refuses(['user', 'add', '--email', 'nowhere', '--username', 'Other'], 2, /^--email must be an email address/);
});

test('a game is added unaccepted, and its key can read it', async () => {
  assert.deepEqual(game, {
    id: game.id,
    name_id: 'engine',
    api_key: game.api_key,
    api_url: `https://g-${game.id}.localhost/v1`,
  });
  const own = await api.withKey(game).call(getGame, { params: { game_id: game.id } });
  assert.deepEqual([own.status, own.body.status], [200, 0]);
  await api.withKey(owner).refused(getGame, { params: { game_id: game.id } }, 404, 14001);
  await refuses(['game', 'add', '--name', 'Orphan', '--owner', '999999'], 1, /^There is no user 999999/);
});

test('an operator can change all settings of a game, also those that its team cannot', async () => {
  const { id } = await runJson('game', 'add', '--name', 'Settings', '--owner', String(owner.id), '--accepted');
  const pairs = ['summary=Steam = power', 'max_stock=5', 'theme[primary]=#123456', 'platforms=[{"platform":"linux"}]'];
  const game = await runJson<Record<string, unknown>>('game', 'set', String(id), ...pairs);
  const { body } = await api.withKey(owner).call(getGame, { params: { game_id: id } });
  assert.deepEqual(
    [game['summary'], game['max_stock'], (game['theme'] as { primary: string }).primary],
    ['Steam = power', 5, '#123456'],
  );
  assert.deepEqual(
    [body.summary, body.max_stock, body.theme.primary, body.platforms[0]?.platform],
    ['Steam = power', 5, '#123456', 'linux'],
  );
  const others = ['dependency_option=0', 'monetization_options=1', 'service_features=3', 'community_options=33'];
  const set = await runJson<Record<string, unknown>>('game', 'set', String(id), ...others, 'api_access_options=2');
  assert.deepEqual(
    ['monetization_options', 'service_features', 'community_options', 'api_access_options'].map((name) => set[name]),
    [1, 3, 33, 2],
  );
  const locked = 'platforms=[{"platform":"ps5","locked":true}]';
  await refuses(['game', 'set', String(id), locked], 1, /^A game must keep at least one unlocked platform/);
  await refuses(['game', 'set', String(id), 'dependency_option=3'], 1, /selling exclude each other/);
});

test('an operator allows longer summaries for the mods of one game', async () => {
  const { id } = await runJson('game', 'add', '--name', 'Moved in', '--owner', String(owner.id), '--accepted');
  const mod = await api.aMod({ game: { id } });
  const params = { game_id: id, mod_id: mod.id };
  const author = await api.as(mod.owner);
  const statusOf = async (length: number) =>
    (await author.call(editModByPut, { params, body: { summary: 'x'.repeat(length) } })).status;
  assert.equal(await statusOf(201), 422);
  const { out } = await run(['game', 'set', String(id), 'summary_length_max=2000', 'takedown_reports=3']);
  assert.match(out, /summary_length_max +2000$/m);
  assert.match(out, /takedown_reports +3$/m);
  assert.deepEqual([await statusOf(2_000), await statusOf(2_001)], [200, 422]);
  const set = await runJson<Record<string, unknown>>('game', 'set', String(id), 'summary_length_max=200');
  assert.deepEqual([set['summary_length_max'], await statusOf(201)], [200, 422]);
  await refuses(['game', 'set', String(id), 'summary_length_max=199'], 2, /summary_length_max .*200/);
  await refuses(['game', 'set', String(id), 'summary_length_max=2001'], 2, /summary_length_max .*2000/);
});

test('an error names every wrong key and value of a game', async () => {
  const pairs = ['colour=red', 'status=7', 'theme[primary]=red', 'oops', 'max_stock='];
  const args = ['game', 'set', String(game.id), ...pairs];
  await refuses(args, 2, /"colour" .*"oops" .*status .*theme\.primary /);
  await refuses(['game', 'set', String(game.id), 'max_stock='], 2, /max_stock needs a value/);
  await refuses(['game', 'set', '999999', 'name=Nobody'], 1, /^There is no game 999999/);
});

test('an issued token acts for its user, with its scopes and until its expiry', async () => {
  const expires = Math.floor(Date.now() / 1000) + 300 * 86_400;
  const token = await runJson('token', 'add', '--user', String(owner.id), '--scope', 'read', '--expires', `${expires}`);
  assert.deepEqual(Object.keys(token), ['access_token', 'date_expires']);
  assert.equal(token.date_expires, expires);
  const me = await api.withToken(token.access_token).call(getAuthenticatedUser);
  assert.deepEqual([me.status, me.body.id], [200, owner.id]);
  await Promise.all([
    refuses(['token', 'add', '--user', String(owner.id), '--scope', 'admin'], 2, /^--scope must be/),
    refuses(['token', 'add', '--user', String(owner.id), '--expires', '5'], 2, /^--expires must be/),
    refuses(['token', 'add', '--user', String(owner.id), '--game', '999999'], 1, /^There is no game 999999/),
  ]);
});

test('a portal is configured for a game, and its secrets are not printed', async () => {
  const portal = ['portal', 'set', '--game', String(game.id), '--portal'];
  const { code, out, err } = await run([...portal, 'steam', 'app_id=480', `ticket_key=${'ab'.repeat(32)}`]);
  assert.equal(code, 0, err);
  assert.match(out, /app_id +480\n +ticket_key +\(set\)/);
  assert.ok(!out.includes('abab'));
  await Promise.all([
    refuses([...portal, 'steam', 'app_id=x'], 2, /app_id is invalid/),
    refuses([...portal, 'steam', 'client_id=1'], 2, /one of app_id, ticket_key/),
    refuses([...portal, 'apple'], 2, /bundle_ids/),
    refuses([...portal, 'uplay', 'a=b'], 2, /one of apple/),
  ]);
});

test('a client is registered with valid redirect URIs only', async () => {
  const other = await api.aGame();
  const client = await runJson('client', 'add', '--game', String(game.id), '--redirect-uri', 'https://a.example/back');
  assert.equal(typeof client.client_id, 'number');
  assert.match(client.client_secret, /^[\w-]{43}$/);
  const uri = (address: string) => ['client', 'add', '--game', String(game.id), '--redirect-uri', address];
  const many = Array.from({ length: 21 }, (_, n) => ['--redirect-uri', `https://a.example/${n}`]).flat();
  await Promise.all([
    refuses(uri('http://a.example/back'), 2, /^--redirect-uri must start with https/),
    refuses(uri('https://a.example/#back'), 2, /neither a fragment/),
    refuses(uri('https://a.example/\u0007'), 2, /characters that need escaping/),
    refuses([...uri('https://a.example/'), '--name', 'Mоdstead'], 1, /looks like one of the service/),
    refuses([...uri('https://a.example/'), '--name', other.name.toUpperCase()], 1, /looks like one of another game/),
    refuses(['client', 'add', '--game', String(game.id), ...many.slice(0, 40)], 1, /up to 20 redirect URIs together/),
    refuses(['client', 'add', '--game', String(game.id), ...many], 2, /20 times, not 21/),
    refuses(
      ['client', 'add', '--game', String(game.id), '--grants', 'authorization_code'],
      2,
      /needs a --redirect-uri/,
    ),
    refuses([...uri('http://localhost:3000/'), '--grants', 'password'], 2, /^--grants must be of/),
  ]);
});

test('staff are added, changed and removed, except for the last owner', async () => {
  const { id } = await api.aUser({ username: 'Stella' });
  const ofUser = ['--user', String(id)];
  const set = await runJson<{ level: string }>('staff', 'set', ...ofUser, '--level', 'owner');
  assert.equal(set.level, 'owner');
  const { staff } = await runJson<{ staff: { id: number; username: string; level: string }[] }>('staff', 'list');
  assert.deepEqual(staff, [{ id, username: 'Stella', level: 'owner' }]);
  await Promise.all([
    refuses(['staff', 'remove', ...ofUser], 1, /^Stella is the last owner/),
    refuses(['staff', 'remove', '--user', String(owner.id)], 1, /is not on the staff/),
    refuses(['staff', 'set', ...ofUser, '--level', 'king'], 2, /^--level must be one of moderator/),
  ]);
});

test('an operator turns off release confirmation for a user who lost their mailbox', async () => {
  const { id, username } = await api.aUser({ email: 'lost@example.com' });
  const client = await api.as({ id });
  assert.equal((await client.call(addReleaseConfirmation)).status, 204);
  assert.deepEqual(await runJson('user', 'unguard', '--user', String(id)), { id, username });
  assert.equal((await client.call(getReleaseConfirmation)).body.wanted, false);
  await refuses(['user', 'unguard', '--user', String(id)], 1, /does not confirm releases/);
});

test('an address is banned and unbanned', async () => {
  const ban = await runJson<{ id: number; network: string }>(
    ...['ban', 'add', '--network', '203.0.113.9/24', '--reason', 'Floods'],
  );
  assert.equal(ban.network, '203.0.113.0/24');
  const { bans } = await runJson<{ bans: { id: number; reason: string }[] }>('ban', 'list');
  assert.deepEqual(
    bans.map(({ id, reason }) => [id, reason]),
    [[ban.id, 'Floods']],
  );
  await refuses(['ban', 'add', '--network', '0.0.0.0/0', '--reason', 'All'], 1, /network is invalid/);
  await refuses(['ban', 'add', '--network', 'here', '--reason', 'All'], 2, /^--network must be/);
  await runJson('ban', 'lift', String(ban.id));
  await refuses(['ban', 'lift', String(ban.id)], 1, /^There is no ban/);
});

test('a scan of all files is started if there is a scanner', async () => {
  await refuses(['scan'], 2, /needs --all or --status/);
  await refuses(['scan', '--all', '--status'], 2, /needs --all or --status/);
  await refuses(['scan', '--all'], 1, /^There is no scanner: set MODSTEAD_CLAMD/);
  const { code, out } = await run(['scan', '--all', '--json'], { ...beside, MODSTEAD_CLAMD: 'unix:/nowhere' });
  assert.equal(code, 0);
  assert.deepEqual(JSON.parse(out), { files: 0 });
  const status = await run(['scan', '--status', '--json'], { ...beside, MODSTEAD_CLAMD: 'unix:/nowhere' });
  assert.deepEqual(JSON.parse(status.out), { files: 0, left: 0 });
});

test('the sandbox shares nothing with production', async () => {
  const person = await runJson('user', 'add', '--email', 'owner@example.com', '--username', 'Sandy', '--sandbox');
  assert.match(person.api_url, /^https:\/\/u-\d+\.test\.localhost\/v1$/);
  const inSandbox = await api.withKey(person, 'sandbox').call(getUser, { params: { user_id: person.id } });
  assert.equal(inSandbox.body.username, 'Sandy');
  await api.withKey(person).refused(getUser, { params: { user_id: person.id } }, 401, 11002);
});

test('the sample content is what the API promises, in several languages', async () => {
  const app = api.app('sandbox');
  const demo = (await addDemo(app, { mods: 12, pictured: 1 }))!;
  assert.equal(await addDemo(app), undefined);
  const skyfarers = demo.games[0]!;
  const client = api.withKey(skyfarers, 'sandbox');
  const params = { game_id: skyfarers.id };
  const { body } = await client.call(getGames, { query: { show_hidden_tags: true } });
  assert.deepEqual(
    body.data.map(({ name }) => name),
    ['Skyfarers', 'Gridline 99'],
  );
  const german = await client.call(getGame, { params, headers: { 'accept-language': 'de' } });
  assert.match(german.body.summary, /Luftschiff/);
  assert.deepEqual(german.body.tag_options[0]?.tags_localized['Island'], 'Insel');
  const tags = await client.call(getGameTagOptions, { params, query: { show_hidden_tags: true } });
  assert.deepEqual(
    tags.body.data.map(({ type, hidden, locked }) => ({ type, hidden, locked })),
    [
      { type: 'checkboxes', hidden: false, locked: false },
      { type: 'dropdown', hidden: false, locked: false },
      { type: 'dropdown', hidden: true, locked: false },
      { type: 'checkboxes', hidden: false, locked: true },
    ],
  );
});

test('sample content is not added to a database with games', () => refuses(['demo'], 1, /^There are games already/));

test('doctor passes on a healthy service and names what is wrong', async () => {
  const healthy = await runJson<{ ok: boolean; checks: { name: string; ok: boolean }[] }>('doctor');
  assert.equal(healthy.ok, true);
  assert.ok(healthy.checks.length >= 10);
  const ill = await run(['doctor'], { ...beside, MODSTEAD_SMTP_URL: 'smtp://127.0.0.1:1' });
  assert.equal(ill.code, 1);
  assert.match(ill.out, /✗ production mail.*→ Check the mail server/s);
  const confused = await run(['doctor', '--json'], { ...beside, MODSTEAD_PORT: 'http' });
  assert.equal(confused.code, 1);
  assert.match(confused.out, /"name":"settings","ok":false,"says":"MODSTEAD_PORT must be/);
});

test('an intact audit log passes, and a broken one fails', async () => {
  const app = api.app('sandbox');
  const subject = { resource: 'games', id: 1, gameId: 1 };
  // Commands have added rows as well.
  const last = (await verifyAudit(app)).rows + 2;
  for (const action of ['games.edit', 'games.delete'])
    await app.db.write((transaction) => audit(app, transaction, { actor: 0, action, subject }));
  const whole = await run(['audit', 'verify', '--sandbox', '--json']);
  assert.deepEqual([whole.code, JSON.parse(whole.out)], [0, { rows: last }], whole.err);
  await app.db.write(({ query }) =>
    query.updateTable('audit_log').set({ user_id: 1 }).where('id', '=', last).execute(),
  );
  await refuses(
    ['audit', 'verify', '--sandbox'],
    1,
    new RegExp(`^The audit log is broken: row ${last} was changed, after ${last - 1} valid rows\\.`),
  );
});

test('the books are verified, printed, exported and reconciled, and a difference fails', async () => {
  const selling = await aSellingGame(api);
  const buyer = await api.as(await api.aUser());
  const { tokens } = await aPack(api, selling);
  const payment = await buyPack(api, buyer, selling, { id: 1 });
  assert.equal((await runJson<{ entries: number }>('ledger', 'verify')).entries, 4);
  const { accounts } = await runJson<{ accounts: { kind: string; closing: number }[] }>('ledger', 'statement');
  assert.equal(accounts.find(({ kind }) => kind === 'wallet')?.closing, tokens);
  const file = join(api.folder, 'books.csv');
  assert.equal((await runJson<{ entries: number }>('ledger', 'export', file)).entries, 4);
  assert.equal(readFileSync(file, 'utf8').trim().split('\r\n').length, 5);
  await refuses(['ledger', 'export', file], 1, /is there already/);
  const period = ['--from', String(api.clock.now() - 60), '--until', String(api.clock.now() + 60)];
  const reconcile = ['ledger', 'reconcile', '--provider', 'simulated', ...period];
  const agreed = await run(reconcile);
  assert.deepEqual([agreed.code, /agree: 1 matched/.test(agreed.out)], [0, true], agreed.out + agreed.err);
  const reference = payment.checkout_url.split('/').at(-1)!;
  await api
    .app()
    .db.write(({ query }) =>
      query.updateTable('simulated_payments').set({ amount: 1 }).where('reference', '=', reference).execute(),
    );
  const differing = await run([...reconcile, '--json']);
  assert.equal(differing.code, 1);
  assert.equal(JSON.parse(differing.out).differences[0].difference, 'different_amount');
  const settlement = join(api.folder, 'bank.csv');
  writeFileSync(settlement, `Our Reference,Kind\n${reference},Payment\n`);
  const byFile = ['--file', settlement, '--columns', 'reference=Our Reference,type=Kind'];
  assert.equal((await run([...reconcile, ...byFile])).code, 0);
  await refuses(['ledger', 'reconcile', '--provider', 'steam'], 2, /unless --file is given/);
});

test('a second migrate has nothing to do', async () => {
  const migrated = await runJson<Record<string, unknown>>('migrate');
  assert.deepEqual(migrated, { production: { applied: [] }, sandbox: { applied: [] } });
});
