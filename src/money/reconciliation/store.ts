import { sql } from 'kysely';
import type { Query } from '../../platform/database/database.ts';

/** Unix seconds, inclusive and exclusive. */
export interface Window {
  readonly from: number;
  readonly until: number;
}

/** A posting that names a provider; `amount` is what it moved at the provider, or set aside for it. */
export interface LedgerRow {
  readonly game_id: number;
  readonly kind: string;
  readonly provider_reference: string;
  readonly date_added: number;
  readonly currency: string | null;
  readonly amount: number | null;
}

const READ_AT_ONCE = 500;

export const postingsOfProvider = async (
  query: Query,
  provider: string,
  gameId: number | undefined,
  { from, until }: Window,
): Promise<LedgerRow[]> => {
  const { rows } = await sql<LedgerRow>`select t.game_id, t.kind, t.provider_reference, t.date_added,
      max(a.currency) as currency, sum(case when a.id is null then null else abs(e.amount) end) as amount
    from ledger_transactions t
    join ledger_entries e on e.transaction_id = t.id
    left join ledger_accounts a on a.id = e.account_id and a.kind in ('gateway', 'payouts_in_transit')
    where t.provider = ${provider} and t.date_added >= ${from} and t.date_added < ${until}
      ${gameId === undefined ? sql`` : sql`and t.game_id = ${gameId}`}
    group by t.id, t.game_id, t.kind, t.provider_reference, t.date_added order by t.id`.execute(query);
  return rows.map((row) => ({ ...row, amount: row.amount === null ? null : Number(row.amount) }));
};

/** The game of each reference that a payment or payout of this service has. */
export async function gamesOfReferences(query: Query, references: readonly string[]): Promise<Map<string, number>> {
  const games = new Map<string, number>();
  for (let at = 0; at < references.length; at += READ_AT_ONCE) {
    const some = references.slice(at, at + READ_AT_ONCE);
    for (const table of ['payments', 'payouts', 'store_fulfilments'] as const) {
      const rows = await query
        .selectFrom(table)
        .select(['reference', 'game_id'])
        .where('reference', 'in', some)
        .execute();
      for (const { reference, game_id } of rows) games.set(reference, game_id);
    }
  }
  return games;
}

export interface SimulatedRow {
  readonly reference: string;
  readonly amount: number;
  readonly currency: string;
  readonly outcome: string;
  readonly date_added: number;
  readonly date_due: number;
}

/** What the simulated provider has in a window, and about payments that the books name. */
export async function simulatedRecords(
  query: Query,
  table: 'simulated_payments' | 'simulated_payouts',
  references: readonly string[],
  { from, until }: Window,
): Promise<SimulatedRow[]> {
  const columns = ['reference', 'amount', 'currency', 'outcome', 'date_added', 'date_due'] as const;
  const inWindow = await query
    .selectFrom(table)
    .select(columns)
    .where('date_added', '>=', from)
    .where('date_added', '<', until)
    .execute();
  const rows = new Map<string, SimulatedRow>(inWindow.map((row) => [row.reference, row]));
  const missing = references.filter((each) => !rows.has(each));
  for (let at = 0; at < missing.length; at += READ_AT_ONCE) {
    const some = missing.slice(at, at + READ_AT_ONCE);
    for (const row of await query.selectFrom(table).select(columns).where('reference', 'in', some).execute())
      rows.set(row.reference, row);
  }
  return [...rows.values()];
}
