import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi } from '../../../test/api.ts';
import { deleteModOperation, getMod } from '../../catalogue/mods/operations.ts';
import { subscribeToMod } from '../../community/subscriptions/operations.ts';
import { downloadModfile, downloadModfileHashed } from '../downloads/operations.ts';
import { getModfiles } from '../modfiles/operations.ts';
import { deleteModVault, editModVault, getModVault } from './operations.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });

async function aVault(opens: number, closes: number, settings: Record<string, number> = {}) {
  const mod = await api.aMod({ game: await api.aGame({ settings }) });
  const { id: file_id } = await api.aFile(mod);
  const params = { game_id: mod.game_id, mod_id: mod.id, file_id };
  const author = await api.as(mod.owner);
  const now = api.clock.now();
  const body = { date_opens: opens && now + opens, date_closes: closes && now + closes };
  const answer = await author.call(editModVault, { params, body });
  assert.deepEqual(answer.body, { mod_id: mod.id, ...body });
  const player = await api.aUser();
  return { mod, params, author, player, body, fresh: () => api.as(player) };
}

test('downloads are refused before a vault opens and after it has closed', async () => {
  const { params, fresh, body } = await aVault(60, 3_600);
  await (await fresh()).refused(downloadModfile, { params }, 403, 29051);
  assert.equal((await (await fresh()).call(getMod, { params })).status, 200);
  assert.equal((await (await fresh()).call(subscribeToMod, { params })).status, 201);
  const told = (await (await fresh()).call(getModVault, { params })).body;
  assert.deepEqual([told.date_opens, told.date_closes], [body.date_opens, body.date_closes]);
  api.clock.advance(59);
  await (await fresh()).refused(downloadModfile, { params }, 403, 29051);
  api.clock.advance(1);
  assert.equal((await (await fresh()).call(downloadModfile, { params })).status, 200);
  api.clock.advance(3_539);
  assert.equal((await (await fresh()).call(downloadModfile, { params })).status, 200);
  api.clock.advance(1);
  await (await fresh()).refused(downloadModfile, { params }, 403, 29050);
});

test('a link from before does not bypass the vault', async () => {
  // Without direct downloads every link is signed.
  const { params, fresh } = await aVault(0, 30, { api_access_options: 1 });
  const client = await fresh();
  const [file] = (await client.call(getModfiles, { params })).body.data;
  const signed = { params: { ...params, verification_hash: file!.download.binary_url.split('/').at(-1)! } };
  assert.equal((await client.call(downloadModfileHashed, signed)).status, 200);
  api.clock.advance(30);
  await client.refused(downloadModfileHashed, signed, 403, 29050);
});

test('the teams of the mod and its game can always download the files', async () => {
  const { mod, params, author } = await aVault(60, 0);
  const helper = await api.aUser();
  await api.joinsMod(helper, mod, 1);
  const moderator = await api.aUser();
  await api.joins(moderator, { id: mod.game_id }, 1);
  for (const client of [author, await api.as(helper), await api.as(moderator)])
    assert.equal((await client.call(downloadModfile, { params })).status, 200);
});

test('users that may edit the mod set and remove the vault, and nobody else does', async () => {
  const { mod, params, author, fresh } = await aVault(60, 0);
  const helper = await api.aUser();
  await api.joinsMod(helper, mod, 1);
  for (const client of [await fresh(), await api.as(helper), await api.as((await api.aGame()).owner)]) {
    await client.refused(editModVault, { params, body: { date_opens: 0 } }, 403, 15013);
    await client.refused(deleteModVault, { params }, 403, 15013);
  }
  const now = api.clock.now();
  const wrong = { date_opens: now + 60, date_closes: now + 60 };
  await author.refused(editModVault, { params, body: wrong }, 422, 13009);
  assert.equal((await author.call(deleteModVault, { params })).status, 204);
  assert.deepEqual((await (await fresh()).call(getModVault, { params })).body, {
    mod_id: mod.id,
    date_opens: 0,
    date_closes: 0,
  });
  assert.equal((await (await fresh()).call(downloadModfile, { params })).status, 200);
});

test('the vault is deleted with its mod', async () => {
  const { mod, params, author } = await aVault(60, 0);
  await author.call(deleteModOperation, { params });
  await author.call(deleteModOperation, { params, body: { permanent: true } });
  const rows = await api
    .app()
    .db.query.selectFrom('mod_vaults')
    .select('mod_id')
    .where('mod_id', '=', mod.id)
    .execute();
  assert.deepEqual(rows, []);
});
