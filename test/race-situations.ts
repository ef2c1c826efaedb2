import assert from 'node:assert/strict';
import { editModByPut } from '../src/catalogue/mods/operations.ts';
import { composeWorker } from '../src/composition/compose.ts';
import { purchase } from '../src/money/purchases/operations.ts';
import { addSimulatedPurchase } from '../src/money/stores/operations.ts';
import { acceptAgreement, getCurrentAgreement } from '../src/people/agreements/operations.ts';
import { AGREEMENT_TYPES } from '../src/people/agreements/types.ts';
import { sessionHash } from '../src/records/metrics/signing.ts';
import type { Answer, Api, CallInput, Client } from './api.ts';
import { codesSentTo, mailsTo } from './mails.ts';
import { acceptSellingTerms, buyPack, giveEarnings, registerAsSeller } from './money.ts';
import { steamTicket } from './platforms.ts';
import { operationOf, type Scene } from './race-scene.ts';
import { zipOf } from './zips.ts';

/** A state that some operations need before they can write, made from a scene through the API. */
interface Situation {
  readonly operations: readonly string[];
  readonly prepare: (api: Api, scene: Scene) => Promise<Scene>;
  /** Operations that end something, but are refused in this state. */
  readonly without?: readonly string[];
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

const withRequests = (scene: Scene, requests: Scene['requests']): Scene => ({ ...scene, requests });

async function priced(api: Api, scene: Scene): Promise<Scene> {
  const { game, author, asLeader } = scene;
  const mod = await api.aMod({ game, owner: game.owner });
  await api.aFile(mod);
  await api.joinsMod(author, mod, 8);
  const params = { game_id: game.id, mod_id: mod.id };
  await must(asLeader.call(editModByPut, { params, body: { price: 40, monetization_options: 1 } }));
  await send(asLeader, 'edit-game', { params, body: { curation_option: 1 } });
  return withParams({ ...scene, mod }, params);
}

async function queued(api: Api, scene: Scene): Promise<Scene> {
  const ready = await priced(api, scene);
  await send(ready.author.client, 'submit-mod-to-marketplace', { params: ready.params });
  return ready;
}

async function hasCodes(api: Api, scene: Scene): Promise<Scene> {
  const { client, email } = scene.author;
  const next = `next.${email}`;
  await send(client, 'request-email-change', { body: { email: next } });
  const codes = { old_code: codesSentTo(api, email).at(-1)!, new_code: codesSentTo(api, next).at(-1)! };
  return withRequests(scene, { 'change-email': () => ({ body: codes }) });
}

async function confirmsReleases(api: Api, scene: Scene): Promise<Scene> {
  const { client, email } = scene.author;
  await send(client, 'add-release-confirmation');
  await send(client, 'request-release-confirmation-code');
  const code = codesSentTo(api, email).at(-1)!;
  return withRequests(scene, { 'delete-release-confirmation': () => ({ body: { code } }) });
}

async function isGuest(api: Api, scene: Scene): Promise<Scene> {
  const guest = await api.aUser();
  const client = await api.as(guest);
  const email = `guest.${scene.author.email}`;
  await send(client, 'me-register', { body: { email } });
  const security_code = codesSentTo(api, email).at(-1)!;
  return withRequests(
    { ...scene, author: { ...guest, email: '', client } },
    {
      'me-register': () => ({ body: { email: `other.${email}` } }),
      'me-authenticate': () => ({ body: { security_code } }),
    },
  );
}

async function closed(_: Api, scene: Scene): Promise<Scene> {
  await send(scene.author.client, 'close-account');
  return scene;
}

async function approvesFiles(api: Api, scene: Scene): Promise<Scene> {
  const { game, mod, asLeader } = scene;
  const body = {
    'platforms[0][platform]': 'windows',
    'platforms[1][platform]': 'ps5',
    'platforms[1][moderated]': true,
  };
  await send(asLeader, 'edit-game', { params: { game_id: game.id }, body });
  const file = await api.aFile(mod, { platforms: ['ps5'] });
  const ready = withParams(scene, { file_id: file.id });
  return withRequests(ready, { 'manage-platform-status': () => ({ body: { approved: ['ps5'] } }) });
}

async function sentAllParts(_: Api, scene: Scene): Promise<Scene> {
  const { author, params, uploadId } = scene;
  const raw = zipOf({ 'a.txt': 'All of it' });
  const query = { upload_id: uploadId };
  const headers = {
    'content-range': `bytes 0-${raw.length - 1}/${raw.length}`,
    'content-type': 'application/octet-stream',
  };
  await send(author.client, 'add-multipart-upload-part', { params, query, raw, headers });
  return withRequests(scene, { 'complete-multipart-upload-session': () => ({ query }) });
}

async function usesPlatform(api: Api, scene: Scene): Promise<Scene> {
  const { author, game, other } = scene;
  const { db, clock } = api.app();
  const dates = { date_added: clock.now(), date_used: clock.now() };
  const blocked = { user_id: other.id, portal: 'steam', portal_id: `blocked-${other.id}`, game_id: 0 };
  await db.write(({ query }) =>
    query
      .insertInto('portal_accounts')
      .values({ ...blocked, display_name: 'B', avatar: '', ...dates })
      .execute(),
  );
  const client = await api.as(author, { gameId: game.id });
  return withRequests(
    { ...scene, author: { ...author, client } },
    {
      'sync-users-muted': () => ({
        headers: { 'x-modio-portal': 'steam' },
        body: { portal_ids: [blocked.portal_id] },
      }),
    },
  );
}

async function hasTicket(api: Api, scene: Scene): Promise<Scene> {
  const user = await api.aUser();
  const client = await api.as(user, { gameId: scene.game.id });
  let steamId = 76_561_197_960_300_000n + BigInt(user.id) * 1_000n;
  const ticket = () => {
    steamId += 1n;
    return steamTicket({ key: Buffer.alloc(32), appId: 1, issued: api.clock.now(), steamId });
  };
  return withRequests(
    { ...scene, author: { ...user, email: '', client } },
    { 'add-connection': () => ({ params: { portal: 'steam' }, body: { appdata: ticket() } }) },
  );
}

async function uploadedBuild(api: Api, scene: Scene): Promise<Scene> {
  const { asLeader, game, params } = scene;
  const { build_id, url } = (await send(asLeader, 'cooking-sas-token', { params: { game_id: game.id } })) as {
    build_id: string;
    url: string;
  };
  const address = { build_id, build_signature: url.split('/').at(-1)! };
  const raw = zipOf({ 'cook.sh': 'Bakes' });
  await send(api.nobody(), 'upload-cook-build', { params: address, raw });
  await composeWorker(api.app()).runDue();
  const message = { cook: { cook_uuid: params['cook_uuid'], progress: 70 } };
  return withRequests(scene, {
    'cooking-webhook': () => ({
      raw: Buffer.from(JSON.stringify(message)),
      headers: { 'content-type': 'application/json' },
    }),
  });
}

async function signsReports(api: Api, scene: Scene): Promise<Scene> {
  const { author, asLeader, game } = scene;
  const { secret } = (await send(asLeader, 'get-metrics-secret', { params: { game_id: game.id } })) as {
    secret: string;
  };
  let reports = 0;
  const reportOf = (sessionId: string) => () => {
    const [nonce, ts] = [`nonce-${++reports}`, api.clock.now()];
    const session_hash = sessionHash(secret, { ids: [], ts, sessionId, nonce });
    return {
      body: { session_id: sessionId, session_ts: ts, session_nonce: nonce, session_order_id: reports, session_hash },
    };
  };
  const client = await api.as(author, { gameId: game.id });
  const running = reportOf(`running-${game.id}`);
  await send(client, 'metrics-session-start', running());
  return withRequests(
    { ...scene, author: { ...author, client } },
    {
      'metrics-session-start': reportOf(`new-${game.id}`),
      'metrics-session-heartbeat': running,
      'metrics-session-end': running,
    },
  );
}

async function reviews(_: Api, scene: Scene): Promise<Scene> {
  const { asLeader, author, game } = scene;
  const params = { game_id: game.id };
  await send(asLeader, 'set-permission-reviews', { params, body: { required: true } });
  const asked = await asLeader.call(operationOf('rotate-game-api-key'), { params });
  assert.equal(asked.status, 403, asked.text);
  const { data } = (await send(author.client, 'get-permission-reviews', { params })) as { data: { id: number }[] };
  const ready = withParams(scene, { review_id: data[0]!.id });
  return withRequests(ready, { 'decide-permission-review': () => ({ body: { approved: true } }) });
}

/** The owner of the site acts for the staff: only owners change staff. */
async function ownersAct(_: Api, scene: Scene): Promise<Scene> {
  return { ...scene, staff: { ...scene.staff, client: scene.owner } };
}

async function emptyGame(api: Api, scene: Scene): Promise<Scene> {
  const game = await api.aGame({ owner: scene.game.owner });
  await api.joins(scene.author, game, 8);
  return { ...withParams(scene, { game_id: game.id }), game, staff: { ...scene.staff, client: scene.owner } };
}

async function invitedByMail(api: Api, scene: Scene): Promise<Scene> {
  await composeWorker(api.app()).runDue();
  const { optOut } = mailsTo(api, scene.author.email).find((mail) => mail.optOut)!;
  const hash = new URL(optOut!).searchParams.get('hash')!;
  return withRequests(scene, { 'opt-out-of-emails': () => ({ body: { hash } }) });
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
  'a mod has a price in a game with a queue': { operations: ['submit-mod-to-marketplace'], prepare: priced },
  'a mod waits in the marketplace queue': { operations: ['decide-marketplace-submission'], prepare: queued },
  'the author has codes from two mailboxes': { operations: ['change-email'], prepare: hasCodes },
  'the author confirms releases by mail': {
    operations: ['delete-release-confirmation'],
    prepare: confirmsReleases,
    // Such an account needs a mailed code to merge.
    without: ['merge-account'],
  },
  'the author has no mail address': { operations: ['me-register', 'me-authenticate'], prepare: isGuest },
  'the author has closed the account': { operations: ['reopen-account', 'delete-account'], prepare: closed },
  'the team approves files for a platform': { operations: ['manage-platform-status'], prepare: approvesFiles },
  'the author has sent all parts of a file': {
    operations: ['complete-multipart-upload-session'],
    prepare: sentAllParts,
  },
  'the author plays on a platform': { operations: ['sync-users-muted'], prepare: usesPlatform },
  'the author has a ticket of a platform': { operations: ['add-connection'], prepare: hasTicket },
  'a build is uploaded': { operations: ['finalize-cloud-cooking', 'cooking-webhook'], prepare: uploadedBuild },
  'the author plays, and the game signs its reports': {
    operations: ['metrics-session-start', 'metrics-session-heartbeat', 'metrics-session-end'],
    prepare: signsReports,
  },
  'a change waits for a second administrator': { operations: ['decide-permission-review'], prepare: reviews },
  'owners of the site change its staff': {
    operations: ['add-staff-member', 'update-staff-member', 'delete-staff-member'],
    prepare: ownersAct,
  },
  'the game has no mods': { operations: ['delete-game'], prepare: emptyGame },
  'the author was invited by mail': { operations: ['opt-out-of-emails'], prepare: invitedByMail },
};

/** Operations that write only in one of the situations. */
export const SITUATED: ReadonlySet<string> = new Set(Object.values(SITUATIONS).flatMap(({ operations }) => operations));
