import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi } from '../../../test/api.ts';
import { EventListener } from '../../../test/event-streams.ts';
import { anotherService } from '../../../test/wire.ts';
import { deleteGameTeamMember, getGameTeamMembers } from '../../catalogue/teams/operations.ts';
import { submitReportOperation as report } from '../reports/operations.ts';
import type { QueueState } from './live.ts';
import { claimContent, decideOverContent, releaseContent } from './operations.ts';

const api = await startApi();
const NOTHING: QueueState = { waiting: 0, claimed: 0, reports: 0 };

async function aQueue() {
  const game = await api.aGame({ settings: { curation_option: 2 } });
  const moderator = await api.aUser();
  await api.joins(moderator, game, 1);
  const client = await api.as(moderator);
  const listen = (port = api.port) =>
    EventListener.open<QueueState>(api, `/v1/games/${game.id}/moderation/stream`, client.token!, { port });
  return { game, moderator, client, listen, params: { game_id: game.id } };
}

test('a moderator hears what waits, is claimed, decided and reported', async () => {
  const { game, client, listen, params } = await aQueue();
  const queue = await listen();
  const next = async () => (await queue.next())?.data;
  assert.deepEqual(await next(), NOTHING);
  const mod = await api.aMod({ game, accepted: false });
  await api.aFile(mod);
  assert.deepEqual(await next(), { ...NOTHING, waiting: 1 });
  const named = { params: { ...params, content: 'mods', content_id: mod.id } };
  await client.call(claimContent, named);
  assert.deepEqual(await next(), { ...NOTHING, waiting: 1, claimed: 1 });
  await client.call(releaseContent, named);
  assert.deepEqual(await next(), { ...NOTHING, waiting: 1 });
  const decision = { resource: 'mods', id: mod.id, decision: 'approve' };
  assert.equal((await client.call(decideOverContent, { params, body: decision })).status, 204);
  assert.deepEqual(await next(), NOTHING);
  const body = { resource: 'mods', id: mod.id, type: 0, summary: 'This is wrong' };
  await (await api.as(await api.aUser())).call(report, { body });
  assert.deepEqual(await next(), { ...NOTHING, reports: 1 });
  queue.close();
});

test('a moderator whom another process serves hears it too', async () => {
  const other = await anotherService(api);
  const { game, listen } = await aQueue();
  const queue = await listen(other.port);
  assert.deepEqual((await queue.next())?.data, NOTHING);
  await api.aFile(await api.aMod({ game, accepted: false }));
  assert.deepEqual((await queue.next())?.data, { ...NOTHING, waiting: 1 });
  await other.stop();
  assert.equal(await queue.next(), undefined);
});

test('the stream ends when the moderator leaves the team, and is none of a stranger’s', async () => {
  const { game, moderator, listen, params } = await aQueue();
  const queue = await listen();
  assert.deepEqual((await queue.next())?.data, NOTHING);
  const owner = await api.as(game.owner);
  const seats = (await owner.call(getGameTeamMembers, { params })).body.data;
  const { id: team_member_id } = seats.find(({ user }) => user.id === moderator.id)!;
  await owner.call(deleteGameTeamMember, { params: { ...params, team_member_id } });
  assert.equal(await queue.next(), undefined);
  const refused = await listen();
  assert.equal(refused.response.statusCode, 403);
  refused.close();
});
