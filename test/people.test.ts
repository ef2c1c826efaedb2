import assert from 'node:assert/strict';
import { test } from 'node:test';
import sharp from 'sharp';
import { restrictUserInGame } from '../src/catalogue/restrictions/operations.ts';
import { composeWorker } from '../src/composition/compose.ts';
import { personalData } from '../src/composition/resources.ts';
import { deleteReleaseConfirmation, requestReleaseConfirmationCode } from '../src/files/releases/operations.ts';
import { addAvatar, editAuthenticatedUser, getAuthenticatedUser } from '../src/people/users/operations.ts';
import { isDuplicate } from '../src/platform/database/database.ts';
import { verifyAudit } from '../src/records/audit/audit.ts';
import {
  closeOwnAccount,
  deleteOwnAccount,
  lockAUser,
  mergeOwnAccount,
  unlockAUser,
} from '../src/signin/accounts/operations.ts';
import { getExport, requestExport } from '../src/signin/exports/operations.ts';
import { type Client, startApi } from './api.ts';
import { codesSentTo } from './mails.ts';
import { DECLARED, insertPersonalRow, marksOf, placesOf, placesWith, setNextUserId } from './people.ts';
import { columnsOf, type InsertedRow } from './tables.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' }, writesRows: true });
const { db } = api.app();
const columns = await columnsOf(db);
const worker = composeWorker(api.app());
const operator = await api.as(await api.aUser({ admin: true }));
const game = await api.aGame();
await setNextUserId(db, 7_000_000);

/** Columns that look like user ids but are not. */
const NO_PEOPLE = [
  ...[
    'client_id',
    'build_id',
    'collection_id',
    'comment_id',
    'cook_id',
    'decision_id',
    'dependency_id',
    'event_id',
    'file_id',
    'game_id',
    'grant_id',
  ],
  ...[
    'group_id',
    'guide_id',
    'key_id',
    'last_id',
    'last_read_id',
    'letter_id',
    'mod_id',
    'modfile_id',
    'name_id',
    'order_id',
  ],
  ...[
    'account_id',
    'import_id',
    'old_id',
    'cleared_id',
    'other_id',
    'pack_id',
    'fulfilment_id',
    'paid_id',
    'payment_id',
    'portal_id',
    'purchase_id',
    'reply_id',
    'result_id',
    'revenue_team_id',
    'rule_id',
    'runner_id',
    'source_id',
    'sale_id',
    'session_id',
    'tag_id',
    'terms_id',
    'thread_id',
    'token_id',
    'transaction_id',
    'reverses_id',
    'upload_id',
    'version_id',
  ],
  'webhook_id',
];
/** Tables whose ids name content, such as the rated or reported resource, and not a user. */
const CONTENT = [
  ...['comments', 'moderation_decisions', 'preview_links', 'previewers', 'ratings', 'rule_decisions', 'rule_holds'],
  ...['moderation_claims', 'release_newcomers', 'team_invites', 'team_members', 'translations'],
];
const NAMES_SOMEONE = /(_id|_by|_into)$|^who$/;
const DESCRIBES_SOMEONE = /^(email|ip|contact|visitor|username|display_name|user_agent|birth_date)$|address/;

test('every column that identifies or describes a user is declared by its resource', () => {
  const declared = new Set(DECLARED.map(({ table, column }) => `${table}.${column}`));
  const tables = new Set<string>(DECLARED.map(({ table }) => table));
  const traces = new Set(
    personalData.flatMap((each) => each.traces ?? []).map(({ table, column }) => `${table}.${column}`),
  );
  const isContent = (table: string, name: string) => name === 'resource_id' && CONTENT.includes(table);
  const naming = columns.filter(
    ({ table, name }) => NAMES_SOMEONE.test(name) && !NO_PEOPLE.includes(name) && !isContent(table, name),
  );
  assert.ok(naming.length > 60, `${naming.length} columns`);
  for (const { table, name } of naming)
    assert.ok(declared.has(`${table}.${name}`), `${table}.${name}: declare it in the personal.ts of its resource`);
  for (const { table, name } of columns.filter(({ name }) => DESCRIBES_SOMEONE.test(name)))
    assert.ok(
      tables.has(table) || traces.has(`${table}.${name}`),
      `${table}.${name}: declare in the personal.ts of its resource what happens to it`,
    );
  const known = new Set(columns.map(({ table, name }) => `${table}.${name}`));
  for (const each of [...declared, ...traces]) assert.ok(known.has(each), `${each} is declared, but not there`);
  for (const { table, column, exported, once = [], apart } of DECLARED)
    for (const name of ['notExported' in exported ? [] : exported, once, apart ?? []].flat())
      assert.ok(known.has(`${table}.${name}`), `${table}.${column} speaks of ${name}, which is not there`);
});

