import { createHmac, timingSafeEqual } from 'node:crypto';
import { applyGameChanges, requireGameAdministrator, requireGameForChange } from '../../catalogue/games/games.ts';
import { type Caller, OPERATOR, type UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { isScanPassed } from '../../platform/scanning/states.ts';
import { audit, auditGame } from '../../records/audit/audit.ts';
import * as store from './store.ts';

export type { BuildRow, PartRow } from './store.ts';

/** The values of a game’s `cloud_cooking_status`. */
export const CLOUD_COOKING = {
  DISABLED: 0,
  INITIALIZING: 1,
  INITIALIZED: 2,
  FINALIZING: 3,
  ENABLED: 4,
  ACTION_REQUIRED: 5,
  TEARING_DOWN: 6,
} as const;

const DAY = 86_400;
const ADDRESS_SECONDS = 7 * DAY;
const SIGNATURE_SECONDS = 300;
const UPLOAD = 'cook-builds/upload';
const WEBHOOK = 'cook-builds/webhook';

export async function putStatus(app: App, transaction: Transaction, gameId: number, status: number): Promise<void> {
  await applyGameChanges(app, transaction, gameId, { cloud_cooking_status: status }, 'en');
}

/** The upload URL of a build, and the secret that signs the messages of an external cooking service. */
export interface Provision {
  readonly build: store.BuildRow;
  readonly url: string;
  readonly webhookSecret: string;
}

/** Provisions an upload URL for a new build. It replaces an earlier URL whose build is not complete. */
export const provisionBuild = (app: App, caller: UserCaller, gameId: number): Promise<Provision> =>
  app.db.write(async (transaction) => {
    await requireGameAdministrator(transaction, caller, gameId);
    const game = await requireGameForChange(transaction, caller, gameId);
    const now = app.clock.now();
    const build = await store.add(transaction.query, {
      build_uuid: app.random.uuid(),
      game_id: gameId,
      state: 'open',
      is_live: 0,
      filename: `build-${gameId}.zip`,
      total: 0,
      handle: null,
      storage_key: null,
      md5: '',
      sha256: '',
      bytes_uncompressed: 0,
      problem: '',
      added_by: caller.userId,
      date_added: now,
      date_updated: now,
      date_expires: now + ADDRESS_SECONDS,
    });
    await store.voidOthers(transaction, { gameId, exceptId: build.id, openOnly: true, now });
    const isNew = [CLOUD_COOKING.DISABLED, CLOUD_COOKING.TEARING_DOWN].some(
      (each) => each === game.cloud_cooking_status,
    );
    if (isNew) await putStatus(app, transaction, gameId, CLOUD_COOKING.INITIALIZING);
    await audit(app, transaction, audited(caller, build, 'cook-builds.provision'));
    return { build, url: addressOf(app, build), webhookSecret: webhookSecretOf(app, build) };
  });

const audited = (caller: UserCaller, build: store.BuildRow, action: string) => ({
  actor: caller.userId,
  action,
  subject: { resource: 'games', id: build.game_id, gameId: build.game_id },
  data: { build: build.build_uuid },
});

const signatureFor = (app: App, { build_uuid, date_expires }: store.BuildRow) =>
  app.secrets.sign(UPLOAD, `${build_uuid}/${date_expires}`);

const addressOf = (app: App, build: store.BuildRow): string =>
  `${app.addresses.api}/cloud-cooking/builds/${build.build_uuid}/${signatureFor(app, build)}`;

/** The build of an upload URL, while the URL is valid. */
export async function requireBuild(
  app: App,
  { uuid, signature }: { readonly uuid: string; readonly signature: string },
): Promise<store.BuildRow> {
  const build = await store.byUuid(app.db, uuid);
  const isGenuine = build && app.secrets.verify(UPLOAD, `${uuid}/${build.date_expires}`, signature);
  if (!isGenuine || build.state === 'void' || build.date_expires <= app.clock.now())
    throw new ApiError('RESOURCE_NOT_FOUND');
  return build;
}

/** The newest build of the game, with the result of its inspection. */
export async function requireNewest(app: App, caller: Caller, gameId: number): Promise<store.BuildRow> {
  await requireGameAdministrator(app.db, caller, gameId);
  const build = await store.newestOf(app.db, gameId);
  if (!build) throw new ApiError('RESOURCE_NOT_FOUND');
  return build;
}

export const listParts = (app: App, build: store.BuildRow) => store.partsOf(app.db, build.id);

/** The build that runners get. If scans are required, only one that has passed. */
export async function findLive(app: App, gameId: number): Promise<store.BuildRow | undefined> {
  const live = await store.liveOf(app.db, gameId);
  return live && isScanPassed(live, app.settings) ? live : undefined;
}

/** Makes the newest build the one that runners get. Without a runner the game waits for one. */
export const finalizeBuild = (app: App, caller: UserCaller, gameId: number): Promise<void> =>
  app.db.write(async (transaction) => {
    await requireGameAdministrator(transaction, caller, gameId);
    await requireGameForChange(transaction, caller, gameId);
    const build = await store.newestOf(transaction, gameId);
    if (build?.state !== 'valid') throw notReady(build);
    if (!isScanPassed(build, app.settings)) throw refusedBuild('unscanned');
    const now = app.clock.now();
    await store.change(transaction.query, build.id, { is_live: 1, date_updated: now });
    await store.voidOthers(transaction, { gameId, exceptId: build.id, openOnly: false, now });
    const isManned = await store.hasRunners(transaction, gameId);
    await putStatus(app, transaction, gameId, isManned ? CLOUD_COOKING.ENABLED : CLOUD_COOKING.FINALIZING);
    await audit(app, transaction, audited(caller, build, 'cook-builds.finalize'));
  });

const notReady = (build: store.BuildRow | undefined) =>
  refusedBuild(build?.state === 'invalid' ? 'invalid' : 'required');

const refusedBuild = (rule: 'invalid' | 'required' | 'unscanned') =>
  new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'build', rule }] });

