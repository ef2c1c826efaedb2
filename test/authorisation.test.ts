import assert from 'node:assert/strict';
import { test } from 'node:test';
import { editGameOperation } from '../src/catalogue/games/operations.ts';
import { downloadLink } from '../src/catalogue/live-files/links.ts';
import { editModByPut } from '../src/catalogue/mods/operations.ts';
import { addGameRule, getGameRuleDecisions } from '../src/catalogue/rules/operations.ts';
import { addGameTeamMember, getGameTeamMembers, getModTeamMembers } from '../src/catalogue/teams/operations.ts';
import { addCollectionOperation, updateCollectionOperation } from '../src/community/collections/operations.ts';
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
import { addSimulatedPurchase } from '../src/money/stores/operations.ts';
import { putStoreSettings } from '../src/money/stores/settings.ts';
import { addAgreementVersion } from '../src/people/agreements/operations.ts';
import { joinStaff } from '../src/people/staff/staff.ts';
import { setUserStatus, USER_BANNED } from '../src/people/users/users.ts';
import { issueServiceToken } from '../src/platform/access/credentials.ts';
import { STAFF_LEVELS } from '../src/platform/access/staff.ts';
import type { App } from '../src/platform/app.ts';
import type { Transaction } from '../src/platform/database/database.ts';
import { type AnyOperation, isEventStream } from '../src/platform/http/operation.ts';
import { exportToken, startExport } from '../src/signin/exports/exports.ts';
import { gatherExport } from '../src/signin/exports/gathering.ts';
import { addClient } from '../src/signin/oauth/clients.ts';
import { putSettings } from '../src/signin/portals/settings.ts';
import { addGameServerToken } from '../src/signin/server-tokens/operations.ts';
import { addMetricsSecret } from '../src/studio/metrics/operations.ts';
import { addGameWebhook, getGameWebhookDeliveries } from '../src/studio/webhooks/operations.ts';
import { type CallInput, type Client, START, startApi, type User } from './api.ts';
import { AUDITED, FOR_SITE_MODERATORS } from './audited.ts';
import {
  AUTHORISATION,
  CALLERS,
  type CallerName,
  OPEN_IN_CLOSED_GAMES,
  OUTSIDERS,
  OWN_SIGNS,
  type Row,
  SCENES,
  type SceneName,
  SIGNS,
} from './authorisation.ts';
import { assertRows } from './hand-tables.ts';
import { zipOf } from './zips.ts';

const api = await startApi({
  settings: {
    MODSTEAD_CACHE_MB: '0',
    MODSTEAD_JOBS: 'off',
    MODSTEAD_RATE_LIMITS: 'off',
    MODSTEAD_PAYMENTS: 'simulated',
    MODSTEAD_STORES: 'simulated',
  },
});
const app = api.app();
const TEAM_ADDRESS = 'author@example.org';
const LEVELS = [1, 4, 8] as const;
const GAME_CLOSED = 14_007;

const people = {
  stranger: await api.aUser(),
  author: await api.aUser({ email: TEAM_ADDRESS }),
  banned: await api.aUser(),
  admin: await api.aUser({ admin: true }),
  siteModerator: await api.aUser(),
};
await app.db.write((transaction) =>
  joinStaff(transaction, { userId: people.siteModerator.id, level: STAFF_LEVELS.moderator, addedBy: 0, now: START }),
);
const otherGame = await api.aGame();
const members = { mod: [] as User[], game: [] as User[] };
for (const team of [members.mod, members.game]) for (const _ of LEVELS) team.push(await api.aUser());
/** The user that requests are about: invited, restricted, muted, followed. */
const other = await api.aUser();

const agreement = await (await api.as(people.admin)).call(addAgreementVersion, {
  body: { type: 1, name: 'Terms', description: 'Be kind.' },
});

const asAuthor = await api.as(people.author);
const letter = { subject: 'Hello', content: 'How are you?', user_ids: [other.id] };
const thread = { thread_id: (await asAuthor.call(addMessageThread, { body: letter })).body.id };
const message = await asAuthor.call(addMessage, { params: thread, body: { content: 'Well?' } });
await asAuthor.call(inviteToThread, { params: thread, body: { user_id: people.stranger.id } });
await startExport(app, {
  kind: 'user',
  userId: people.author.id,
  tokenId: 0,
  scopes: ['read'],
  gameId: undefined,
  admin: false,
  language: 'en',
  dateExpires: START,
  inTeams: true,
});
await gatherExport(app, 1);
const notification = await app.db.write(async ({ query }) => {
  const dates = { date_added: START, date_used: START };
  const account = { user_id: people.author.id, portal: 'steam', portal_id: '1', game_id: 0 };
  await query
    .insertInto('portal_accounts')
    .values({ ...account, display_name: 'Author', avatar: '', ...dates })
    .execute();
  const about = { resource: 'users', resource_id: other.id, game_id: 0, comment_id: 0 };
  const row = { user_id: people.author.id, kind: 'follower', actor_id: other.id, ...about };
  return query
    .insertInto('notifications')
    .values({ ...row, date_added: START, is_read: 0 })
    .returning('id')
    .executeTakeFirstOrThrow();
});

