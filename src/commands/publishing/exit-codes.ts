import { ApiError, ConnectionError } from '../../../client/src/index.ts';
import { reasonOf, unreachable, unusablePath } from '../invocation/client-problems.ts';
import { Refusal } from '../invocation/command.ts';
import type { Words } from '../invocation/messages.ts';

/** docs/publishing.md explains them; scripts depend on the numbers. */
export const EXIT = {
  PUBLISHED: 0,
  UNEXPECTED: 1,
  USAGE: 2,
  SIGN_IN: 3,
  REFUSED: 4,
  THREAT: 5,
  WAITING: 6,
  NETWORK: 7,
  PAUSED: 130,
} as const;

export interface Failure {
  readonly exitCode: number;
  readonly message: string;
  readonly error_ref?: number;
  readonly fields?: Readonly<Record<string, string>>;
}

/** Undefined for what only a mistake in the program can cause. */
export function publishFailure(error: unknown, signal: AbortSignal, words: Words): Failure | undefined {
  if (signal.aborted) return { exitCode: EXIT.PAUSED, message: words({ name: 'interrupted' }, { name: 'run_again' }) };
  if (error instanceof Refusal) return { exitCode: error.exitCode, message: reasonOf(error, words) };
  if (error instanceof ApiError) return refusal(error);
  if (error instanceof ConnectionError)
    return { exitCode: EXIT.NETWORK, message: words(unreachable(error), { name: 'run_again' }) };
  if (isChangedFile(error)) return { exitCode: EXIT.USAGE, message: words({ name: 'file_changed' }) };
  const unusable = unusablePath(error);
  return unusable && { exitCode: EXIT.USAGE, message: words(unusable) };
}

/** What Node.js throws when a file is read that is not the one that was opened. */
const isChangedFile = (error: unknown): boolean => error instanceof DOMException && error.name === 'NotReadableError';

function refusal({ status, message, errorRef: error_ref, fields }: ApiError): Failure {
  const exitCode = status === 401 ? EXIT.SIGN_IN : status >= 500 || status === 429 ? EXIT.NETWORK : EXIT.REFUSED;
  const problems = Object.entries(fields).map(([field, problem]) => `${field}: ${problem}`);
  return { exitCode, message: [message, ...problems].join(' '), error_ref, fields };
}
