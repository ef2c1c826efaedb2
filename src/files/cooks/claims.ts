import { OPERATOR, type UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { isScanPassed } from '../../platform/scanning/states.ts';
import type { FileTexts, Incoming, ModfileRow } from '../modfiles/modfiles.ts';
import { addCooked, findSource } from '../modfiles/sources.ts';
import { watch } from '../uploads/claims.ts';
import { LINES_MAX } from './cooks.ts';
import { COOK, cooksScope, FAILURE } from './states.ts';
import * as store from './store.ts';
import { fail, move, recordCookEvent, requeue } from './transitions.ts';

/** A runner that has not reported for this long counts as gone. */
const LEASE_SECONDS = 120;
/** While a result is inspected and stored the runner cannot report. */
const FINISHING_SECONDS = 3_600;

/** The fields of a runner that cooks need. */
export interface Cooking {
  readonly id: number;
  readonly game_id: number;
  readonly platforms: readonly string[];
  /** The user that added the runner. */
  readonly added_by: number;
}

/**
 * A runner uploads as the user that added it, without the teams’ permission checks: its claim on the cook is the
 * permission.
 */
export const uploaderOf = ({ added_by }: Cooking): UserCaller => ({ ...OPERATOR, userId: added_by });

/** Claims the next cook, and waits for one up to this time. */
export async function claimNext(app: App, runner: Cooking, waitMs: number): Promise<store.ShownCook | undefined> {
  const changes = watch(app.db.changes, cooksScope(runner.game_id));
  const endsAt = performance.now() + waitMs;
  try {
    for (;;) {
      const cook = await tryClaim(app, runner);
      if (cook || performance.now() >= endsAt) return cook;
      await changes.next();
    }
  } finally {
    changes.end();
  }
}

async function tryClaim(app: App, runner: Cooking): Promise<store.ShownCook | undefined> {
  const wanted = { gameId: runner.game_id, platforms: runner.platforms, now: app.clock.now() };
  if (runner.platforms.length === 0 || !(await store.hasWork(app.db.query, wanted))) return undefined;
  const { dialect } = app.db;
  const { clamd, downloadUnscanned } = app.settings;
  return app.db.write(async (transaction) => {
    for (const id of await store.expired(transaction, dialect, wanted.now, wanted.gameId))
      await requeue(app, transaction, (await store.forChange(transaction, id))!, FAILURE.LEASE);
    const scanned = clamd !== undefined && downloadUnscanned === 'off';
    const id = await store.nextWaiting(transaction, dialect, wanted, scanned);
    return id === undefined ? undefined : claim(app, transaction, id, runner);
  });
}

async function claim(app: App, transaction: Transaction, id: number, runner: Cooking): Promise<store.ShownCook> {
  const cook = (await store.forChange(transaction, id))!;
  return move(app, transaction, cook, {
    status: COOK.COOKING,
    attempts: cook.attempts + 1,
    progress: 0,
    runner_id: runner.id,
    claim: app.random.uuid(),
    date_lease: leaseOf(app, LEASE_SECONDS),
  });
}

const leaseOf = (app: App, seconds: number) => app.clock.now() + seconds;

/** The cook of the runner’s claim. A runner that has lost the claim, or never had it, finds none. */
export async function requireClaimed(
  reader: Pick<Transaction, 'first'>,
  runner: Cooking,
  claim: string,
): Promise<store.ShownCook> {
  const cook = await store.byClaim(reader, claim);
  if (cook?.runner_id !== runner.id) throw new ApiError('RESOURCE_NOT_FOUND');
  return cook;
}

/** Locks the cook, which must still be cooking. */
async function requireCooking(transaction: Transaction, runner: Cooking, claim: string): Promise<store.ShownCook> {
  const { id } = await requireClaimed(transaction, runner, claim);
  const cook = await store.forChange(transaction, id);
  if (cook?.claim !== claim || cook.status !== COOK.COOKING) throw new ApiError('RESOURCE_NOT_FOUND');
  return cook;
}

export interface Report {
  readonly progress?: number | undefined;
  readonly logs?: readonly string[] | undefined;
  readonly metadata?: readonly string[] | undefined;
}

/** Extends the runner’s lease, and stores its report. */
export const report = (app: App, runner: Cooking, claim: string, received: Report): Promise<store.ShownCook> =>
  app.db.write(async (transaction) => {
    const cook = await requireCooking(transaction, runner, claim);
    await note(transaction, cook, received.logs ?? []);
    const date_lease = Math.max(cook.date_lease, leaseOf(app, LEASE_SECONDS));
    return store.change(transaction, cook.id, { ...columnsOf(received), date_lease, date_updated: app.clock.now() });
  });

const columnsOf = ({ progress, metadata }: Report) => ({
  ...(progress !== undefined && { progress }),
  ...(metadata !== undefined && { metadata: JSON.stringify(metadata) }),
});

async function note(transaction: Transaction, cook: store.CookRow, lines: readonly string[]): Promise<void> {
  if (lines.length === 0) return;
  await store.addLogs(transaction.query, cook.id, lines);
  await store.trimLogs(transaction, cook.id, LINES_MAX);
}

/** Fails the cook. With `again` it is retried while it has attempts left. */
export const failClaimed = (
  app: App,
  runner: Cooking,
  claim: string,
  { again, ...received }: Report & { readonly again: boolean },
): Promise<store.ShownCook> =>
  app.db.write(async (transaction) => {
    const known = await requireClaimed(transaction, runner, claim);
    if (known.status === COOK.FAILED) return known;
    const cook = await requireCooking(transaction, runner, claim);
    await note(transaction, cook, received.logs ?? []);
    await store.change(transaction, cook.id, { ...columnsOf(received), date_updated: app.clock.now() });
    return again ? requeue(app, transaction, cook, FAILURE.RUNNER) : fail(app, transaction, cook, FAILURE.RUNNER);
  });

/** Adds the cooked file. A repeated request, after a lost response, adds it once. */
export async function finishClaimed(
  app: App,
  runner: Cooking,
  claim: string,
  incoming: Incoming,
  texts: FileTexts & { readonly filehash?: string | undefined },
): Promise<store.ShownCook> {
  const cook = await requireClaimed(app.db, runner, claim);
  if (cook.status === COOK.SUCCEEDED) return cook;
  const source = await requireSource(app, cook);
  await app.db.write(async (transaction) => {
    const { id } = await requireCooking(transaction, runner, claim);
    await store.change(transaction, id, { date_lease: leaseOf(app, FINISHING_SECONDS) });
  });
  const { game_id: gameId, mod_id: modId, platform } = cook;
  const fields = { version: source.version ?? undefined, changelog: source.changelog ?? undefined, ...defined(texts) };
  await addCooked(app, uploaderOf(runner), { gameId, modId }, incoming, fields, {
    platform,
    submitterId: source.submitted_by,
    onAdded: (transaction, file) => succeed(app, transaction, runner, claim, file),
  }).catch(async (error) => {
    await renewAfter(app, cook, claim);
    throw error;
  });
  return requireClaimed(app.db, runner, claim);
}

const defined = <T extends object>(values: T): T =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;

/** After a refused result the runner has the usual time for another. */
const renewAfter = (app: App, { id }: store.CookRow, claim: string): Promise<void> =>
  app.db.write(async (transaction) => {
    const cook = await store.forChange(transaction, id);
    if (cook?.claim === claim && cook.status === COOK.COOKING)
      await store.change(transaction, id, { date_lease: leaseOf(app, LEASE_SECONDS) });
  });

/** Returns whether the file goes live: not if a newer source has been cooked meanwhile. */
async function succeed(
  app: App,
  transaction: Transaction,
  runner: Cooking,
  claim: string,
  file: ModfileRow,
): Promise<boolean> {
  const cook = await requireCooking(transaction, runner, claim);
  const isReleased = cook.active === 1 && !(await store.isOutdated(transaction, cook));
  const done = { status: COOK.SUCCEEDED, result_id: file.id, progress: 100 };
  await recordCookEvent(app, transaction, await move(app, transaction, cook, done), 'COOK_SUCCEEDED');
  return isReleased;
}

/** The source of a cook that the runner has claimed, if runners may get it. */
export async function sourceOfClaim(app: App, runner: Cooking, claim: string): Promise<ModfileRow> {
  const cook = await requireClaimed(app.db, runner, claim);
  if (cook.status !== COOK.COOKING) throw new ApiError('RESOURCE_NOT_FOUND');
  return requireSource(app, cook);
}

async function requireSource(app: App, cook: store.CookRow): Promise<ModfileRow> {
  const source = await findSource(app.db, cook.source_id);
  if (!source || !isScanPassed(source, app.settings)) throw new ApiError('MODFILE_NOT_FOUND');
  return source;
}

/** Stores an external service’s report about a running cook. Only a result turns the cook into a file. */
export const reportOutside = (
  app: App,
  gameId: number,
  uuid: string,
  { failed, ...received }: Report & { readonly failed: boolean },
): Promise<store.ShownCook> =>
  app.db.write(async (transaction) => {
    const found = await store.byUuid(transaction, uuid);
    const cook = found && (await store.forChange(transaction, found.id));
    if (cook?.game_id !== gameId) throw new ApiError('RESOURCE_NOT_FOUND');
    if (cook.status >= COOK.SUCCEEDED) return cook;
    await note(transaction, cook, received.logs ?? []);
    const after = await store.change(transaction, cook.id, { ...columnsOf(received), date_updated: app.clock.now() });
    return failed ? fail(app, transaction, after, FAILURE.SERVICE) : after;
  });

/** Returns the cooks of a revoked runner to the queue. */
export async function releaseClaims(app: App, transaction: Transaction, runnerId: number): Promise<void> {
  for (const { id } of await store.openOf(transaction, 'runner_id', runnerId))
    await requeue(app, transaction, (await store.forChange(transaction, id))!, FAILURE.LEASE);
}
