import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import sharp from 'sharp';
import { type Mod, startApi } from '../../../test/api.ts';
import { aSession } from '../../../test/uploads.ts';
import { zipOf } from '../../../test/zips.ts';
import { subscribeToMod } from '../../community/subscriptions/operations.ts';
import { composeWorker } from '../../composition/compose.ts';
import { addModDependencies } from '../dependencies/operations.ts';
import { getModsEvents } from '../events/operations.ts';
import { editGameFileTypes } from '../findings/operations.ts';
import { editGameOperation, getGameStats } from '../games/operations.ts';
import { addModMedia } from '../media/operations.ts';
import { addModMetadata } from '../metadata/operations.ts';
import { modPreviews } from '../previews/operations.ts';
import { countDownload } from '../stats/stats.ts';
import { addModTags } from '../tags/operations.ts';
import { addModTeamMember } from '../teams/operations.ts';
import { MANAGER, MODERATOR } from '../teams/teams.ts';
import { deleteModOperation, editModByPut, getMod, getMods, getUserMods } from './operations.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
const game = await api.aGame({ tagGroups: [{ name: 'Kind', type: 'checkboxes', tags: ['Map'] }] });
const ada = await api.aUser();
const asAda = await api.as(ada);
const asGameOwner = await api.as(game.owner);

const HOUR = 3_600;
const at = (mod: Mod) => ({ game_id: mod.game_id, mod_id: mod.id });
const forEver = (mod: Mod) => ({ params: at(mod), body: { permanent: true } });

async function aDeletedMod(mod: Parameters<typeof api.aMod>[0] = {}): Promise<Mod> {
  const deleted = await api.aMod({ game, owner: ada, ...mod });
  await asAda.call(deleteModOperation, { params: at(deleted) });
  return deleted;
}

/** Counts the rows of a mod in each table, by every column that refers to mods. */
async function rowsOf(mod: Mod): Promise<Record<string, number>> {
  const { query, dialect } = api.app().db;
  const listed =
    dialect === 'sqlite'
      ? sql<{ name: string; column: string }>`select t.name, c.name as "column" from sqlite_master t
          join pragma_table_info(t.name) c where t.type = 'table'`
      : sql<{ name: string; column: string }>`select table_name as name, column_name as "column"
          from information_schema.columns where table_schema = 'public'`;
  const columns = new Map<string, string[]>();
  for (const { name, column } of (await listed.execute(query)).rows)
    columns.set(name, [...(columns.get(name) ?? []), column]);
  const found: Record<string, number> = {};
  for (const [table, names] of columns) {
    const conditions = names
      .filter((name) => /^(mod_id|dependency_id)$/.test(name))
      .map((name) => `${name} = ${mod.id}`);
    if (names.includes('resource_id')) conditions.push(`(resource = 'mods' and resource_id = ${mod.id})`);
    if (table === 'mods') conditions.push(`id = ${mod.id}`);
    if (conditions.length === 0) continue;
    const counted = sql<{ total: number }>`select count(*) as total from ${sql.table(table)}
      where ${sql.raw(conditions.join(' or '))}`;
    const total = Number((await counted.execute(query)).rows[0]!.total);
    if (total > 0) found[table] = total;
  }
  return found;
}

/** Counts the rows that refer to a file by its own id: platforms, documents. */
async function filesRows(id: number): Promise<number[]> {
  const { query } = api.app().db;
  const count = async (table: 'modfile_platforms' | 'modfile_documents') =>
    (await query.selectFrom(table).selectAll().where('modfile_id', '=', id).execute()).length;
  return [await count('modfile_platforms'), await count('modfile_documents')];
}

/** A live file with a finding, a file that is scheduled to go live, and an upload that is not used yet. */
async function aFileOnPlatforms(mod: Mod): Promise<{ id: number }> {
  const body = { 'platforms[0][platform]': 'windows' };
  await asGameOwner.call(editGameOperation, { params: { game_id: game.id }, body });
  await asGameOwner.call(editGameFileTypes, { params: { game_id: game.id }, body: { reported: ['lua'] } });
  const file = await api.aFile(mod, { archive: zipOf({ 'a.lua': 'x' }) });
  const { id } = await api.aFile(mod, { active: false });
  await api
    .app()
    .db.write(({ query }) =>
      query.insertInto('mod_awaited_files').values({ mod_id: mod.id, platform: '', modfile_id: id }).execute(),
    );
  const session = await aSession(api, { mod });
  await session.put(zipOf({ a: 'b' }));
  await session.complete();
  assert.deepEqual(await filesRows(file.id), [1, 1]);
  return file;
}

