import assert from 'node:assert/strict';
import sharp from 'sharp';
import { editGameOperation } from '../src/catalogue/games/operations.ts';
import { addGameRule } from '../src/catalogue/rules/operations.ts';
import { type addGameTeamMember, getGameTeamMembers, getModTeamMembers } from '../src/catalogue/teams/operations.ts';
import { addCollectionOperation } from '../src/community/collections/operations.ts';
import { collectionComments, guideComments, modComments } from '../src/community/comments/operations.ts';
import { addMessage, addMessageThread, inviteToThread } from '../src/community/messages/operations.ts';
import { operations } from '../src/composition/resources.ts';
import { cookingSasToken } from '../src/files/builds/operations.ts';
import { addCookRunner } from '../src/files/runners/operations.ts';
import { addSourceModfile } from '../src/files/sources/operations.ts';
import { createMultipartUploadSession } from '../src/files/uploads/operations.ts';
import { decideOverContent } from '../src/moderation/moderation/operations.ts';
import { submitReportOperation } from '../src/moderation/reports/operations.ts';
import { addGameTokenPack } from '../src/money/packs/operations.ts';
import { buyTokenPack } from '../src/money/payments/operations.ts';
import { STORE_PORTALS } from '../src/money/stores/adapter.ts';
import { addAgreementVersion } from '../src/people/agreements/operations.ts';
import { joinStaff } from '../src/people/staff/staff.ts';
import { STAFF_LEVELS } from '../src/platform/access/staff.ts';
import type { AnyOperation } from '../src/platform/http/operation.ts';
import { addClient } from '../src/signin/oauth/clients.ts';
import { addGameServerToken } from '../src/signin/server-tokens/operations.ts';
import { addMetricsSecret } from '../src/studio/metrics/operations.ts';
import { addGameWebhook, getGameWebhookDeliveries } from '../src/studio/webhooks/operations.ts';
import { type Answer, type Api, type CallInput, type Client, START, type User } from './api.ts';
import { SELLER_DETAILS } from './money.ts';
import { zipOf } from './zips.ts';

const picture = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#305070' } })
    .png()
    .toBuffer();
const LOGO = { logo: { filename: 'logo.png', bytes: await picture(512, 288) } };
const AVATAR = { avatar: { filename: 'me.png', bytes: await picture(64, 64) } };
const archive = (text: string) => ({ filedata: { filename: 'a.zip', bytes: zipOf({ 'a.txt': text }) } });
const VIDEO = 'https://www.youtube.com/watch?v=dQw4w9WgXcQ';
const ALLOW_PREVIEWS = 64 | 128;
const COOKING = {
  'platforms[0][platform]': 'windows',
  'platforms[1][platform]': 'ps5',
  'platforms[1][locked]': true,
};
const PORTAL = { app_id: '1', ticket_key: '0'.repeat(64) };
const RULE = { name: 'Everything', when: '{"all":[]}', verdict: 'report' };

const PACK = { name: 'Pack', tokens: 100, price: 199 };
const SKUS = STORE_PORTALS.map((portal) => `${portal}=made-up`);

type Params = Record<string, string | number>;

/** The users that every race shares. */
export interface Cast {
  readonly owner: Client;
  readonly banned: User;
  readonly agreementId: number;
}

export async function aCast(api: Api): Promise<Cast> {
  const owner = await api.as(await api.aUser({ admin: true }));
  const terms = { type: 1, name: 'Terms', description: 'Be kind.' };
  const agreement = await owner.call(addAgreementVersion, { body: terms });
  const banned = await api.aUser();
  await owner.call(operationOf('ban-user'), { params: { user_id: banned.id }, body: { reason: 'Spam' } });
  return { owner, banned, agreementId: agreement.body.id };
}

