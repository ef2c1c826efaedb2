import assert from 'node:assert/strict';
import { test } from 'node:test';
import sharp from 'sharp';
import { type CallInput, type Client, startApi } from '../../../test/api.ts';
import { AUDITED } from '../../../test/audited.ts';
import { aCookingGame, cooksOf, modPath } from '../../../test/cooking.ts';
import { aPack, aPaidMod, aSellingGame, buyPack, giveEarnings, registerAsSeller } from '../../../test/money.ts';
import { zipOf } from '../../../test/zips.ts';
import { addModDependencies, deleteModDependencies } from '../../catalogue/dependencies/operations.ts';
import {
  addGameMedia,
  deleteGameMedia,
  deleteGameOperation,
  editGameOperation,
} from '../../catalogue/games/operations.ts';
import { addModMedia, deleteModMedia, reorderModMedia } from '../../catalogue/media/operations.ts';
import { addModMetadata, deleteModMetadata } from '../../catalogue/metadata/operations.ts';
import { editModByPut } from '../../catalogue/mods/operations.ts';
import { gamePreviews, modPreviews } from '../../catalogue/previews/operations.ts';
import { liftRestrictionInGame, restrictUserInGame } from '../../catalogue/restrictions/operations.ts';
import {
  decidePermissionReview,
  getPermissionReviews,
  setPermissionReviews,
} from '../../catalogue/reviews/operations.ts';
import { addModTags, deleteModTags } from '../../catalogue/tags/operations.ts';
import { composeWorker } from '../../composition/compose.ts';
import {
  cookingSasToken,
  cookingWebhook,
  finalizeCloudCooking,
  uploadCookBuild,
} from '../../files/builds/operations.ts';
import { cancelCookOperation as cancelCook, startCook } from '../../files/cooks/operations.ts';
import { addModfileOperation, deleteModfileOperation, managePlatformStatus } from '../../files/modfiles/operations.ts';
import { addCookRunner, deleteCookRunner } from '../../files/runners/operations.ts';
import { addSourceModfile, deleteSourceModfile } from '../../files/sources/operations.ts';
import { deleteModVault, editModVault } from '../../files/vaults/operations.ts';
import { decideOverContent, undoModerationDecision } from '../../moderation/moderation/operations.ts';
import { banUser, unbanUser } from '../../moderation/user-bans/operations.ts';
import { decideMarketplaceSubmission, submitModToMarketplace } from '../../money/offers/operations.ts';
import { decideSellerAccount } from '../../money/partners/operations.ts';
import { decidePayoutOperation, requestPayoutOperation } from '../../money/payouts/operations.ts';
import { purchase, refundGamePurchase } from '../../money/purchases/operations.ts';
import { addAddressBan, deleteAddressBan } from '../../people/bans/operations.ts';
import { addSiteIcon } from '../../people/site/operations.ts';
import { addStaffMember, deleteStaffMember, updateStaffMember } from '../../people/staff/operations.ts';
import type { AnyOperation } from '../../platform/http/operation.ts';
import { mergeAUser } from '../../signin/accounts/operations.ts';
import { editGamePortal } from '../../signin/portals/operations.ts';
import { retryParkedJob } from '../service/operations.ts';
import { getAudit } from './operations.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off', MODSTEAD_PAYMENTS: 'simulated' } });
const admin = await api.as(await api.aUser({ admin: true }));
const game = await api.aGame({ tagGroups: [{ name: 'Kind', type: 'checkboxes', tags: ['a', 'b'] }] });
const team = await api.as(game.owner);
const mod = await api.aMod({ game });
const author = await api.as(mod.owner);
const user = await api.aUser();
const params = { game_id: game.id, mod_id: mod.id, user_id: user.id };

const done = new Set<string>();
const rows = async () => (await admin.call(getAudit)).body.result_total;

/** The call succeeds and logs one row with this action. */
async function audited(client: Client, operation: AnyOperation, input: CallInput, action: string) {
  const before = await rows();
  const answer = await client.call(operation, { params, ...input });
  assert.ok(answer.status < 300, `${operation.declaration.id}: ${answer.text}`);
  const { data, result_total } = (await admin.call(getAudit, { query: { _sort: '-id', _limit: 1 } })).body;
  assert.deepEqual([result_total, data[0]?.action], [before + 1, action], operation.declaration.id);
  done.add(operation.declaration.id);
  return answer.body as unknown as { id: number };
}

