import type { Words } from '../invocation/messages.ts';
import { EXIT, syncFailure } from './exit-codes.ts';
import { failedResult, type SyncResult, syncedResult } from './results.ts';
import { type Syncing, sync } from './updating.ts';

export interface Watching {
  readonly syncing: Syncing;
  readonly words: Words;
  /** Waits until the next look; rejects when the command is interrupted. */
  pause(): Promise<unknown>;
  /** Called for a look that differs from the one before it. */
  tell(result: SyncResult): void;
}

/** Goes on after failures that may pass. Ends by an interruption, or by a failure that a person has to mend. */
export async function watch({ syncing, words, pause, tell }: Watching): Promise<never> {
  let known: string | undefined;
  for (;;) {
    const { result, state, isChange } = await look(syncing, words);
    if (isChange || state !== known) tell(result);
    known = state;
    await pause();
  }
}

interface Look {
  readonly result: SyncResult;
  /** What stays the same between looks: the failure, the missing mods, or what a dry run would change. */
  readonly state: string;
  readonly isChange: boolean;
}

async function look(syncing: Syncing, words: Words): Promise<Look> {
  const { isDryRun, signal } = syncing;
  try {
    const synced = await sync(syncing);
    const result = syncedResult(synced, isDryRun, words);
    const changes = synced.added.length + synced.updated.length + synced.removed.length;
    const state = isDryRun ? result.text : JSON.stringify(synced.missing);
    return { result, state, isChange: changes > 0 && !isDryRun };
  } catch (error) {
    const failure = syncFailure(error, signal, words);
    if (failure?.exitCode !== EXIT.NETWORK && failure?.exitCode !== EXIT.DAMAGED) throw error;
    return { result: failedResult(failure), state: failure.message, isChange: false };
  }
}
