import type { Database } from '../src/platform/database/database.ts';

/** Resolves when a write has met the removal of what it wants to reference. */
export function meetsRemoval(db: Database): Promise<void> {
  const { write } = db;
  const { promise, resolve } = Promise.withResolvers<void>();
  db.write = async <T>(...given: Parameters<typeof write<T>>): Promise<T> => {
    try {
      return (await write.apply(db, given)) as T;
    } catch (error) {
      if (error instanceof Error && error.name === 'BeingRemoved') {
        db.write = write;
        resolve();
      }
      throw error;
    }
  };
  return promise;
}