/** After this time unused images have been removed. */
const PICTURES_SECONDS = 86_400;
let people = 0;

/** A user with a row in every declared column, and with a unique mark in every text. */
async function aUserInEveryTable(mark: string, like?: ReadonlyMap<string, InsertedRow>) {
  people += 1;
  const email = `${mark.toLowerCase()}-${people}@example.org`;
  const user = await api.aUser({ email, username: `${mark} the ${people}th` });
  const client = await api.as(user);
  const inserted = new Map<string, InsertedRow>();
  for (const each of DECLARED) {
    const key = `${each.table}.${each.column}`;
    const row = await insertPersonalRow(db, columns, each, { userId: user.id, mark });
    if (row) inserted.set(key, row);
    if (!like?.has(key)) continue;
    try {
      await insertPersonalRow(db, columns, each, { userId: user.id, mark: 'twin', like: like.get(key)! });
    } catch (error) {
      // A value that must be unique can belong to only one of the two users.
      if (!isDuplicate(error)) throw error;
    }
  }
  return { ...user, email, client, inserted };
}

/** Runs all jobs and asserts that none failed. */
async function runJobs(): Promise<void> {
  await worker.runDue();
  const failed = await db.query
    .selectFrom('jobs')
    .select(['kind', 'last_error'])
    .where('last_error', 'is not', null)
    .execute();
  assert.deepEqual(failed, []);
}

const exported = async (client: Client): Promise<{ text: string; path: string }> => {
  assert.equal((await client.call(requestExport)).status, 202);
  await runJobs();
  const url = new URL((await client.call(getExport)).body.download_url!);
  return { path: url.pathname, text: (await api.request('GET', url.pathname)).text };
};

test('an export contains everything that is declared for it, and nothing of other users', async () => {
  const ada = await aUserInEveryTable('Lovelace');
  const bob = await aUserInEveryTable('Babbage');
  const { text } = await exported(ada.client);
  const data = JSON.parse(text) as Record<string, Record<string, unknown>[]>;
  assert.equal(data['users']![0]!['email'], ada.email);
  const texts = columns.filter(({ isText }) => isText);
  const expected = DECLARED.flatMap((each) =>
    'notExported' in each.exported || !ada.inserted.has(`${each.table}.${each.column}`)
      ? []
      : each.exported
          .filter((name) => texts.some((column) => column.table === each.table && column.name === name))
          .map((name) => `${each.table}.${each.column}.${name}`),
  ).filter((name) => !/^(notifications|reports)\..*\.resource$|\.upload_id$/.test(name));
  const found = [...text.matchAll(/Lovelace:([\w.]+):/g)].map(([, place]) => place!);
  assert.deepEqual([...new Set(found)].sort(), expected.sort());
  assert.ok(expected.length > 40);
  for (const name of Object.keys(data)) assert.ok(name === 'audit_log' || data[name]!.length > 0, `${name} is empty`);
  assert.ok(!text.includes('Babbage') && !text.includes(bob.email) && !text.includes('digest'));
});

/** A trigger writes this copy of the account. */
const REPEATS_ACCOUNT = 'user_cards.id';
/** Columns that may still name a deleted or merged user. */
const retainedColumns = (when: 'whenDeleted' | 'whenMerged') => [
  ...DECLARED.filter((each) => typeof each[when] === 'object').map(({ table, column }) => `${table}.${column}`),
  REPEATS_ACCOUNT,
];

async function decideAndBeDecided(user: { id: number }, client: Client): Promise<void> {
  await api.joins(user, game, 8);
  const body = { options: 1, reason: 'Quarrels' };
  await client.call(restrictUserInGame, { params: { game_id: game.id, user_id: (await api.aUser()).id }, body });
}