/** The same call by the author of the mod, which is not logged. */
async function unaudited(operation: AnyOperation, input: CallInput) {
  const before = await rows();
  const answer = await author.call(operation, { params, ...input });
  assert.ok(answer.status < 300, `${operation.declaration.id}: ${answer.text}`);
  assert.equal(await rows(), before, operation.declaration.id);
}

test('the actions of a game’s team on parts of a mod are logged, and those of its author are not', async () => {
  const link = (id: string) => `https://www.youtube.com/watch?v=${id}`;
  const [one, two] = [link('dQw4w9WgXcQ'), link('9bZkp7q19f0')];
  const needed = await api.aMod({ game });
  for (const [add, remove, body, kind] of [
    [addModTags, deleteModTags, { tags: ['a'] }, ['mods.tags', 'mods.tags']],
    [addModMetadata, deleteModMetadata, { metadata: ['a:b'] }, ['mods.metadata-add', 'mods.metadata-remove']],
    [
      addModDependencies,
      deleteModDependencies,
      { dependencies: [needed.id] },
      ['mods.dependencies-add', 'mods.dependencies-remove'],
    ],
    [addModMedia, deleteModMedia, { youtube: [one] }, ['mods.media-add', 'mods.media-remove']],
  ] as const) {
    await unaudited(add, { body });
    await unaudited(remove, { body });
    await audited(team, add, { body }, kind[0]);
    await audited(team, remove, { body }, kind[1]);
  }
  await unaudited(editModVault, { body: { date_opens: 1 } });
  await unaudited(deleteModVault, {});
  await audited(team, editModVault, { body: { date_opens: 1 } }, 'mods.vault');
  await audited(team, deleteModVault, {}, 'mods.vault-remove');
  await unaudited(addModMedia, { body: { youtube: [one, two] } });
  await audited(team, reorderModMedia, { body: { youtube: [two, one] } }, 'mods.media-reorder');
});

test('the actions of a game’s team on files are logged', async () => {
  const platforms = [{ platform: 'windows' }, { platform: 'ps5', moderated: true }];
  await team.call(editGameOperation, { params, body: { input_json: JSON.stringify({ platforms }) } });
  const files = { filedata: { filename: 'a.zip', bytes: zipOf({ a: api.unique('a') }) } };
  const body = { active: false, platforms: ['ps5'] };
  const { id: file_id } = await audited(team, addModfileOperation, { files, body }, 'mods.files-add');
  const ofFile = { params: { ...params, file_id } };
  await audited(team, managePlatformStatus, { ...ofFile, body: { approved: ['ps5'] } }, 'modfiles.decide-platforms');
  await audited(team, deleteModfileOperation, ofFile, 'mods.files-remove');
});

test('the actions of a game’s team on cooking are logged', async () => {
  const cooking = await aCookingGame(api);
  const owner = await api.as(cooking.owner);
  const cooked = await api.aMod({ game: cooking });
  const place = modPath(cooked);
  const runner = { params: place, body: { name: 'Mill', platforms: ['ps5'] } };
  const { id: runner_id } = await audited(owner, addCookRunner, runner, 'cook-runners.add');
  const files = { filedata: { filename: 'a.zip', bytes: zipOf({ a: api.unique('a') }) } };
  const added = { params: place, files };
  const { id: source_id } = await audited(owner, addSourceModfile, added, 'mods.files-add');
  const [cook] = await cooksOf(api, cooked);
  const { cook_uuid } = cook!;
  await audited(owner, cancelCook, { params: { ...place, cook_uuid } }, 'mods.cooks-cancel');
  await audited(owner, startCook, { params: place }, 'mods.cooks-start');
  await audited(owner, deleteSourceModfile, { params: { ...place, source_id } }, 'mods.files-remove');
  const provided = (await audited(owner, cookingSasToken, { params: place }, 'cook-builds.provision')) as unknown as {
    build_id: string;
    url: string;
  };
  const build_signature = provided.url.split('/').at(-1)!;
  const raw = zipOf({ 'cooker.exe': 'a program' });
  const upload = { params: { ...place, build_id: provided.build_id, build_signature }, raw };
  assert.ok((await api.nobody().call(uploadCookBuild, upload)).status < 300);
  await composeWorker(api.app()).runDue();
  await audited(owner, finalizeCloudCooking, { params: place }, 'cook-builds.finalize');
  const message = { params: place, raw: Buffer.from(JSON.stringify({ cloud_cooking_status: 5 })) };
  await audited(owner, cookingWebhook, message, 'games.cooking-status');
  await audited(owner, deleteCookRunner, { params: { ...place, runner_id } }, 'cook-runners.revoke');
});