const STEAM = { app_id: '1', ticket_key: '0'.repeat(64) };
const COOKING = {
  'platforms[0][platform]': 'windows',
  'platforms[1][platform]': 'ps5',
  'platforms[1][locked]': true,
};
const RULE = { name: 'Everything', when: '{"all":[]}', verdict: 'report' };
const reportOn = (id: number) => ({ resource: 'mods', id, type: 0, summary: 'Wrong' });

type Params = Record<string, string | number>;

const SELLER = { legal_name: 'Ada', country: 'GB', payout_details: 'IBAN' };
const PACK = { name: 'Pack', tokens: 100, price: 199 };
const STORE = { app_id: '480', web_api_key: '0123456789abcdef0123456789abcdef' };

/** A game with one resource of every kind, all owned by the author, and the teams of game and mod. */
async function aScene(name: SceneName) {
  const game = await api.aGame({
    settings: { monetization_options: 1 },
    tagGroups: [{ name: 'Kind', type: 'checkboxes', tags: ['a', 'b'] }],
  });
  const { author } = people;
  const mods = [await api.aMod({ game, owner: author }), await api.aMod({ game, owner: author })];
  const denied = await api.aMod({ game, owner: author });
  for (const [index, level] of LEVELS.entries()) {
    for (const mod of [mods[0]!, denied]) await api.joinsMod(members.mod[index]!, mod, level);
    await api.joins(members.game[index]!, game, level);
  }
  const hidden = name === 'hidden';
  const [mod, needed] = mods as [(typeof mods)[0], (typeof mods)[0]];
  const file = await api.aFile(mod);
  const guide = await api.aGuide({ game, owner: author, tags: ['a'] });
  const inGame = { game_id: game.id };
  const ofMod = { ...inGame, mod_id: mod.id };
  const made = { name: 'Best', mod_ids: mods.map(({ id }) => id) };
  const { id: collection_id } = (await asAuthor.call(addCollectionOperation, { params: inGame, body: made })).body;
  const ofCollection = { ...inGame, collection_id };
  const commentOn = async (on: typeof modComments, params: Params) =>
    (await asAuthor.call(on.add, { params, body: { content: api.unique('Hello') } })).body.id;
  const comments: Record<string, number> = {
    mods: await commentOn(modComments, ofMod),
    guides: await commentOn(guideComments, { ...inGame, guide_id: guide.id }),
    collections: await commentOn(collectionComments, ofCollection),
  };
  const upload = await asAuthor.call(createMultipartUploadSession, { params: ofMod, body: { filename: 'a.zip' } });
  const asOwner = await api.as(game.owner);
  const teams = {
    mods: (await asAuthor.call(getModTeamMembers, { params: ofMod })).body.data,
    games: (await asOwner.call(getGameTeamMembers, { params: inGame })).body.data,
  };
  const invited = await asOwner.call(addGameTeamMember, { params: inGame, body: { email: TEAM_ADDRESS, level: 1 } });
  const denial = { resource: 'mods', id: denied.id, decision: 'deny', reason: 'Not like this' };
  await asOwner.call(decideOverContent, { params: inGame, body: denial });
  await app.db.write((transaction) => putSettings(app, transaction, game.id, 'steam', STEAM));
  const listening = { name, url: 'https://10.0.0.1/' };
  const webhook = await asOwner.call(addGameWebhook, { params: inGame, body: listening });
  const ofWebhook = { ...inGame, webhook_id: webhook.body.id };
  const serverToken = await asOwner.call(addGameServerToken, { params: inGame, body: { name: 'Server' } });
  await asAuthor.call(editModByPut, { params: ofMod, body: { summary: 'As described' } });
  const deliveries = await asOwner.call(getGameWebhookDeliveries, { params: ofWebhook });
  const inStores = { ...PACK, skus: ['xboxlive=made-up'] };
  const pack = await asOwner.call(addGameTokenPack, { params: inGame, body: inStores });
  await app.db.write((transaction) => putStoreSettings(app, transaction, game.id, 'steam', STORE));
  const simulated = await asAuthor.call(addSimulatedPurchase, {
    params: { ...inGame, portal: 'xboxlive' },
    body: { sku: 'made-up' },
  });
  const ofPack = { ...inGame, token_pack_id: pack.body.id };
  const payment = await asAuthor.call(buyTokenPack, { params: ofPack, body: { idempotent_key: name } });
  await asOwner.call(addMetricsSecret, { params: inGame });
  const rule = await asOwner.call(addGameRule, { params: inGame, body: RULE });
  const decisions = await asOwner.call(getGameRuleDecisions, { params: inGame });
  await asOwner.call(editGameOperation, { params: inGame, body: COOKING });
  const runner = await asOwner.call(addCookRunner, { params: inGame, body: { name, platforms: ['ps5'] } });
  const provided = await asOwner.call(cookingSasToken, { params: inGame });
  const archive = { filedata: { filename: 'source.zip', bytes: zipOf({ 'a.txt': 'a' }) } };
  const source = await asAuthor.call(addSourceModfile, { params: ofMod, files: archive });
  const cook = await app.db.query
    .selectFrom('cooks')
    .select('cook_uuid')
    .where('mod_id', '=', mod.id)
    .executeTakeFirstOrThrow();
  await asOwner.call(editGameOperation, { params: inGame, body: { 'platforms[]': '' } });
  await api.withKey(game).call(submitReportOperation, { body: reportOn(mod.id) });
  const report = await app.db.query
    .selectFrom('reports')
    .select('id')
    .where('game_id', '=', game.id)
    .executeTakeFirstOrThrow();
  if (hidden) {
    await asAuthor.call(updateCollectionOperation, { params: ofCollection, body: { visible: 0 } });
    await asAuthor.call(editModByPut, { params: ofMod, body: { visible: 0 } });
    await app.db.write(async ({ query }) => {
      await query.updateTable('guides').set({ status: 0 }).where('id', '=', guide.id).execute();
    });
  }
  if (name === 'closed') await asOwner.call(editGameOperation, { params: inGame, body: { api_access_options: 0 } });
  const client = await app.db.write((transaction) =>
    addClient(app, transaction, { gameId: game.id, name, redirectUris: [], grants: ['client_credentials'] }),
  );
  const token = await app.db.query
    .selectFrom('access_tokens')
    .select('id')
    .where('user_id', '=', author.id)
    .executeTakeFirstOrThrow();
  const session = await app.db.write(({ query }) =>
    query
      .insertInto('sessions')
      .values({
        digest: name,
        user_id: author.id,
        user_agent: name,
        date_added: START,
        date_expires: START + 86_400,
        date_revoked: null,
      })
      .returning('id')
      .executeTakeFirstOrThrow(),
  );
  const named = { ...ofMod, ...file };
  const params: Params = {
    ...ofMod,
    ...ofPack,
    payment_id: payment.body.id,
    simulated_purchase_id: simulated.body.id,
    purchase_id: 999_999,
    payout_id: 999_999,
    monetization_team_id: game.id,
    transaction_id: 999_999,
    collection_id,
    guide_id: guide.id,
    file_id: file.id,
    user_id: other.id,
    target_user_id: other.id,
    invite_id: invited.body.id,
    review_id: 999_999,
    agreement_type_id: 1,
    agreement_version_id: agreement.body.id,
    client_id: client.client_id,
    token_id: token.id,
    session_id: session.id,
    ...thread,
    ...ofWebhook,
    server_token_id: serverToken.body.id,
    message_id: message.body.id,
    notification_id: notification.id,
    delivery_id: deliveries.body.data[0]!.id,
    rule_id: rule.body.id,
    decision_id: decisions.body.data[0]!.id,
    report_id: report.id,
    ban_id: 999_999,
    job_id: 999_999,
    runner_id: runner.body.id,
    build_id: provided.body.build_id,
    build_signature: provided.body.url.split('/').at(-1)!,
    source_id: source.body.id,
    source_hash: source.body.download.binary_url.split('/').at(-1)!,
    cook_uuid: cook.cook_uuid,
    claim_id: '00000000-0000-4000-8000-000000000000',
    content: 'mods',
    content_id: denied.id,
    portal: 'steam',
    portal_id: 'steam',
    export_token: exportToken(app, 1),
    verification_hash: downloadLink(app, named, { alone: false }).binary_url.split('/').at(-1)!,
  };
  return { game, mod, needed, comments, teams, params, upload_id: upload.body.upload_id, clientId: client.client_id };
}
type Scene = Awaited<ReturnType<typeof aScene>>;

