import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { factOf, rememberFact } from '../../platform/database/facts.ts';
import type { Listing, ListRequest } from '../../platform/database/listing.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import { sanitised } from '../../platform/text/markup.ts';
import { audit } from '../../records/audit/audit.ts';
import { FIRST_VERSIONS } from './first-versions.ts';
import * as store from './store.ts';
import { isAgreementType, LEGAL_PAGES } from './types.ts';

export type { AcceptanceRow, ShownVersion } from './store.ts';

/** The columns that lists of versions can be filtered and sorted by. */
export const versionListing: Listing = {
  from: 'v',
  columns: {
    id: { kind: 'integer' },
    is_active: { kind: 'integer' },
    date_added: { kind: 'integer' },
    date_updated: { kind: 'integer' },
    date_live: { kind: 'integer' },
  },
  sorts: { id: 'v.id', date_added: 'v.date_added', date_updated: 'v.date_updated', date_live: 'v.date_live' },
};

const isSiteAdmin = (caller: Caller): boolean => caller.kind === 'user' && caller.admin;

function requireType(type: number): void {
  if (!isAgreementType(type)) throw new ApiError('AGREEMENT_UNKNOWN_TYPE');
}

/** The version that is in force. */
export async function requireCurrent(app: App, type: number): Promise<store.ShownVersion> {
  requireType(type);
  const version = await store.inForce(app.db.query, type);
  if (!version) throw new ApiError('RESOURCE_NOT_FOUND');
  return version;
}

/** Everyone may read versions that are or were in force; drafts are for site staff. */
export async function requireVersion(app: App, caller: Caller, id: number): Promise<store.ShownVersion> {
  const version = await store.byId(app.db.query, id);
  if (!version) throw new ApiError('RESOURCE_NOT_FOUND');
  if (version.date_live === 0 && !isSiteAdmin(caller)) throw new ApiError('AGREEMENT_CANNOT_VIEW_ADMINS_ONLY');
  return version;
}

export async function listVersions(app: App, caller: Caller, type: number, request: ListRequest) {
  requireType(type);
  return store.list(app.db.query, type, isSiteAdmin(caller), versionListing, request);
}

export interface VersionTexts {
  readonly name: string;
  readonly changelog: string;
  readonly description: string;
}

/** Adds a draft. It binds nobody before it comes into force. */
export async function addVersion(
  app: App,
  caller: UserCaller,
  { type, ...texts }: VersionTexts & { readonly type: number },
): Promise<store.ShownVersion> {
  if (!caller.admin) throw new ApiError('AGREEMENT_CANNOT_ADD_ADMINS_ONLY');
  requireType(type);
  return app.db.write(async (transaction) => {
    const id = await store.add(transaction.query, { ...draftOf(app, texts), type, user_id: caller.userId });
    transaction.made?.(id);
    transaction.changed('agreements');
    await audit(app, transaction, { ...audited(caller, id), action: 'agreements.add', data: { type } });
    return (await store.byId(transaction.query, id))!;
  });
}

function draftOf(app: App, { name, changelog, description }: VersionTexts) {
  const now = app.clock.now();
  const dates = { date_added: now, date_updated: now, date_live: 0, date_deleted: null };
  return { name, changelog, description: sanitised(description), is_active: 0, ...dates };
}

export interface VersionChanges {
  readonly name?: string | undefined;
  readonly changelog?: string | undefined;
  readonly description?: string | undefined;
  readonly is_active?: true | undefined;
}

/** Only drafts can change, because users have accepted the later versions. */
export async function changeVersion(
  app: App,
  caller: UserCaller,
  id: number,
  { is_active, ...texts }: VersionChanges,
): Promise<store.ShownVersion> {
  return app.db.write(async (transaction) => {
    const version = await requireForChange(transaction, caller, id, 'AGREEMENT_CANNOT_EDIT_ADMINS_ONLY');
    if (version.is_active === 1) throw new ApiError('AGREEMENT_CANNOT_ACTIVE_ALREADY_LIVE');
    const sent = Object.entries(texts).filter(([, text]) => text !== undefined);
    if (version.date_live > 0 && sent.length > 0)
      throw new ApiError('VALIDATION_GENERIC', { fields: sent.map(([field]) => ({ field, rule: 'final' })) });
    const { description } = texts;
    const changes = { ...Object.fromEntries(sent), ...(description && { description: sanitised(description) }) };
    const now = app.clock.now();
    await store.change(transaction.query, id, { ...changes, date_updated: now });
    if (is_active) await store.putInForce(transaction.query, version, now);
    transaction.changed('agreements');
    const action = is_active ? 'agreements.put-in-force' : 'agreements.edit';
    await audit(app, transaction, { ...audited(caller, id), action });
    return (await store.byId(transaction.query, id))!;
  });
}

/** Accepted versions stay in the database, hidden. */
export async function deleteVersion(app: App, caller: UserCaller, id: number): Promise<void> {
  await app.db.write(async (transaction) => {
    const version = await requireForChange(transaction, caller, id, 'AGREEMENT_CANNOT_DELETE_ADMINS_ONLY');
    if (version.is_active === 1) throw new ApiError('AGREEMENT_CANNOT_DELETE_LIVE_AGREEMENT');
    await store.change(transaction.query, id, { date_deleted: app.clock.now() });
    transaction.changed('agreements');
    await audit(app, transaction, { ...audited(caller, id), action: 'agreements.delete' });
  });
}

const audited = ({ userId }: UserCaller, id: number) => ({
  actor: userId,
  subject: { resource: 'agreements', id, gameId: 0 },
});

async function requireForChange(
  transaction: Transaction,
  caller: UserCaller,
  id: number,
  refused: ErrorName,
): Promise<store.VersionRow> {
  if (!caller.admin) throw new ApiError(refused);
  const type = await store.typeOf(transaction, id);
  if (type !== undefined) await store.lockType(transaction, type);
  const version = await store.rowIn(transaction, id);
  if (!version) throw new ApiError('AGREEMENT_NOT_FOUND');
  return version;
}

const FIRST_FACT = 'agreements.first-versions';

/** Gives a new site texts to accept until its operators write their own. */
export async function addFirstVersions(app: App): Promise<void> {
  if ((await factOf(app.db.query, FIRST_FACT)) !== undefined) return;
  await app.db.write(async (transaction) => {
    // When two processes start at once, the second waits here and then finds the versions of the first.
    await rememberFact(transaction.query, FIRST_FACT, app.environment);
    for (const { type, ...texts } of FIRST_VERSIONS) {
      if (await store.hasAny(transaction.query, type)) continue;
      const draft = draftOf(app, { ...texts, changelog: '' });
      const id = await store.add(transaction.query, { ...draft, type, user_id: null });
      await store.putInForce(transaction.query, { id, type }, app.clock.now());
    }
    transaction.changed('agreements');
  });
}

/** The text in force under the name of its page, if there is one. */
export async function findLegalText(app: App, page: string): Promise<VersionTexts | undefined> {
  const type = Object.hasOwn(LEGAL_PAGES, page) ? LEGAL_PAGES[page] : undefined;
  return type === undefined ? undefined : store.inForce(app.db.query, type);
}
