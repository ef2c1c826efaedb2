import type { Migration } from '../../database/migrate.ts';

/**
 * `lease_limit` as before, with fewer statements. Their plans are made once, when the table may still be empty, and a scan
 * of all slots would then stay for as long as the connection; so would one of all buckets in this minute, which is why
 * slots are compared with `abs`. Slots of other minutes are left out of the sum: those behind are removed in passing,
 * those ahead, after a jump of the clock, when their time has come.
 */
const LEASE_LIMIT = `
create or replace function lease_limit(p_bucket text, p_slot bigint, p_limit bigint, p_want bigint, p_unspent bigint,
  p_unspent_slot bigint, out granted bigint, out frees_at bigint) language plpgsql set enable_seqscan = off as $$
declare total bigint;
begin
  perform pg_advisory_xact_lock(1297040467, hashtext(p_bucket));
  if p_unspent > 0 then
    update limit_slots set taken = greatest(0, taken - p_unspent) where bucket = p_bucket and slot = p_unspent_slot;
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
  delete from limit_slots where (bucket, slot) in
    (select bucket, slot from limit_slots where slot < p_slot - 24 order by slot limit 4 for update skip locked);
end $$`;

export const leasesByIndex: Migration = {
  name: '2026-11-17-leases-by-index',
  up: (_, dialect) => (dialect === 'postgres' ? [LEASE_LIMIT] : []),
};
