import type { Client } from '../../../client/src/index.ts';
import { EXIT } from './exit-codes.ts';
import type { Changes, Mirror } from './mirror.ts';
import { findWanted, type Selection, type Wanted } from './wanted-mods.ts';

export interface Syncing {
  readonly client: Client;
  readonly gameId: number;
  readonly selection: Selection;
  readonly mirror: Mirror;
  readonly isDryRun: boolean;
  readonly signal: AbortSignal;
}

export type Synced = Changes & Pick<Wanted, 'missing'> & { readonly exit_code: number };

/** Downloads at the same time. */
const PARALLEL = 4;

/** Makes the folder current. Nothing of it changes before every file is there and verified. */
export async function sync({ client, gameId, selection, mirror, isDryRun, signal }: Syncing): Promise<Synced> {
  const { mods, missing } = await findWanted(client, gameId, selection, signal);
  const changes = await mirror.changesTo(mods);
  const exit_code = missing.length > 0 ? EXIT.MISSING : EXIT.CURRENT;
  if (isDryRun) return { ...changes, missing, exit_code };
  const left = [...mods];
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const work = async () => {
    for (let mod = left.shift(); mod; mod = left.shift()) {
      either.throwIfAborted();
      await mirror.fetch(client, mod, either);
    }
  };
  const failures: unknown[] = [];
  const workers = Array.from({ length: PARALLEL }, () =>
    work().catch((error) => {
      failures.push(error);
      stop.abort();
    }),
  );
  // All of them end before the first failure is reported, so that none writes afterwards; the later ones follow from it.
  await Promise.all(workers);
  if (failures.length > 0) throw failures[0];
  await mirror.show(mods);
  return { ...changes, missing, exit_code };
}
