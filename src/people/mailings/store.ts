import type { Query } from '../../platform/database/database.ts';
import type { EmailOptOutsTable } from './table.ts';

export const hasOptedOut = async (query: Query, digest: string): Promise<boolean> =>
  (await query
    .selectFrom('email_opt_outs')
    .select('date_added')
    .where('address_digest', '=', digest)
    .executeTakeFirst()) !== undefined;

export const put = (query: Query, row: EmailOptOutsTable) =>
  query
    .insertInto('email_opt_outs')
    .values(row)
    .onConflict((conflict) => conflict.column('address_digest').doNothing())
    .execute();

export const remove = (query: Query, digest: string) =>
  query.deleteFrom('email_opt_outs').where('address_digest', '=', digest).execute();
