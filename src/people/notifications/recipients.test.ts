import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, type Mod, startApi } from '../../../test/api.ts';
import { manyUsers } from '../../../test/bulk-rows.ts';
import { editGameOperation } from '../../catalogue/games/operations.ts';
import { deleteModOperation, editModOperation } from '../../catalogue/mods/operations.ts';
import { ADMINISTRATOR, MODERATOR } from '../../catalogue/teams/teams.ts';
import { editGuideOperation } from '../../community/guides/operations.ts';
import { subscribeToMod } from '../../community/subscriptions/operations.ts';
import { composeWorker } from '../../composition/compose.ts';
import { managePlatformStatus } from '../../files/modfiles/operations.ts';
import { decideOverContent } from '../../moderation/moderation/operations.ts';
import { resolveGameReport, submitReportOperation } from '../../moderation/reports/operations.ts';
import { insertMany } from '../../platform/database/bulk.ts';
import { muteAUser } from '../mutes/operations.ts';
import { notifySomeSubscribers } from './letters.ts';
import { deleteNotifications, getNotifications, updateNotificationSettings } from './operations.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
const worker = composeWorker(api.app());
const notificationsOf = async (client: Client) => (await client.call(getNotifications)).body.data;
const kinds = async (client: Client) => (await notificationsOf(client)).map(({ kind }) => kind);
const at = (mod: Mod) => ({ params: { game_id: mod.game_id, mod_id: mod.id } });

async function aTeam(game: { id: number }, level = MODERATOR): Promise<Client> {
  const member = await api.aUser();
  await api.joins(member, game, level);
  return api.as(member);
}

test('authors are notified of decisions of the game’s team about their work, without the moderator’s name', async () => {
  const game = await api.aGame();
  const team = await aTeam(game);
  const mod = await api.aMod({ game, accepted: false });
  await api.app().db.write(async ({ query }) => {
    await query.updateTable('mods').set({ status: 0 }).where('id', '=', mod.id).execute();
  });
  const guide = await api.aGuide({ game });
  const decide = (resource: 'mods' | 'guides', id: number, decision: 'deny' | 'delete') =>
    team.call(decideOverContent, { params: { game_id: game.id }, body: { resource, id, decision, reason: 'Rude' } });
  assert.equal((await decide('mods', mod.id, 'deny')).status, 204);
  assert.equal((await decide('guides', guide.id, 'delete')).status, 204);
  const [one, ...more] = await notificationsOf(await api.as(mod.owner));
  assert.deepEqual([one!.kind, one!.resource, one!.resource_id, one!.user, more], ['denied', 'mods', mod.id, null, []]);
  const [other] = await notificationsOf(await api.as(guide.owner));
  assert.deepEqual([other!.kind, other!.resource, other!.resource_id], ['taken_down', 'guides', guide.id]);
});

test('authors are notified when the game’s team edits a status or deletes a mod', async () => {
  const game = await api.aGame();
  const team = await aTeam(game, ADMINISTRATOR);
  const mod = await api.aMod({ game });
  const owner = await api.as(mod.owner);
  await team.call(editModOperation, { ...at(mod), body: { status: 0 } });
  await team.call(deleteModOperation, at(mod));
  assert.deepEqual(await kinds(owner), ['taken_down', 'denied']);
  const guide = await api.aGuide({ game });
  const params = { game_id: game.id, guide_id: guide.id };
  await team.call(editGuideOperation, { params, body: { status: 0 } });
  await team.call(editGuideOperation, { params, body: { status: 1 } });
  await team.call(editGuideOperation, { params, body: { status: 0 } });
  assert.deepEqual(await kinds(await api.as(guide.owner)), ['denied', 'accepted']);
  const own = await api.aMod({ game });
  await (await api.as(own.owner)).call(deleteModOperation, at(own));
  assert.deepEqual(await kinds(await api.as(own.owner)), []);
});

test('the uploader of a file is notified of the platforms that were decided', async () => {
  const game = await api.aGame();
  const platforms = { 'platforms[0][platform]': 'ps5', 'platforms[0][moderated]': 1 };
  await (await api.as(game.owner)).call(editGameOperation, { params: { game_id: game.id }, body: platforms });
  const mod = await api.aMod({ game });
  const file = await api.aFile(mod, { platforms: ['ps5'] });
  const team = await aTeam(game);
  for (const body of [{ denied: ['ps5'] }, { approved: ['ps5'] }]) {
    const params = { ...at(mod).params, file_id: file.id };
    assert.equal((await team.call(managePlatformStatus, { params, body })).status, 200);
  }
  assert.deepEqual(await kinds(await api.as(mod.owner)), ['file_approved', 'file_denied']);
});