/** Updates the status of a game that waits for a runner, and of one that lost its last runner. */
export async function runnersChanged(app: App, transaction: Transaction, gameId: number, caller: Caller) {
  const { cloud_cooking_status: before } = await requireGameForChange(transaction, caller, gameId);
  const isManned = await store.hasRunners(transaction, gameId);
  if (isManned && before === CLOUD_COOKING.FINALIZING) await putStatus(app, transaction, gameId, CLOUD_COOKING.ENABLED);
  if (!isManned && before === CLOUD_COOKING.ENABLED)
    await putStatus(app, transaction, gameId, CLOUD_COOKING.ACTION_REQUIRED);
}

/** Derived and never stored. A new build has a new secret; that of the live build is valid while it is live. */
const webhookSecretOf = (app: App, { build_uuid }: store.BuildRow): string =>
  `cksec_${app.secrets.sign(WEBHOOK, build_uuid)}`;

/** `t=<Unix seconds>,v1=<hex>` over the time, a dot and the body, in the format of our own webhooks. */
async function isSignedByService(app: App, gameId: number, body: Buffer, header: string | undefined): Promise<boolean> {
  const [, time, given] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(header ?? '') ?? [];
  if (!time || !given || Math.abs(app.clock.now() - Number(time)) > SIGNATURE_SECONDS) return false;
  const builds = [await store.newestOf(app.db, gameId), await store.liveOf(app.db, gameId)];
  return builds.some((build) => {
    if (!build) return false;
    const sum = createHmac('sha256', webhookSecretOf(app, build)).update(`${time}.`).update(body).digest();
    return timingSafeEqual(sum, Buffer.from(given, 'hex'));
  });
}

/**
 * The sender of a message: the service by its signature, or an administrator of the game by a token with the write
 * scope.
 */
export async function requireSender(
  app: App,
  caller: Caller,
  gameId: number,
  sent: { readonly body: Buffer; readonly signature: string | undefined },
): Promise<void> {
  if (caller.kind === 'user') {
    if (!caller.scopes.includes('write')) throw new ApiError('TOKEN_MISSING_SCOPE_WRITE');
    return requireGameAdministrator(app.db, caller, gameId);
  }
  if (!(await isSignedByService(app, gameId, sent.body, sent.signature)))
    throw new ApiError('TOKEN_EXPIRED_OR_REVOKED');
}

/** Stores the status that the external cooking service reports. Once cooking is disabled, builds are not needed. */
export const putStatusOutside = (app: App, caller: Caller, gameId: number, status: number): Promise<void> =>
  app.db.write(async (transaction) => {
    await requireGameForChange(transaction, OPERATOR, gameId);
    if (status === CLOUD_COOKING.ENABLED && !(await store.liveOf(transaction, gameId))) throw notReady(undefined);
    if (status === CLOUD_COOKING.DISABLED)
      await store.voidOthers(transaction, { gameId, exceptId: 0, openOnly: false, now: app.clock.now() });
    await putStatus(app, transaction, gameId, status);
    if (caller.kind === 'user')
      await auditGame(app, transaction, caller, gameId, { action: 'cooking-status', data: { status } });
  });
