import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import sharp from 'sharp';
import { type Game, type Mod, seededRandom, startApi } from '../../../test/api.ts';
import { zipOf } from '../../../test/zips.ts';
import { editGameOperation } from '../../catalogue/games/operations.ts';
import { addModOperation, deleteModOperation, editModByPut } from '../../catalogue/mods/operations.ts';
import { addModfileOperation, deleteModfileOperation } from '../../files/modfiles/operations.ts';
import { editGamePlan, editPlan, getGamePlan, getPlans } from './operations.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off', MODSTEAD_RATE_LIMITS: 'off' } });
const staff = await api.as(await api.aUser({ admin: true }));
const logo = await sharp({ create: { width: 640, height: 360, channels: 3, background: 'teal' } })
  .png()
  .toBuffer();

await staff.call(editPlan, { params: { plan: 'basic' }, body: { mods_max: 2, may_sell: false } });
await staff.call(editPlan, {
  params: { plan: 'pro' },
  body: { mods_max: 3, storage_megabytes_max: 1, may_sell: false },
});
await staff.call(editPlan, { params: { plan: 'growth' }, body: { mods_max: 4, storage_megabytes_max: 2 } });

const newMod = (game: Game) => ({
  params: { game_id: game.id },
  body: { name: api.unique('Mod'), summary: 'One of many' },
  files: { logo: { filename: 'logo.png', bytes: logo } },
});

const assign = (game: Game, plan: 'basic' | 'pro' | 'growth' | 'enterprise') =>
  staff.call(editGamePlan, { body: { game_id: game.id, plan } });

test('a game has as many mods as its plan allows, and the error names the plan that allows more', async () => {
  const game = await api.aGame();
  const author = await api.as(await api.aUser());
  const params = { game_id: game.id };
  const mods = [await author.call(addModOperation, newMod(game)), await author.call(addModOperation, newMod(game))];
  await author.refused(addModOperation, newMod(game), 403, 14_040);
  const first = { ...params, mod_id: mods[0]!.body.id };
  await author.call(deleteModOperation, { params: first });
  assert.equal((await author.call(addModOperation, newMod(game))).status, 201);
  const studio = await api.as(game.owner);
  await studio.refused(editModByPut, { params: first, body: { status: 0 } }, 403, 14_040);
  await assign(game, 'pro');
  assert.equal((await studio.call(editModByPut, { params: first, body: { status: 0 } })).status, 200);
  await author.refused(addModOperation, newMod(game), 403, 14_041);
  await assign(game, 'growth');
  assert.equal((await author.call(addModOperation, newMod(game))).status, 201);
  await author.refused(addModOperation, newMod(game), 403, 14_042);
  await assign(game, 'enterprise');
  assert.equal((await author.call(addModOperation, newMod(game))).status, 201);
  const { plan, used } = (await studio.call(getGamePlan, { params })).body;
  assert.deepEqual([plan, used.mods], ['enterprise', 5]);
});

test('mods that are added at once do not exceed the plan', async () => {
  const game = await api.aGame();
  const author = await api.as(await api.aUser());
  const added = await Promise.all(Array.from({ length: 6 }, () => author.call(addModOperation, newMod(game))));
  assert.deepEqual(added.map(({ status }) => status).sort(), [201, 201, 403, 403, 403, 403]);
});

test('files fit into the storage of the plan', async () => {
  const game = await api.aGame();
  await assign(game, 'pro');
  const mod = await api.aMod({ game });
  const author = await api.as(mod.owner);
  const file = () => ({
    params: { game_id: game.id, mod_id: mod.id },
    files: { filedata: { filename: 'mod.zip', bytes: zipOf({ 'a.bin': randomBytes(700_000) }) } },
  });
  assert.equal((await author.call(addModfileOperation, file())).status, 201);
  await author.refused(addModfileOperation, file(), 403, 14_041);
  await assign(game, 'growth');
  assert.equal((await author.call(addModfileOperation, file())).status, 201);
  const { used } = (await (await api.as(game.owner)).call(getGamePlan, { params: { game_id: game.id } })).body;
  assert.equal(used.storage_megabytes, 2);
});

