import assert from 'node:assert/strict';
import { editModByPut } from '../src/catalogue/mods/operations.ts';
import { purchase } from '../src/money/purchases/operations.ts';
import { addSimulatedPurchase } from '../src/money/stores/operations.ts';
import { acceptAgreement, getCurrentAgreement } from '../src/people/agreements/operations.ts';
import { AGREEMENT_TYPES } from '../src/people/agreements/types.ts';
import type { Answer, Api, CallInput, Client } from './api.ts';
import { acceptSellingTerms, buyPack, giveEarnings, registerAsSeller } from './money.ts';
import { operationOf, type Scene } from './race-scene.ts';

/** A state that some operations need before they can write, made from a scene through the API. */
interface Situation {
  readonly operations: readonly string[];
  readonly prepare: (api: Api, scene: Scene) => Promise<Scene>;
}

async function must<T>(asked: Promise<Answer<T>>): Promise<T> {
  const answer = await asked;
  assert.ok(answer.status < 300, answer.text);
  return answer.body;
}
const send = (client: Client, id: string, input: CallInput = {}) => must(client.call(operationOf(id), input));
const withParams = (scene: Scene, params: Scene['params']): Scene => ({
  ...scene,
  params: { ...scene.params, ...params },
});

/** A mod of the leader that is for sale. */
async function aSoldMod(api: Api, { game, asLeader }: Scene) {
  const mod = await api.aMod({ game, owner: game.owner });
  await api.aFile(mod);
  const params = { game_id: game.id, mod_id: mod.id };
  await must(asLeader.call(editModByPut, { params, body: { price: 40, monetization_options: 1 | 2 } }));
  return { mod, params };
}

async function sell(api: Api, scene: Scene): Promise<Scene> {
  const { game, author, params } = scene;
  const payment = await buyPack(api, author.client, game, { id: params['token_pack_id'] as number });
  const { mod } = await aSoldMod(api, scene);
  return withParams({ ...scene, mod }, { mod_id: mod.id, payment_id: payment.id });
}

async function sold(api: Api, scene: Scene): Promise<Scene> {
  const { author, game, params } = scene;
  await buyPack(api, author.client, game, { id: params['token_pack_id'] as number });
  const { mod, params: ofMod } = await aSoldMod(api, scene);
  const bought = await must(author.client.call(purchase, { params: ofMod, body: { idempotent_key: 'before' } }));
  const waiting = await must(
    author.client.call(addSimulatedPurchase, {
      params: { game_id: game.id, portal: 'steam' },
      body: { sku: 'made-up', pending: true },
    }),
  );
  return withParams(
    { ...scene, mod },
    {
      mod_id: mod.id,
      purchase_id: bought.transaction_id,
      simulated_purchase_id: waiting.id,
    },
  );
}

async function sellers(api: Api, scene: Scene): Promise<Scene> {
  await acceptSellingTerms(scene.author.client);
  await registerAsSeller(await api.as(scene.other));
  return scene;
}

async function approvedSeller(api: Api, scene: Scene): Promise<Scene> {
  const { author, owner, asLeader, game } = scene;
  await api.aFile(await api.aMod({ game, owner: author }));
  await registerAsSeller(author.client);
  await send(owner, 'decide-seller-account', { params: { user_id: author.id }, body: { status: 'approved' } });
  await send(asLeader, 'edit-game', {
    params: { game_id: game.id },
    body: { monetization_options: 1 | 2 | 4, dependency_option: 2 },
  });
  return scene;
}

async function earned(api: Api, scene: Scene): Promise<Scene> {
  const { author, game } = await approvedSeller(api, scene);
  // Half for the payout that staff decides over, and half for another one.
  await giveEarnings(api, author, game.id, 10_000);
  await send(author.client, 'open-payout-account');
  const request = { params: { game_id: game.id }, body: { idempotent_key: 'before', amount: 5_000 } };
  const { id } = (await send(author.client, 'request-payout', request)) as { id: number };
  return withParams(scene, { payout_id: id });
}

