import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { z } from 'zod';
import { addModDependencies } from '../src/catalogue/dependencies/operations.ts';
import { editGameFileTypes } from '../src/catalogue/findings/operations.ts';
import { editGameOperation } from '../src/catalogue/games/operations.ts';
import { downloadLink } from '../src/catalogue/live-files/links.ts';
import { addModMetadata } from '../src/catalogue/metadata/operations.ts';
import { editModByPut } from '../src/catalogue/mods/operations.ts';
import { addPreviewer } from '../src/catalogue/previews/previews.ts';
import { restrictUserInGame } from '../src/catalogue/restrictions/operations.ts';
import { addGameRule, editGameRule, getGameRuleDecisions } from '../src/catalogue/rules/operations.ts';
import { countDownload } from '../src/catalogue/stats/stats.ts';
import { addModTags } from '../src/catalogue/tags/operations.ts';
import { addModTeamMember } from '../src/catalogue/teams/operations.ts';
import { addCollectionOperation, followCollectionOperation } from '../src/community/collections/operations.ts';
import { collectionComments, guideComments, modComments } from '../src/community/comments/operations.ts';
import { addMessage, addMessageThread, inviteToThread } from '../src/community/messages/operations.ts';
import { addModRating } from '../src/community/ratings/operations.ts';
import { subscribeToMod } from '../src/community/subscriptions/operations.ts';
import { operations } from '../src/composition/resources.ts';
import { cookingSasToken, finalizeCloudCooking, uploadCookBuild } from '../src/files/builds/operations.ts';
import { inspectBuild } from '../src/files/builds/receiving.ts';
import { addCookRunner, claimCook, openCookUpload } from '../src/files/runners/operations.ts';
import { addSourceModfile } from '../src/files/sources/operations.ts';
import { createMultipartUploadSession } from '../src/files/uploads/operations.ts';
import * as uploads from '../src/files/uploads/store.ts';
import { submitReportOperation } from '../src/moderation/reports/operations.ts';
import { decideMarketplaceLock } from '../src/money/marketplace-locks/operations.ts';
import { submitModToMarketplace } from '../src/money/offers/operations.ts';
import { addGameTokenPack } from '../src/money/packs/operations.ts';
import { decideGamePartner } from '../src/money/partners/operations.ts';
import { buyTokenPack } from '../src/money/payments/operations.ts';
import { beginPayout } from '../src/money/payouts/payouts.ts';
import { purchase } from '../src/money/purchases/operations.ts';
import { createRevenueTeam } from '../src/money/revenue-teams/operations.ts';
import { editGameSellingTerms } from '../src/money/terms/operations.ts';
import { acceptAgreement, addAgreementVersion, editAgreementVersion } from '../src/people/agreements/operations.ts';
import { addAddressBan } from '../src/people/bans/operations.ts';
import { blockAUser } from '../src/people/blocks/operations.ts';
import { followUserOperation } from '../src/people/follows/operations.ts';
import { muteAUser } from '../src/people/mutes/operations.ts';
import { setPortalNames, setUserStatus, USER_BANNED, USER_DELETED } from '../src/people/users/users.ts';
import type { TokenScope } from '../src/platform/access/caller.ts';
import { revokeTokens } from '../src/platform/access/credentials.ts';
import { type ErrorName, errors } from '../src/platform/errors/catalogue.ts';
import { type AnyOperation, isCsv, isEventStream, isStoredFile, takesBody } from '../src/platform/http/operation.ts';
import { exportToken, startExport } from '../src/signin/exports/exports.ts';
import { gatherExport } from '../src/signin/exports/gathering.ts';
import { addClient } from '../src/signin/oauth/clients.ts';
import { putSettings } from '../src/signin/portals/settings.ts';
import { addGameServerToken } from '../src/signin/server-tokens/operations.ts';
import { addGameWebhook } from '../src/studio/webhooks/operations.ts';
import { type Answer, assertRefused, type Client, type ErrorAnswer, START, startApi } from './api.ts';
import { serviceOf } from './browser.ts';
import { choose, giveEarnings, registerAsSeller } from './money.ts';
import { countQueries } from './work.ts';
import { zipOf } from './zips.ts';

