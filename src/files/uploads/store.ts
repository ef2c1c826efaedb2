import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import {
  type Database,
  type Query,
  type Statement,
  statement,
  type Transaction,
} from '../../platform/database/database.ts';
import { type Listing, type ListRequest, narrowed, paged } from '../../platform/database/listing.ts';
import { takeAdvisoryLock as turnOf, withUpdateLock } from '../../platform/database/locks.ts';
import type { UploadPartsTable, UploadsTable } from './table.ts';

export type UploadRow = Selectable<UploadsTable>;
export type PartRow = Selectable<UploadPartsTable>;
/** An acknowledged part. */
export type ReceivedPart = PartRow & { sha256: string };

type Reader = Pick<Database, 'first' | 'all'>;

const BY_UPLOAD_ID = statement('select * from uploads where upload_id = ?');
export const byUploadId = (reader: Reader, uploadId: string) => reader.first<UploadRow>(BY_UPLOAD_ID, [uploadId]);

const OF_MOD = withUpdateLock(statement('select * from uploads where mod_id = ? order by id'));
export const ofMod = (transaction: Transaction, modId: number) => transaction.all<UploadRow>(OF_MOD, [modId]);

/** On PostgreSQL this locks the session with all its parts. */
const FOR_CHANGE = withUpdateLock(statement('select * from uploads where upload_id = ?'));
export const forChange = (transaction: Transaction, uploadId: string) =>
  transaction.first<UploadRow>(FOR_CHANGE, [uploadId]);

const BY_NONCE = statement('select * from uploads where mod_id = ? and user_id = ? and nonce = ?');
export const byNonce = (transaction: Transaction, modId: number, userId: number, nonce: string) =>
  transaction.first<UploadRow>(BY_NONCE, [modId, userId, nonce]);

/** Serialises how a user’s sessions are counted and added. On SQLite all writers are serialised anyway. */
export const takeTurn = (transaction: Transaction, userId: number) => turnOf(transaction, `uploads/${userId}`);

/** Sessions that have or will have bytes: open ones, and complete ones that no modfile uses yet. */
const HELD = 'status < 4 and used = 0';
const HELD_OF_USER = statement(`select count(*) as held from uploads where user_id = ? and ${HELD}`);
const HELD_OF_MOD = statement(`select count(*) as held from uploads where mod_id = ? and ${HELD}`);

export async function heldBy(transaction: Transaction, userId: number, modId: number) {
  const count = async (read: Statement, id: number) =>
    Number((await transaction.first<{ held: number }>(read, [id]))!.held);
  return { user: await count(HELD_OF_USER, userId), mod: await count(HELD_OF_MOD, modId) };
}

/** The bytes that were declared and have not arrived yet. */
const OUTSTANDING = statement('select coalesce(sum(total - received), 0) as bytes from uploads where status = 0');
export async function outstandingBytes(transaction: Transaction): Promise<number> {
  return Number((await transaction.first<{ bytes: number | string }>(OUTSTANDING, []))!.bytes);
}

export const add = (query: Query, row: Insertable<UploadsTable>): Promise<UploadRow> =>
  query.insertInto('uploads').values(row).returningAll().executeTakeFirstOrThrow();

export const change = (query: Query, id: number, values: Updateable<UploadsTable>): Promise<UploadRow> =>
  query.updateTable('uploads').set(values).where('id', '=', id).returningAll().executeTakeFirstOrThrow();

/** Returns false if another request was first. */
export async function begun(query: Query, id: number, handle: string): Promise<boolean> {
  const changed = await query
    .updateTable('uploads')
    .set({ handle })
    .where('id', '=', id)
    .where('handle', 'is', null)
    .executeTakeFirst();
  return changed.numUpdatedRows > 0n;
}

/** Returns false if another request has begun the session. */
export async function removeUnbegun(query: Query, id: number): Promise<boolean> {
  const removed = await query.deleteFrom('uploads').where('id', '=', id).where('handle', 'is', null).executeTakeFirst();
  return removed.numDeletedRows > 0n;
}

/** Changes nothing if the claim was lost. */
export async function changeClaimed(
  query: Query,
  { id, claim }: Pick<UploadRow, 'id' | 'claim'>,
  values: Updateable<UploadsTable>,
): Promise<UploadRow | undefined> {
  return query
    .updateTable('uploads')
    .set(values)
    .where('id', '=', id)
    .where('claim', '=', claim)
    .where('status', 'in', [1, 2])
    .returningAll()
    .executeTakeFirst();
}