async function callersOf({ game, clientId }: Scene): Promise<Record<CallerName, Client>> {
  const [mod1, mod4, mod8] = await Promise.all(members.mod.map((each) => api.as(each)));
  const [game1, game4, game8] = await Promise.all(members.game.map((each) => api.as(each)));
  const service = await app.db.write((transaction) =>
    issueServiceToken(app, transaction, {
      clientId,
      gameId: game.id,
      scopes: ['read', 'write', 'update'],
      lifetimeSeconds: 3_600,
    }),
  );
  const banned = await api.as(people.banned);
  await setUserStatus(app, people.banned.id, USER_BANNED);
  return {
    nobody: api.nobody(),
    key: api.withKey(game),
    otherKey: api.withKey(otherGame),
    stranger: await api.as(people.stranger),
    otherToken: await api.as(people.stranger, { gameId: otherGame.id }),
    readOnly: await api.as(people.author, { scopes: ['read'] }),
    author: await api.as(people.author),
    mod1: mod1!,
    mod4: mod4!,
    mod8: mod8!,
    game1: game1!,
    game4: game4!,
    game8: game8!,
    admin: await api.as(people.admin),
    banned,
    service: api.withToken(service.access_token),
  };
}

/** Not an image: an admitted request fails after the permission check, so that no image is rendered. */
const linkedPart = { content_range: 'bytes 0-2/3', digest: `sha-256=${'0'.repeat(64)}` };
const logo = { logo: { filename: 'logo.png', bytes: Buffer.from('no picture') } };
/** Not an archive: an admitted request fails after the permission check. */
const zip = { filedata: { filename: 'a.zip', bytes: Buffer.from('no archive') } };

