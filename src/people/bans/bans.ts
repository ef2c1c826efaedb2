import type { UserCaller } from '../../platform/access/caller.ts';
import { BANS_SCOPE } from '../../platform/access/gate.ts';
import { isLoopback, isWithin, type Network, networkText, overlaps } from '../../platform/access/networks.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import type { Listing, ListRequest } from '../../platform/database/listing.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { audit } from '../../records/audit/audit.ts';
import * as store from './store.ts';

/** The columns that the list can be filtered and sorted by. */
export const banListing: Listing = {
  from: 'b',
  columns: {
    id: { kind: 'integer', sql: 'b.id' },
    network: { kind: 'text', sql: 'b.network' },
    user_id: { kind: 'integer', sql: 'b.user_id' },
    date_added: { kind: 'integer', sql: 'b.date_added' },
    date_expires: { kind: 'integer', sql: 'b.date_expires' },
  },
  sorts: { id: 'b.id', date_added: 'b.date_added', date_expires: 'b.date_expires' },
};

/** Only site administrators see addresses; teams of games never do. */
export async function listBans(app: App, caller: UserCaller, request: ListRequest) {
  if (!caller.admin) throw new ApiError('USER_CANT_VIEW_ADMIN_ONLY');
  return store.list(app.db.query, banListing, request);
}

/** For commands of the operator. */
export const allBans = (app: App) => store.all(app.db.query);

function requireAdministrator({ admin }: UserCaller): void {
  if (!admin) throw new ApiError('RESOURCE_NO_MODERATE_PERMISSION');
}

/** A wider network is more likely a mistake than intended. */
const BITS_MIN = { 4: 8, 16: 16 } as const;

export interface NewBan {
  readonly network: Network;
  readonly reason: string;
  readonly dateExpires: number;
  /** The address of the caller; undefined for commands. */
  readonly from?: string;
}

/** Refuses requests from the network on every process until the ban ends or is lifted. */
export async function banNetwork(app: App, caller: UserCaller, ban: NewBan): Promise<store.BanRow> {
  const { network, reason, dateExpires, from } = ban;
  requireAdministrator(caller);
  requireSensible(app, network);
  if (from !== undefined && !isLoopback(from) && isWithin(from, network))
    throw new ApiError('USER_ADMIN_CANT_MODERATE_SELF');
  const now = app.clock.now();
  if (dateExpires !== 0 && dateExpires <= now) refuse('date_expires');
  return app.db.write(async (transaction) => {
    const row = { network: networkText(network), reason, user_id: caller.userId };
    const added = await store.add(transaction, { ...row, date_added: now, date_expires: dateExpires });
    if (!added) throw new ApiError('MODERATION_ALREADY_ACTIONED');
    transaction.changed(BANS_SCOPE);
    await auditBan(app, transaction, caller, added, 'ban');
    return added;
  });
}

/** Refuses networks that are too wide or contain the operator's own proxies. */
function requireSensible({ settings }: App, network: Network): void {
  const isOwn = settings.trustProxy.some(([proxy, bits]) => overlaps(network, { bytes: proxy.toByteArray(), bits }));
  if (network.bits < BITS_MIN[network.bytes.length as 4 | 16] || isOwn) refuse('network');
}

function refuse(field: string): never {
  throw new ApiError('VALIDATION_GENERIC', { fields: [{ field, rule: 'invalid' }] });
}

export async function liftBan(app: App, caller: UserCaller, id: number): Promise<store.BanRow> {
  requireAdministrator(caller);
  return app.db.write(async (transaction) => {
    const ban = await store.remove(transaction, id);
    if (!ban) throw new ApiError('MODERATION_NOT_FOUND');
    transaction.changed(BANS_SCOPE);
    await auditBan(app, transaction, caller, ban, 'unban');
    return ban;
  });
}

const auditBan = (
  app: App,
  transaction: Transaction,
  { userId: actor }: UserCaller,
  { id, network, reason, date_expires }: store.BanRow,
  done: 'ban' | 'unban',
) =>
  audit(app, transaction, {
    actor,
    action: `addresses.${done}`,
    subject: { resource: 'address_bans', id, gameId: 0 },
    reason,
    data: { network, date_expires },
  });

const RETENTION_SECONDS = 30 * 86_400;

/** Ended bans stay listed for a while; the audit log keeps them for ever. */
export const removeEndedBans = (app: App): Promise<void> =>
  app.db.write(async (transaction) => void (await store.removeEnded(transaction, app.clock.now() - RETENTION_SECONDS)));
