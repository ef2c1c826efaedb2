// Runs alone: it starts programs, which end with its process.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { type Api, startApi } from '../../../test/api.ts';
import { endOf, runHere, settingsOf, startProgram } from '../../../test/commands.ts';
import { crawl, PUBLIC_READS, readerOf } from '../../../test/crawler.ts';
import { zipOf } from '../../../test/zips.ts';
import { getMod } from '../../catalogue/mods/operations.ts';
import { addDemo } from '../../demo/demo.ts';
import { fillGame } from '../../demo/filling.ts';
import { getModerationQueueOfSite } from '../../moderation/moderation/operations.ts';
import { issueKey } from '../../platform/access/credentials.ts';
import type { Manifest } from '../archive/manifest.ts';

const MODS = Number(process.env['MODSTEAD_TEST_MOVED_MODS'] ?? 10);
const KILLS = Number(process.env['MODSTEAD_TEST_KILLS'] ?? 3);
/** Of very many mods, every so manieth is crawled. */
const CRAWLED_EVERY = Number(process.env['MODSTEAD_TEST_CRAWLED_EVERY'] ?? 1);

const JOBS_OFF = { settings: { MODSTEAD_JOBS: 'off' } };
const source = await startApi(JOBS_OFF);
const folder = mkdtempSync(join(tmpdir(), 'modstead-import-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const run = (api: Api, ...args: string[]) => runHere(args, settingsOf(api));

const demo = (await addDemo(source.app(), { mods: 12, pictured: 2 }))!;
await fillGame(source.app(), { gameId: demo.games[0]!.id, mods: MODS, seed: 'moving' });
const archive = join(folder, 'archive');
const exported = await run(source, 'export', archive, '--json');
assert.equal(exported.code, 0, exported.err);

async function readerAs(api: Api, userId: number) {
  const app = api.app();
  const api_key = await app.db.write((transaction) => issueKey(app, transaction, { userId }));
  return readerOf(api.withKey({ api_key }));
}

function firstDifference(one: string, other: string): string {
  let place = 0;
  while (one[place] === other[place]) place += 1;
  const around = (text: string) => text.slice(Math.max(0, place - 100), place + 100);
  return `${around(one)} | ${around(other)}`;
}

/** Reads everything public of the source and compares it with the target. */
async function assertSameAnswers(target: Api): Promise<number> {
  const here = await readerAs(source, demo.user.id);
  const there = await readerAs(target, demo.user.id);
  const visit = async (address: string) => {
    const [one, other] = [await here(address), await there(address)];
    if (one.text !== other.text) assert.fail(`${address}: ${firstDifference(one.text, other.text)}`);
    assert.equal(other.status, one.status, address);
    return one;
  };
  return crawl(source.app().db.query, visit, CRAWLED_EVERY);
}

test('an empty service that imports an archive answers every public read with the same bytes', async () => {
  const target = await startApi(JOBS_OFF);
  const dry = await run(target, 'import', archive, '--with-powers', '--trust', '--dry-run', '--json');
  assert.equal(dry.code, 0, dry.err);
  const imported = await run(target, 'import', archive, '--with-powers', '--trust', '--json');
  assert.equal(imported.code, 0, imported.err);
  const report = JSON.parse(imported.out);
  assert.deepEqual([report.refusals, report.into_empty], [[], true]);
  assert.deepEqual(report.taken, JSON.parse(dry.out).taken);
  target.app().db.changes.everythingChanged();
  const visited = await assertSameAnswers(target);
  assert.ok(PUBLIC_READS.length > 40 && visited > (MODS * 5) / CRAWLED_EVERY, `${visited} requests`);
  assert.equal((await run(target, 'audit', 'verify')).code, 0);
  assert.equal((await run(target, 'ledger', 'verify')).code, 0);
  const again = await run(target, 'import', archive, '--with-powers', '--trust', '--json');
  assert.deepEqual(JSON.parse(again.out).taken, report.taken);
});

/** The digests of all parts but the audit log, whose rows are signed by each service and gain one for the import. */
function digestsIn(place: string): string[] {
  const { parts } = JSON.parse(readFileSync(join(place, 'manifest.json'), 'utf8')) as Manifest;
  return parts!.filter(({ kind }) => !kind.startsWith('audit_')).map(({ name, sha256 }) => `${name} ${sha256}`);
}

test('an import that is killed again and again ends with the same answers as one that is not', async () => {
  const target = await startApi(JOBS_OFF);
  const args = ['import', archive, '--with-powers', '--trust', '--json'];
  for (let kill = 0; kill < KILLS; kill += 1) {
    const child = startProgram(
      args.filter((word) => word !== '--json'),
      settingsOf(target),
    );
    const ended = endOf(child);
    // A line of progress comes after the commit of a batch, at another place each time.
    const parts = kill + 1;
    let lines = 0;
    child.stderr!.on('data', (text: string) => {
      lines += text.split('\n').length - 1;
      if (lines >= parts) child.kill('SIGKILL');
    });
    await ended;
  }
  const imported = await run(target, ...args);
  assert.equal(imported.code, 0, imported.err);
  assert.deepEqual(JSON.parse(imported.out).refusals, []);
  const again = join(folder, 'again');
  assert.equal((await run(target, 'export', again)).code, 0);
  assert.deepEqual(digestsIn(again), digestsIn(archive));
});

test('a service with content gives new ids where ids are taken, and the old ids of mods still answer', async () => {
  const target = await startApi(JOBS_OFF);
  const game = await target.aGame();
  for (let mods = 0; mods < 3; mods += 1) await target.aMod({ game });
  const imported = await run(target, 'import', archive, '--json');
  assert.equal(imported.code, 0, imported.err);
  const report = JSON.parse(imported.out);
  assert.equal(report.into_empty, false);
  const reasons = new Set(report.refusals.map(({ reason }: { reason: string }) => reason));
  assert.deepEqual(
    [...reasons].filter((reason) => !/only an empty service|--with-powers/.test(String(reason))),
    [],
  );
  target.app().db.changes.everythingChanged();
  const { query } = target.app().db;
  const moved = await query
    .selectFrom('imported_ids')
    .selectAll()
    .where('resource', '=', 'mods')
    .where('old_id', '<=', 3)
    .execute();
  assert.equal(moved.length, 3);
  const reader = target.withKey(game);
  for (const { old_id, new_id } of moved) {
    const { game_id, name } = await query
      .selectFrom('mods')
      .select(['game_id', 'name'])
      .where('id', '=', new_id)
      .executeTakeFirstOrThrow();
    assert.notEqual(new_id, old_id);
    for (const mod_id of [old_id, new_id]) {
      const { status, body } = await reader.call(getMod, { params: { game_id, mod_id } });
      assert.deepEqual([status, body.id, body.name], [200, new_id, name]);
    }
  }
  // The old ids of a game and its mod answer together where no mod of this service has them.
  const kept = await reader.call(getMod, { params: { game_id: demo.games[0]!.id, mod_id: 10 } });
  assert.deepEqual([game.id, kept.status, kept.body.id], [demo.games[0]!.id, 200, 10]);
  assert.notEqual(kept.body.game_id, game.id);
  const here = await reader.call(getMod, { params: { game_id: game.id, mod_id: 1 } });
  assert.equal(here.body.game_id, game.id, 'what is here comes first');
  await reader.refused(getMod, { params: { game_id: game.id, mod_id: 999_999 } }, 404, 15022);
  const own = await query.selectFrom('mods').select('name').where('game_id', '=', game.id).execute();
  assert.equal(own.length, 3);
  const staff = await query
    .selectFrom('team_members')
    .select('id')
    .where('resource', '=', 'games')
    .where('resource_id', '<>', game.id)
    .execute();
  assert.deepEqual(staff, [], 'nobody gets power over an imported game');
});

/** Writes an archive by hand. */
function written(
  t: TestContext,
  rows: Record<string, readonly object[] | string>,
  files: Record<string, Buffer> = {},
  source = 'by hand',
): string {
  const place = mkdtempSync(join(folder, 'written-'));
  t.after(() => rmSync(place, { recursive: true, force: true }));
  mkdirSync(join(place, 'rows'));
  mkdirSync(join(place, 'files'));
  writeFileSync(join(place, 'manifest.json'), JSON.stringify({ format: 'modstead-archive', version: 1, source }));
  for (const [kind, lines] of Object.entries(rows))
    writeFileSync(
      join(place, 'rows', `${kind}.jsonl`),
      typeof lines === 'string' ? lines : lines.map((line) => JSON.stringify(line)).join('\n'),
    );
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(place, 'files', name), bytes);
  return place;
}

test('an archive written by hand needs few fields; markup is sanitised, and a newer archive updates it', async (t) => {
  const target = await startApi(JOBS_OFF);
  const base = {
    users: [{ id: 7, username: 'Grace', email: 'Grace@Example.com' }],
    games: [{ id: 42, name: 'Written Game', submitted_by: 7 }],
    game_tag_groups: [{ id: 1, game_id: 42, name: 'Kind' }],
    game_tags: [{ id: 5, group_id: 1, name: 'Weapon' }],
    modfiles: [{ id: 9, game_id: 42, mod_id: 100, submitted_by: 7, file: 'sword.zip' }],
    mod_live_files: [{ mod_id: 100, modfile_id: 9 }],
    mod_tags: [{ mod_id: 100, tag_id: 5 }],
    mod_metadata: [{ mod_id: 100, pair: 'a:b' }],
  };
  const mod = {
    id: 100,
    game_id: 42,
    submitted_by: 7,
    name: 'Sword',
    summary: 'Sharp',
    description: '<p>Hi<script>alert(1)</script></p>',
  };
  const files = { 'sword.zip': zipOf({ 'sword.txt': 'sharp' }) };
  const first = written(t, { ...base, mods: [mod, { id: 101, game_id: 43, submitted_by: 7, name: 'Lost' }] }, files);
  const { code, err, out } = await run(target, 'import', first, '--json');
  assert.equal(code, 0, err);
  const { refusals } = JSON.parse(out);
  assert.deepEqual(
    refusals.map(({ part, line }: { part: string; line: number }) => [part, line]),
    [['rows/mods.jsonl', 2]],
  );
  target.app().db.changes.everythingChanged();
  const reader = await readerAs(target, 7);
  const shown = JSON.parse((await reader('/games/42/mods/100')).text);
  assert.deepEqual(
    [
      shown.name,
      shown.name_id,
      shown.description,
      shown.tags.map(({ name }: { name: string }) => name),
      shown.modfile.filename,
    ],
    ['Sword', 'sword', '<p>Hi</p>', ['Weapon'], 'sword.zip'],
  );
  assert.equal(JSON.parse((await reader('/games/42/mods?_q=sword')).text).result_total, 1);

  const later = written(t, {
    users: base.users,
    games: base.games,
    mods: [{ ...mod, name: 'Axe' }],
    mod_metadata: [{ mod_id: 100, pair: 'c:d' }],
  });
  const updated = await run(target, 'import', later, '--json');
  assert.equal(updated.code, 0, updated.err);
  target.app().db.changes.everythingChanged();
  const changed = JSON.parse((await reader('/games/42/mods/100')).text);
  assert.deepEqual(
    [changed.id, changed.name, changed.tags, changed.metadata_kvp],
    [100, 'Axe', [], [{ metakey: 'c', metavalue: 'd' }]],
  );
  assert.equal(JSON.parse((await reader('/games/42/mods?_q=sword')).text).result_total, 0);
  assert.equal(JSON.parse((await reader('/games/42/mods?_q=axe')).text).result_total, 1);
});

test('a pending mod that is live on platforms only shows its newest file to all, and waits in the queue', async (t) => {
  const target = await startApi(JOBS_OFF);
  const file = (id: number) => ({ id, game_id: 42, mod_id: 100, submitted_by: 7, file: `${id}.zip` });
  const rows = {
    users: [{ id: 7, username: 'Grace' }],
    games: [{ id: 42, name: 'Written Game', submitted_by: 7 }],
    mods: [{ id: 100, game_id: 42, submitted_by: 7, name: 'Sword', summary: 'Sharp', status: 0 }],
    modfiles: [file(8), file(9)],
    mod_live_files: [
      { mod_id: 100, platform: 'windows', modfile_id: 9 },
      { mod_id: 100, platform: 'linux', modfile_id: 8 },
    ],
  };
  const files = Object.fromEntries(['8', '9'].map((id) => [`${id}.zip`, zipOf({ 'sword.txt': id })]));
  const { code, err } = await run(target, 'import', written(t, rows, files), '--json');
  assert.equal(code, 0, err);
  target.app().db.changes.everythingChanged();
  const staff = await target.as(await target.aUser({ admin: true }));
  const waiting = (await staff.call(getModerationQueueOfSite, { query: { game_id: 42 } })).body.data;
  assert.deepEqual(
    waiting.map(({ resource, id }) => [resource, id]),
    [['mods', 100]],
  );
  const mod = (await staff.call(getMod, { params: { game_id: 42, mod_id: 100 } })).body;
  assert.equal((mod.modfile as { id?: number }).id, 9);
});

test('rows that an archive may not contain are refused one by one, with the reason', async (t) => {
  const target = await startApi(JOBS_OFF);
  const place = written(t, {
    users: `{"id":1,"username":"A","admin":1}\nnot json\n[]\n{"id":"2","username":"B"}\n{"id":3,"username":"C","secret":1}\n{"id":4}\n`,
    games: [{ id: 1, name: 'G', submitted_by: 1 }],
    team_members: [{ resource: 'games', resource_id: 1, user_id: 1 }],
    site_staff: [{ user_id: 1, level: 8, added_by: 0, date_added: 0 }],
    api_keys: [{ id: 1, digest: 'x', date_added: 0 }],
    modfiles: [{ id: 1, game_id: 1, mod_id: 1, submitted_by: 1, file: '../../../etc/passwd' }],
    files: [
      { name: '../../x', bytes: 1, sha256: 'a' },
      { name: 'modfiles/aa/bb', bytes: 1, sha256: 'a' },
    ],
  });
  const { code, out, err } = await run(target, 'import', place, '--json');
  assert.equal(code, 0, err);
  const { refusals, taken } = JSON.parse(out);
  const lines = refusals.map(({ part, line }: { part: string; line: number }) => `${part}:${line}`).sort();
  assert.deepEqual(lines, [
    'rows/api_keys.jsonl:0',
    'rows/files.jsonl:1',
    'rows/files.jsonl:2',
    'rows/modfiles.jsonl:1',
    'rows/site_staff.jsonl:0',
    'rows/team_members.jsonl:1',
    'rows/users.jsonl:2',
    'rows/users.jsonl:3',
    'rows/users.jsonl:4',
    'rows/users.jsonl:5',
    'rows/users.jsonl:6',
  ]);
  assert.deepEqual(taken, { users: 1, games: 1 });
  const user = await target.app().db.query.selectFrom('users').select('admin').executeTakeFirstOrThrow();
  assert.equal(user.admin, 0);
});
