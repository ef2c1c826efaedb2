import type { Migration } from '../../database/migrate.ts';

/**
 * `lease_limit` as before, with no statement left that could look for all buckets of a slot. After a quiet time the table
 * has one page, both of its indexes cost the same, and a plan that was made then stays for as long as the connection:
 * the update of one bucket read a thousand others.
 */
const LEASE_LIMIT = `
create or replace function lease_limit(p_bucket text, p_slot bigint, p_limit bigint, p_want bigint, p_unspent bigint,
  p_unspent_slot bigint, out granted bigint, out frees_at bigint) language plpgsql set enable_seqscan = off as $$
declare total bigint;
begin
  perform pg_advisory_xact_lock(1297040467, hashtext(p_bucket));
  if p_unspent > 0 then
    update limit_slots set taken = greatest(0, taken - p_unspent) where bucket = p_bucket and slot + 0 = p_unspent_slot;
  end if;
  select coalesce(sum(taken), 0) into total from limit_slots
    where bucket = p_bucket and abs(slot - p_slot) < 13;
  granted := least(p_want, (greatest(p_limit - total, 0) + 1) / 2);
  frees_at := p_slot;
  if granted > 0 then
    insert into limit_slots values (p_bucket, p_slot, granted)
      on conflict (bucket, slot) do update set taken = limit_slots.taken + excluded.taken;
  else
    select coalesce(min(freed.slot), p_slot) + 13 into frees_at
      from (select slot, sum(taken) over (order by slot) as count from limit_slots
        where bucket = p_bucket and abs(slot - p_slot) < 13) as freed
      where freed.count > total - p_limit;
  end if;
  delete from limit_slots where ctid = any(array(
    select ctid from limit_slots where slot < p_slot - 24 order by slot limit 4 for update skip locked));
end $$`;

export const leasesByBucket: Migration = {
  name: '2026-11-18-leases-by-bucket',
  up: (_, dialect) => (dialect === 'postgres' ? [LEASE_LIMIT] : []),
};