/** A session as a game reports it, without a signature. */
const SESSION = {
  session_id: '6f1f1f52-1c5d-4d0e-9d0b-3d1f6a0c2b11',
  session_ts: START,
  session_nonce: 'a'.repeat(32),
  session_order_id: 1,
  session_hash: '0'.repeat(64),
};

/** The input per operation: valid enough that only the caller's permission can fail. */
const REQUESTS: Record<string, (scene: Scene) => Omit<CallInput, 'params'>> = {
  'request-email-security-code': () => ({ body: { email: 'someone@example.org' } }),
  'exchange-email-security-code': () => ({ body: { security_code: 'AAAAA' } }),
  'oauth-token': () => ({ body: { grant_type: 'client_credentials' } }),
  'oauth-revoke': () => ({ body: { token: 'x' } }),
  'add-oauth-client': () => ({ body: { name: 'Backend', grants: ['client_credentials'] } }),
  'edit-oauth-client': () => ({ body: { standard: true } }),
  'add-own-token': () => ({ body: { name: 'Mine', scopes: ['read'] } }),
  'add-game': () => ({ body: { name: api.unique('Game'), summary: 'A game' }, files: logo }),
  'edit-game': () => ({ body: { summary: 'Better' } }),
  'add-game-media': () => ({ files: logo }),
  'delete-game-media': () => ({ body: { images: ['logo'] } }),
  'add-mod': () => ({ body: { name: api.unique('Mod'), summary: 'A mod' }, files: logo }),
  'edit-mod': () => ({ body: { summary: 'Better' } }),
  'edit-mod-put': () => ({ body: { summary: 'Better' } }),
  'add-modfile': () => ({ files: zip }),
  'edit-modfile': () => ({ body: { changelog: 'Better' } }),
  'add-source-modfile': () => ({ files: zip }),
  'add-cook-runner': () => ({ body: { name: 'Mill', platforms: ['ps5'] } }),
  'cooking-webhook': () => ({ raw: Buffer.from('{}'), headers: { 'content-type': 'application/json' } }),
  'finish-cook': () => ({ files: zip }),
  'get-cook-upload-parts': ({ upload_id }) => ({ query: { upload_id } }),
  'add-cook-upload-part': ({ upload_id }) => ({ query: { upload_id }, raw: Buffer.from('abc') }),
  'complete-cook-upload': ({ upload_id }) => ({ query: { upload_id } }),
  'upload-cook-build': () => ({ raw: Buffer.from('abc'), headers: { 'content-range': 'bytes 0-5/3' } }),
  'manage-platform-status': () => ({ body: { approved: ['windows'] } }),
  'add-game-tag-options': () => ({ body: { name: 'More', type: 'checkboxes', tags: ['c'] } }),
  'delete-game-tag-options': () => ({ body: { name: 'Kind', tags: ['b'] } }),
  'rename-game-tag': () => ({ body: { from: 'a', to: 'c' } }),
  'add-mod-tags': () => ({ body: { tags: ['a'] } }),
  'delete-mod-tags': () => ({ body: { tags: ['a'] } }),
  'add-mod-kvp-metadata': () => ({ body: { metadata: ['a:b'] } }),
  'delete-mod-kvp-metadata': () => ({ body: { metadata: ['a:b'] } }),
  'add-mod-media': () => ({ body: { youtube: ['https://www.youtube.com/watch?v=dQw4w9WgXcQ'] } }),
  'delete-mod-media': () => ({ body: { youtube: ['https://www.youtube.com/watch?v=dQw4w9WgXcQ'] } }),
  'reorder-mod-media': () => ({ body: { youtube: ['https://www.youtube.com/watch?v=dQw4w9WgXcQ'] } }),
  'add-game-previewer': () => ({ body: { user_id: other.id } }),
  'add-mod-previewer': () => ({ body: { user_id: other.id } }),
  'register-game-previewer': () => ({ body: { hash: 'made-up' } }),
  'register-mod-previewer': () => ({ body: { hash: 'made-up' } }),
  'restrict-user-in-game': () => ({ body: { options: 1 } }),
  'lookup-mods': ({ mod }) => ({ body: { ids: [mod.id] } }),
  'get-resource-owner': ({ mod }) => ({ body: { resource_type: 'mods', resource_id: mod.id } }),
  'add-mod-dependencies': ({ needed }) => ({ body: { dependencies: [needed.id] } }),
  'delete-mod-dependencies': ({ needed }) => ({ body: { dependencies: [needed.id] } }),
  'add-collection': () => ({ body: { name: 'More' } }),
  'update-collection': () => ({ body: { summary: 'Better' } }),
  'delete-collection-mods': ({ needed }) => ({ body: { mod_ids: [needed.id] } }),
  'add-collection-rating': () => ({ body: { rating: 1 } }),
  'add-mod-team-member': () => ({ body: { email: 'new@example.org', level: 1 } }),
  'set-permission-reviews': () => ({ body: { required: false } }),
  'decide-permission-review': () => ({ body: { approved: true } }),
  'add-game-team-member': () => ({ body: { email: 'new@example.org', level: 1 } }),
  'update-mod-team-member': () => ({ body: { position: 'Artist' } }),
  'update-game-team-member': () => ({ body: { position: 'Artist' } }),
  'follow-user': () => ({ body: { user_id: people.admin.id } }),
  'add-mod-rating': () => ({ body: { rating: 1 } }),
  'add-agreement-version': () => ({ body: { type: 1, name: 'Terms', description: 'Be kinder.' } }),
  'edit-agreement-version': () => ({ body: { name: 'Terms of use' } }),
  'accept-agreement': () => ({ body: { agreement_version_id: agreement.body.id } }),
  'create-multipart-upload-session': () => ({ body: { filename: 'b.zip' } }),
  'get-multipart-upload-parts': ({ upload_id }) => ({ query: { upload_id } }),
  'add-multipart-upload-part': ({ upload_id }) => ({
    query: { upload_id },
    raw: Buffer.from('abc'),
    headers: { 'content-range': 'bytes 0-2/3', 'content-type': 'application/octet-stream' },
  }),
  'create-multipart-upload-link': ({ upload_id }) => ({ body: { upload_id, ...linkedPart } }),
  'confirm-multipart-upload-part': ({ upload_id }) => ({ body: { upload_id, ...linkedPart } }),
  'complete-multipart-upload-session': ({ upload_id }) => ({ query: { upload_id } }),
  'delete-multipart-upload-session': ({ upload_id }) => ({ query: { upload_id } }),
  'add-guide': () => ({
    body: { name: 'How', summary: 'How it is done, in short', description: 'Like this.', tags: ['a'] },
    files: logo,
  }),
  'edit-guide': () => ({ body: { summary: 'How it is done, even shorter' } }),
  'request-email-change': () => ({ body: { email: 'another@example.org' } }),
  'delete-release-confirmation': () => ({ body: { code: 'AAAAA' } }),
  'change-email': () => ({ body: { new_code: 'AAAAA', old_code: 'AAAAA' } }),
  'delete-account': () => ({ body: { email: TEAM_ADDRESS } }),
  'merge-a-user': ({ params }) => ({ body: { into: params['user_id']!, reason: 'Lost' } }),
  'merge-account': () => ({ body: { access_token: 'made-up' } }),
  'oauth-device-authorization': ({ clientId }) => ({ body: { client_id: clientId } }),
  'edit-game-file-types': () => ({ body: { refused: ['exe'] } }),
  'submit-report': ({ mod }) => ({ body: { ...reportOn(mod.id), summary: 'Still wrong' } }),
  'ban-user': () => ({ body: { reason: 'Spam' } }),
  'edit-mod-vault': () => ({ body: { date_opens: START } }),
  'add-staff-member': () => ({ body: { user_id: other.id, level: 1 } }),
  'update-staff-member': () => ({ body: { level: 1 } }),
  'add-address-ban': () => ({ body: { network: '203.0.113.1', reason: 'Floods' } }),
  'add-game-moderation-decision': ({ mod }) => ({
    body: { resource: 'mods', id: mod.id, decision: 'deny', reason: 'Not like this' },
  }),
  'claim-next-moderated-content': () => ({ body: { count: 1 } }),
  'appeal-moderation-decision': () => ({ body: { reason: 'It is as it should be' } }),
  'edit-authenticated-user': () => ({ body: { timezone: 'Europe/Berlin' } }),
  'stream-game-activity': () => ({ query: { activity: 'cooks' } }),
  'edit-site': () => ({ body: { name: 'Another name' } }),
  'add-site-icon': () => ({ files: { icon: { filename: 'a.png', bytes: Buffer.from('no picture') } } }),
  'add-avatar': () => ({ files: { avatar: { filename: 'a.png', bytes: Buffer.from('no picture') } } }),
  'opt-out-of-emails': () => ({ body: { hash: 'made-up' } }),
  'edit-mailings': () => ({ body: { wanted: false } }),
  ...Object.fromEntries(
    Object.entries({
      steam: { appdata: 'made-up' },
      'gog-galaxy': { appdata: 'made-up' },
      'xbox-live': { xbox_token: 'made-up' },
      psn: { auth_code: 'made-up' },
      'psn-sdk': { auth_code: 'made-up' },
      switch: { id_token: 'made-up' },
      epicgames: { id_token: 'made-up' },
      google: { id_token: 'made-up' },
      apple: { id_token: 'made-up' },
      discord: { discord_token: 'made-up' },
      oculus: { device: 'quest', nonce: 'made-up', user_id: 1, access_token: 'made-up' },
      facebook: { facebook_token: 'made-up' },
      itchio: { itchio_token: 'made-up' },
      openid: { id_token: 'made-up' },
    }).map(([portal, body]) => [`authenticate-via-${portal}`, () => ({ body: { ...body, terms_agreed: true } })]),
  ),
  'me-register': () => ({ body: { email: 'another@example.org' } }),
  'me-authenticate': () => ({ body: { security_code: 'AAAAA' } }),
  'add-connection': ({ game }) => ({ body: { game_id: game.id, appdata: 'made-up' } }),
  'test-game-portal': ({ params }) => ({ params: { ...params, portal: 'discord' } }),
  'edit-game-portal': () => ({ body: { active: false } }),
  'edit-game-store': () => ({ body: STORE }),
  'add-simulated-purchase': ({ params }) => ({ params: { ...params, portal: 'xboxlive' }, body: { sku: 'made-up' } }),
  'pay-simulated-purchase': ({ params }) => ({ params: { ...params, portal: 'xboxlive' } }),
  'refund-simulated-purchase': ({ params }) => ({ params: { ...params, portal: 'xboxlive' } }),
  'edit-game-selling-terms': () => ({ body: { hold_days: 14 } }),
  'add-game-token-pack': () => ({ body: { ...PACK, name: api.unique('Pack') } }),
  'edit-game-token-pack': () => ({ body: { price: 299 } }),
  'get-user-wallet': ({ game }) => ({ query: { game_id: game.id } }),
  'get-game-reconciliation': () => ({ query: { provider: 'simulated' } }),
  'get-staff-reconciliation': () => ({ query: { provider: 'simulated' } }),
  'reconcile-game-settlement': () => ({ query: { provider: 'steam' }, raw: Buffer.from('reference\n') }),
  purchase: () => ({ body: { idempotent_key: api.unique('key') } }),
  's-2-s-transaction-intent': () => ({ body: { sku: 'coins', portal: 'steam' } }),
  's-2-s-transaction-commit': () => ({ body: { transaction_id: 999_999 } }),
  's-2-s-transaction-abandon': () => ({ body: { transaction_id: 999_999 } }),
  's-2-s-transaction-clawback': () => ({
    body: { transaction_id: 999_999, portal: 'steam', refund_reason: 'Chargeback' },
  }),
  'create-mod-monetization-team': () => ({ body: { 'users[0][id]': people.author.id, 'users[0][split]': 100 } }),
  'register-seller-account': () => ({ body: SELLER }),
  'decide-seller-account': () => ({ body: { status: 'rejected' } }),
  'decide-game-partner': () => ({ body: { status: 'invited' } }),
  'decide-marketplace-submission': () => ({ body: { status: 'approved' } }),
  'decide-marketplace-lock': () => ({ body: { is_locked: false, reason: 'Checked' } }),
  'edit-plan': ({ params }) => ({ params: { ...params, plan: 'enterprise' }, body: { may_sell: true } }),
  'edit-game-plan': ({ game }) => ({ body: { game_id: game.id, plan: 'enterprise' } }),
  'refund-game-purchase': () => ({ body: { reason: 'Broken' } }),
  'request-payout': () => ({ body: { idempotent_key: 'payout' } }),
  'decide-payout': () => ({ body: { status: 'paid' } }),
  'buy-token-pack': () => ({ body: { idempotent_key: api.unique('key') } }),
  'add-game-server-token': () => ({ body: { name: 'Another server' } }),
  'edit-game-server-settings': () => ({ body: { anonymous_access: false } }),
  'add-game-webhook': () => ({ body: { name: 'More', url: 'https://10.0.0.1/' } }),
  'edit-game-webhook': () => ({ body: { name: 'Better' } }),
  'add-message-thread': () => ({ body: letter }),
  'add-message': () => ({ body: { content: 'Hello again' } }),
  'invite-to-message-thread': () => ({ body: { user_id: people.admin.id } }),
  'update-message-settings': () => ({ body: { accept_from: 'nobody' } }),
  ...Object.fromEntries(
    ['start', 'heartbeat', 'end'].map((step) => [`metrics-session-${step}`, () => ({ body: SESSION })]),
  ),
  'update-notification': () => ({ body: { is_read: true } }),
  'update-notification-settings': () => ({ body: { comment: 'off' } }),
  'edit-game-wordlists': () => ({ body: { denied: ['word'] } }),
  'add-game-rule': () => ({ body: RULE }),
  'reorder-game-rules': ({ params }) => ({ body: { rule_ids: [params['rule_id']!] } }),
  'try-game-rule': () => ({ body: RULE }),
  'edit-game-rule': () => ({ body: { name: 'Better' } }),
  ...Object.fromEntries(
    ['mod', 'guide', 'collection'].flatMap((resource) => [
      [`add-${resource}-comment`, () => ({ body: { content: 'Hello' } })],
      [`update-${resource}-comment`, () => ({ body: { content: 'Hello again' } })],
      [`add-${resource}-comment-karma`, () => ({ body: { karma: 1 } })],
    ]),
  ),
};