/** A game with one resource of every kind. The author administers the game and the mod without leading them, and owns the rest. */
export async function aScene(api: Api, { owner, banned, agreementId }: Cast) {
  const app = api.app();
  const [other, stranger] = [await api.aUser(), await api.aUser()];
  const email = `${api.unique('author').replace(' ', '.')}@example.org`;
  const author = await api.aUser({ email });
  const staff = await api.aUser();
  await app.db.write((transaction) =>
    joinStaff(transaction, { userId: staff.id, level: STAFF_LEVELS.administrator, addedBy: 0, now: START }),
  );
  const game = await api.aGame({
    settings: { monetization_options: 1 | 2 },
    tagGroups: [{ name: 'Kind', type: 'checkboxes', tags: ['a', 'b'] }],
  });
  const leader = game.owner;
  const [mod, needed, denied, hidden, another] = [
    await api.aMod({ game, owner: leader }),
    await api.aMod({ game, owner: leader }),
    await api.aMod({ game, owner: leader }),
    await api.aMod({ game, owner: leader, visible: 0, community_options: ALLOW_PREVIEWS }),
    await api.aMod({ game, owner: leader }),
  ];
  for (const each of [mod, denied, hidden]) await api.joinsMod(author, each, 8);
  await api.joins(author, game, 8);
  await api.joins(other, game, 1);
  await api.joinsMod(other, mod, 1);
  const [asAuthor, asLeader] = [await api.as(author), await api.as(leader)];
  const inGame = { game_id: game.id };
  const ofMod = { ...inGame, mod_id: mod.id };
  for (const each of [mod, needed]) await api.aFile(each);
  const spare = await api.aFile(mod, { active: false });
  const guide = await api.aGuide({ game, owner: author, tags: ['a'] });
  const must = async <T>(asked: Promise<Answer<T>>): Promise<T> => {
    const answer = await asked;
    assert.ok(answer.status < 300, answer.text);
    return answer.body;
  };
  await must(asLeader.call(editGameOperation, { params: inGame, body: COOKING }));
  const runner = await must(
    asLeader.call(addCookRunner, { params: inGame, body: { name: 'Mill', platforms: ['ps5'] } }),
  );
  const source = await must(asLeader.call(addSourceModfile, { params: ofMod, files: archive(api.unique('source')) }));
  const cook = await app.db.query
    .selectFrom('cooks')
    .select('cook_uuid')
    .where('mod_id', '=', mod.id)
    .executeTakeFirstOrThrow();
  const made = { name: api.unique('Best'), mod_ids: [mod.id, needed.id] };
  const collection = await must(asAuthor.call(addCollectionOperation, { params: inGame, body: made }));
  const ofCollection = { ...inGame, collection_id: collection.id };
  const commentOn = async (on: typeof modComments, params: Params) =>
    (await must(asAuthor.call(on.add, { params, body: { content: api.unique('Hello') } }))).id;
  const comments: Record<string, number> = {
    mods: await commentOn(modComments, ofMod),
    guides: await commentOn(guideComments as typeof modComments, { ...inGame, guide_id: guide.id }),
    collections: await commentOn(collectionComments as typeof modComments, ofCollection),
  };
  const upload = await must(
    asAuthor.call(createMultipartUploadSession, { params: ofMod, body: { filename: 'a.zip' } }),
  );
  const teams = {
    mods: (await must(asLeader.call(getModTeamMembers, { params: ofMod }))).data,
    games: (await must(asLeader.call(getGameTeamMembers, { params: inGame }))).data,
  };
  const inAnother = { ...inGame, mod_id: another.id };
  const invite = await must(
    asLeader.call(operationOf('add-mod-team-member') as typeof addGameTeamMember, {
      params: inAnother as never,
      body: { email, level: 1 },
    }),
  );
  await must(
    asLeader.call(decideOverContent, {
      params: inGame,
      body: { resource: 'mods', id: denied.id, decision: 'deny', reason: 'Not like this' },
    }),
  );
  const webhook = await must(
    asLeader.call(addGameWebhook, { params: inGame, body: { name: 'All', url: 'https://10.0.0.1/' } }),
  );
  const ofWebhook = { ...inGame, webhook_id: webhook.id };
  const serverToken = await must(asLeader.call(addGameServerToken, { params: inGame, body: { name: 'Server' } }));
  await must(asLeader.call(operationOf('edit-mod-put'), { params: ofMod, body: { summary: 'As it is told' } }));
  const deliveries = await must(asLeader.call(getGameWebhookDeliveries, { params: ofWebhook }));
  const pack = await must(asLeader.call(addGameTokenPack, { params: inGame, body: { ...PACK, skus: SKUS } }));
  const ofPack = { ...inGame, token_pack_id: pack.id };
  const payment = await must(asAuthor.call(buyTokenPack, { params: ofPack, body: { idempotent_key: 'scene' } }));
  await must(asLeader.call(addMetricsSecret, { params: inGame }));
  const rule = await must(asLeader.call(addGameRule, { params: inGame, body: RULE }));
  const build = await must(asLeader.call(cookingSasToken, { params: inGame }));
  await must(
    api
      .withKey(game)
      .call(submitReportOperation, { body: { resource: 'mods', id: mod.id, type: 0, summary: 'Wrong' } }),
  );
  const report = await app.db.query
    .selectFrom('reports')
    .select('id')
    .where('game_id', '=', game.id)
    .executeTakeFirstOrThrow();
  const letter = { subject: 'Hello', content: api.unique('How are you?'), user_ids: [other.id] };
  const thread = { thread_id: (await must(asAuthor.call(addMessageThread, { body: letter }))).id };
  const message = await must(asAuthor.call(addMessage, { params: thread, body: { content: api.unique('Well?') } }));
  const invited = await must(
    (await api.as(other)).call(addMessageThread, {
      body: { ...letter, content: api.unique('Are you there?'), user_ids: [stranger.id] },
    }),
  );
  await must(
    (await api.as(other)).call(inviteToThread, { params: { thread_id: invited.id }, body: { user_id: author.id } }),
  );
  const asOther = await api.as(other);
  const answered = async (on: typeof modComments, params: Params) =>
    (await must(asOther.call(on.add, { params, body: { content: api.unique('Hello') } }))).id;
  const othersComments: Record<string, number> = {
    mods: await answered(modComments, ofMod),
    guides: await answered(guideComments as typeof modComments, { ...inGame, guide_id: guide.id }),
    collections: await answered(collectionComments as typeof modComments, ofCollection),
  };
  for (const [id, input] of [
    ['subscribe-to-mod', { params: ofMod }],
    ['follow-user', { params: { user_id: author.id }, body: { user_id: other.id } }],
    ['add-mod-media', { params: ofMod, body: { youtube: [VIDEO] } }],
    ['edit-game-portal', { params: { ...inGame, portal: 'steam' }, body: PORTAL }],
  ] as const)
    await must(asAuthor.call(operationOf(id), input as CallInput));
  const ban = { network: `203.0.113.${(author.id % 200) + 1}`, reason: 'Floods' };
  const banId = ((await must(owner.call(operationOf('add-address-ban'), { body: ban }))) as { id: number }).id;
  const client = await app.db.write((transaction) =>
    addClient(app, transaction, { gameId: game.id, name: 'A', redirectUris: [], grants: ['client_credentials'] }),
  );
  const rows = await app.db.write(async ({ query }) => {
    const dates = { date_added: START, date_used: START };
    const account = { user_id: author.id, portal: 'steam', portal_id: email, game_id: 0 };
    await query
      .insertInto('portal_accounts')
      .values({ ...account, display_name: 'A', avatar: '', ...dates })
      .execute();
    const about = { resource: 'users', resource_id: other.id, game_id: 0, comment_id: 0 };
    const told = { user_id: author.id, kind: 'follower', actor_id: other.id, ...about, date_added: START, is_read: 0 };
    const notification = await query.insertInto('notifications').values(told).returning('id').executeTakeFirstOrThrow();
    const browser = { digest: email, user_id: author.id, user_agent: 'A', date_added: START, date_revoked: null };
    const session = await query
      .insertInto('sessions')
      .values({ ...browser, date_expires: START + 86_400 })
      .returning('id')
      .executeTakeFirstOrThrow();
    const token = await query
      .selectFrom('access_tokens')
      .select('id')
      .where('user_id', '=', author.id)
      .executeTakeFirstOrThrow();
    // A store that is out of order: an account that has tokens cannot be deleted.
    const bought = {
      game_id: game.id,
      user_id: author.id,
      sku: 'made-up',
      quantity: 1,
      consumption_key: '',
      fault: 'busy',
    };
    const purchases = await query
      .insertInto('simulated_purchases')
      .values(STORE_PORTALS.map((portal) => ({ ...bought, portal, state: 'owned' as const, date_added: START })))
      .returning('id')
      .execute();
    return {
      notification_id: notification.id,
      session_id: session.id,
      token_id: token.id,
      simulated_purchase_id: purchases[STORE_PORTALS.indexOf('steam')]!.id,
    };
  });
  const params: Params = {
    ...ofMod,
    collection_id: collection.id,
    guide_id: guide.id,
    file_id: spare.id,
    user_id: other.id,
    target_user_id: other.id,
    invite_id: invite.id,
    agreement_version_id: agreementId,
    client_id: client.client_id,
    ...thread,
    ...ofPack,
    payment_id: payment.id,
    purchase_id: 999_999,
    payout_id: 999_999,
    monetization_team_id: game.id,
    transaction_id: 999_999,
    ...ofWebhook,
    server_token_id: serverToken.id,
    message_id: message.id,
    ...rows,
    delivery_id: deliveries.data[0]!.id,
    rule_id: rule.id,
    report_id: report.id,
    runner_id: runner.id,
    source_id: source.id,
    cook_uuid: cook.cook_uuid,
    content: 'mods',
    content_id: denied.id,
    portal: 'steam',
    build_id: build.build_id,
    ban_id: banId,
    job_id: 999_999,
  };
  return {
    game,
    mod,
    needed,
    hidden,
    spare,
    guide,
    collection,
    author: { ...author, email, client: await api.as(author) },
    staff: { ...staff, client: await api.as(staff) },
    asLeader,
    taker: await api.as(await api.aUser()),
    owner,
    other,
    stranger,
    comments,
    othersComments,
    banned,
    teams,
    params,
    joined: invited.id,
    uploadId: upload.upload_id,
    agreementId,
    /** The hash of a preview link. */
    hash: '',
    /** Input that only one situation has. */
    requests: {} as Record<string, () => CallInput>,
  };
}
export type Scene = Awaited<ReturnType<typeof aScene>>;

