import type { App } from '../../platform/app.ts';
import type { AccountKey, EntryRow, NewTransaction } from './store.ts';

type HashedEntry = AccountKey & Pick<EntryRow, 'account_id' | 'amount' | 'balance_after'>;

/**
 * Keyed with a secret outside the database, so that write access to the database is not enough to forge the books. The
 * names of the accounts are part of it, because the row of an account can change.
 */
export function hashOf(
  app: Pick<App, 'secrets'>,
  row: Omit<NewTransaction, 'hash'>,
  entries: readonly HashedEntry[],
): string {
  const cause = [row.kind, row.operation, row.request_key, row.provider, row.provider_reference, row.user_id];
  const amounts = entries.map((each) => [
    each.account_id,
    each.kind,
    each.user_id,
    each.provider,
    each.currency,
    each.amount,
    each.balance_after,
  ]);
  const signed = [row.game_id, row.sequence, ...cause, row.reverses_id, row.date_added, amounts, row.previous];
  return app.secrets.sign('ledger', JSON.stringify(signed));
}