test('changes of who may see hidden content are logged', async () => {
  const hidden = await api.aGame({ accepted: false });
  const owner = await api.as(hidden.owner);
  const draft = await api.aMod({ game: hidden, accepted: false });
  for (const [of, operations, action] of [
    [{ game_id: hidden.id }, gamePreviews, 'games.previews'],
    [{ game_id: hidden.id, mod_id: draft.id }, modPreviews, 'mods.previews'],
  ] as const) {
    const place = { ...of, user_id: user.id };
    const [edit, options] = 'mod_id' in of ? [editModByPut, 64 | 128] : [editGameOperation, 64 | 128 | 4_096];
    await owner.call(edit, { params: place, body: { community_options: options } });
    await audited(owner, operations.invite, { params: place, body: { user_id: user.id } }, `${action}-invite`);
    await audited(owner, operations.remove, { params: place }, `${action}-remove`);
    await audited(owner, operations.renew, { params: place }, `${action}-renew-link`);
  }
});

async function reviewsAreAudited() {
  const reviewing = await api.aGame();
  const second = await api.aUser();
  await api.joins(second, reviewing, 8);
  const place = { game_id: reviewing.id };
  const [owner, other] = [await api.as(reviewing.owner), await api.as(second)];
  await audited(owner, setPermissionReviews, { params: place, body: { required: true } }, 'games.review-start');
  await owner.refused(setPermissionReviews, { params: place, body: { required: false } }, 403, 14044);
  const { data } = (await other.call(getPermissionReviews, { params: place })).body;
  const decision = { params: { ...place, review_id: data[0]!.id }, body: { approved: true } };
  await audited(other, decidePermissionReview, decision, 'games.review-approve');
}

test('actions on the game and on users are logged', async () => {
  const logo = await sharp({ create: { width: 640, height: 360, channels: 3, background: '#123' } })
    .png()
    .toBuffer();
  await audited(team, addGameMedia, { files: { logo: { filename: 'a.png', bytes: logo } } }, 'games.media');
  await audited(team, deleteGameMedia, { body: { images: ['logo'] } }, 'games.media');
  await reviewsAreAudited();
  const steam = { ...params, portal: 'steam' };
  const fields = { app_id: '480', ticket_key: 'ab'.repeat(32) };
  await audited(team, editGamePortal, { params: steam, body: fields }, 'games.portals-set');
  const empty = await api.aGame({ accepted: false });
  await audited(await api.as(empty.owner), deleteGameOperation, { params: { game_id: empty.id } }, 'games.delete');
  await audited(team, restrictUserInGame, { body: { options: 1 } }, 'users.restrict');
  await audited(team, liftRestrictionInGame, {}, 'users.lift-restriction');
  await audited(admin, banUser, { body: { reason: 'Spam' } }, 'users.ban');
  await audited(admin, unbanUser, {}, 'users.unban');
  await audited(admin, addStaffMember, { body: { user_id: user.id, level: 1 } }, 'staff.add');
  await audited(admin, updateStaffMember, { body: { level: 4 } }, 'staff.change');
  await audited(admin, deleteStaffMember, {}, 'staff.remove');
  const ban = { body: { network: '203.0.113.1', reason: 'Floods' } };
  const { id } = await audited(admin, addAddressBan, ban, 'addresses.ban');
  await audited(admin, deleteAddressBan, { params: { ban_id: id } }, 'addresses.unban');
});

