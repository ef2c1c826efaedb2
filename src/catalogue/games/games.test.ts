import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi } from '../../../test/api.ts';
import { editGameOperation, getGame, getGames, getGameTagOptions } from './operations.ts';

const api = await startApi();

test('any key can read an accepted game', async () => {
  const game = await api.aGame({ name: 'Star Smith' });
  const other = await api.aGame();
  const answer = await api.withKey(other).call(getGame, { params: { game_id: game.id } });
  assert.equal(answer.status, 200);
  assert.equal(answer.body.name, 'Star Smith');
  assert.equal(answer.body.submitted_by.id, game.owner.id);
});

test('a manager of the team edits the game, and the next read shows it', async () => {
  const game = await api.aGame();
  const owner = await api.as(game.owner);
  const reader = api.withKey(game);
  await reader.call(getGame, { params: { game_id: game.id } });
  const edited = await owner.call(editGameOperation, { params: { game_id: game.id }, body: { summary: 'New words' } });
  assert.equal(edited.body.summary, 'New words');
  assert.equal((await reader.call(getGame, { params: { game_id: game.id } })).body.summary, 'New words');
});

test('lists are paged by id with exact totals', async () => {
  const games = [];
  for (let i = 0; i < 5; i += 1) games.push(await api.aGame({ name: `Paged ${i}` }));
  const client = api.withKey(games[0]!);
  const answer = await client.call(getGames, { query: { 'name-lk': 'PAGED*', _limit: 2, _offset: 2 } });
  assert.deepEqual(
    answer.body.data.map((game) => game.name),
    ['Paged 2', 'Paged 3'],
  );
  assert.deepEqual(
    [answer.body.result_count, answer.body.result_limit, answer.body.result_offset, answer.body.result_total],
    [2, 2, 2, 5],
  );
});

test('hidden tags can be requested in the query, or in a form as the dialect documents it', async () => {
  const hidden = { name: 'Version', type: 'dropdown' as const, hidden: true, tags: ['1.0'] };
  const game = await api.aGame({ tagGroups: [{ name: 'Kind', type: 'checkboxes', tags: ['Ship'] }, hidden] });
  const client = api.withKey(game);
  const params = { game_id: game.id };
  const names = async (input: Parameters<typeof client.call>[1]) =>
    (await client.call(getGameTagOptions, { params, ...input })).body.data.map(({ name }) => name);
  const body = { show_hidden_tags: true };
  const headers = { 'content-length': String('show_hidden_tags=true'.length) };
  assert.deepEqual(await names({}), ['Kind']);
  assert.deepEqual(await names({ query: body }), ['Kind', 'Version']);
  assert.deepEqual(await names({ body, headers }), ['Kind', 'Version']);
});
