import { ApiError, ConnectionError } from '../../../client/src/index.ts';
import { Refusal } from '../invocation/command.ts';

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
export function publishFailure(error: unknown, signal: AbortSignal): Failure | undefined {
  if (signal.aborted) return { exitCode: EXIT.PAUSED, message: 'Paused. Run the same command again to continue.' };
  if (error instanceof Refusal) return { exitCode: error.exitCode, message: error.message };
  if (error instanceof ApiError) return refusal(error);
  if (error instanceof ConnectionError)
    return { exitCode: EXIT.NETWORK, message: `${sentence(reasonOf(error))} Run the same command again to continue.` };
  return undefined;
}

function refusal({ status, message, errorRef: error_ref, fields }: ApiError): Failure {
  const exitCode = status === 401 ? EXIT.SIGN_IN : status >= 500 || status === 429 ? EXIT.NETWORK : EXIT.REFUSED;
  const problems = Object.entries(fields).map(([field, problem]) => `${field}: ${problem}`);
  return { exitCode, message: [sentence(message), ...problems].join(' '), error_ref, fields };
}

/** The cause names the host and what is wrong with it. */
function reasonOf({ message, cause }: ConnectionError): string {
  const inner = cause instanceof Error ? cause.cause : undefined;
  return `The service cannot be reached (${message}${inner instanceof Error && inner.message ? `: ${inner.message}` : ''})`;
}

const sentence = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`);
