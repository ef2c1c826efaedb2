import { requireGame } from '../../catalogue/games/games.ts';
import { MODERATOR, teamLevel } from '../../catalogue/teams/teams.ts';
import { notifyDecision, withdrawDecision } from '../../people/notifications/notifications.ts';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import { isSiteStaff } from '../../platform/access/staff.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import type { Listing, ListRequest } from '../../platform/database/listing.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { audit } from '../../records/audit/audit.ts';
import * as store from './store.ts';

export type { ReportRow } from './store.ts';

export type ReportedItem = Awaited<ReturnType<typeof store.listItems>>['rows'][number];

interface About {
  readonly resource: string;
  readonly id: number;
}

const integer = { kind: 'integer' } as const;
const columns = {
  id: integer,
  game_id: integer,
  resource: { kind: 'text', sql: 'r.resource' },
  resource_id: integer,
  author_id: integer,
  user_id: integer,
  type: integer,
  reason: integer,
  status: integer,
  date_added: integer,
} as const;

/** The columns by which lists of reports can be filtered and sorted. */
export const reportListing: Listing = {
  from: 'r',
  columns,
  sorts: { id: 'r.id', date_added: 'r.date_added', type: 'r.type' },
};

/** The same, with one row for all reports about an item. */
export const itemListing: Listing = {
  from: 'r',
  columns,
  sorts: { id: 'q.id', reports: 'q.reports', date_added: 'q.date_first' },
};

async function requireModerator(reader: Parameters<typeof teamLevel>[0], caller: Caller, gameId: number) {
  await requireGame(reader, caller, gameId);
  if ((await teamLevel(reader, caller, 'games', gameId)) < MODERATOR)
    throw new ApiError('RESOURCE_NO_MODERATE_PERMISSION');
}

function requireSiteStaff(caller: UserCaller): void {
  if (!isSiteStaff(caller)) throw new ApiError('USER_CANT_VIEW_ADMIN_ONLY');
}

export async function listReportedItems(app: App, caller: Caller, gameId: number, request: ListRequest) {
  await requireModerator(app.db, caller, gameId);
  return store.listItems(app.db.query, gameId, itemListing, request);
}

export async function listReportedItemsOfSite(app: App, caller: UserCaller, request: ListRequest) {
  requireSiteStaff(caller);
  return store.listItems(app.db.query, undefined, itemListing, request);
}

export async function listReportsOfGame(app: App, caller: Caller, gameId: number, request: ListRequest) {
  await requireModerator(app.db, caller, gameId);
  return store.list(app.db.query, gameId, reportListing, request);
}

export async function listReports(app: App, caller: UserCaller, request: ListRequest) {
  requireSiteStaff(caller);
  return store.list(app.db.query, undefined, reportListing, request);
}

/** Allowed for the game’s team. */
export async function resolveInGame(app: App, caller: UserCaller, gameId: number, id: number, resolution: string) {
  return app.db.write(async (transaction) => {
    await requireModerator(transaction, caller, gameId);
    const report = await store.rowForChange(transaction, id);
    if (report?.game_id !== gameId) throw new ApiError('REPORT_NOT_FOUND');
    return resolve(app, transaction, caller, report, resolution);
  });
}

/** Allowed for site administrators. Reports about users in a game are resolved by its team. */
export async function resolveOnSite(app: App, caller: UserCaller, id: number, resolution: string) {
  return app.db.write(async (transaction) => {
    requireSiteStaff(caller);
    const report = await store.rowForChange(transaction, id);
    if (!report) throw new ApiError('REPORT_NOT_FOUND');
    if (report.resource === 'users' && report.game_id > 0) throw new ApiError('REPORT_USER_REPORT_BELONGS_TO_GAME');
    return resolve(app, transaction, caller, report, resolution);
  });
}

async function resolve(
  app: App,
  transaction: Transaction,
  { userId }: UserCaller,
  report: store.ReportRow,
  resolution: string,
): Promise<store.ReportRow> {
  if (report.status !== 0) throw new ApiError('REPORT_ALREADY_RESOLVED');
  const done = { status: 1, date_resolved: app.clock.now(), resolved_by: userId, resolution };
  await store.resolve(transaction, report, done);
  const subject = { resource: report.resource, id: report.resource_id, gameId: report.game_id };
  const told = { actor: userId, action: 'reports.resolve', subject, reason: resolution, data: { report: report.id } };
  await audit(app, transaction, told);
  await notifyDecision(app, transaction, 'report_resolved', subject, { userId: report.user_id, by: userId });
  return { ...report, ...done };
}

/** Requires an open report before all reports about an item are resolved. */
export async function requireAnyOpen(transaction: Transaction, { resource, id }: About): Promise<void> {
  const { open, all } = await store.countOf(transaction, resource, id);
  if (all === 0) throw new ApiError('REPORT_NOT_FOUND');
  if (open === 0) throw new ApiError('REPORT_ALREADY_RESOLVED');
}

export async function resolveAll(
  app: App,
  transaction: Transaction,
  { resource, id }: About,
  { by, resolution, mailDelaySeconds }: { by: number; resolution: string; mailDelaySeconds: number },
): Promise<void> {
  const done = { status: 1, date_resolved: app.clock.now(), resolved_by: by, resolution };
  for (const { user_id, game_id } of await store.resolveAll(transaction, resource, id, done)) {
    const subject = { resource, id, gameId: game_id };
    const recipient = { userId: user_id, by, mailDelaySeconds };
    await notifyDecision(app, transaction, 'report_resolved', subject, recipient);
  }
}

/** Opens again what a decision of this moderator at this time resolved, except where its reporter has reported anew. */
export async function reopenAll(
  transaction: Transaction,
  { resource, id }: About,
  decided: { readonly by: number; readonly at: number },
): Promise<void> {
  for (const { user_id, game_id } of await store.reopenAll(transaction, resource, id, decided))
    await withdrawDecision(transaction, 'report_resolved', { resource, id, gameId: game_id }, user_id);
}
