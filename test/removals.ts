import type { App } from '../src/platform/app.ts';

/** Resolves when a write in one of these processes has met the removal of what it wants to reference. */
export function meetsRemoval(apps: readonly App[]): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const written = apps.map(({ db }) => ({ db, write: db.write }));
  for (const { db, write } of written)
    db.write = async <T>(...given: Parameters<typeof write<T>>): Promise<T> => {
      try {
        return (await write.apply(db, given)) as T;
      } catch (error) {
        if (error instanceof Error && error.name === 'BeingRemoved') {
          for (const each of written) each.db.write = each.write;
          resolve();
        }
        throw error;
      }
    };
  return promise;
}