// Jobs and the cache are off, because tests count the queries of requests.
// Tests that hold for every operation are derived from the declarations here, and are not repeated in other files.
const api = await startApi({
  settings: {
    MODSTEAD_CACHE_MB: '0',
    MODSTEAD_JOBS: 'off',
    MODSTEAD_PAYMENTS: 'simulated',
    MODSTEAD_STORES: 'simulated',
  },
});
const TAG_GROUPS = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => ({ name, type: 'checkboxes' as const, tags: [name] }));
const game = await api.aGame({ tagGroups: TAG_GROUPS, settings: { monetization_options: 3 } });
const ADDRESS = 'ada@example.org';
const ada = await api.aUser({ email: ADDRESS });
const mods = [];
for (let i = 0; i < 6; i += 1) mods.push(await api.aMod({ game, owner: ada }));
const tags = TAG_GROUPS.map(({ name }) => name);
const params = { game_id: game.id, mod_id: mods[0]!.id };
const files: Awaited<ReturnType<typeof api.aFile>>[] = [];
const reported = { params: { game_id: game.id }, body: { reported: ['txt'] } };
await (await api.as(game.owner)).call(editGameFileTypes, reported);
const archive = zipOf(Object.fromEntries(tags.map((tag, index) => [`${index}.txt`, tag])));
for (let i = 0; i < 6; i += 1) files.push(await api.aFile(mods[0]!, { archive }));
for (const mod of mods.slice(1)) await api.aFile(mod);
await (await api.as(ada)).call(addModTags, { params, body: { tags } });
await (await api.as(ada)).call(addModMetadata, { params, body: { metadata: tags.map((tag) => `key:${tag}`) } });
const needed = [];
for (let i = 0; i < 6; i += 1) {
  const owner = await api.aUser();
  const [below, above] = [await api.aMod({ game, owner: ada }), await api.aMod({ game, owner })];
  needed.push(below.id);
  await api.app().db.write((transaction) => countDownload(api.app(), transaction, above));
  await (await api.as(owner)).call(addModDependencies, {
    params: { game_id: game.id, mod_id: above.id },
    body: { dependencies: [params.mod_id] },
  });
  await (await api.as(owner)).call(addModTeamMember, {
    params: { game_id: game.id, mod_id: above.id },
    body: { email: ADDRESS, level: 1 },
  });
  await api.joinsMod(owner, mods[0]!, 1);
  await api.joins(owner, game, 1);
}
await (await api.as(ada)).call(addModDependencies, { params, body: { dependencies: needed } });
await api.joins(ada, game, 8);
for (const [index, owner] of (await Promise.all(tags.map(() => api.aUser()))).entries()) {
  const app = api.app();
  await app.db.write(async (transaction) => {
    for (const [resource, id] of [
      ['games', game.id],
      ['mods', params.mod_id],
    ] as const)
      await addPreviewer(app, transaction, { resource, id }, owner.id, index === 0 ? null : ada.id);
  });
  const restricted = { params: { game_id: game.id, user_id: owner.id }, body: { options: 1 } };
  await (await api.as(ada)).call(restrictUserInGame, restricted);
}
for (const summary of tags) await (await api.as(ada)).call(editModByPut, { params, body: { summary } });

const operator = await api.as(await api.aUser({ admin: true }));
for (const n of [1, 2, 3, 4, 5, 6]) {
  await api.aUser({ admin: true });
  await operator.call(addAddressBan, { body: { network: `203.0.113.${n}`, reason: 'Floods' } });
}
let version = 0;
for (const name of tags) {
  version = (await operator.call(addAgreementVersion, { body: { type: 1, name, description: name } })).body.id;
  const named = { agreement_version_id: version };
  await operator.call(editAgreementVersion, { params: named, body: { is_active: true } });
  await (await api.as(ada)).call(acceptAgreement, { body: named });
}

const guides = [];
for (const tag of tags) guides.push(await api.aGuide({ game, owner: ada, tags: [tag] }));
const guide_id = guides[0]!.id;
/** The id of a comment on each kind of resource, by its segment in the path. */
const COMMENTS: Record<string, number> = {};
for (const content of tags) {
  const client = await api.as(ada);
  const ofGuide = { game_id: game.id, guide_id };
  COMMENTS['mods'] = (await client.call(modComments.add, { params, body: { content } })).body.id;
  COMMENTS['guides'] = (await client.call(guideComments.add, { params: ofGuide, body: { content } })).body.id;
}

let upload_id = '';
for (const nonce of tags) {
  const body = { filename: 'a.zip', nonce };
  upload_id = (await (await api.as(ada)).call(createMultipartUploadSession, { params, body })).body.upload_id;
}
for (const part_number of [1, 2, 3, 4, 5, 6]) {
  const part = { upload_id, part_number, start: 0, bytes: 1, sha256: 'x', tag: '', claim: null, claim_until: 0 };
  await api.app().db.write(({ query }) => uploads.claimPart(query, { ...part, date_added: 0 }));
}