test('a deleted account leaves only what is declared to stay, and no name', async () => {
  const ada = await aUserInEveryTable('Countess');
  await operator.call(lockAUser, { params: { user_id: ada.id } });
  await operator.call(unlockAUser, { params: { user_id: ada.id } });
  const client = await api.as(ada);
  await client.call(editAuthenticatedUser, { body: { timezone: 'Antarctica/Troll', country: 'AQ' } });
  await decideAndBeDecided(ada, client);
  const picture = await sharp({ create: { width: 64, height: 64, channels: 3, background: '#305070' } })
    .png()
    .toBuffer();
  await client.call(addAvatar, { files: { avatar: { filename: 'me.png', bytes: picture } } });
  const files = async () => (await Array.fromAsync(api.app().storage.list(''))).length;
  const others = await files();
  const { path } = await exported(client);
  assert.equal(await files(), others + 1);
  await client.call(closeOwnAccount);
  await client.refused(deleteOwnAccount, { body: { email: ada.email } }, 403, 17022);
  await client.call(requestReleaseConfirmationCode);
  const code = codesSentTo(api, ada.email).at(-1)!;
  assert.equal((await client.call(deleteReleaseConfirmation, { body: { code } })).status, 204);
  assert.equal((await client.call(deleteOwnAccount, { body: { email: ada.email } })).status, 204);
  await client.refused(getAuthenticatedUser, {}, 401, 11006);
  assert.equal((await api.request('GET', path)).status, 404);
  await runJobs();
  const places = await placesOf(db, columns, ada.id);
  const mayStay = retainedColumns('whenDeleted');
  for (const place of places) assert.ok(mayStay.includes(place), `${place} still names the person`);
  assert.ok(places.includes('audit_log.user_id') && places.includes('audit_log.resource_id'));
  for (const text of [ada.email, ada.username, 'Antarctica/Troll'])
    assert.deepEqual(await placesWith(db, columns, text), [], text);
  const marks = await marksOf(db, columns, 'Countess');
  for (const { table, column, whenDeleted } of DECLARED) {
    const inserted = (name = '') => marks.filter((each) => each.startsWith(`${table}.${column}.${name}`));
    if (typeof whenDeleted === 'string') assert.deepEqual(inserted(), []);
    else if ('cleared' in whenDeleted)
      for (const name of Object.keys(whenDeleted.cleared)) assert.deepEqual(inserted(name), []);
  }
  assert.ok(marks.includes('comments.submitted_by.content'));
  assert.equal(await files(), others, 'the export still exists');
  api.clock.advance(PICTURES_SECONDS);
  await runJobs();
  assert.ok((await files()) < others, 'the image still exists');
  assert.equal((await verifyAudit(api.app())).broken, undefined);
});

test('everything of a merged account belongs to the other account, each row once', async () => {
  const to = await aUserInEveryTable('Somerville');
  const from = await aUserInEveryTable('Byron', to.inserted);
  for (const each of DECLARED.filter(({ apart }) => apart))
    await insertPersonalRow(db, columns, each, { userId: from.id, mark: 'pair', also: { [each.apart!]: to.id } });
  await decideAndBeDecided(from, from.client);
  const counts = async (id: number) => {
    const found = new Map<string, number>();
    for (const place of await placesOf(db, columns, id)) found.set(place, 1);
    return found;
  };
  const before = await counts(to.id);
  // With a row in every table the account also confirms releases, so a token alone is not enough.
  await to.client.refused(mergeOwnAccount, { body: { access_token: from.client.token! } }, 400, 17035);
  const code = codesSentTo(api, from.email).at(-1)!;
  const merged = await to.client.call(mergeOwnAccount, { body: { email: from.email, code } });
  assert.equal(merged.status, 204, merged.text);
  await runJobs();
  const row = await db.query.selectFrom('users').selectAll().where('id', '=', from.id).executeTakeFirstOrThrow();
  assert.ok(row.date_merged !== null, 'the job failed');
  const mayStay = retainedColumns('whenMerged');
  for (const place of await placesOf(db, columns, from.id))
    assert.ok(mayStay.includes(place), `${place} still names the account that was given up`);
  const after = await counts(to.id);
  for (const place of before.keys())
    if (!place.startsWith('audit_log') && !place.startsWith('data_exports'))
      assert.ok(after.has(place), `${place} no longer names the account that stays`);
  for (const each of DECLARED.filter(({ whenMerged }) => whenMerged === 'moved'))
    assert.ok(after.has(`${each.table}.${each.column}`), `${each.table}.${each.column} was not moved`);
  for (const text of [from.email, from.username]) assert.deepEqual(await placesWith(db, columns, text), [], text);
  assert.equal((await verifyAudit(api.app())).broken, undefined);
});
