import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import type { Listing, ListRequest } from '../../platform/database/listing.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import * as store from './store.ts';
import { AGREEMENT_TYPES, type AgreementType } from './types.ts';

/** The columns that lists of acceptances can be filtered and sorted by. */
export const acceptanceListing: Listing = {
  from: 'c',
  columns: {
    id: { kind: 'integer' },
    agreement_version_id: { kind: 'integer', sql: 'c.version_id' },
    game_id: { kind: 'integer' },
    type: { kind: 'integer', sql: 'v.type' },
    is_active: { kind: 'integer', sql: 'v.is_active' },
    date_added: { kind: 'integer' },
  },
  sorts: { id: 'c.id', type: 'v.type', date_added: 'c.date_added' },
};

/** The agreements that a sign-in through a portal accepts. */
const CONSENT = [AGREEMENT_TYPES.TERMS, AGREEMENT_TYPES.PRIVACY] as const;
const EVERYWHERE = 0;

type Reader = Pick<Database, 'first'>;

/** Accepts a version. Only versions in force can be accepted, because others bind nobody. */
export async function acceptVersion(app: App, caller: UserCaller, versionId: number): Promise<store.AcceptanceRow> {
  return app.db.write(async (transaction) => {
    const version = await store.rowIn(transaction, versionId);
    if (!version) throw new ApiError('AGREEMENT_NOT_FOUND');
    if (version.date_live === 0) throw new ApiError('AGREEMENT_NO_VIEW_ACCESS');
    if (version.is_active === 0)
      throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'agreement_version_id', rule: 'outdated' }] });
    const acceptance = { userId: caller.userId, versionId, gameId: EVERYWHERE };
    if (!(await store.accept(transaction.query, acceptance, app.clock.now())))
      throw new ApiError('AGREEMENT_ALREADY_ACCEPTED');
    return store.acceptanceOf(transaction.query, caller.userId, versionId);
  });
}

export const listAcceptances = (app: App, caller: UserCaller, request: ListRequest) =>
  store.listAcceptances(app.db.query, caller.userId, acceptanceListing, request);

/** Whether a user has accepted the version of a type that is in force, if there is one. */
export async function hasAccepted(reader: Reader, userId: number, type: AgreementType): Promise<boolean> {
  return !(await store.hasOpen(reader, [type, type], { userId, gameId: EVERYWHERE }));
}

/**
 * Whether a user has accepted the terms and the privacy policy in force, so that `terms_agreed` is not required again.
 * With a game id it covers consent for that game only, as PlayStation requires.
 */
export async function hasAgreed(reader: Reader, userId: number, gameId = EVERYWHERE): Promise<boolean> {
  return !(await store.hasOpen(reader, CONSENT, { userId, gameId }));
}

/** Records `terms_agreed`. Accepting twice has no effect. */
export async function agree(app: App, transaction: Transaction, userId: number, gameId = EVERYWHERE): Promise<void> {
  for (const versionId of await store.idsInForce(transaction, CONSENT))
    await store.accept(transaction.query, { userId, versionId, gameId }, app.clock.now());
}
