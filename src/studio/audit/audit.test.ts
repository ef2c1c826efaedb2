import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { startApi } from '../../../test/api.ts';
import { editGameOperation } from '../../catalogue/games/operations.ts';
import { deleteModOperation, editModByPut } from '../../catalogue/mods/operations.ts';
import { liftRestrictionInGame, restrictUserInGame } from '../../catalogue/restrictions/operations.ts';
import { addGameTeamMember } from '../../catalogue/teams/operations.ts';
import { MODERATOR } from '../../catalogue/teams/teams.ts';
import { addAgreementVersion } from '../../people/agreements/operations.ts';
import { verifyAudit } from '../../records/audit/audit.ts';
import { rotateGameKeyOperation } from '../../signin/credentials/operations.ts';
import { getAudit, getGameAudit } from './operations.ts';

const api = await startApi();
const admin = await api.as(await api.aUser({ admin: true }));

test('actions of a game’s team and of staff are logged with actor and reason', async () => {
  const game = await api.aGame();
  const moderator = await api.aUser();
  await api.joins(moderator, game, MODERATOR);
  const [asModerator, asOwner] = [await api.as(moderator), await api.as(game.owner)];
  const [mod, user] = [await api.aMod({ game }), await api.aUser()];
  const params = { game_id: game.id, mod_id: mod.id, user_id: user.id };
  await asOwner.call(editGameOperation, { params, body: { curation_option: 1 } });
  await asOwner.call(rotateGameKeyOperation, { params });
  await asOwner.call(addGameTeamMember, { params, body: { email: 'new@example.org', level: 1 } });
  await asModerator.call(restrictUserInGame, { params, body: { options: 1, reason: 'Spam' } });
  await asModerator.call(liftRestrictionInGame, { params });
  await asModerator.call(editModByPut, { params, body: { status: 0 } });
  await asModerator.call(deleteModOperation, { params });
  await (await api.as(mod.owner)).call(editModByPut, { params, body: { summary: 'By the author alone' } });
  const { data } = (await asModerator.call(getGameAudit, { params })).body;
  assert.deepEqual(
    data.map(({ action, user_id, resource, resource_id, reason }) => [action, user_id, resource, resource_id, reason]),
    [
      ['games.edit', game.owner.id, 'games', game.id, ''],
      ['games.rotate-key', game.owner.id, 'games', game.id, ''],
      ['games.team-invite', game.owner.id, 'games', game.id, ''],
      ['users.restrict', moderator.id, 'users', user.id, 'Spam'],
      ['users.lift-restriction', moderator.id, 'users', user.id, ''],
      ['mods.edit', moderator.id, 'mods', mod.id, ''],
      ['mods.delete', moderator.id, 'mods', mod.id, ''],
    ],
  );
  assert.deepEqual([data[0]!.data, data[5]!.data], [{ curation_option: [0, 1] }, { status: [1, 0] }]);
  await admin.call(addAgreementVersion, { body: { type: 1, name: 'Terms', description: 'Be kind.' } });
  const found = (await admin.call(getAudit, { query: { action: 'agreements.add' } })).body;
  assert.equal(found.result_total, 1);
});

test('staff read the whole log, and a game’s team the log of the game', async () => {
  const [game, other] = [await api.aGame(), await api.aGame()];
  const params = { game_id: game.id };
  const stranger = await api.as(other.owner);
  await stranger.refused(getAudit, {}, 403, 17012);
  await (await api.as(game.owner)).refused(getAudit, {}, 403, 17012);
  await stranger.refused(getGameAudit, { params }, 403, 29500);
  await (await api.as(await api.aUser())).refused(getGameAudit, { params }, 403, 29500);
  await (await api.as(other.owner)).call(rotateGameKeyOperation, { params: { game_id: other.id } });
  assert.equal((await (await api.as(game.owner)).call(getGameAudit, { params })).body.result_total, 0);
});

test('refused requests are not logged', async () => {
  const game = await api.aGame();
  const before = (await verifyAudit(api.app())).rows;
  const body = { options: 1 };
  const params = { game_id: game.id, user_id: 999_999 };
  await (await api.as(game.owner)).refused(restrictUserInGame, { params, body }, 404, 17000);
  assert.deepEqual(await verifyAudit(api.app()), { rows: before });
});

test('16 concurrent writers make one chain, and every manipulation is detected', async () => {
  const clients = await Promise.all(
    Array.from({ length: 16 }, async () => {
      const game = await api.aGame();
      return { client: await api.as(game.owner), game };
    }),
  );
  const { rows: before } = await verifyAudit(api.app());
  const user = await api.aUser();
  await Promise.all(
    clients.flatMap(({ client, game }) =>
      [1, 2, 3].map((options) =>
        client.call(restrictUserInGame, { params: { game_id: game.id, user_id: user.id }, body: { options } }),
      ),
    ),
  );
  const app = api.app();
  assert.deepEqual(await verifyAudit(app), { rows: before + 48 });

  const at = before + 10;
  const { rows: last } = await verifyAudit(app);
  const whole = await app.db.query.selectFrom('audit_log').selectAll().where('id', '>=', at).orderBy('id').execute();
  const damage = (query: ReturnType<typeof sql>) =>
    app.db.write(async (transaction) => void (await query.execute(transaction.query)));
  const restore = () =>
    app.db.write(async ({ query }) => {
      await query.deleteFrom('audit_log').where('id', '>=', at).execute();
      await query.insertInto('audit_log').values(whole).execute();
    });
  const cases = [
    [sql`update audit_log set user_id = user_id + 1 where id = ${at}`, at, 'changed'],
    [sql`update audit_log set reason = 'Other' where id = ${at}`, at, 'changed'],
    [sql`update audit_log set hash = 'x' where id = ${last}`, last, 'changed'],
    [sql`delete from audit_log where id = ${at}`, at, 'missing'],
    [sql`delete from audit_log where id = ${last}`, last, 'missing'],
    [
      sql`update audit_log set data = (select x.data from audit_log x where x.id = ${at + 1}) || ' ' where id = ${at}`,
      at,
      'changed',
    ],
  ] as const;
  for (const [query, id, problem] of cases) {
    await damage(query);
    assert.deepEqual((await verifyAudit(app)).broken, { id, problem });
    await restore();
    assert.deepEqual(await verifyAudit(app), { rows: last });
  }
  await damage(sql`update audit_log set id = -1 where id = ${at}`);
  await damage(sql`update audit_log set id = ${at} where id = ${at + 1}`);
  await damage(sql`update audit_log set id = ${at + 1} where id = -1`);
  assert.deepEqual((await verifyAudit(app)).broken, { id: at, problem: 'changed' });
  await restore();
  await damage(
    sql`insert into audit_log select id + 1, date_added, game_id, user_id, action, resource, resource_id, reason, data, hash, hash from audit_log where id = ${last}`,
  );
  assert.deepEqual((await verifyAudit(app)).broken, { id: last + 1, problem: 'added' });
  await restore();
  assert.deepEqual(await verifyAudit(app), { rows: last });
});
