import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, type Client, type ErrorAnswer, type Mod, startApi, type User } from '../../../test/api.ts';
import { deleteGameOperation, editGameOperation, getGame, getGames } from '../games/operations.ts';
import { deleteModOperation, editModByPut, getMod, getMods, getUserMods } from '../mods/operations.ts';
import { MANAGER, MODERATOR } from '../teams/teams.ts';
import { gamePreviews, modPreviews } from './operations.ts';

const api = await startApi();
const game = await api.aGame();
const ada = await api.aUser();
const asAda = await api.as(ada);

const INVITED = 64;
const BY_LINK = 128;
const at = (mod: Mod) => ({ game_id: mod.game_id, mod_id: mod.id });
const hiddenMod = (community_options = 1 | INVITED | BY_LINK) =>
  api.aMod({ game, owner: ada, visible: 0, community_options });
const invite = (mod: Mod, user: User, client = asAda) =>
  client.call(modPreviews.invite, { params: at(mod), body: { user_id: user.id } });
const hashOf = async (mod: Mod) => (await asAda.call(modPreviews.show, { params: at(mod) })).body.hash!;

async function person(): Promise<{ user: User; client: Client }> {
  const user = await api.aUser();
  return { user, client: await api.as(user) };
}

test('an invited user reads a hidden mod by its id, finds it in no list, and does not make it visible to others', async () => {
  const mod = await hiddenMod();
  const [grace, stranger] = [await person(), await person()];
  await grace.client.refused(getMod, { params: at(mod) }, 404, 15022);
  const invited = await invite(mod, grace.user);
  assert.equal(invited.status, 201);
  assert.deepEqual([invited.body.user.id, invited.body.invited_by?.id], [grace.user.id, ada.id]);
  for (let again = 0; again < 2; again += 1) {
    assert.equal((await grace.client.call(getMod, { params: at(mod) })).body.id, mod.id);
    for (const client of [stranger.client, api.withKey(game), api.withKey(grace.user)])
      await client.refused(getMod, { params: at(mod) }, 404, 15022);
  }
  const query = { 'status-in': '0,1,3', 'visible-in': '0,1', id: mod.id };
  const listed = await grace.client.call(getMods, { params: { game_id: game.id }, query });
  assert.deepEqual([listed.body.data, listed.body.result_total], [[], 0]);
  assert.equal((await grace.client.call(getUserMods)).body.result_total, 0);
});

test('a previewer can only read', async () => {
  const mod = await hiddenMod();
  const { user, client } = await person();
  await invite(mod, user);
  await client.refused(editModByPut, { params: at(mod), body: { summary: 'Mine' } }, 403, 15013);
  await client.refused(deleteModOperation, { params: at(mod) }, 403, 15019);
  await client.refused(modPreviews.list, { params: at(mod) }, 403, 15013);
  await client.refused(modPreviews.show, { params: at(mod) }, 403, 15013);
  await client.refused(modPreviews.renew, { params: at(mod) }, 403, 15013);
  await client.refused(modPreviews.invite, { params: at(mod), body: { user_id: user.id } }, 403, 15013);
});

test('each kind of access lasts while its option is on; a previewer gets an error of its own afterwards', async () => {
  const mod = await hiddenMod();
  const [invited, registered] = [await person(), await person()];
  await invite(mod, invited.user);
  await registered.client.call(modPreviews.register, { params: at(mod), body: { hash: await hashOf(mod) } });
  const put = (community_options: number) => asAda.call(editModByPut, { params: at(mod), body: { community_options } });
  await put(1 | INVITED);
  assert.equal((await invited.client.call(getMod, { params: at(mod) })).status, 200);
  await registered.client.refused(getMod, { params: at(mod) }, 403, 15024);
  await put(1 | BY_LINK);
  await invited.client.refused(getMod, { params: at(mod) }, 403, 15024);
  assert.equal((await registered.client.call(getMod, { params: at(mod) })).status, 200);
});

test('a previewer who is removed or leaves sees nothing any more, not even from the cache', async () => {
  const mod = await hiddenMod();
  const team = await api.aMod({ game });
  for (const byThemselves of [true, false]) {
    const { user, client } = await person();
    // A team of another game gives the user a visibility class of their own.
    await api.joinsMod(user, team, MODERATOR);
    await invite(mod, user);
    assert.equal((await client.call(getMod, { params: at(mod) })).status, 200);
    const params = { ...at(mod), user_id: user.id };
    assert.equal((await (byThemselves ? client : asAda).call(modPreviews.remove, { params })).status, 204);
    await client.refused(getMod, { params: at(mod) }, 404, 15022);
    await client.refused(modPreviews.remove, { params: { ...at(mod), user_id: ada.id } }, 404, 15022);
  }
});

