import type { Database, Statement } from '../database/database.ts';
import { type Lease, type LimitStore, leasesTogether } from './store.ts';

/** In the order of the locks that `lease_limit` takes, so that two processes cannot deadlock. */
const LEASES: Statement = {
  text: '',
  postgres: `select r.place, l.granted, l.frees_at from (
      select * from json_to_recordset($1::json) as wanted
        (place int, bucket text, slot bigint, "limit" bigint, want bigint, unspent bigint, "unspentSlot" bigint)
      order by hashtext(bucket)
    ) r cross join lateral lease_limit(r.bucket, r.slot, r."limit", r.want, r.unspent, r."unspentSlot") l`,
};

/** Counts in PostgreSQL, for processes on any number of machines. */
export function postgresStore(db: Database): LimitStore {
  return {
    lease: leasesTogether(async (requests) => {
      const wanted = requests.map((request, place) => ({ place, ...request }));
      const rows = await db.all<{ place: number; granted: number; frees_at: number }>(LEASES, [JSON.stringify(wanted)]);
      const leases: Lease[] = [];
      for (const { place, granted, frees_at } of rows) leases[place] = { granted, freesAt: frees_at };
      return leases;
    }),
    close: async () => {},
  };
}
