import { type GameRow, gameRowIn } from '../../catalogue/games/games.ts';
import { levelsOf, type ModRow, requireMod, requireModForChange } from '../../catalogue/mods/mods.ts';
import type { Place } from '../../catalogue/teams/extensions.ts';
import { ADMINISTRATOR, MODERATOR } from '../../catalogue/teams/teams.ts';
import { findUserIn, USER_ACTIVE, USER_DELETED } from '../../people/users/users.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import { audit } from '../../records/audit/audit.ts';
import { balancesOf, tokenAccount } from '../ledger/ledger.ts';
import { STATUS } from '../partners/sellers.ts';
import { GAME_SELLS, requireSiteSelling } from '../terms/switches.ts';
import * as store from './store.ts';

export type { ShareRow } from './store.ts';

const MEMBERS_MAX = 5;
const ALL_PERCENT = 100;
/** The bit of a mod's `monetization_options`: it sells. */
const MOD_SELLS = 1;

type Reader = Pick<Database, 'first' | 'all'>;

export interface Split {
  readonly id: number;
  readonly split: number;
}

const refusedUsers = (error: ErrorName): ApiError =>
  new ApiError(error, { fields: [{ field: 'users', rule: 'invalid' }] });

async function requireMember(
  reader: Reader,
  caller: UserCaller,
  gameId: number,
  modId: number,
  level: number,
): Promise<void> {
  const mod = await requireMod(reader, caller, gameId, modId);
  // Neither the team of the game nor site staff decides over what authors earn.
  const levels = await levelsOf(reader, { ...caller, admin: false }, mod);
  if (levels.mod < level) throw new ApiError('MONETIZATION_TEAM_NO_ADD_PERMISSION');
}

/** Who earns with the mod: the team that was set, or its leader alone. */
export async function showRevenueTeam(
  app: App,
  caller: UserCaller,
  gameId: number,
  modId: number,
): Promise<store.ShareRow[]> {
  await requireMember(app.db, caller, gameId, modId, MODERATOR);
  const shares = await sharesSet(app.db, modId);
  if (shares.length > 0) return shares;
  const leader = await store.leaderOf(app.db, modId);
  if ((leader.monetization_options & MOD_SELLS) === 0) throw new ApiError('MONETIZATION_TEAM_NOT_FOUND');
  return [leader];
}

/** The shares of the team that was set; none where the leader earns everything. */
async function sharesSet(reader: Reader, modId: number): Promise<store.ShareRow[]> {
  const team = await store.current(reader, modId);
  return team ? store.sharesOf(reader, team.id) : [];
}

/** Sets who earns with a mod from now on. What was sold before stays as it was divided. */
export async function setRevenueTeam(
  app: App,
  caller: UserCaller,
  gameId: number,
  modId: number,
  users: readonly Split[],
): Promise<store.ShareRow[]> {
  return app.db.write(async (transaction) => {
    const mod = await requireModForChange(transaction, caller, gameId, modId);
    await requireMember(transaction, caller, gameId, modId, ADMINISTRATOR);
    requireSales(app, await gameRowIn(transaction, gameId));
    requireFair(users);
    for (const { id } of users) await requireEarner(transaction, gameId, id);
    await requireLeaderConsent(transaction, caller, mod, users);
    const shares = users.map(({ id, split }) => ({ user_id: id, split }));
    const team = await replaceTeam(app, transaction, caller, mod, shares);
    return store.sharesOf(transaction, team.id);
  });
}

/** The leader of the mod gets everything again. */
export async function removeRevenueTeam(app: App, caller: UserCaller, gameId: number, modId: number): Promise<void> {
  await app.db.write(async (transaction) => {
    const mod = await requireModForChange(transaction, caller, gameId, modId);
    await requireMember(transaction, caller, gameId, modId, ADMINISTRATOR);
    if ((await sharesSet(transaction, modId)).length === 0)
      throw new ApiError('MONETIZATION_TEAM_NOT_CREATED', { fields: [{ field: 'mod_id', rule: 'invalid' }] });
    await replaceTeam(app, transaction, caller, mod, []);
  });
}

async function replaceTeam(
  app: App,
  transaction: Transaction,
  { userId }: UserCaller,
  { id: mod_id, game_id }: ModRow,
  shares: readonly { readonly user_id: number; readonly split: number }[],
) {
  const row = { mod_id, game_id, changed_by: userId, date_added: app.clock.now() };
  const team = await store.add(transaction, row, shares);
  const subject = { resource: 'mods', id: mod_id, gameId: game_id };
  const data = { shares: Object.fromEntries(shares.map(({ user_id, split }) => [user_id, split])) };
  await audit(app, transaction, { actor: userId, action: 'mods.revenue-team', subject, data });
  return team;
}