test('the link registers anyone who has it, until it is renewed', async () => {
  const mod = await hiddenMod();
  const link = (await asAda.call(modPreviews.show, { params: at(mod) })).body;
  assert.equal(link.preview_url, `https://localhost/g/${game.name_id}/m/${mod.name_id}?preview=${link.hash}`);
  const [first, late] = [await person(), await person()];
  const register = (client: Client, hash: string) =>
    client.call(modPreviews.register, { params: at(mod), body: { hash } });
  const registered = await register(first.client, link.hash!);
  assert.deepEqual([registered.status, registered.body.invited_by], [201, null]);
  const renewed = (await asAda.call(modPreviews.renew, { params: at(mod) })).body;
  assert.notEqual(renewed.hash, link.hash);
  await late.client.refused(modPreviews.register, { params: at(mod), body: { hash: link.hash! } }, 403, 29403);
  assert.equal((await first.client.call(getMod, { params: at(mod) })).status, 200);
  assert.equal((await register(late.client, renewed.hash!)).status, 201);
  const previewers = (await asAda.call(modPreviews.list, { params: at(mod) })).body;
  assert.deepEqual(
    previewers.data.map(({ user }) => user.id),
    [first.user.id, late.user.id],
  );
});

test('without the link, hidden, deleted and missing mods give the same response', async () => {
  const hash = await hashOf(await hiddenMod());
  const off = await hiddenMod(1);
  const deleted = await hiddenMod();
  await asAda.call(deleteModOperation, { params: at(deleted) });
  const elsewhere = await api.aMod({ visible: 0, community_options: BY_LINK });
  const { client } = await person();
  const targets = [at(await hiddenMod()), at(off), at(deleted), { game_id: game.id, mod_id: 999_999 }];
  targets.push({ game_id: game.id, mod_id: elsewhere.id });
  for (const params of targets) {
    const answer = await client.refused(modPreviews.register, { params, body: { hash } }, 403, 29403);
    assert.equal((answer as Answer<ErrorAnswer>).body.error.errors, undefined);
  }
  const quiet = await api.aGame({ accepted: false });
  for (const game_id of [quiet.id, 999_999])
    await client.refused(gamePreviews.register, { params: { game_id }, body: { hash } }, 403, 29403);
});

test('only hidden resources with previews turned on have previews', async () => {
  const shown = await api.aMod({ game, owner: ada });
  const off = await hiddenMod(1);
  const { user, client } = await person();
  const body = { user_id: user.id };
  await asAda.refused(modPreviews.invite, { params: at(shown), body }, 403, 29402);
  await asAda.refused(modPreviews.invite, { params: at(off), body }, 403, 29401);
  await asAda.refused(modPreviews.renew, { params: at(shown) }, 403, 29402);
  await asAda.refused(modPreviews.renew, { params: at(off) }, 403, 29401);
  await client.refused(modPreviews.register, { params: at(shown), body: { hash: 'x' } }, 403, 29402);
  const { hash, preview_url } = (await asAda.call(modPreviews.show, { params: at(off) })).body;
  assert.deepEqual([hash, preview_url], [null, null]);
  const mod = await hiddenMod();
  await asAda.refused(modPreviews.invite, { params: at(mod), body: { user_id: 999_999 } }, 404, 17000);
  const known = await hashOf(mod);
  await asAda.call(editModByPut, { params: at(mod), body: { community_options: 1 } });
  await client.refused(modPreviews.register, { params: at(mod), body: { hash: known } }, 403, 29401);
});

test('previews are turned on before something is public, and stay on when it is published', async () => {
  const mod = await api.aMod({ game, owner: ada });
  const edit = (body: Record<string, number>) => ({ params: at(mod), body });
  for (const community_options of [1 | INVITED, 1 | BY_LINK])
    await asAda.refused(editModByPut, edit({ community_options }), 403, 29400);
  await asAda.call(editModByPut, edit({ community_options: 1 | INVITED, visible: 0 }));
  await asAda.refused(editModByPut, edit({ community_options: 1 | INVITED | BY_LINK, visible: 1 }), 403, 29400);
  const published = await asAda.call(editModByPut, edit({ community_options: 1 | INVITED, visible: 1 }));
  assert.equal(published.body.community_options, 1 | INVITED);
});

