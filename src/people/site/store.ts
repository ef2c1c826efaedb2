import type { Selectable, Updateable } from 'kysely';
import { type Database, statement, type Transaction } from '../../platform/database/database.ts';
import { withUpdateLock } from '../../platform/database/locks.ts';
import type { SiteLookTable } from './table.ts';

export type LookRow = Selectable<SiteLookTable>;

const LOOK = statement(`select * from site_look where part = 'site'`);
export const look = (reader: Pick<Database, 'first'>) => reader.first<LookRow>(LOOK, []);

const FIRST = statement(`insert into site_look (part, name, summary, accent, icon, date_updated)
  values ('site', '', '', '', null, 0) on conflict (part) do nothing`);
const FOR_CHANGE = withUpdateLock(LOOK);
/** The row, which is added if there is none. It is locked on PostgreSQL until the transaction ends. */
export async function forChange(transaction: Transaction): Promise<LookRow> {
  await transaction.run(FIRST, []);
  return (await transaction.first<LookRow>(FOR_CHANGE, []))!;
}

export const change = ({ query }: Transaction, changes: Updateable<SiteLookTable>) =>
  query.updateTable('site_look').set(changes).where('part', '=', 'site').execute();