test('a game sells only if its plan allows it', async () => {
  const game = await api.aGame({ settings: { dependency_option: 2 } });
  const studio = await api.as(game.owner);
  const sell = { params: { game_id: game.id }, body: { monetization_options: 3 } };
  await studio.refused(editGameOperation, sell, 403, 14_041);
  await assign(game, 'growth');
  assert.equal((await studio.call(editGameOperation, sell)).status, 200);
  await studio.refused(getPlans, {}, 403, 17_012);
  const plans = (await staff.call(getPlans)).body.data;
  assert.deepEqual(
    plans.map(({ plan, mods_max, may_sell }) => [plan, mods_max, may_sell]),
    [
      ['basic', 2, false],
      ['pro', 3, false],
      ['growth', 4, true],
      ['enterprise', 0, true],
    ],
  );
});

/** Counted row by row. */
async function expectedUsage(game: Game) {
  const { query } = api.app().db;
  const ofGame = (table: 'mods' | 'modfiles') => query.selectFrom(table).where('game_id', '=', game.id);
  const mods = await ofGame('mods').select('status').execute();
  const files = await ofGame('modfiles').select(['status', 'filesize']).execute();
  const bytes = files.filter(({ status }) => status !== 3).reduce((sum, { filesize }) => sum + filesize, 0);
  return {
    mods: mods.filter(({ status }) => status !== 3).length,
    storage_megabytes: Math.ceil(bytes / 1_000_000),
  };
}

const usageIn = async (game: Game) => (await staff.call(getGamePlan, { params: { game_id: game.id } })).body.used;

test('what a game uses is that of its mods and files, whatever authors and the team do', async () => {
  const game = await api.aGame();
  await assign(game, 'enterprise');
  const studio = await api.as(game.owner);
  const mods: Mod[] = [];
  const files: { mod_id: number; file_id: number }[] = [];
  const random = seededRandom('usage');
  const pick = <T>(from: readonly T[]): T => from[random.bytes(2).readUInt16LE() % from.length]!;
  const at = ({ id }: Mod) => ({ params: { game_id: game.id, mod_id: id } });
  const addMod = async () => void mods.push(await api.aMod({ game, accepted: pick([true, false]) }));
  const addFile = async () => {
    const mod = pick(mods);
    const bytes = zipOf({ 'a.bin': randomBytes(400_000) });
    const author = await api.as(mod.owner);
    const added = await author.call(addModfileOperation, {
      ...at(mod),
      files: { filedata: { filename: 'a.zip', bytes } },
    });
    if (added.status === 201) files.push({ mod_id: mod.id, file_id: added.body.id });
  };
  await addMod();
  await addFile();
  const moves: (() => Promise<unknown>)[] = [
    addMod,
    addFile,
    addFile,
    () => studio.call(deleteModfileOperation, { params: { game_id: game.id, ...pick(files) } }),
    () => studio.call(deleteModOperation, at(pick(mods))),
    () => studio.call(editModByPut, { ...at(pick(mods)), body: { status: 0 } }),
    () => studio.call(deleteModOperation, { ...at(pick(mods)), body: { permanent: true } }),
  ];
  for (let step = 0; step < 60; step += 1) {
    await pick(moves)();
    assert.deepEqual(await usageIn(game), await expectedUsage(game), `step ${step}`);
  }
});

test('files and mods that are added at once are all counted', async () => {
  const game = await api.aGame();
  await assign(game, 'enterprise');
  const mods = await Promise.all(Array.from({ length: 8 }, () => api.aMod({ game })));
  await Promise.all(mods.map((mod) => api.aFile(mod, { archive: zipOf({ 'a.bin': randomBytes(400_000) }) })));
  assert.deepEqual(await usageIn(game), { mods: 8, storage_megabytes: 4 });
  assert.deepEqual(await usageIn(game), await expectedUsage(game));
});
