import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi } from '../../../test/api.ts';
import { EventListener } from '../../../test/event-streams.ts';
import { deleteGameTeamMember, getGameTeamMembers } from '../../catalogue/teams/operations.ts';
import { updateStaffMember } from '../../people/staff/operations.ts';
import { recordStudioEvent } from '../../records/webhooks/outbox.ts';
import type { StaffState } from './activity.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });

test('a member of the team hears that deliveries have changed, until they leave', async () => {
  const game = await api.aGame();
  const member = await api.aUser();
  await api.joins(member, game, 1);
  const { token } = await api.as(member);
  const path = `/v1/games/${game.id}/activity/stream`;
  const listen = () => EventListener.open<{ turn: number }>(api, `${path}?activity=deliveries`, token!, {});
  const heard = await listen();
  assert.deepEqual((await heard.next())?.data, { turn: 0 });
  const event = { gameId: game.id, kind: 'mod.added', subject: 'mods/1', data: {} } as never;
  await api.app().db.write((transaction) => recordStudioEvent(api.app(), transaction, event));
  assert.deepEqual((await heard.next())?.data, { turn: 1 });
  const owner = await api.as(game.owner);
  const params = { game_id: game.id };
  const seats = (await owner.call(getGameTeamMembers, { params })).body.data;
  const { id: team_member_id } = seats.find(({ user }) => user.id === member.id)!;
  await owner.call(deleteGameTeamMember, { params: { ...params, team_member_id } });
  assert.equal(await heard.next(), undefined);
  const refused = await listen();
  assert.equal(refused.response.statusCode, 403);
  refused.close();
});

test('an administrator of the site hears of games and jobs that wait, until they are one no more', async () => {
  const owner = await api.as(await api.aUser({ admin: true }));
  const member = await api.aUser({ admin: true });
  const { token } = await api.as(member);
  const heard = await EventListener.open<StaffState>(api, '/v1/staff/installation/stream', token!, {});
  const first = (await heard.next())!.data;
  const { db, jobs } = api.app();
  await db.write((transaction) => jobs.enqueue(transaction, 'test.waits', {}));
  const next = (await heard.next())!.data;
  assert.deepEqual(next.jobs, { ...first.jobs, waiting: first.jobs.waiting + 1 });
  const lower = { params: { user_id: member.id }, body: { level: 1 } };
  assert.equal((await owner.call(updateStaffMember, lower)).status, 200);
  assert.equal(await heard.next(), undefined);
});