await api.app().db.write(async (transaction) => {
  for (const name of tags) {
    const grants = ['client_credentials'] as const;
    await addClient(api.app(), transaction, { gameId: game.id, name, redirectUris: [], grants });
    const dates = { date_added: START, date_expires: START + 86_400, date_revoked: null };
    const session = { digest: name, user_id: ada.id, user_agent: name, ...dates };
    await transaction.query.insertInto('sessions').values(session).execute();
  }
  const dates = { date_added: START, date_expires: START + 86_400 };
  const release = {
    user_id: ada.id,
    actor_id: ada.id,
    ...params,
    shown: 1,
    ip: '',
    token_id: null,
    digest: null,
    ...dates,
  };
  for (const { id: modfile_id } of files)
    await transaction.query
      .insertInto('releases')
      .values({ ...release, modfile_id })
      .execute();
});
const owner = { kind: 'user', userId: ada.id, tokenId: 0, scopes: ['read'], gameId: undefined, admin: false } as const;
await startExport(api.app(), { ...owner, language: 'en', dateExpires: START, inTeams: true });
await gatherExport(api.app(), 1);
await api.app().db.write(async (transaction) => {
  const fields = { apple: { bundle_ids: ['a'] }, discord: { client_id: '1' }, epicgames: { client_ids: ['a'] } };
  const others = {
    itchio: { itch_game_id: '1' },
    google: { client_ids: ['a'] },
    sso: { jwks_url: 'https://a.example' },
  };
  for (const [portal, settings] of Object.entries({ ...fields, ...others })) {
    await putSettings(api.app(), transaction, game.id, portal as keyof typeof fields, settings);
    const shown = { display_name: portal, avatar: '', date_added: START, date_used: START };
    const account = { user_id: ada.id, portal, portal_id: '1', game_id: 0, ...shown };
    await transaction.query.insertInto('portal_accounts').values(account).execute();
  }
});
const file = { ...params, ...files.at(-1)! };

const asAda = await api.as(ada);
for (const mod of mods) {
  const params = { game_id: game.id, mod_id: mod.id };
  await asAda.call(subscribeToMod, { params });
  await asAda.call(addModRating, { params, body: { rating: 1 } });
  const [friend, foe] = [await api.aUser(), await api.aUser()];
  await asAda.call(followUserOperation, { params: { user_id: ada.id }, body: { user_id: friend.id } });
  await (await api.as(friend)).call(followUserOperation, { params: { user_id: friend.id }, body: { user_id: ada.id } });
  await asAda.call(blockAUser, { params: { user_id: foe.id } });
}

let thread_id = 0;
for (const content of tags) {
  const letter = { subject: content, content, user_ids: [(await api.aUser()).id] };
  thread_id = (await asAda.call(addMessageThread, { body: letter })).body.id;
  const host = await api.as(await api.aUser());
  const body = { ...letter, user_ids: [(await api.aUser()).id] };
  const { id } = (await host.call(addMessageThread, { body })).body;
  await host.call(inviteToThread, { params: { thread_id: id }, body: { user_id: ada.id } });
}
for (const content of tags) await asAda.call(addMessage, { params: { thread_id }, body: { content: `${content}!` } });

const collections: number[] = [];
for (const name of tags) {
  const body = { name, mod_ids: [...mods.map(({ id }) => id), ...needed] };
  const { id } = (await (await api.as(ada)).call(addCollectionOperation, { params, body })).body;
  await (await api.as(ada)).call(followCollectionOperation, { params: { ...params, collection_id: id } });
  collections.push(id);
}
for (const content of tags) {
  const ofCollection = { game_id: game.id, collection_id: collections[0]! };
  COMMENTS['collections'] = (
    await asAda.call(collectionComments.add, { params: ofCollection, body: { content: `On ${content}` } })
  ).body.id;
}

let server_token_id = 0;
for (const name of tags) {
  const added = { params: { game_id: game.id }, body: { name } };
  server_token_id = (await asAda.call(addGameServerToken, added)).body.id;
}
let webhook_id = 0;
for (const name of tags) {
  const added = { params: { game_id: game.id }, body: { name, url: 'https://example.org/' } };
  webhook_id = (await (await api.as(ada)).call(addGameWebhook, added)).body.id;
}
for (const summary of tags) await (await api.as(ada)).call(editModByPut, { params, body: { summary: `${summary}!` } });

for (const _ of tags) {
  const body = { 'users[0][id]': ada.id, 'users[0][split]': 100 } as never;
  await (await api.as(ada)).call(createRevenueTeam, { params, body });
}
for (const partner of [ada, ...(await Promise.all(tags.map(() => api.aUser())))]) {
  await registerAsSeller(await api.as(partner));
  const invited = { params: { game_id: game.id, user_id: partner.id }, body: { status: 'invited' as const } };
  await asAda.call(decideGamePartner, invited);
}
let [token_pack_id, payment_id] = [0, 0];
for (const name of tags) {
  const pack = { params: { game_id: game.id }, body: { name, tokens: 100, price: 199 } };
  token_pack_id = (await asAda.call(addGameTokenPack, pack)).body.id;
  const order = { params: { game_id: game.id, token_pack_id }, body: { idempotent_key: name } };
  const payment = (await asAda.call(buyTokenPack, order)).body;
  payment_id = payment.id;
  await choose(api, payment.checkout_url, 'pay');
  const sold = await api.aMod({ game });
  await api.aFile(sold);
  const ofSold = { game_id: game.id, mod_id: sold.id };
  await (await api.as(sold.owner)).call(editModByPut, { params: ofSold, body: { price: 1, monetization_options: 3 } });
  await asAda.call(purchase, { params: ofSold, body: { idempotent_key: name } });
  await asAda.call(editGameSellingTerms, { params: { game_id: game.id }, body: { hold_days: 14 } });
}