function inputFor({ declaration: { id, path } }: AnyOperation, scene: Scene): CallInput {
  const [, , , plural = ''] = path.split('/');
  const team = path.includes('/mods/') ? scene.teams.mods : scene.teams.games;
  const params = {
    ...scene.params,
    comment_id: scene.comments[plural] ?? 0,
    team_member_id: team.find(({ level }) => level === 1)!.id,
  };
  return { params, ...REQUESTS[id]?.(scene) };
}

class Undone extends Error {
  readonly result: unknown;

  constructor(result: unknown) {
    super();
    this.result = result;
  }
}

/** The number of audit rows written so far, including those that were rolled back. */
let auditedRows = 0;
const auditedSoFar = async ({ query }: Transaction): Promise<number> =>
  (await query.selectFrom('audit_head').select('last_id').executeTakeFirstOrThrow()).last_id;

/** Rolls back every write from now on, so that each caller finds the same state. */
function undoEveryWrite({ db }: App): void {
  const write = db.write.bind(db);
  const undone: typeof db.write = async (work) => {
    try {
      return await write(async (transaction) => {
        const before = await auditedSoFar(transaction);
        const result = await work(transaction);
        auditedRows += (await auditedSoFar(transaction)) - before;
        throw new Undone(result);
      });
    } catch (error) {
      if (error instanceof Undone) return error.result as never;
      throw error;
    }
  };
  Object.assign(db, { write: undone });
}