/** As for wallets: a game that sells nothing has no team whose part authors could divide. */
function requireSales(app: App, game: Pick<GameRow, 'monetization_options'>): void {
  requireSiteSelling(app);
  if ((game.monetization_options & GAME_SELLS) === 0) throw new ApiError('MONETIZATION_TEAM_NOT_FOUND');
}

/** At most five users, each once, who share everything. */
function requireFair(users: readonly Split[]): void {
  if (users.length > MEMBERS_MAX) throw refusedUsers('MONETIZATION_TEAM_COUNT_LIMIT');
  if (users.length === 0 || new Set(users.map(({ id }) => id)).size < users.length)
    throw refusedUsers('MONETIZATION_TEAM_CREATE_ERROR');
  const isWhole = users.reduce((sum, { split }) => sum + split, 0) === ALL_PERCENT;
  if (!isWhole || users.some(({ split }) => split < 1)) throw refusedUsers('MONETIZATION_SPLIT_LIMITS');
}

async function requireEarner(transaction: Transaction, gameId: number, id: number): Promise<void> {
  const user = await findUserIn(transaction, id);
  if (user?.status !== USER_ACTIVE || user.date_locked !== null) throw refusedUsers('MONETIZATION_TEAM_ADD_ERROR');
  if ((user.monetization_status & STATUS.REJECTED) !== 0) throw refusedUsers('MONETIZATION_ONBOARD_ERROR');
  const [deficit] = await balancesOf(transaction, [tokenAccount('deficit', gameId, id)]);
  if (deficit !== 0) throw refusedUsers('MONETIZATION_WALLET_ERROR');
}

/** Nobody but the leader lowers the share of the leader. */
async function requireLeaderConsent(
  transaction: Transaction,
  { userId }: UserCaller,
  mod: ModRow,
  users: readonly Split[],
): Promise<void> {
  if (userId === mod.submitted_by) return;
  const { shares } = await sellersNow(transaction, mod.id);
  const before = shares.find(({ user_id }) => user_id === mod.submitted_by)?.split ?? 0;
  const after = users.find(({ id }) => id === mod.submitted_by)?.split ?? 0;
  if (after < before) throw refusedUsers('MONETIZATION_DEFAULT_MIN_SPLIT');
}

export type Share = store.SellerRow;

/** Who earns with a mod today: its team, or its leader alone. */
export interface Sellers {
  readonly shares: readonly Share[];
  /** Nobody is left who could earn: the team and the leader were banned, or have deleted their accounts. */
  readonly areGone: boolean;
}

export async function sellersNow(transaction: Transaction, modId: number): Promise<Sellers> {
  const sellers = await store.sellersOf(transaction, modId);
  const team = sellers.filter(({ split }) => split > 0);
  const shares = team.length > 0 ? team : sellers.map((leader) => ({ ...leader, split: ALL_PERCENT }));
  return { shares, areGone: sellers.every(({ status }) => status !== USER_ACTIVE) };
}

/**
 * Divides the sellers' part of a price. What belongs to accounts that are gone, and fractions of a token, go to the
 * leader of the mod.
 */
export function divideEarnings(
  all: readonly Share[],
  mod: Pick<ModRow, 'submitted_by'>,
  amount: number,
): { userId: number; amount: number }[] {
  const shares = all.filter(({ status }) => status !== USER_DELETED);
  const earned = new Map(
    shares.map(({ user_id, split }) => [user_id, Math.floor((amount * split) / ALL_PERCENT)] as const),
  );
  const rest = amount - [...earned.values()].reduce((sum, each) => sum + each, 0);
  earned.set(mod.submitted_by, (earned.get(mod.submitted_by) ?? 0) + rest);
  return [...earned].map(([userId, each]) => ({ userId, amount: each }));
}

export interface PastTeam {
  readonly id: number;
  readonly changed_by: number;
  readonly date_added: number;
  readonly shares: readonly { readonly user_id: number; readonly username: string; readonly split: number }[];
}

export async function listRevenueTeams(
  app: App,
  caller: UserCaller,
  gameId: number,
  modId: number,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ rows: PastTeam[]; total: number }> {
  await requireMember(app.db, caller, gameId, modId, MODERATOR);
  const { rows, total } = await store.history(app.db.query, modId, page);
  const ids = rows.map(({ id }) => id);
  const shares = Map.groupBy(await store.sharesAmong(app.db.query, ids), ({ revenue_team_id }) => revenue_team_id);
  return { rows: rows.map((row) => ({ ...row, shares: shares.get(row.id) ?? [] })), total };
}

/** A member of a mod's team who earns with it stays until their share is gone. */
export async function refuseLeaving(_: App, transaction: Transaction, { resource, id }: Place, userId: number) {
  if (resource !== 'mods') return;
  if ((await sharesSet(transaction, id)).some(({ user_id }) => user_id === userId))
    throw new ApiError('MOD_TEAM_DELETE_MONETIZATION_TEAM_MEMBER');
}