let payout_id = 0;
for (const [index] of tags.entries()) {
  await giveEarnings(api, ada, 901 + index, 100);
  await giveEarnings(api, ada, game.id, 1_000);
  await giveEarnings(api, await api.aUser(), game.id, 1);
  const one = { userId: ada.id, gameId: game.id, currency: 'USD', requested: 0, key: '', period: '', actor: 0 };
  const payout = { ...one, provider: 'manual', account: '' };
  payout_id = (await api.app().db.write((transaction) => beginPayout(api.app(), transaction, payout))).id;
}
const ofGame = { game_id: game.id };
await asAda.call(editGameOperation, { params: ofGame, body: { curation_option: 1 } });
for (const _ of tags) {
  const queued = await api.aMod({ game });
  const author = await api.as(queued.owner);
  const ofQueued = { ...ofGame, mod_id: queued.id };
  await author.call(editModByPut, { params: ofQueued, body: { price: 1, monetization_options: 1 } });
  await author.call(submitModToMarketplace, { params: ofQueued });
  const lock = { params: { user_id: queued.owner.id }, body: { is_locked: true, reason: 'Chargebacks' } };
  await (await api.as(await api.aUser({ admin: true }))).call(decideMarketplaceLock, lock);
}
await asAda.call(editGameOperation, { params: ofGame, body: { curation_option: 0 } });

const waiting = await api.aMod({ game, owner: ada });
for (const mod of mods) {
  const body = { resource: 'mods', id: mod.id, type: 0, summary: 'Wrong' };
  await api.withKey(game).call(submitReportOperation, { body });
  await api.aGuide({ game, owner: ada, status: 0, withheld: 1 });
  const pending = { modfile_id: (await api.aFile(waiting, { active: false })).id, platform: 'windows', status: 0 };
  await api.app().db.write(({ query }) => query.insertInto('modfile_platforms').values(pending).execute());
}

let rule_id = 0;
for (const name of tags) {
  const body = { name, when: '{"all":[]}', verdict: 'report' };
  rule_id = (await asAda.call(addGameRule, { params, body })).body.id;
}
for (const name of tags)
  await asAda.call(editGameRule, { params: { ...params, rule_id }, body: { name: `${name} edited` } });
const decision_id = (await asAda.call(getGameRuleDecisions, { params })).body.data[0]!.id;

const cooking = {
  'platforms[0][platform]': 'windows',
  'platforms[1][platform]': 'ps5',
  'platforms[1][locked]': true,
};
await asAda.call(editGameOperation, { params: { game_id: game.id }, body: cooking });
let runner_id = 0;
let secret = '';
for (const name of tags) {
  const runner = { params: { game_id: game.id }, body: { name, platforms: ['ps5'] } };
  ({ id: runner_id, secret } = (await asAda.call(addCookRunner, runner)).body);
}
const provided = (await asAda.call(cookingSasToken, { params: { game_id: game.id } })).body;
const { build_id } = provided;
const build_signature = provided.url.split('/').at(-1)!;
await api.nobody().call(uploadCookBuild, { params: { build_id, build_signature }, raw: archive });
await inspectBuild(api.app(), build_id, async () => {});
await asAda.call(finalizeCloudCooking, { params: { game_id: game.id } });
let source = { id: 0, download: { binary_url: '' } };
for (const tag of tags) {
  const sent = { filedata: { filename: 'source.zip', bytes: zipOf({ [`${tag}.txt`]: tag }) } };
  source = (await asAda.call(addSourceModfile, { params, files: sent })).body;
}
const asRunner = api.withSecret(secret);
const claim = (await asRunner.call(claimCook)).body.claim!;
const cookUpload = await asRunner.call(openCookUpload, { params: { claim_id: claim.claim_id } });