async function shared(_: Api, scene: Scene): Promise<Scene> {
  const { asLeader, game, mod, params } = scene;
  const body = { 'users[0][id]': game.owner.id, 'users[0][split]': 100 };
  await send(asLeader, 'create-mod-monetization-team', { params: { game_id: game.id, mod_id: mod.id }, body });
  const store = { game_id: params['game_id']!, portal: 'oculus' };
  await send(asLeader, 'edit-game-store', { params: store, body: { app_id: '1', app_secret: 's' } });
  return withParams(scene, { portal: 'oculus' });
}

const ALLOW_PREVIEWS = 64 | 128;

const aHiddenGame = (api: Api, { game: { owner } }: Scene) =>
  api.aGame({ owner, accepted: false, settings: { community_options: ALLOW_PREVIEWS } });

const hashOf = async ({ asLeader }: Scene, name: 'game' | 'mod', params: Scene['params']) =>
  ((await send(asLeader, `get-${name}-preview-link`, { params })) as { hash: string }).hash;

async function mayInvite(api: Api, scene: Scene): Promise<Scene> {
  const game = await aHiddenGame(api, scene);
  await api.joins(scene.author, game, 8);
  return { ...withParams(scene, { game_id: game.id }), game };
}

async function seesLinkOfGame(api: Api, scene: Scene): Promise<Scene> {
  const game = await aHiddenGame(api, scene);
  const params = { game_id: game.id };
  return { ...withParams(scene, params), game, hash: await hashOf(scene, 'game', params) };
}

async function seesLinkOfMod(api: Api, scene: Scene): Promise<Scene> {
  const { owner } = scene.game;
  const game = await api.aGame({ owner });
  const mod = await api.aMod({ game, owner, visible: 0, community_options: ALLOW_PREVIEWS });
  const params = { game_id: game.id, mod_id: mod.id };
  return { ...withParams(scene, params), game, mod, hash: await hashOf(scene, 'mod', params) };
}

async function unspent(_: Api, scene: Scene): Promise<Scene> {
  const { client } = scene.author;
  await client.call(operationOf('delete-own-api-key'));
  const inForce = async (type: number) =>
    (await must(client.call(getCurrentAgreement, { params: { agreement_type_id: type } }))).id;
  const forGames = await inForce(AGREEMENT_TYPES.GAME);
  await must(client.call(acceptAgreement, { body: { agreement_version_id: forGames } }));
  return { ...scene, agreementId: await inForce(AGREEMENT_TYPES.PRIVACY) };
}

/** The states that the scene of all races does not have, by what they are. */
export const SITUATIONS: Record<string, Situation> = {
  'a mod is for sale, and the author has tokens': { operations: ['purchase', 'refund-payment'], prepare: sell },
  'the author has bought': {
    operations: ['refund-purchase', 'refund-game-purchase', 'pay-simulated-purchase'],
    prepare: sold,
  },
  'a user wants to sell': { operations: ['register-seller-account', 'decide-seller-account'], prepare: sellers },
  'the author may sell': { operations: ['apply-for-partnership', 'open-payout-account'], prepare: approvedSeller },
  'the author has earned': { operations: ['request-payout', 'decide-payout'], prepare: earned },
  'revenue is shared, and a store is configured': {
    operations: ['delete-mod-monetization-team', 'delete-game-store'],
    prepare: shared,
  },
  'the author administers a hidden game': {
    operations: ['add-game-previewer', 'renew-game-preview-link'],
    prepare: mayInvite,
  },
  'the author has a link to a hidden game': { operations: ['register-game-previewer'], prepare: seesLinkOfGame },
  'the author has a link to a hidden mod': { operations: ['register-mod-previewer'], prepare: seesLinkOfMod },
  'the author has neither a key nor accepted everything': {
    operations: ['add-own-api-key', 'add-game', 'accept-agreement'],
    prepare: unspent,
  },
};

/** Operations that write only in one of the situations. */
export const SITUATED: ReadonlySet<string> = new Set(Object.values(SITUATIONS).flatMap(({ operations }) => operations));