test('permanently deleting a mod leaves only its events and rule decisions, and the next clean-up removes its pictures', async () => {
  const mod = await api.aMod({ game, owner: ada, visible: 0, community_options: 1 | 128 | 1_024 });
  const [needs, neighbour] = [await api.aMod({ game, owner: ada }), await api.aMod({ game, owner: ada })];
  const params = at(mod);
  await asAda.call(editModByPut, { params, body: { name: 'Karte' }, headers: { 'content-language': 'de' } });
  await asAda.call(addModTags, { params, body: { tags: ['Map'] } });
  await asAda.call(addModMetadata, { params, body: { metadata: ['a:b'] } });
  await asAda.call(addModDependencies, { params, body: { dependencies: [neighbour.id] } });
  await asAda.call(addModDependencies, { params: at(needs), body: { dependencies: [mod.id] } });
  await asAda.call(addModTeamMember, { params, body: { email: 'grace@example.org', level: 1 } });
  await asAda.call(addModMedia, { params, body: { youtube: ['https://youtu.be/IGVZOLV9SPo'] } });
  await asAda.call(modPreviews.renew, { params });
  const app = api.app();
  await app.db.write((transaction) => countDownload(app, transaction, { id: mod.id, game_id: mod.game_id }, 7));
  const picture = await sharp({ create: { width: 9, height: 9, channels: 3, background: '#123' } })
    .png()
    .toBuffer();
  const head = '--b\r\nContent-Disposition: form-data; name="image1"; filename="a.png"\r\n\r\n';
  await api.request('POST', `/v1/games/${game.id}/mods/${mod.id}/media`, {
    headers: { authorization: `Bearer ${asAda.token}`, 'content-type': 'multipart/form-data; boundary=b' },
    body: Buffer.concat([Buffer.from(head), picture, Buffer.from('\r\n--b--\r\n')]),
  });
  const [image] = (await asAda.call(getMod, { params })).body.media.images;
  const key = new URL(image!.original).pathname.slice('/files/'.length);
  const file = await aFileOnPlatforms(mod);
  const filled = Object.keys(await rowsOf(mod));
  for (const table of ['mod_tags', 'mod_metadata', 'mod_dependencies', 'team_members', 'team_invites', 'mod_media'])
    assert.ok(filled.includes(table), table);
  for (const table of ['modfiles', 'mod_live_files', 'mod_awaited_files', 'modfile_findings', 'uploads'])
    assert.ok(filled.includes(table), table);
  for (const table of [
    'mod_download_hours',
    'translations',
    'mod_cards',
    'mod_documents',
    'mod_words',
    'preview_links',
  ])
    assert.ok(filled.includes(table), table);
  const needing = async () => (await api.withKey(game).call(getMod, { params: at(needs) })).body.dependencies;
  assert.equal(await needing(), true);
  await asAda.call(deleteModOperation, { params });
  assert.equal((await asAda.call(deleteModOperation, forEver(mod))).status, 204);
  await api.counted();
  assert.deepEqual(Object.keys(await rowsOf(mod)).sort(), ['mod_events', 'rule_decisions', 'user_events']);
  assert.deepEqual(await filesRows(file.id), [0, 0]);
  assert.equal(await needing(), false);
  api.clock.advance(2 * HOUR);
  await composeWorker(app).runDue();
  assert.equal(await app.storage.stat(key), undefined);
  assert.deepEqual(await Array.fromAsync(app.storage.list('modfiles/')), []);
  assert.deepEqual(await Array.fromAsync(app.storage.list('uploads/')), []);
  const stats = await api.withKey(game).call(getGameStats, { params: { game_id: game.id } });
  assert.deepEqual([stats.body.mods_downloads_today, stats.body.mods_downloads_total], [0, 7]);
});

test('a removed mod is not found by anyone, and a client that was offline still gets the deletion event', async () => {
  const mod = await aDeletedMod();
  await asAda.call(deleteModOperation, forEver(mod));
  for (const client of [asAda, asGameOwner, await api.as(await api.aUser({ admin: true })), api.withKey(game)])
    await client.refused(getMod, { params: at(mod) }, 404, 15022);
  for (const operation of [editModByPut, deleteModOperation])
    await asAda.refused(operation, { params: at(mod), body: { status: 0 } }, 404, 15022);
  const everything = { 'status-in': '0,1,3', 'visible-in': '0,1', id: mod.id };
  const listed = await asGameOwner.call(getMods, { params: { game_id: game.id }, query: everything });
  assert.equal(listed.body.result_total, 0);
  assert.equal((await asAda.call(getUserMods, { query: { id: mod.id, 'status-in': '0,1,3' } })).body.result_total, 0);
  const events = await api
    .withKey(game)
    .call(getModsEvents, { params: { game_id: game.id }, query: { mod_id: mod.id } });
  assert.deepEqual(
    events.body.data.map(({ event_type }) => event_type),
    ['MOD_DELETED'],
  );
});

