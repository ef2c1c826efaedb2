import { accessOfChanged } from '../../platform/access/credentials.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import * as store from './store.ts';

/** Counts someone among those who run the site; false where they are already. It takes effect on every process at once. */
export async function joinStaff(
  transaction: Transaction,
  { userId, level, addedBy, now }: { userId: number; level: number; addedBy: number; now: number },
): Promise<boolean> {
  const row = { user_id: userId, level, added_by: addedBy, date_added: now };
  if (!(await store.add(transaction, row))) return false;
  accessOfChanged(transaction, userId);
  return true;
}

/** The level of someone who need not be the caller; 0 for everyone who does not run the site. */
export const staffLevelOf = (reader: Pick<Database, 'first'>, userId: number) => store.levelOf(reader, userId);

export const isStaffMember = async (reader: Pick<Database, 'first'>, userId: number): Promise<boolean> =>
  (await store.levelOf(reader, userId)) > 0;
