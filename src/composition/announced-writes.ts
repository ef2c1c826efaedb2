import type { Database, Transaction } from '../platform/database/database.ts';
import type { Siblings } from '../platform/runtime/siblings.ts';

/**
 * A write resolves when the other processes of this service know what it changed. A client that reads after its write
 * then sees it in any of them, also on a new connection.
 */
export function withAnnouncedWrites(db: Database, topic: string, siblings: Siblings | undefined): Database {
  if (!siblings) return db;
  siblings.apply(topic, (scope) => db.changes.changed(scope));
  const announcing = (inner: Database): Database['write'] =>
    async function write<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
      const scopes = new Set<string>();
      const value = await inner.write((transaction) =>
        work({
          ...transaction,
          changed: (scope) => {
            scopes.add(scope);
            transaction.changed(scope);
          },
        }),
      );
      await siblings.announce(topic, [...scopes]);
      return value;
    };
  const withLongTimeouts: Database = {
    ...db.withLongTimeouts,
    write: announcing(db.withLongTimeouts),
    get withLongTimeouts() {
      return withLongTimeouts;
    },
  };
  return { ...db, write: announcing(db), withLongTimeouts };
}
