import { ApiError, ConnectionError } from '../../../client/src/index.ts';
import { reasonOf, unreachable, unusablePath } from '../invocation/client-problems.ts';
import { Refusal } from '../invocation/command.ts';
import type { Message, Words } from '../invocation/messages.ts';

/** docs/servers.md explains them; scripts depend on the numbers. */
export const EXIT = {
  CURRENT: 0,
  USAGE: 2,
  CREDENTIALS: 3,
  REFUSED: 4,
  DAMAGED: 5,
  MISSING: 6,
  NETWORK: 7,
  LOCKED: 8,
  PAUSED: 130,
} as const;

/** A file that must not be mirrored: its bytes are not the published ones, or its archive is not safe. */
export class Unusable extends Error {
  override readonly name = 'Unusable';
  readonly text: Message;

  constructor(text: Message, cause?: Error) {
    super(JSON.stringify(text), { cause });
    this.text = text;
  }
}

export interface Failure {
  readonly exitCode: number;
  readonly message: string;
}

/** Undefined for what only a mistake in the program can cause. */
export function syncFailure(error: unknown, signal: AbortSignal, words: Words): Failure | undefined {
  if (signal.aborted) return { exitCode: EXIT.PAUSED, message: words({ name: 'interrupted' }, { name: 'run_again' }) };
  if (error instanceof Refusal) return { exitCode: error.exitCode, message: reasonOf(error, words) };
  if (error instanceof Unusable)
    return { exitCode: EXIT.DAMAGED, message: words(error.text, { name: 'folder_unchanged' }) };
  if (error instanceof ApiError) return { exitCode: exitOf(error.status), message: error.message };
  if (error instanceof ConnectionError) {
    const isRefused = error.status !== undefined && error.status < 500;
    return { exitCode: isRefused ? exitOf(error.status!) : EXIT.NETWORK, message: words(unreachable(error)) };
  }
  const unusable = unusablePath(error);
  return unusable && { exitCode: EXIT.USAGE, message: words(unusable) };
}

const exitOf = (status: number): number =>
  status === 401 ? EXIT.CREDENTIALS : status >= 500 || status === 429 ? EXIT.NETWORK : EXIT.REFUSED;