test('a mod must be deleted before it can be deleted permanently', async () => {
  const mod = await api.aMod({ game, owner: ada });
  await asAda.refused(deleteModOperation, forEver(mod), 403, 15053);
  await asAda.call(deleteModOperation, { params: at(mod) });
  await asAda.refused(deleteModOperation, { params: at(mod) }, 403, 15023);
  assert.equal((await asAda.call(deleteModOperation, forEver(mod))).status, 204);
});

test('only administrators of the mod and of its game can delete it permanently', async () => {
  const [manager, moderator] = [await api.aUser(), await api.aUser()];
  await api.joins(moderator, game, MODERATOR);
  const mod = await api.aMod({ game, owner: ada });
  await api.joinsMod(manager, mod, MANAGER);
  await asAda.call(deleteModOperation, { params: at(mod) });
  for (const user of [manager, moderator])
    await (await api.as(user)).refused(deleteModOperation, forEver(mod), 403, 15019);
  await (await api.as(await api.aUser())).refused(deleteModOperation, forEver(mod), 404, 15022);
  const elsewhere = await api.aGame();
  const params = { game_id: elsewhere.id, mod_id: mod.id };
  await asAda.refused(deleteModOperation, { params, body: { permanent: true } }, 404, 15022);
  assert.equal((await asGameOwner.call(deleteModOperation, forEver(mod))).status, 204);
  const another = await aDeletedMod();
  const admin = await api.as(await api.aUser({ admin: true }));
  assert.equal((await admin.call(deleteModOperation, forEver(another))).status, 204);
});

test('of concurrent permanent deletions one succeeds, and the others get not found', async () => {
  const mod = await aDeletedMod();
  const answers = await Promise.all(Array.from({ length: 8 }, () => asAda.call(deleteModOperation, forEver(mod))));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [204, ...Array(7).fill(404)]);
});

test('a mod that has subscribers, is for sale or is a dependency cannot be deleted permanently', async () => {
  const subscribed = await api.aMod({ game, owner: ada });
  await api.aFile(subscribed);
  await asGameOwner.call(subscribeToMod, { params: at(subscribed) });
  await asAda.call(deleteModOperation, { params: at(subscribed) });
  await asAda.refused(deleteModOperation, forEver(subscribed), 403, 15051);
  const sold = await api.aMod({ game, owner: ada });
  await api
    .app()
    .db.write(({ query }) => query.updateTable('mods').set({ price: 5 }).where('id', '=', sold.id).execute());
  await asAda.refused(deleteModOperation, { params: at(sold) }, 403, 15062);
  await asGameOwner.refused(editModByPut, { params: at(sold), body: { status: 3 } }, 403, 15062);
  const strict = await api.aGame({ settings: { dependency_option: 2 } });
  const [needed, needing] = [
    await api.aMod({ game: strict, owner: ada }),
    await api.aMod({ game: strict, owner: ada }),
  ];
  await asAda.call(addModDependencies, { params: at(needing), body: { dependencies: [needed.id] } });
  await asAda.refused(deleteModOperation, { params: at(needed) }, 403, 15019);
});

test('only administrators of the game can restore a deleted mod', async () => {
  const mod = await api.aMod({ game, owner: ada });
  const moderator = await api.aUser();
  await api.joins(moderator, game, MODERATOR);
  await asAda.call(deleteModOperation, { params: at(mod) });
  for (const client of [asAda, await api.as(moderator)]) {
    await client.refused(editModByPut, { params: at(mod), body: { status: 0 } }, 403, 15052);
    await client.refused(editModByPut, { params: at(mod), body: { status: 3 } }, 403, 15023);
  }
  await (await api.as(await api.aUser())).refused(editModByPut, { params: at(mod), body: { status: 0 } }, 404, 15022);
  const back = await asGameOwner.call(editModByPut, { params: at(mod), body: { status: 0 } });
  assert.equal(back.body.status, 0);
  assert.equal((await asAda.call(getMod, { params: at(mod) })).body.id, mod.id);
  await asAda.refused(deleteModOperation, forEver(mod), 403, 15053);
});
