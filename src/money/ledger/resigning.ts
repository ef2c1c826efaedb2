import type { App } from '../../platform/app.ts';
import { hashOf } from './chain.ts';
import * as store from './store.ts';

const AT_ONCE = 500;

/**
 * Signs books that came from another service with the secret of this one. Amounts and order stay; the signatures of the
 * other service are in the archive.
 */
export async function resignLedger(app: App): Promise<void> {
  for (const head of await store.heads(app.db.query)) {
    let last = { sequence: 0, hash: '' };
    while (last.sequence < head.sequence) {
      const after = last;
      const signed = await app.db.write(async (transaction) => {
        const { query } = transaction;
        const rows = await store.transactionsAfter(query, head.game_id, after.sequence, head.sequence, AT_ONCE);
        const ids = rows.map(({ id }) => id);
        const entries = Map.groupBy(
          ids.length === 0 ? [] : await store.entriesAmong(query, ids),
          ({ transaction_id }) => transaction_id,
        );
        let { hash: previous } = after;
        for (const row of rows) {
          const hash = hashOf(app, { ...row, previous }, entries.get(row.id) ?? []);
          await store.putHash(transaction, row.id, previous, hash);
          previous = hash;
        }
        await store.putHeadHash(transaction, head.game_id, previous);
        return rows.length === 0 ? undefined : { sequence: rows.at(-1)!.sequence, hash: previous };
      });
      if (!signed) break;
      last = signed;
    }
  }
}