const scenes = new Map<SceneName, { scene: Scene; callers: Record<CallerName, Client> }>();
for (const name of SCENES) {
  const scene = await aScene(name);
  scenes.set(name, { scene, callers: await callersOf(scene) });
}
const otherLeader = await api.as(otherGame.owner);
const siteModerator = await api.as(people.siteModerator);
for (const each of api.apps()) undoEveryWrite(each);

/** An event stream does not end, so only its head is read. */
async function opensStream(client: Client, { declaration }: AnyOperation, { params = {}, query }: CallInput) {
  const path = declaration.path.replace(/\{(\w+)\}/g, (_, name: string) => String(params[name]));
  return (await client.send('HEAD', path, { query })).status === 200;
}

/** The reference of the refusal, or 0 if the caller was admitted, even if the request failed later. */
async function outcome(client: Client, operation: AnyOperation, scene: Scene): Promise<number> {
  const input = inputFor(operation, scene);
  if (isEventStream(operation.declaration.returns) && (await opensStream(client, operation, input))) return 0;
  const answer = await client.call(operation, input);
  assert.ok(answer.status < 500, answer.text);
  const { error } = (answer.body ?? {}) as { error?: { error_ref?: number } };
  return [401, 403, 404].includes(answer.status) ? (error?.error_ref ?? 0) : 0;
}