test('a refund by the team of the game is logged', async () => {
  const selling = await aSellingGame(api);
  const sold = await api.aMod({ game: selling });
  await api.aFile(sold);
  const ofSold = { game_id: selling.id, mod_id: sold.id };
  await (await api.as(sold.owner)).call(editModByPut, { params: ofSold, body: { price: 5, monetization_options: 3 } });
  const buyer = await api.as(await api.aUser());
  await buyPack(api, buyer, selling, await aPack(api, selling));
  const bought = await buyer.call(purchase, { params: ofSold, body: { idempotent_key: 'one' } });
  const which = { game_id: selling.id, purchase_id: bought.body.transaction_id };
  await audited(selling.studio, refundGamePurchase, { params: which, body: { reason: 'Broken' } }, 'purchases.refund');
});

test('a decision over the marketplace queue is logged', async () => {
  const selling = await aSellingGame(api);
  const { params: ofQueued, author: seller } = await aPaidMod(api, selling, { monetization_options: 1 });
  await selling.studio.call(editGameOperation, { params: ofQueued, body: { curation_option: 1 } });
  await seller.call(submitModToMarketplace, { params: ofQueued });
  const decision = { params: ofQueued, body: { status: 'approved' as const } };
  await audited(selling.studio, decideMarketplaceSubmission, decision, 'mods.marketplace-approve');
});

test('a moderation decision that is undone is logged twice', async () => {
  const { id } = await api.aMod({ game });
  const body = { resource: 'mods', id, decision: 'delete', reason: 'By mistake' };
  await audited(team, decideOverContent, { body }, 'mods.delete');
  const undone = { params: { game_id: game.id, content: 'mods', content_id: id } };
  await audited(team, undoModerationDecision, undone, 'mods.undo');
});

test('a job that staff retry is logged', async () => {
  const { db, jobs } = api.app();
  await db.write((transaction) => jobs.enqueue(transaction, 'test.parked', {}, { key: 'retried' }));
  const parked = await db.write(({ query }) =>
    query
      .updateTable('jobs')
      .set({ state: 'parked' })
      .where('kind', '=', 'test.parked')
      .returning('id')
      .executeTakeFirstOrThrow(),
  );
  await audited(admin, retryParkedJob, { params: { job_id: parked.id } }, 'jobs.retry');
});

test('an icon of the site is logged', async () => {
  const bytes = await sharp({ create: { width: 64, height: 64, channels: 3, background: '#123' } })
    .png()
    .toBuffer();
  await audited(admin, addSiteIcon, { files: { icon: { filename: 'a.png', bytes } } }, 'site.edit');
});

test('a merge of accounts by the staff is logged', async () => {
  const [lost, kept] = [await api.aUser(), await api.aUser()];
  await audited(
    admin,
    mergeAUser,
    { params: { user_id: lost.id }, body: { into: kept.id, reason: 'Lost' } },
    'users.merge',
  );
});

test('a decision over a seller is logged', async () => {
  const seller = await api.aUser();
  await registerAsSeller(await api.as(seller));
  const decision = { params: { user_id: seller.id }, body: { status: 'approved' as const } };
  await audited(admin, decideSellerAccount, decision, 'users.seller');
});

test('what staff records about a payout is logged', async () => {
  const selling = await aSellingGame(api);
  const seller = await api.aUser();
  const client = await api.as(seller);
  await registerAsSeller(client);
  const approval = { params: { user_id: seller.id }, body: { status: 'approved' as const } };
  await admin.call(decideSellerAccount, approval);
  await giveEarnings(api, seller, selling.id, 5_000);
  const request = { params: { game_id: selling.id }, body: { idempotent_key: 'one' } };
  const { id } = (await client.call(requestPayoutOperation, request)).body;
  const decision = { params: { payout_id: id }, body: { status: 'paid' as const } };
  await audited(admin, decidePayoutOperation, decision, 'payouts.decide');
});

test('every operation that is declared as audited is covered here', () => {
  const separately = Object.entries(AUDITED).flatMap(([id, how]) => (how === 'separately' ? [id] : []));
  assert.deepEqual(
    separately.filter((id) => !done.has(id)),
    [],
  );
});