/** Values of path parameters. */
await api.app().db.write(async ({ query }) => {
  const parked = { kind: 'contract', key: null, payload: 'null', state: 'parked' as const, attempt: 1 };
  const jobs = Array.from({ length: 6 }, () => ({ ...parked, date_due: 0, last_error: 'It failed', date_added: 0 }));
  const six = [1, 2, 3, 4, 5, 6];
  const check = { user_id: 0, state: 'right' as const, transactions: 0, entries: 0, accounts: 0, problems: '[]' };
  await query
    .insertInto('ledger_checks')
    .values(six.map((date_added) => ({ ...check, date_added, date_ended: date_added })))
    .execute();
  const limited = { hour: api.clock.now(), operation: '', user_id: 0, refused: 1, date_last: 0 };
  await query
    .insertInto('limited_requests')
    .values(six.map((each) => ({ ...limited, rule: 'address' as const, caller: `192.0.2.${each}` })))
    .execute();
  const slow = { operation: 'ping', method: 'GET', path: '/v1/ping', status: 200, milliseconds: 2_000 };
  await query
    .insertInto('slow_requests')
    .values(six.map((date_added) => ({ ...slow, date_added })))
    .execute();
  return query.insertInto('jobs').values(jobs).execute();
});
const PARAMETERS: Record<string, string | number> = {
  game_id: game.id,
  mod_id: mods[0]!.id,
  collection_id: collections[0]!,
  user_id: ada.id,
  guide_id,
  target_user_id: 999_999,
  team_member_id: 999_999,
  invite_id: 999_999,
  review_id: 999_999,
  report_id: 999_999,
  content: 'mods',
  content_id: mods[0]!.id,
  agreement_type_id: 1,
  agreement_version_id: version,
  client_id: 999_999,
  token_id: 999_999,
  server_token_id,
  session_id: 999_999,
  export_token: exportToken(api.app(), 1),
  portal: 'steam',
  portal_id: 'steam',
  webhook_id,
  token_pack_id,
  payment_id,
  simulated_purchase_id: 999_999,
  purchase_id: 999_999,
  payout_id,
  monetization_team_id: game.id,
  plan: 'enterprise',
  transaction_id: 999_999,
  delivery_id: 999_999,
  thread_id,
  message_id: 999_999,
  notification_id: 999_999,
  file_id: file.id,
  rule_id,
  decision_id,
  ban_id: 999_999,
  job_id: 999_999,
  runner_id,
  build_id,
  build_signature,
  source_id: source.id,
  source_hash: source.download.binary_url.split('/').at(-1)!,
  claim_id: claim.claim_id,
  cook_uuid: claim.cook.cook_uuid,
  verification_hash: downloadLink(api.app(), file, { alone: false }).binary_url.split('/').at(-1)!,
};

/** Query parameters of operations that require some. */
const QUERIES: Record<string, Record<string, string>> = {
  'find-users': { name_id: ada.name_id },
  'get-multipart-upload-parts': { upload_id },
  'get-user-wallet': { game_id: String(game.id) },
  'get-game-reconciliation': { provider: 'simulated' },
  'get-staff-reconciliation': { provider: 'simulated' },
  'get-cook-upload-parts': { upload_id: cookUpload.body.upload_id },
};
/** Lists that are empty for the key of a game, because their rows belong to a user. */
const PERSONAL = ['get-multipart-upload-parts', 'get-multipart-upload-sessions'];

/** Reads for the site's staff. */
const STAFF = [
  'get-audit',
  'get-seller-accounts',
  'get-staff-payouts',
  'get-staff-transactions',
  'get-ledger-checks',
  'get-limited-requests',
  'get-slow-requests',
  'get-staff-statements',
  'export-staff-statements',
  'get-staff-reconciliation',
  'get-plans',
  'get-marketplace-locks',
  'get-reports',
  'get-staff',
  'get-accounts',
  'get-account-contents',
  'get-installation',
  'get-parked-jobs',
  'get-user-sessions',
  'get-address-bans',
  'get-moderation-queue',
  'get-pending-files',
  'get-reported-items',
];

const protectedOperations = operations.filter(({ declaration }) => declaration.access.kind !== 'anyone');
/** Without service operations, which need more than a token, and streams, which do not end; their resources test them. */
const readOperations = operations.filter(
  ({ declaration: { method, access, returns } }) =>
    method === 'GET' && access.kind !== 'service' && !isEventStream(returns),
);
/** Operations with their own error format, such as OAuth's, are tested by their resource. */
const plainOperations = operations.filter(({ declaration }) => !declaration.refusal);
const bodyOperations = plainOperations.filter((each) => takesBody(each) && each.declaration.method !== 'GET');
const targets = [...new Set(operations.map(targetOf))];

function targetOf({ declaration }: AnyOperation): string {
  return declaration.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = name === 'comment_id' ? COMMENTS[declaration.path.split('/')[3]!] : PARAMETERS[name];
    assert.ok(
      value !== undefined,
      `${declaration.id} has {${name}} in its path: add ${name} to PARAMETERS in test/contract.test.ts, with the id of one that the set-up above it makes.`,
    );
    return String(value);
  });
}

function isRefused(answer: Answer, error: ErrorName): void {
  assertRefused(answer, errors[error].status, errors[error].ref);
}

const backend = await serviceOf(api, game, 'read,write,monetization');

/** A client that passes the declared access. It needs no permission of the resource, which is checked later. */
async function allowedTo({ declaration: { id, access, method, path } }: AnyOperation): Promise<Client> {
  if (path.startsWith('/cook-runner/')) return asRunner;
  if (access.kind === 'anyone') return api.nobody();
  if (access.kind === 'service') return backend;
  if (PERSONAL.includes(id)) return api.as(ada);
  if (STAFF.includes(id)) return operator;
  return access.kind === 'user' || (access.kind === 'reader' && method !== 'GET') ? api.as(ada) : api.withKey(game);
}

const call = (client: Client, operation: AnyOperation, body?: string, headers: Record<string, string> = {}) =>
  client.send(operation.declaration.method, targetOf(operation), { body, headers });