/** Converts the signs of a row to references. */
function expected(signs: string, { refs = [] }: Row): number[] {
  return [...signs.replaceAll(' ', '')].map((sign) => SIGNS[sign] ?? refs[OWN_SIGNS.indexOf(sign)] ?? Number.NaN);
}

const byCaller = (refs: readonly number[], callers: readonly CallerName[] = CALLERS) =>
  Object.fromEntries(callers.map((caller, index) => [caller, refs[index]]));

async function outcomes(name: SceneName, operation: AnyOperation, asked: readonly CallerName[] = CALLERS) {
  const { scene, callers } = scenes.get(name)!;
  return byCaller(await Promise.all(asked.map((caller) => outcome(callers[caller], operation, scene))), asked);
}

test('the table has a row for every operation, and no other', () => {
  const ids = operations.map(({ declaration }) => declaration.id);
  const row = (id: string) =>
    `'${id}': { open: '…' }, as the failure of "${id} admits exactly the callers of its row" prints`;
  assertRows({ name: 'AUTHORISATION in test/authorisation.ts', rows: Object.keys(AUTHORISATION), row }, ids);
});

const SIGN_GROUPS = [
  [0, 3],
  [3, 6],
  [6, 10],
  [10, 13],
  [13, 16],
] as const;

/** Converts references to the signs of a row. */
function asSigns(refs: readonly number[]): string {
  const own = [...new Set(refs.filter((ref) => !Object.values(SIGNS).includes(ref)))];
  const signs = refs.map(
    (ref) => Object.keys(SIGNS).find((sign) => SIGNS[sign] === ref) ?? OWN_SIGNS[own.indexOf(ref)],
  );
  const text = signs.join('');
  const groups = SIGN_GROUPS.map(([from, to]) => text.slice(from, to));
  return `'${groups.join(' ')}'${own.length > 0 ? ` with refs: [${own.join(', ')}]` : ''}`;
}

