import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { startApi } from '../../../test/api.ts';
import { startClamdStub } from '../../../test/clamd.ts';
import { aCookingGame, aRunner, aSource, finish, mustClaim } from '../../../test/cooking.ts';
import { EICAR, zipOf } from '../../../test/zips.ts';
import { deleteModOperation, editModOperation } from '../../catalogue/mods/operations.ts';
import { liftRestrictionInGame, restrictUserInGame } from '../../catalogue/restrictions/operations.ts';
import { addGameRule } from '../../catalogue/rules/operations.ts';
import {
  acceptTeamInvite,
  addModTeamMember,
  deleteModTeamMember,
  getModTeamMembers,
  getTeamInvites,
} from '../../catalogue/teams/operations.ts';
import { addCollectionOperation } from '../../community/collections/operations.ts';
import { collectionComments, guideComments, modComments } from '../../community/comments/operations.ts';
import { subscribeToMod, unsubscribeFromMod } from '../../community/subscriptions/operations.ts';
import { composeWorker } from '../../composition/compose.ts';
import { cookingSasToken, uploadCookBuild } from '../../files/builds/operations.ts';
import { failCook } from '../../files/runners/operations.ts';
import { STUDIO_EVENTS } from '../../records/webhooks/kinds.ts';
import { addGameWebhook } from './operations.ts';

const settings = { MODSTEAD_JOBS: 'off', MODSTEAD_EGRESS_ALLOW: '127.0.0.1/32' };
const api = await startApi({ settings });
const worker = composeWorker(api.app());

interface Heard {
  readonly event_type: string;
  readonly subject: string;
}

async function aReceiver() {
  const heard: Heard[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += chunk));
    request.on('end', () => {
      heard.push(JSON.parse(text));
      response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { heard, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

test('a receiver gets every kind of event', async () => {
  const ALL_COMMENTS = 1 | 2 | 2_048 | 8_192 | 16_384;
  const game = await aCookingGame(api, { community_options: ALL_COMMENTS });
  const inGame = { game_id: game.id };
  const studio = await api.as(game.owner);
  const { heard, url } = await aReceiver();
  assert.equal((await studio.call(addGameWebhook, { params: inGame, body: { name: 'All', url } })).status, 201);

  const mod = await api.aMod({ game });
  const guide = await api.aGuide({ game, community_options: 2_048 });
  const email = 'member@example.org';
  const member = await api.aUser({ email });
  const [owner, client] = [await api.as(mod.owner), await api.as(member)];
  const onMod = { ...inGame, mod_id: mod.id };
  await api.aFile(mod);
  await client.call(subscribeToMod, { params: onMod });
  await client.call(unsubscribeFromMod, { params: onMod });

  await owner.call(addModTeamMember, { params: onMod, body: { email, level: 1 } });
  const [invite] = (await client.call(getTeamInvites)).body.data;
  await client.call(acceptTeamInvite, { params: { invite_id: invite!.id } });
  const seats = (await owner.call(getModTeamMembers, { params: onMod })).body.data;
  const seat = seats.find(({ user }) => user.id === member.id)!;
  await owner.call(deleteModTeamMember, { params: { ...onMod, team_member_id: seat.id } as never });

  const set = await client.call(addCollectionOperation, { params: inGame, body: { name: 'Set' } });
  const things = [
    [modComments, onMod],
    [guideComments, { ...inGame, guide_id: guide.id }],
    [collectionComments, { ...inGame, collection_id: set.body.id }],
  ] as const;
  for (const [comments, params] of things) {
    const added = await client.call(comments.add, { params, body: { content: `Nice ${comments.add.declaration.id}` } });
    assert.equal(added.status, 201, added.text);
    const gone = await client.call(comments.remove, { params: { ...params, comment_id: added.body.id } });
    assert.equal(gone.status, 204, gone.text);
  }

  const { client: runner } = await aRunner(api, game);
  const cooked = await api.aMod({ game });
  await aSource(api, cooked);
  await runner.call(failCook, { params: { claim_id: (await mustClaim(runner)).claim_id } });
  await aSource(api, cooked);
  await finish(api, runner, (await mustClaim(runner)).claim_id);

  const restricted = { ...inGame, user_id: member.id };
  await studio.call(restrictUserInGame, { params: restricted, body: { options: 1 } });
  await studio.call(liftRestrictionInGame, { params: restricted });
  const rule = { name: 'All', when: '{"all":[]}', verdict: 'webhook' as const, enabled: true };
  await studio.call(addGameRule, { params: inGame, body: rule });
  await owner.call(editModOperation, { params: onMod, body: { summary: 'Better' } });
  await owner.call(editModOperation, { params: onMod, body: { visible: 0 } });
  await owner.call(deleteModOperation, { params: onMod });
  await owner.call(deleteModOperation, { params: onMod, body: { permanent: true } });
  await worker.runDue();
  heard.push(...(await heardOfBuild()));

  assert.deepEqual(new Set(heard.map(({ event_type }) => event_type)), new Set<string>(STUDIO_EVENTS));
  const of = (subject: string) =>
    heard.filter((event) => event.subject === subject).map(({ event_type }) => event_type);
  assert.deepEqual(of(`collections/${set.body.id}`), ['COLLECTION_COMMENT_ADDED', 'COLLECTION_COMMENT_DELETED']);
  assert.deepEqual(of(`guides/${guide.id}`), ['GUIDE_COMMENT_ADDED', 'GUIDE_COMMENT_DELETED']);
});

/** Runs in a game with a scanner, because a scan would delay the other events. */
async function heardOfBuild(): Promise<readonly Heard[]> {
  const clamd = await startClamdStub({ after });
  const scanned = await startApi({ settings: { ...settings, MODSTEAD_CLAMD: clamd.address } });
  const game = await aCookingGame(scanned);
  const params = { game_id: game.id };
  const studio = await scanned.as(game.owner);
  const { heard, url } = await aReceiver();
  await studio.call(addGameWebhook, { params, body: { name: 'All', url } });
  const { build_id, url: address } = (await studio.call(cookingSasToken, { params })).body;
  const sent = { params: { build_id, build_signature: address.split('/').at(-1)! }, raw: zipOf({ evil: EICAR }) };
  assert.equal((await scanned.nobody().call(uploadCookBuild, sent)).status, 200);
  await composeWorker(scanned.app()).runDue();
  return heard;
}