/** Sends a body without a Content-Type. */
function callUntyped({ token }: Client, operation: AnyOperation): Promise<Answer> {
  const target = `/v1${targetOf(operation)}${token ? '' : `?api_key=${game.api_key}`}`;
  const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
  return api.request(operation.declaration.method, target, { headers, body: 'a=1' });
}

/** A body with one text field, encoded as the operation expects. */
function form({ declaration }: AnyOperation, name: string, value: string): [string, Record<string, string>] {
  if (!declaration.files) return [`${name}=${encodeURIComponent(value)}`, {}];
  const body = `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n--b--\r\n`;
  return [body, { 'content-type': 'multipart/form-data; boundary=b' }];
}

/** What no query decides is tested on one database. */
function testHttp(name: string, run: () => Promise<void>): void {
  if (api.app().db.dialect === 'sqlite') test(name, run);
}

test('ids and routes are unique', () => {
  const ids = operations.map(({ declaration }) => declaration.id);
  const routes = operations.map(({ declaration: { method, path } }) => `${method} ${path.replace(/\{\w+\}/g, '{}')}`);
  assert.deepEqual(ids, [...new Set(ids)]);
  assert.deepEqual(routes, [...new Set(routes)]);
});

test('every declared error is listed once, and every path parameter has a schema', () => {
  for (const { declaration } of operations) {
    assert.deepEqual([...new Set(declaration.errors)], declaration.errors, declaration.id);
    for (const name of declaration.errors) assert.ok(Object.hasOwn(errors, name), `${declaration.id}: ${name}`);
    const inPath = [...declaration.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    assert.deepEqual(Object.keys(declaration.params?.shape ?? {}).sort(), inPath.sort(), declaration.id);
  }
});

for (const operation of protectedOperations) {
  const { id, access } = operation.declaration;

  test(`${id} refuses callers without a key or with an invalid one`, async () => {
    isRefused(await call(api.nobody(), operation), 'API_KEY_MISSING');
    isRefused(await call(api.withKey({ api_key: 'too-short' }), operation), 'API_KEY_MALFORMED');
    isRefused(await call(api.withKey({ api_key: 'f'.repeat(32) }), operation), 'API_KEY_INVALID');
  });

  if (access.kind === 'authentication')
    test(`${id} refuses keys of the sandbox`, async () => {
      const sandboxed = await api.aGame({}, 'sandbox');
      isRefused(await call(api.withKey(sandboxed), operation), 'ACTION_RESTRICTED_NO_TEST_KEY');
    });
}

const tokenOperations = protectedOperations.filter(({ declaration }) => declaration.access.kind !== 'authentication');
const SCOPES: readonly TokenScope[] = ['read', 'write', 'update', 'monetization'];

for (const operation of tokenOperations) {
  const { id, access } = operation.declaration;
  const scope = 'scope' in access ? access.scope : 'read';

  test(`${id} refuses a token with every scope but ${scope}`, async () => {
    const client = await api.as(ada, { scopes: SCOPES.filter((other) => other !== scope) });
    const error = scope === 'write' ? 'TOKEN_MISSING_SCOPE_WRITE' : 'TOKEN_MISSING_SCOPE_READ';
    isRefused(await call(client, operation), access.kind === 'service' ? 'SERVICE_TOKEN_REQUIRED' : error);
  });

  if (access.kind === 'user')
    test(`${id} refuses a key without a token`, async () => {
      isRefused(await call(api.withKey(game), operation), 'USER_MUST_BE_LOGGED_IN');
    });
}

test('every operation refuses made-up, expired and revoked tokens', async () => {
  const app = api.app();
  const expired = await api.as(ada, { dateExpires: app.clock.now() + 60 });
  api.clock.advance(60);
  const grace = await api.aUser();
  const revoked = await api.as(grace);
  await app.db.write((transaction) => revokeTokens(app, transaction, { userId: grace.id }));
  for (const operation of tokenOperations)
    for (const client of [api.withToken('made-up'), expired, revoked])
      isRefused(await call(client, operation), 'TOKEN_EXPIRED_OR_REVOKED');
});

for (const [status, error] of [
  [USER_DELETED, 'USER_DELETED'],
  [USER_BANNED, 'USER_BANNED'],
] as const)
  test(`every operation refuses the credentials of a user with ${error}`, async () => {
    const grace = await api.aUser();
    const byToken = await api.as(grace);
    await setUserStatus(api.app(), grace.id, status);
    for (const operation of tokenOperations) isRefused(await call(byToken, operation), error);
    for (const operation of protectedOperations) isRefused(await call(api.withKey(grace), operation), error);
  });

function requiredOf({ declaration: { query, body, files = {} } }: AnyOperation): string[] {
  const fields = [...Object.entries(query?.shape ?? {}), ...Object.entries(body?.shape ?? {})];
  const names = fields.filter(
    ([, schema]) => !(schema as { safeParse(value: unknown): { success: boolean } }).safeParse(undefined).success,
  );
  return [...names.map(([name]) => name), ...Object.keys(files).filter((name) => files[name]!.required)].sort();
}

for (const operation of bodyOperations) {
  const { id, method } = operation.declaration;
  const required = requiredOf(operation);

  if (required.length > 0)
    test(`${id} names ${required.join(', ')} if they are missing, and no other field`, async () => {
      const answer = await call(await allowedTo(operation), operation, ...form(operation, 'unheard_of', '1'));
      isRefused(answer, 'VALIDATION_GENERIC');
      const { errors: messages = {} } = (answer as Answer<ErrorAnswer>).body.error;
      assert.deepEqual(Object.keys(messages).sort(), required);
      for (const message of Object.values(messages)) assert.match(message, /\S/);
    });

  if (method !== 'DELETE' && !operation.declaration.emptyBody)
    testHttp(`${id} refuses a request without a payload`, async () => {
      isRefused(await call(await allowedTo(operation), operation), 'POST_PUT_NO_PAYLOAD');
    });

  testHttp(`${id} accepts only forms, and input_json only if it is JSON`, async () => {
    const client = await allowedTo(operation);
    const json = { 'content-type': 'application/json' };
    if (!operation.declaration.json)
      isRefused(await call(client, operation, '{"a":1}', json), 'INCORRECT_CONTENT_TYPE');
    isRefused(await callUntyped(client, operation), 'MISSING_CONTENT_TYPE');
    isRefused(await call(client, operation, ...form(operation, 'input_json', '{"a":')), 'JSON_MALFORMED');
    isRefused(await call(client, operation, ...form(operation, 'input_json', '[1]')), 'JSON_MALFORMED');
  });
}

for (const operation of plainOperations)
  testHttp(`${operation.declaration.id} responds only with JSON, and only under an existing API version`, async () => {
    const { method } = operation.declaration;
    const { returns } = operation.declaration;
    if (!isStoredFile(returns) && !isEventStream(returns) && !isCsv(returns))
      isRefused(await call(api.nobody(), operation, undefined, { accept: 'text/html' }), 'JSON_RESPONSE_ONLY');
    isRefused(await api.request(method, `/v2${targetOf(operation)}`), 'API_VERSION_INVALID');
  });

for (const operation of readOperations)
  testHttp(
    `${operation.declaration.id} sends no body to HEAD, nor to a client that has the current response`,
    async () => {
      const client = await allowedTo(operation);
      const query = QUERIES[operation.declaration.id];
      const got = await client.send('GET', targetOf(operation), { query });
      const head = await client.send('HEAD', targetOf(operation), { query });
      assert.equal(got.status, 200, `it reads nothing: add that to the content of test/contract.test.ts. ${got.text}`);
      assert.equal(got.headers['content-length'], String(got.bytes.length));
      const summary = ({ status, headers }: Answer) => [status, headers['content-length'], headers['content-type']];
      assert.deepEqual(summary(head), summary(got));
      assert.equal(head.text, '');
      const { etag } = got.headers;
      const headers = { 'if-none-match': `"other", ${etag}` };
      const current = await client.send('GET', targetOf(operation), { query, headers });
      const isText = isCsv(operation.declaration.returns);
      assert.deepEqual([current.status, current.headers.etag], isText ? [200, undefined] : [304, etag]);
      assert.ok(isText || current.text === '');
    },
  );

function methodsAt(target: string): string[] {
  const here = operations.filter(({ declaration: { path } }) =>
    new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`).test(target),
  );
  const methods = new Set<string>(here.map(({ declaration }) => declaration.method));
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods, 'OPTIONS'].sort();
}

const allowed = ({ headers }: Answer) => headers.allow?.split(', ').sort();

for (const target of targets)
  testHttp(`${target} lists its methods`, async () => {
    const methods = methodsAt(target);
    const options = await api.request('OPTIONS', `/v1${target}`);
    assert.deepEqual([options.status, options.text, allowed(options)], [204, '', methods]);
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'].filter((each) => !methods.includes(each))) {
      const answer = await api.request(method, `/v1${target}`);
      isRefused(answer, 'METHOD_NOT_ALLOWED');
      assert.deepEqual(allowed(answer), methods);
    }
  });

const QUERIES_MAX = 8;

/** Games that Ada's teams make and authors whom she has muted, so that these lists are long as well. */
async function lengthenOwnLists(): Promise<void> {
  const people = await Promise.all(Array.from({ length: 6 }, () => api.aUser()));
  for (const owner of people) await api.joins(ada, await api.aGame({ owner }), 1);
  for (const { id } of people) await (await api.as(ada)).call(muteAUser, { params: { user_id: id } });
  await api.counted();
}
let lengthened: Promise<void> | undefined;

for (const operation of operations.filter(({ declaration: { list } }) => list))
  test(`${operation.declaration.id} runs as many queries for a long page as for a short one`, async (t) => {
    api.stayInOneProcess(t);
    lengthened ??= lengthenOwnLists();
    await lengthened;
    const client = await allowedTo(operation);
    await api.changesArrived();
    const query = QUERIES[operation.declaration.id];
    await client.send('GET', targetOf(operation), { query });
    const queriesFor = async (limit: number) => {
      const stop = countQueries(api.app());
      const answer = await client.send('GET', targetOf(operation), { query: { ...query, _limit: limit } });
      const queries = stop();
      assert.ok((answer.body as { result_count: number }).result_count >= Math.min(limit, 6), answer.text);
      return queries;
    };
    const short = await queriesFor(1);
    assert.equal(await queriesFor(100), short);
    assert.ok(short > 0 && short <= QUERIES_MAX, `${short} queries`);
  });

/** Whether the response can contain a user at any depth. */
const showsPeople = ({ declaration: { returns } }: AnyOperation) =>
  !isStoredFile(returns) &&
  !isEventStream(returns) &&
  !isCsv(returns) &&
  JSON.stringify(z.toJSONSchema(returns.schema, { unrepresentable: 'any' })).includes('"display_name_portal"');

/** The users in a response at any depth; users without an account have the id 0. */
function peopleIn(body: unknown): { id: number; display_name_portal: string | null }[] {
  if (typeof body !== 'object' || body === null) return [];
  const person = body as { id: number; display_name_portal: string | null };
  const isPerson = 'display_name_portal' in body && person.id > 0;
  return [...(isPerson ? [person] : []), ...Object.values(body).flatMap(peopleIn)];
}

test('every response shows users with their name on the requested portal', async () => {
  const { db } = api.app();
  await asAda.call(muteAUser, { params: { user_id: (await api.aUser()).id } });
  const ids = await db.query.selectFrom('users').select('id').execute();
  await db.write(async (transaction) => {
    for (const { id } of ids) await setPortalNames(transaction, id, { steam: `Steam ${id}` });
  });
  const headers = { 'x-modio-portal': 'steam' };
  const shown = readOperations.filter((each) => showsPeople(each));
  assert.ok(shown.length > 30);
  for (const operation of shown) {
    const { id } = operation.declaration;
    const answer = await (await allowedTo(operation)).send('GET', targetOf(operation), { query: QUERIES[id], headers });
    const people = peopleIn(answer.body);
    assert.ok(people.length > 0, `${id} shows nobody: ${answer.text}`);
    for (const person of people) assert.equal(person.display_name_portal, `Steam ${person.id}`, id);
  }
  // A sample of writes suffices: the compiler checks that each passes on the portal.
  const ofCollection = { ...params, collection_id: collections[0]! };
  const friend = { user_id: ids.at(-1)!.id };
  for (const answer of [
    await asAda.call(modComments.add, { params, body: { content: 'Well done' }, headers }),
    await asAda.call(subscribeToMod, { params, headers }),
    await asAda.call(followCollectionOperation, { params: ofCollection, headers }),
    await asAda.call(restrictUserInGame, { params: { ...params, ...friend }, body: { options: 1 }, headers }),
    await asAda.call(addMessage, { params: { thread_id }, body: { content: 'Hello again' }, headers }),
  ])
    assert.match(answer.text, /"display_name_portal":"Steam \d+"/);
});

const sources = globSync('src/**/*.ts')
  .filter((file) => !file.endsWith('.test.ts'))
  .map((file) => ({ file, text: readFileSync(file, 'utf8') }));

/** The folder in which a table is registered owns it. */
function tableOwners(): Map<string, string> {
  const registered = sources.flatMap(({ file, text }) => {
    const [, members = ''] =
      /declare module '[^']*database\.ts' \{\s*interface Tables \{\n([\s\S]*?)\n {2}\}/.exec(text) ?? [];
    return [...members.matchAll(/^ {4}(\w+):/gm)].map(([, table]): [string, string] => [table!, dirname(file)]);
  });
  return new Map(registered);
}

const WRITES =
  /\b(?:insertInto|updateTable|deleteFrom|replaceInto|mergeInto)\(\s*'(\w+)|\b(?:insert into|delete from) (\w+)|\bupdate (\w+) set\b/g;

test('only the store of its own resource writes a table', () => {
  const owners = tableOwners();
  assert.ok(owners.has('games') && owners.has('jobs'));
  for (const { file, text } of sources)
    for (const [, built, raw, updated] of text.matchAll(WRITES)) {
      const table = (built ?? raw ?? updated)!;
      const owner = owners.get(table);
      if (!owner && !built) continue;
      // A migration may update tables of its own resource, and a domain's schema may fill the tables it creates.
      if (dirname(file) === join(owner ?? '', 'migrations')) continue;
      if (file === join(dirname(owner ?? ''), 'schema.ts')) continue;
      assert.equal(dirname(file), owner, `${file} writes ${table}`);
      if (!owner!.startsWith('src/platform/'))
        assert.match(basename(file), /^(\w+-)?store\.ts$/, `${file} writes ${table}`);
    }
});