/** Fails with the callers whose response differs from the row, and with the row that would match. */
function assertAnswers(
  id: string,
  column: 'open' | 'hidden',
  answers: Record<string, number | undefined>,
  row: Row,
): void {
  const meant = expected(row[column] ?? '', row);
  const others = CALLERS.filter((caller, index) => answers[caller] !== meant[index]);
  const refs = CALLERS.map((caller) => answers[caller] ?? Number.NaN);
  const differences = others.map(
    (caller) => `${caller}: ${answers[caller]} instead of ${meant[CALLERS.indexOf(caller)]}`,
  );
  assert.ok(
    others.length === 0,
    `The responses of ${id} differ from its row (0 is "admitted"):\n  ${differences.join('\n  ')}\nIf that is meant, write ${column}: ${asSigns(refs)} in the row of '${id}' of AUTHORISATION in test/authorisation.ts. If not, see the access of its declaration, and its rule.`,
  );
}

/** These operations name the resource in their body instead of the path. */
const actsOnResource = ({ declaration: { id, path } }: AnyOperation) =>
  /\{(mod|guide|collection)_id\}/.test(path) || ['get-resource-owner', 'submit-report'].includes(id);

/** Paths of resources that belong to one game. */
const IN_GAME = /\{game_id\}.*\{(?!user_id|portal|content\})\w+\}/;

/**
 * Who is admitted follows from declarations and from the caller's level, so one database proves the table. Visibility, which
 * queries decide, is tested on each.
 */
const IS_WHOLE = app.db.dialect === 'sqlite';

for (const operation of operations) {
  const { id, path } = operation.declaration;
  const row = AUTHORISATION[id] ?? { open: '' };

  if (IS_WHOLE)
    test(`${id} admits exactly the callers of its row`, async () => {
      assertAnswers(id, 'open', await outcomes('open', operation), row);
    });

  if (actsOnResource(operation))
    test(`${id} does not reveal a hidden resource`, async () => {
      assertAnswers(id, 'hidden', await outcomes('hidden', operation), row);
    });

  if (path.includes('{game_id}') && !OPEN_IN_CLOSED_GAMES.includes(id))
    test(`${id} is refused to outsiders in a closed game`, async () => {
      const inOpen = byCaller(expected(row.open, row));
      const closed = OUTSIDERS.map((caller) => (inOpen[caller] === SIGNS['k'] ? SIGNS['k']! : GAME_CLOSED));
      assert.deepEqual(await outcomes('closed', operation, OUTSIDERS), byCaller(closed, OUTSIDERS));
    });

  if (IN_GAME.test(path))
    test(`${id} does not find a resource of another game, even for the leader of that game`, async () => {
      const { scene } = scenes.get('open')!;
      const input = inputFor(operation, scene);
      const answer = await otherLeader.call(operation, {
        ...input,
        params: { ...input.params, game_id: otherGame.id },
      });
      // An invalid preview link gets the same refusal whether or not the mod exists.
      assert.equal(answer.status, id === 'register-mod-previewer' ? 403 : 404, answer.text);
    });
}

/** Moderation operations: refused to a stranger, admitted for the game's team or the site's staff. */
const DECIDING = ['game1', 'game4', 'game8', 'admin'] as const;
function deciderOf({ declaration: { id, method } }: AnyOperation): CallerName | undefined {
  const signs = [...(AUTHORISATION[id]?.open ?? '').replaceAll(' ', '')];
  const signOf = (caller: CallerName) => signs[CALLERS.indexOf(caller)];
  if (method === 'GET' || signOf('stranger') === '+') return undefined;
  return DECIDING.find((caller) => signOf(caller) === '+') ?? DECIDING.find((c) => signOf(c) !== signOf('stranger'));
}
const deciding = operations.filter((operation) => deciderOf(operation) !== undefined);

test('the table states for every operation of a team or the staff whether it is audited', () => {
  const ids = deciding.map(({ declaration }) => declaration.id);
  const row = (id: string) => `'${id}': 'audited', or { not: 'why it need not be' }`;
  assertRows({ name: 'AUDITED in test/audited.ts', rows: Object.keys(AUDITED), row }, ids);
});

for (const operation of deciding) {
  const { id } = operation.declaration;
  if (AUDITED[id] !== 'audited') continue;
  test(`${id} writes to the audit log in its transaction`, async () => {
    const { scene, callers } = scenes.get('open')!;
    const before = auditedRows;
    const answer = await callers[deciderOf(operation)!].call(operation, inputFor(operation, scene));
    assert.ok(answer.status < 300, answer.text);
    assert.equal(
      auditedRows,
      before + 1,
      `${id} wrote ${auditedRows - before} rows of the audit log: call audit() once in its transaction, or give the reason in AUDITED in test/audited.ts`,
    );
  });
}

for (const operation of operations) {
  const { id } = operation.declaration;
  test(`${id} treats a moderator of the site like one of the game`, async () => {
    const row = AUTHORISATION[id] ?? { open: '' };
    const ofGame = byCaller(expected(row.open, row))['game1'];
    const { scene } = scenes.get('open')!;
    const ref = await outcome(siteModerator, operation, scene);
    const meant = FOR_SITE_MODERATORS[id] ?? ofGame;
    assert.equal(
      ref,
      meant,
      `${id} answers ${ref} to a moderator of the site instead of ${meant}; if that is meant, write '${id}': ${ref} in FOR_SITE_MODERATORS in test/audited.ts`,
    );
  });
}
