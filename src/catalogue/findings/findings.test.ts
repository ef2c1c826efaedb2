import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, type Mod, startApi } from '../../../test/api.ts';
import { nested, zipOf } from '../../../test/zips.ts';
import { addModfileOperation, deleteModfileOperation, getModfiles } from '../../files/modfiles/operations.ts';
import { MANAGER, MODERATOR } from '../teams/teams.ts';
import { editGameFileTypes, getGameFileTypes, getGameFindings } from './operations.ts';

const api = await startApi();

const at = (mod: Mod) => ({ game_id: mod.game_id, mod_id: mod.id });

async function aGameWith(types: Record<string, string[]>) {
  const game = await api.aGame();
  const owner = await api.as(game.owner);
  const answer = await owner.call(editGameFileTypes, { params: { game_id: game.id }, body: types });
  assert.equal(answer.status, 200, answer.text);
  return { game, owner };
}

const upload = (client: Client, mod: Mod, bytes: Buffer) =>
  ({ params: at(mod), files: { filedata: { filename: 'mod.zip', bytes } }, client }) as const;

test('a game sets refused and reported file types in any spelling', async () => {
  const { game, owner } = await aGameWith({ refused: ['.EXE', 'dll', 'exe'], reported: ['lua'] });
  const params = { game_id: game.id };
  const shown = async () => (await api.withKey(game).call(getGameFileTypes, { params })).body;
  assert.deepEqual(await shown(), { refused: ['dll', 'exe'], reported: ['lua'] });
  await owner.call(editGameFileTypes, { params, body: { reported: [''] } });
  assert.deepEqual(await shown(), { refused: ['dll', 'exe'], reported: [] });
  await owner.refused(editGameFileTypes, { params, body: { refused: ['a/b'] } }, 422, 13009);
  const [manager, moderator] = [await api.aUser(), await api.aUser()];
  await api.joins(manager, game, MANAGER);
  await api.joins(moderator, game, MODERATOR);
  await (await api.as(moderator)).refused(editGameFileTypes, { params, body: { refused: ['x'] } }, 403, 14002);
  assert.equal(
    (await (await api.as(manager)).call(editGameFileTypes, { params, body: { refused: ['x'] } })).status,
    200,
  );
  assert.deepEqual(
    (await api.withKey(game).call(getGameFileTypes, { params: { game_id: (await api.aGame()).id } })).body,
    {
      refused: [],
      reported: [],
    },
  );
});

test('an archive with a refused file type at any depth is refused, and the error names the file', async () => {
  const { game } = await aGameWith({ refused: ['exe'] });
  const mod = await api.aMod({ game });
  const owner = await api.as(mod.owner);
  for (const [archive, path] of [
    [zipOf({ 'bin/Setup.EXE': 'x' }), 'bin/Setup.EXE'],
    [nested('setup.exe', 'x', 2), 'setup.exe'],
  ] as const) {
    const { client, ...input } = upload(owner, mod, archive);
    const { body } = await client.refused(addModfileOperation, input, 422, 13009);
    assert.match(body.error.errors!['filedata']!, new RegExp(`${path}.*does not allow`));
  }
  assert.equal((await owner.call(getModfiles, { params: at(mod) })).body.result_total, 0);
  const elsewhere = await api.aMod();
  const { client, ...input } = upload(await api.as(elsewhere.owner), elsewhere, zipOf({ 'setup.exe': 'x' }));
  assert.equal((await client.call(addModfileOperation, input)).status, 201);
});

test('only the team of the game gets findings about reported file types', async () => {
  const { game, owner } = await aGameWith({ reported: ['lua'] });
  const mod = await api.aMod({ game });
  const { client, ...input } = upload(
    await api.as(mod.owner),
    mod,
    zipOf({ 'a.lua': '1', 'b/c.Lua': '2', 'd.txt': '3' }),
  );
  const file = (await client.call(addModfileOperation, input)).body;
  await api.aFile(await api.aMod({ game }));
  const params = { game_id: game.id };
  const moderator = await api.aUser();
  await api.joins(moderator, game, MODERATOR);
  for (const member of [owner, await api.as(moderator)]) {
    const { body } = await member.call(getGameFindings, { params });
    assert.deepEqual(
      body.data.map(({ id: _, ...finding }) => finding),
      ['a.lua', 'b/c.Lua'].map((path) => ({
        mod_id: mod.id,
        modfile_id: file.id,
        kind: 0,
        message: '',
        path,
        detail: path.slice(-3),
        date_added: api.clock.now(),
      })),
    );
  }
  const narrowed = await owner.call(getGameFindings, { params, query: { modfile_id: file.id, kind: 0, _limit: 1 } });
  assert.deepEqual([narrowed.body.data.length, narrowed.body.result_total], [1, 2]);
  for (const stranger of [client, await api.as(await api.aUser()), await api.as((await api.aGame()).owner)])
    await stranger.refused(getGameFindings, { params }, 403, 29500);
  await (await api.as(mod.owner)).call(addModfileOperation, {
    ...input,
    files: { filedata: { filename: 'n.zip', bytes: zipOf({ 'd.txt': '4' }) } },
  });
  const gone = await client.call(deleteModfileOperation, { params: { ...at(mod), file_id: file.id } });
  assert.equal(gone.status, 204, gone.text);
  assert.equal((await owner.call(getGameFindings, { params })).body.result_total, 0);
});
