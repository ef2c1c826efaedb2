import { PLATFORMS } from '../../platform/vocabulary/game-platforms.ts';
import type { Refusal } from './command.ts';
import type { Message, Words } from './messages.ts';

export const reasonOf = ({ texts, message }: Refusal, words: Words): string =>
  texts.length > 0 ? words(...texts) : message;

interface LostConnection {
  readonly operation: string;
  readonly status: number | undefined;
  readonly cause?: unknown;
}

/** The innermost cause names the host and what is wrong with it. */
export function unreachable({ operation, status, cause }: LostConnection): Message {
  let inner = cause;
  while (inner instanceof Error && inner.cause instanceof Error) inner = inner.cause;
  const why = inner instanceof Error && inner.message ? inner.message : undefined;
  const detail = [operation, status === undefined ? why : `HTTP ${status}`].filter(Boolean).join(': ');
  return { name: 'service_unreachable', values: { detail } };
}

/** A file or folder of the person that the system does not let the command use. */
export function unusablePath(error: unknown): Message | undefined {
  const { code, path } = error as NodeJS.ErrnoException;
  if (!(error instanceof Error) || code === undefined || path === undefined) return undefined;
  return { name: 'path_unusable', values: { path, code } };
}

export const unknownPlatform = (value: string): Message => ({
  name: 'option_one_of',
  values: { option: '--platform', values: { any: PLATFORMS }, value },
});