export async function list(
  query: Query,
  { modId, userId }: { modId: number; userId: number },
  listing: Listing,
  request: ListRequest,
) {
  const wanted = () =>
    narrowed(
      query.selectFrom('uploads as u').where('u.mod_id', '=', modId).where('u.user_id', '=', userId),
      listing,
      request,
    );
  const { total } = await wanted()
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await paged(wanted().selectAll('u'), listing, request).execute();
  return { rows, total: Number(total) };
}

const PARTS = statement('select * from upload_parts where upload_id = ? and sha256 is not null order by part_number');
export const partsOf = (reader: Reader, uploadId: string) => reader.all<ReceivedPart>(PARTS, [uploadId]);

const PART = statement('select * from upload_parts where upload_id = ? and part_number = ?');
export const partOf = (reader: Reader, uploadId: string, number: number) =>
  reader.first<PartRow>(PART, [uploadId, number]);

/** The newest claim of a part replaces the older one. */
export async function claimPart(query: Query, row: Insertable<UploadPartsTable>): Promise<void> {
  const { claim, claim_until } = row;
  await query
    .insertInto('upload_parts')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['upload_id', 'part_number']).doUpdateSet({ claim, claim_until, wanted: 0 }),
    )
    .execute();
}

const claimed = (query: Query, { upload_id, part_number, claim }: Claim) =>
  query
    .updateTable('upload_parts')
    .where('upload_id', '=', upload_id)
    .where('part_number', '=', part_number)
    .where('claim', '=', claim);

export interface Claim {
  readonly upload_id: string;
  readonly part_number: number;
  readonly claim: string;
}

/** Returns false if another request has the claim. */
export async function renewClaim(query: Query, claim: Claim, claim_until: number): Promise<boolean> {
  return (await claimed(query, claim).set({ claim_until }).executeTakeFirst()).numUpdatedRows > 0n;
}

export async function wantPart(query: Query, claim: Claim): Promise<void> {
  await claimed(query, claim).set({ wanted: 1 }).execute();
}

export const acknowledge = (
  query: Query,
  claim: Claim,
  part: { sha256: string; tag: string; date_added: number },
): Promise<PartRow | undefined> =>
  claimed(query, claim)
    .set({ ...part, claim: null, wanted: 0 })
    .returningAll()
    .executeTakeFirst();

export async function releaseClaim(query: Query, { upload_id, part_number, claim }: Claim): Promise<void> {
  await query
    .deleteFrom('upload_parts')
    .where('upload_id', '=', upload_id)
    .where('part_number', '=', part_number)
    .where('claim', '=', claim)
    .execute();
}

export const addReceived = (query: Query, id: number, bytes: number, now: number) =>
  query
    .updateTable('uploads')
    .set({ received: sql`received + ${bytes}`, date_updated: now })
    .where('id', '=', id)
    .execute();

export async function removeParts(query: Query, uploadId: string, numbers: readonly number[]): Promise<void> {
  await query
    .deleteFrom('upload_parts')
    .where('upload_id', '=', uploadId)
    .where('part_number', 'in', numbers)
    .execute();
}

/** Sessions in one of these states without changes since then. */
export const untouchedSince = (
  query: Query,
  statuses: readonly number[],
  used: number,
  moment: number,
  limit: number,
) =>
  query
    .selectFrom('uploads')
    .selectAll()
    .where('status', 'in', statuses)
    .where('used', '=', used)
    .where('date_updated', '<', moment)
    .orderBy('id')
    .limit(limit)
    .execute();

export async function remove(query: Query, { id, upload_id }: Pick<UploadRow, 'id' | 'upload_id'>): Promise<void> {
  await query.deleteFrom('upload_parts').where('upload_id', '=', upload_id).execute();
  await query.deleteFrom('uploads').where('id', '=', id).execute();
}

/** Sessions in this state that no modfile uses. */
export const waiting = (query: Query, status: number) =>
  query.selectFrom('uploads').selectAll().where('status', '=', status).where('used', '=', 0).orderBy('id').execute();

const OF_USER = statement('select * from uploads where user_id = ? order by id limit ?');
export const ofUser = (transaction: Transaction, userId: number, most: number) =>
  transaction.all<UploadRow>(OF_USER, [userId, most]);

const DOUBLED = statement(`select u.* from uploads u join uploads o
  on o.mod_id = u.mod_id and o.nonce = u.nonce and o.user_id = ? where u.user_id = ? order by u.id limit ?`);
/** Sessions of one account with the same mod and nonce as one of the other account. */
export const doubled = (transaction: Transaction, from: number, to: number, most: number) =>
  transaction.all<UploadRow>(DOUBLED, [to, from, most]);
