import assert from 'node:assert/strict';
import { test } from 'node:test';
import sharp from 'sharp';
import { type Answer, assertRefused, type Client, type Game, startApi } from '../../../test/api.ts';
import { addCollectionOperation, addCollectionRating } from '../../community/collections/operations.ts';
import { addModRating } from '../../community/ratings/operations.ts';
import { MODERATOR } from '../teams/teams.ts';
import { getGameRestrictions, liftRestrictionInGame, restrictUserInGame } from './operations.ts';

const api = await startApi();
const LOGO = await sharp({ create: { width: 512, height: 288, channels: 3, background: '#345' } })
  .png()
  .toBuffer();

function addMod(client: Client, { id }: Game): Promise<Answer> {
  const part = (name: string, value: string) =>
    `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const head = '--b\r\nContent-Disposition: form-data; name="logo"; filename="a.png"\r\n\r\n';
  return api.request('POST', `/v1/games/${id}/mods`, {
    headers: { authorization: `Bearer ${client.token}`, 'content-type': 'multipart/form-data; boundary=b' },
    body: Buffer.concat([
      Buffer.from(part('name', 'Airship') + part('summary', 'Flies') + head),
      LOGO,
      Buffer.from('\r\n--b--\r\n'),
    ]),
  });
}

test('a restricted user cannot add mods to the game, can to other games, and can again once it is lifted', async () => {
  const [game, other] = [await api.aGame(), await api.aGame()];
  const [grace, moderator] = [await api.aUser(), await api.aUser()];
  await api.joins(moderator, game, MODERATOR);
  const [asGrace, asModerator] = [await api.as(grace), await api.as(moderator)];
  const params = { game_id: game.id, user_id: grace.id };
  const { body } = await asModerator.call(restrictUserInGame, { params, body: { options: 1, reason: 'Spam' } });
  assert.deepEqual([body.user.id, body.options, body.reason, body.restricted_by], [grace.id, 1, 'Spam', moderator.id]);
  assertRefused(await addMod(asGrace, game), 403, 15012);
  assert.equal((await addMod(asGrace, other)).status, 201);
  const listed = (await asModerator.call(getGameRestrictions, { params })).body;
  assert.deepEqual(
    listed.data.map(({ user }) => user.id),
    [grace.id],
  );
  assert.equal((await asModerator.call(liftRestrictionInGame, { params })).status, 204);
  assert.equal((await addMod(asGrace, game)).status, 201);
});

test('only the game’s team restricts users, and neither its members nor themselves', async () => {
  const game = await api.aGame();
  const [grace, moderator] = [await api.aUser(), await api.aUser()];
  await api.joins(moderator, game, MODERATOR);
  const [asGrace, asModerator, asOther] = [
    await api.as(grace),
    await api.as(moderator),
    await api.as((await api.aGame()).owner),
  ];
  const at = (user: { id: number }) => ({ params: { game_id: game.id, user_id: user.id }, body: { options: 1 } });
  for (const client of [asGrace, asOther]) {
    await client.refused(restrictUserInGame, at(grace), 403, 29500);
    await client.refused(liftRestrictionInGame, { params: at(grace).params }, 403, 29500);
    await client.refused(getGameRestrictions, { params: { game_id: game.id } }, 403, 29500);
  }
  await asModerator.refused(restrictUserInGame, at(moderator), 403, 17023);
  await asModerator.refused(restrictUserInGame, at(game.owner), 403, 29500);
  await asModerator.refused(restrictUserInGame, at(await api.aUser({ admin: true })), 403, 29500);
  await asModerator.refused(restrictUserInGame, at({ id: 999_999 }), 404, 17000);
});

test('a user who is restricted from rating in a game rates neither its mods nor its collections', async () => {
  const game = await api.aGame();
  const [grace, mod] = [await api.aUser(), await api.aMod({ game })];
  const params = { game_id: game.id, mod_id: mod.id, user_id: grace.id };
  await (await api.as(game.owner)).call(restrictUserInGame, { params, body: { options: 8 } });
  const body = { name: 'Best', mod_ids: [mod.id] };
  const { id } = (await (await api.as(mod.owner)).call(addCollectionOperation, { params, body })).body;
  const client = await api.as(grace);
  const first = await client.refused(addModRating, { params, body: { rating: 1 } }, 422, 13009);
  const rated = { params: { ...params, collection_id: id }, body: { rating: 1 } };
  const second = await client.refused(addCollectionRating, rated, 422, 13009);
  for (const { body } of [first, second]) assert.deepEqual(Object.keys(body.error.errors!), ['rating']);
});