test('the reporter is notified that a report was resolved', async () => {
  const mod = await api.aMod();
  const team = await aTeam({ id: mod.game_id });
  const [ada, bob] = [await api.as(await api.aUser()), await api.as(await api.aUser())];
  const body = { resource: 'mods', id: mod.id, type: 0, summary: 'Wrong' };
  for (const client of [ada, bob]) await client.call(submitReportOperation, { body });
  const report = await api
    .app()
    .db.query.selectFrom('reports')
    .select('id')
    .where('resource_id', '=', mod.id)
    .execute();
  const params = { game_id: mod.game_id, report_id: report[0]!.id };
  assert.equal((await team.call(resolveGameReport, { params, body: { resolution: 'Fine' } })).status, 200);
  await team.call(decideOverContent, {
    params: { game_id: mod.game_id },
    body: { resource: 'mods', id: mod.id, decision: 'resolve', reason: '' },
  });
  for (const client of [ada, bob]) assert.deepEqual(await kinds(client), ['report_resolved']);
});

const update = async (mod: Mod) => {
  api.clock.advance(60);
  await api.aFile(mod);
  await worker.runDue();
};

test('subscribers are notified of a new file, unless they muted its author or turned it off', async () => {
  const mod = await api.aMod();
  const [reader, muter, silent] = await Promise.all([1, 2, 3].map(async () => api.as(await api.aUser())));
  await api.aFile(mod);
  for (const client of [reader!, muter!, silent!])
    assert.equal((await client.call(subscribeToMod, at(mod))).status, 201);
  await muter!.call(muteAUser, { params: { user_id: mod.owner.id } });
  await silent!.call(updateNotificationSettings, { body: { mod_updated: 'off' } });
  await update(mod);
  await update(mod);
  assert.deepEqual(await kinds(reader!), ['mod_updated']);
  assert.deepEqual([await kinds(muter!), await kinds(silent!)], [[], []]);
  await reader!.call(deleteNotifications);
  await update(mod);
  assert.deepEqual(await kinds(reader!), ['mod_updated']);
});

test('a hidden mod notifies nobody', async () => {
  const mod = await api.aMod();
  await api.aFile(mod);
  const reader = await api.as(await api.aUser());
  await reader.call(subscribeToMod, at(mod));
  await (await api.as(mod.owner)).call(editModOperation, { ...at(mod), body: { visible: 0 } });
  await update(mod);
  assert.deepEqual(await kinds(reader), []);
});

const MANY = 5_000;

test('very many subscribers are notified in batches, each once, even if a batch is repeated', async () => {
  const app = api.app();
  const mod = await api.aMod();
  const users = await manyUsers(app, MANY, 1_000_000);
  await app.db.write(async (transaction) => {
    const bulk = { transaction, dialect: app.db.dialect };
    const rows = users.map((user_id) => ({ user_id, mod_id: mod.id, date_added: 1 }));
    await insertMany(bulk, 'subscriptions', rows);
  });
  const counted = async () =>
    app.db.query
      .selectFrom('notifications')
      .select(({ fn }) => [fn.countAll<number>().as('all'), fn.max('date_added').as('newest')])
      .where('kind', '=', 'mod_updated')
      .where('resource_id', '=', mod.id)
      .executeTakeFirstOrThrow();
  await api.aFile(mod);
  await update(mod);
  assert.equal(Number((await counted()).all), MANY);
  const again = { modId: mod.id, gameId: mod.game_id, actorId: mod.owner.id, date: app.clock.now(), after: 0 };
  const ids = await app.db.query.selectFrom('notifications').select('id').orderBy('id').execute();
  await notifySomeSubscribers(app, again);
  await worker.runDue();
  assert.deepEqual(await app.db.query.selectFrom('notifications').select('id').orderBy('id').execute(), ids);
  await update(mod);
  assert.deepEqual([Number((await counted()).all), Number((await counted()).newest)], [MANY, app.clock.now()]);
});