const byId = new Map(operations.map((each) => [each.declaration.id, each as AnyOperation]));
export function operationOf(id: string): AnyOperation {
  const found = byId.get(id);
  assert.ok(found, `there is no operation ${id}`);
  return found;
}

type Request = (scene: Scene) => CallInput;
const body =
  (fields: NonNullable<CallInput['body']>): Request =>
  () => ({ body: fields });

/** Makes values unique, because an equal request counts as a duplicate. */
let number = 0;

/** Valid input per operation. */
const REQUESTS: Record<string, Request> = {
  'request-email-change': body({ email: 'another@example.org' }),
  'add-oauth-client': body({ name: 'Backend', grants: ['client_credentials'] }),
  'add-own-token': body({ name: 'Mine', scopes: ['read'] }),
  'edit-game': body({ summary: 'Better' }),
  'add-game-media': () => ({ files: LOGO }),
  'add-mod': () => ({ body: { name: 'Another mod', summary: 'A mod' }, files: LOGO }),
  'edit-mod': body({ summary: 'Better' }),
  'edit-mod-put': body({ summary: 'Better' }),
  'add-modfile': () => ({ files: archive(`file ${++number}`) }),
  'edit-modfile': body({ changelog: 'Better' }),
  'add-source-modfile': () => ({ files: archive(`source ${++number}`) }),
  'edit-oauth-client': body({ name: 'Better backend' }),
  'delete-game-media': body({ images: ['logo'] }),
  'start-cook': ({ params }) => ({ body: { source_id: params['source_id']!, platform: 'ps5' } }),
  'add-cook-runner': body({ name: 'Saw', platforms: ['ps5'] }),
  'manage-platform-status': body({ approved: ['windows'] }),
  'add-game-tag-options': body({ name: 'More', type: 'checkboxes', tags: ['c'] }),
  'delete-game-tag-options': body({ name: 'Kind', tags: ['b'] }),
  'rename-game-tag': body({ from: 'a', to: 'c' }),
  'add-mod-tags': body({ tags: ['a'] }),
  'delete-mod-tags': body({ tags: ['a'] }),
  'add-mod-kvp-metadata': body({ metadata: ['a:b'] }),
  'delete-mod-kvp-metadata': body({ metadata: ['a:b'] }),
  'add-mod-media': body({ youtube: [VIDEO] }),
  'delete-mod-media': body({ youtube: [VIDEO] }),
  'reorder-mod-media': body({ youtube: [VIDEO] }),
  'add-mod-previewer': ({ hidden, other }) => ({ params: { mod_id: hidden.id }, body: { user_id: other.id } }),
  'add-game-previewer': ({ other }) => ({ body: { user_id: other.id } }),
  'register-game-previewer': ({ hash }) => ({ body: { hash } }),
  'register-mod-previewer': ({ hash }) => ({ body: { hash } }),
  'renew-mod-preview-link': ({ hidden }) => ({ params: { mod_id: hidden.id } }),
  'restrict-user-in-game': ({ stranger }) => ({ params: { user_id: stranger.id }, body: { options: 1 } }),
  'unban-user': ({ banned }) => ({ params: { user_id: banned.id } }),
  'add-mod-dependencies': ({ needed }) => ({ body: { dependencies: [needed.id] } }),
  'delete-mod-dependencies': ({ needed }) => ({ body: { dependencies: [needed.id] } }),
  'add-collection': body({ name: 'More' }),
  'update-collection': body({ summary: 'Better' }),
  'delete-collection-mods': ({ needed }) => ({ body: { mod_ids: [needed.id] } }),
  'add-collection-rating': body({ rating: 1 }),
  'add-mod-team-member': body({ email: 'new@example.org', level: 1 }),
  'add-game-team-member': body({ email: 'new@example.org', level: 1 }),
  'update-mod-team-member': body({ position: 'Artist' }),
  'update-game-team-member': body({ position: 'Artist' }),
  'follow-user': ({ author, stranger }) => ({ params: { user_id: author.id }, body: { user_id: stranger.id } }),
  'unfollow-user': ({ author }) => ({ params: { user_id: author.id } }),
  'add-mod-rating': body({ rating: 1 }),
  'accept-agreement': ({ agreementId }) => ({ body: { agreement_version_id: agreementId } }),
  'add-agreement-version': body({ type: 2, name: 'Privacy', description: 'Be kinder.' }),
  'edit-agreement-version': body({ name: 'Terms of use' }),
  'create-multipart-upload-session': body({ filename: 'b.zip' }),
  'add-multipart-upload-part': ({ uploadId }) => ({
    query: { upload_id: uploadId },
    raw: Buffer.from('abc'),
    headers: { 'content-range': 'bytes 0-2/3', 'content-type': 'application/octet-stream' },
  }),
  'delete-multipart-upload-session': ({ uploadId }) => ({ query: { upload_id: uploadId } }),
  'add-guide': () => ({
    body: { name: 'How', summary: 'How it is done, in short', description: 'Like this.', tags: ['a'] },
    files: LOGO,
  }),
  'edit-guide': body({ summary: 'How it is done, even shorter' }),
  'edit-game-file-types': body({ refused: ['exe'] }),
  'submit-report': ({ needed }) => ({ body: { resource: 'mods', id: needed.id, type: 0, summary: 'Wrong' } }),
  'resolve-game-report': body({ resolution: 'Seen' }),
  'resolve-report': body({ resolution: 'Seen' }),
  'ban-user': ({ author }) => ({ params: { user_id: author.id }, body: { reason: 'Spam' } }),
  'lock-a-user': ({ author }) => ({ params: { user_id: author.id } }),
  'unlock-a-user': ({ author }) => ({ params: { user_id: author.id } }),
  'delete-a-user': ({ author }) => ({ params: { user_id: author.id } }),
  'edit-mod-vault': body({ date_opens: START }),
  'add-staff-member': ({ author }) => ({ body: { user_id: author.id, level: 1 } }),
  'update-staff-member': ({ staff }) => ({ params: { user_id: staff.id }, body: { level: 1 } }),
  'delete-staff-member': ({ staff }) => ({ params: { user_id: staff.id } }),
  'add-address-ban': body({ network: '203.0.113.1', reason: 'Floods' }),
  'add-game-moderation-decision': ({ needed }) => ({
    body: { resource: 'mods', id: needed.id, decision: 'deny', reason: 'Not like this' },
  }),
  'claim-next-moderated-content': body({ count: 1 }),
  'appeal-moderation-decision': body({ reason: 'It is as it should be' }),
  'edit-authenticated-user': body({ timezone: 'Europe/Berlin' }),
  'edit-site': body({ name: 'Race' }),
  'add-site-icon': () => ({ files: { icon: AVATAR.avatar } }),
  'add-avatar': () => ({ files: AVATAR }),
  'edit-mailings': body({ wanted: false }),
  'edit-game-portal': body(PORTAL),
  ...Object.fromEntries(
    ['apple', 'epicgames', 'google', 'meta', 'ps', 'psn', 'steam', 'xboxlive'].map((store) => [
      `sync-entitlements-${store}`,
      ({ game }: Scene) => ({ body: { game_id: game.id } }),
    ]),
  ),
  'edit-game-store': ({ game }) => ({
    params: { game_id: game.id, portal: 'oculus' },
    body: { app_id: '1', app_secret: 's' },
  }),
  'add-simulated-purchase': body({ sku: 'made-up' }),
  'edit-game-selling-terms': body({ hold_days: 14 }),
  'add-game-token-pack': body({ ...PACK, name: 'More' }),
  'edit-game-token-pack': body({ price: 299 }),
  purchase: body({ idempotent_key: 'race' }),
  'register-seller-account': body(SELLER_DETAILS),
  'decide-seller-account': body({ status: 'approved' }),
  'add-game': () => ({ body: { name: 'Another game', summary: 'A game' }, files: LOGO }),
  'create-mod-monetization-team': ({ game }) => ({ body: { 'users[0][id]': game.owner.id, 'users[0][split]': 100 } }),
  'decide-game-partner': body({ status: 'invited' }),
  'decide-marketplace-submission': body({ status: 'approved' }),
  'decide-marketplace-lock': body({ is_locked: true, reason: 'Race' }),
  'edit-plan': () => ({ params: { plan: 'enterprise' }, body: { may_sell: true } }),
  'edit-game-plan': ({ game }) => ({ body: { game_id: game.id, plan: 'enterprise' } }),
  'refund-game-purchase': body({ reason: 'Broken' }),
  'request-payout': body({ idempotent_key: 'race' }),
  'decide-payout': body({ status: 'paid' }),
  'reconcile-game-settlement': () => ({ query: { provider: 'steam' }, raw: Buffer.from('reference\n') }),
  'get-game-reconciliation': () => ({ query: { provider: 'simulated' } }),
  'get-staff-reconciliation': () => ({ query: { provider: 'simulated' } }),
  'buy-token-pack': body({ idempotent_key: 'race' }),
  'add-game-server-token': body({ name: 'Another server' }),
  'edit-game-server-settings': body({ anonymous_access: false }),
  'add-game-webhook': body({ name: 'More', url: 'https://10.0.0.1/' }),
  'edit-game-webhook': body({ name: 'Better' }),
  'add-message-thread': ({ other }) => ({ body: { subject: 'Ahoy', content: 'Are you there?', user_ids: [other.id] } }),
  'add-message': body({ content: 'Hello again' }),
  'invite-to-message-thread': ({ stranger }) => ({ body: { user_id: stranger.id } }),
  'join-message-thread': ({ joined }) => ({ params: { thread_id: joined } }),
  'update-message-settings': body({ accept_from: 'nobody' }),
  'update-notification': body({ is_read: true }),
  'update-notification-settings': body({ comment: 'off' }),
  'edit-game-wordlists': body({ denied: ['word'] }),
  'add-game-rule': body(RULE),
  'reorder-game-rules': ({ params }) => ({ body: { rule_ids: [params['rule_id']!] } }),
  'edit-game-rule': body({ name: 'Better' }),
  'set-permission-reviews': body({ required: true }),
  'delete-account': ({ author }) => ({ body: { email: author.email } }),
  ...Object.fromEntries(
    ['mod', 'guide', 'collection'].flatMap((resource) => [
      [`add-${resource}-comment`, body({ content: 'Good day' })],
      [`update-${resource}-comment`, body({ content: 'Good day again' })],
      [`add-${resource}-comment-karma`, body({ karma: 1 })],
    ]),
  ),
};

export function inputFor({ declaration: { id, path } }: AnyOperation, scene: Scene): CallInput {
  const [, , , plural = ''] = path.split('/');
  const team = path.includes('/mods/') ? scene.teams.mods : scene.teams.games;
  const { params, ...rest } = scene.requests[id]?.() ?? REQUESTS[id]?.(scene) ?? {};
  const comments = id.endsWith('karma') ? scene.othersComments : scene.comments;
  const found = {
    ...scene.params,
    comment_id: comments[plural] ?? 0,
    team_member_id: team.find(({ level }) => level === 1)!.id,
    ...params,
  };
  return { params: found, ...rest };
}