test('deleting a mod ends its preview and its link', async () => {
  const mod = await hiddenMod();
  const { user, client } = await person();
  await invite(mod, user);
  const hash = await hashOf(mod);
  await asAda.call(deleteModOperation, { params: at(mod) });
  await client.refused(getMod, { params: at(mod) }, 404, 15022);
  await (await api.as(game.owner)).call(editModByPut, { params: at(mod), body: { status: 0 } });
  await client.refused(getMod, { params: at(mod) }, 404, 15022);
  await client.refused(modPreviews.register, { params: at(mod), body: { hash } }, 403, 29403);
});

test('a game that is not accepted is previewed in the same ways', async () => {
  const quiet = await api.aGame({ accepted: false, settings: { community_options: INVITED | BY_LINK } });
  const inside = await api.aMod({ game: quiet });
  const params = { game_id: quiet.id };
  const [owner, invited, registered, stranger] = [
    await api.as(quiet.owner),
    await person(),
    await person(),
    await person(),
  ];
  await owner.call(gamePreviews.invite, { params, body: { user_id: invited.user.id } });
  const { hash, preview_url } = (await owner.call(gamePreviews.show, { params })).body;
  assert.equal(preview_url, `https://localhost/g/${quiet.name_id}?preview=${hash}`);
  await registered.client.call(gamePreviews.register, { params, body: { hash: hash! } });
  for (const { client } of [invited, registered]) {
    assert.equal((await client.call(getGame, { params })).body.id, quiet.id);
    assert.equal((await client.call(getMod, { params: at(inside) })).body.id, inside.id);
    const listed = await client.call(getGames, { query: { id: quiet.id } });
    assert.equal(listed.body.result_total, 0);
    await client.refused(editGameOperation, { params, body: { summary: 'Mine' } }, 403, 14002);
    await client.refused(gamePreviews.list, { params }, 403, 14002);
  }
  await stranger.client.refused(getGame, { params }, 404, 14001);
  await stranger.client.refused(getMod, { params: at(inside) }, 404, 14001);
  await owner.call(editGameOperation, { params, body: { community_options: INVITED } });
  await registered.client.refused(getGame, { params }, 403, 14007);
  await registered.client.refused(getMod, { params: at(inside) }, 404, 14001);
  await owner.call(gamePreviews.remove, { params: { ...params, user_id: invited.user.id } });
  await invited.client.refused(getGame, { params }, 404, 14001);
});

test('a public game cannot turn previews on', async () => {
  const owner = await api.as(game.owner);
  const params = { game_id: game.id };
  await owner.refused(editGameOperation, { params, body: { community_options: 1 | INVITED } }, 403, 29400);
  await owner.refused(gamePreviews.invite, { params, body: { user_id: ada.id } }, 403, 29402);
  await asAda.refused(gamePreviews.register, { params, body: { hash: 'x' } }, 403, 29402);
  const quiet = await api.aGame({ accepted: false });
  const quietOwner = await api.as(quiet.owner);
  const quietParams = { game_id: quiet.id };
  await quietOwner.refused(gamePreviews.invite, { params: quietParams, body: { user_id: ada.id } }, 403, 29401);
  const manager = await person();
  await api.joins(manager.user, quiet, MANAGER);
  const edited = await manager.client.call(editGameOperation, {
    params: quietParams,
    body: { community_options: INVITED },
  });
  assert.equal(edited.body.community_options, INVITED);
});

test('deleting a game ends its preview and its link', async () => {
  const hidden = await api.aGame({ accepted: false, settings: { community_options: 1 | INVITED | BY_LINK } });
  const params = { game_id: hidden.id };
  const owner = await api.as(hidden.owner);
  const { user, client } = await person();
  await owner.call(gamePreviews.invite, { params, body: { user_id: user.id } });
  assert.equal((await client.call(getGame, { params })).status, 200);
  assert.equal((await owner.call(deleteGameOperation, { params })).status, 204);
  await client.refused(getGame, { params }, 404, 14001);
  const left = await api.app().db.query.selectFrom('previewers').selectAll().where('user_id', '=', user.id).execute();
  assert.deepEqual(left, []);
});
