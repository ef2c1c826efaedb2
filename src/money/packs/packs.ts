import { requireGame, requireGameForChange } from '../../catalogue/games/games.ts';
import { ADMINISTRATOR, teamLevel } from '../../catalogue/teams/teams.ts';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { type Database, isDuplicate, type Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { auditGame } from '../../records/audit/audit.ts';
import { termsOf } from '../terms/terms.ts';
import { packExtensions } from './extensions.ts';
import * as store from './store.ts';

export type { ListedPack, PackRow } from './store.ts';

export interface PackFields {
  readonly name: string;
  readonly description: string;
  readonly tokens: number;
  readonly price: number;
  /** That of the game's terms unless given. */
  readonly currency?: string | undefined;
  /** `portal=SKU`, at most one per portal. */
  readonly skus: readonly string[];
}

export type PackChanges = { readonly [K in keyof PackFields]?: PackFields[K] | undefined };

/** The packs that a game sells, a row per portal, the cheapest first. */
export async function listPacks(app: App, caller: Caller, gameId: number, portal: string | undefined) {
  await requireGame(app.db, caller, gameId);
  return store.listed(app.db.query, gameId, portal);
}

/** A pack that the game sells. */
export async function findPack(
  reader: Pick<Database, 'first'>,
  gameId: number,
  id: number,
): Promise<store.PackRow | undefined> {
  const pack = await store.byId(reader, id);
  return pack?.game_id === gameId && pack.date_removed === 0 ? pack : undefined;
}

export async function requirePack(reader: Pick<Database, 'first'>, gameId: number, id: number): Promise<store.PackRow> {
  const pack = await findPack(reader, gameId, id);
  if (!pack) throw new ApiError('RESOURCE_NOT_FOUND');
  return pack;
}

/** The pack that a store sells under this SKU. */
export const findPackBySku = (reader: Pick<Database, 'first'>, gameId: number, portal: string, sku: string) =>
  store.bySku(reader, gameId, portal, sku);

/** Whether the game sells packs in the store. */
export const sellsInPortal = store.isListedIn;

/** The cheapest pack that has at least this many tokens. */
export const findPackCovering = (reader: Pick<Database, 'first'>, gameId: number, tokens: number) =>
  store.covering(reader, gameId, tokens);

/** Where stores sell the pack. */
export const skusOfPack = (reader: Pick<Database, 'all'>, id: number) => store.skusOf(reader, id);

async function packChanged(app: App, transaction: Transaction, id: number): Promise<void> {
  for (const { onChange } of app.extensions.of(packExtensions)) await onChange(app, transaction, id);
}

/** The packs that a store sells for the game, by SKU. */
export async function packsInStore(app: App, gameId: number, portal: string): Promise<Map<string, store.ListedPack>> {
  const packs = await store.listed(app.db.query, gameId, portal);
  return new Map(packs.map((pack) => [pack.sku, pack]));
}

async function requireAdministrator(transaction: Transaction, caller: UserCaller, gameId: number): Promise<void> {
  await requireGameForChange(transaction, caller, gameId);
  if ((await teamLevel(transaction, caller, 'games', gameId)) < ADMINISTRATOR)
    throw new ApiError('GAME_NO_UPDATE_PERMISSION');
}

export async function addPack(
  app: App,
  caller: UserCaller,
  gameId: number,
  fields: PackFields,
): Promise<store.PackRow> {
  const { skus, currency, ...columns } = fields;
  const now = app.clock.now();
  return writing(app, async (transaction) => {
    await requireAdministrator(transaction, caller, gameId);
    const pack = await store.add(transaction.query, {
      ...columns,
      game_id: gameId,
      currency: currency ?? (await termsOf(transaction, gameId)).terms.currency,
      date_added: now,
      date_updated: now,
      date_removed: 0,
    });
    await store.addListing(transaction, pack);
    await store.putSkus(transaction, pack, skusOf(skus));
    transaction.made?.(pack.id);
    await auditGame(app, transaction, caller, gameId, { action: 'token-pack-add', data: { id: pack.id, ...fields } });
    return pack;
  });
}

export async function changePack(
  app: App,
  caller: UserCaller,
  gameId: number,
  id: number,
  changes: PackChanges,
): Promise<store.PackRow> {
  const { skus, ...columns } = changes;
  const sent = Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
  return writing(app, async (transaction) => {
    await requireAdministrator(transaction, caller, gameId);
    await requirePack(transaction, gameId, id);
    const pack = await store.change(transaction.query, id, { ...sent, date_updated: app.clock.now() });
    if (skus) await store.putSkus(transaction, pack, skusOf(skus));
    await packChanged(app, transaction, id);
    await auditGame(app, transaction, caller, gameId, { action: 'token-pack-edit', data: { id, ...changes } });
    return pack;
  });
}

/** Nobody can buy it any more. Payments that were begun can still be completed. */
export async function removePack(app: App, caller: UserCaller, gameId: number, id: number): Promise<void> {
  await app.db.write(async (transaction) => {
    await requireAdministrator(transaction, caller, gameId);
    const pack = await requirePack(transaction, gameId, id);
    await store.removeSkus(transaction, id);
    await store.change(transaction.query, id, { date_removed: app.clock.now() });
    await packChanged(app, transaction, id);
    await auditGame(app, transaction, caller, gameId, { action: 'token-pack-remove', data: { id, name: pack.name } });
  });
}

const skusOf = (pairs: readonly string[]): ReadonlyMap<string, string> =>
  new Map(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]));

/** Two packs of a game cannot have one SKU in the same store. */
async function writing<T>(app: App, work: (transaction: Transaction) => Promise<T>): Promise<T> {
  try {
    return await app.db.write(work);
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'skus', rule: 'taken' }] });
  }
}
