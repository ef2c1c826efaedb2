import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Mod, startApi } from '../../../test/api.ts';
import { EventListener } from '../../../test/event-streams.ts';
import { anotherService } from '../../../test/wire.ts';
import { editModByPut } from '../../catalogue/mods/operations.ts';
import { MODERATOR } from '../../catalogue/teams/teams.ts';
import { issueServiceToken, revokeTokens } from '../../platform/access/credentials.ts';
import { addClient } from '../../signin/oauth/clients.ts';
import { streamGameEvents } from './operations.ts';

const api = await startApi();
const listen = (gameId: number, token: string, headers: Record<string, string> = {}, port = api.port) =>
  EventListener.open<{ id: number; subject: string }>(api, `/v1/games/${gameId}/events/stream`, token, {
    headers,
    port,
  });

async function edit(mod: Mod, summary: string): Promise<void> {
  const params = { game_id: mod.game_id, mod_id: mod.id };
  assert.equal((await (await api.as(mod.owner)).call(editModByPut, { params, body: { summary } })).status, 200);
}

test('a client receives the next events of its game and continues after the last one it received', async () => {
  const game = await api.aGame();
  const mod = await api.aMod({ game });
  const { token } = await api.as(game.owner);
  const listener = await listen(game.id, token!);
  assert.equal(listener.response.headers['content-type'], 'text/event-stream; charset=utf-8');
  await edit(await api.aMod(), 'Elsewhere');
  await edit(mod, 'One');
  const one = (await listener.next())!;
  assert.deepEqual([one.type, one.data.id, one.data.subject], ['MOD_EDITED', one.id, `mods/${mod.id}`]);
  await edit(mod, 'Two');
  const two = (await listener.next())!;
  listener.close();
  await edit(mod, 'Three');
  const again = await listen(game.id, token!, { 'last-event-id': String(one.id) });
  assert.equal((await again.next())!.id, two.id);
  const three = (await again.next())!;
  assert.ok(three.id > two.id);
  again.close();
  const whole = await listen(game.id, token!, { 'last-event-id': '0' });
  const types = [];
  for (let i = 0; i < 5; i += 1) types.push((await whole.next())!.type);
  assert.deepEqual(types, ['USER_TEAM_JOIN', 'MOD_AVAILABLE', 'MOD_EDITED', 'MOD_EDITED', 'MOD_EDITED']);
  whole.close();
});

test('many clients receive more events than one read returns, complete and in order', async () => {
  const game = await api.aGame();
  const mods = [];
  for (let i = 0; i < 60; i += 1) mods.push(await api.aMod({ game }));
  const { token } = await api.as(game.owner);
  const hear = async () => {
    const listener = await listen(game.id, token!, { 'last-event-id': '0' });
    const ids: number[] = [];
    while (ids.length < 120) ids.push((await listener.next())!.id);
    listener.close();
    return ids;
  };
  const [ids, ...others] = await Promise.all([hear(), hear(), hear()]);
  assert.deepEqual(
    ids,
    [...new Set(ids)].sort((a, b) => a - b),
  );
  for (const other of others) assert.deepEqual(other, ids);
});

test('only the game’s team and its backend can stream events', async () => {
  const [game, grace, moderator] = [await api.aGame(), await api.aUser(), await api.aUser()];
  await api.joins(moderator, game, MODERATOR);
  const params = { game_id: game.id };
  await (await api.as(grace)).refused(streamGameEvents, { params }, 403, 29500);
  await (await api.as((await api.aGame()).owner)).refused(streamGameEvents, { params }, 403, 29500);
  await (await api.as(game.owner)).refused(streamGameEvents, { params: { game_id: 999_999 } }, 404, 14001);
  const listener = await listen(game.id, (await api.as(moderator)).token!);
  assert.equal(listener.response.statusCode, 200);
  listener.close();
  const app = api.app();
  const { client_id: clientId } = await app.db.write((transaction) =>
    addClient(app, transaction, { gameId: game.id, name: 'Backend', redirectUris: [], grants: ['client_credentials'] }),
  );
  const { access_token } = await app.db.write((transaction) =>
    issueServiceToken(app, transaction, { clientId, gameId: game.id, scopes: ['read'], lifetimeSeconds: 3_600 }),
  );
  const backend = await listen(game.id, access_token);
  assert.equal(backend.response.statusCode, 200);
  backend.close();
  const head = await (await api.as(moderator)).send('HEAD', `/games/${game.id}/events/stream`);
  assert.deepEqual([head.status, head.text], [200, '']);
});

test('the stream ends when the client’s token expires', async () => {
  const game = await api.aGame();
  const moderator = await api.aUser();
  await api.joins(moderator, game, MODERATOR);
  const mod = await api.aMod({ game });
  const listener = await listen(game.id, (await api.as(moderator)).token!);
  await edit(mod, 'One');
  assert.ok(await listener.next());
  const app = api.app();
  await app.db.write((transaction) => revokeTokens(app, transaction, { userId: moderator.id }));
  await edit(mod, 'Two');
  assert.equal(await listener.next(), undefined);
});

test('another process streams the events of this one, and ends its streams when it stops', async () => {
  const game = await api.aGame();
  const mod = await api.aMod({ game });
  const other = await anotherService(api);
  const listener = await listen(game.id, (await api.as(game.owner)).token!, {}, other.port);
  await edit(mod, 'One');
  assert.equal((await listener.next())!.type, 'MOD_EDITED');
  const [last] = await Promise.all([listener.next(), other.stop()]);
  assert.equal(last, undefined);
  assert.equal(listener.response.complete, true);
});
