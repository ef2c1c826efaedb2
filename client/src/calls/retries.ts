import { REPEATABLE } from '../contract/operations.ts';
import { ConnectionError } from './errors.ts';

export interface RetryOptions {
  /** How often a request is sent again. Default: 3. */
  times?: number | undefined;
  /** A longer wait than this is not awaited: the error is thrown. Default: 60. */
  longestWaitSeconds?: number | undefined;
  /** Waits; replaced in tests. */
  wait?: ((milliseconds: number, signal: AbortSignal | undefined) => Promise<void>) | undefined;
}

export interface Retried {
  operation: string;
  input: object;
  base: URL;
  init: RequestInit;
  callOptions: { signal?: AbortSignal | undefined; idempotent?: boolean | undefined };
  retry: RetryOptions;
}

const FIRST_WAIT_SECONDS = 0.5;
const LONGEST_BACKOFF_SECONDS = 8;
/** The service, or a proxy before it, did not process the request, or its response was lost. */
const PASSING = new Set([502, 503, 504]);

/**
 * Sends a request again where that is safe. A 429 was refused before it had an effect, so it is always safe; a lost
 * response only for reads, for requests with an idempotency key and where the service recognises repetitions.
 */
export async function retried(request: Retried, send: (target?: URL) => Promise<Response>): Promise<Response> {
  const { times = 3, longestWaitSeconds = 60, wait = waitFor } = request.retry;
  const { signal } = request.callOptions;
  const harmless = isHarmless(request);
  let wasLost = false;
  for (let attempt = 0; ; attempt++) {
    const outcome = await outcomeOf(send);
    if (wasLost && outcome instanceof Response) {
      const created = createdBefore(request, outcome);
      if (created) return send(created);
    }
    const seconds = attempt < times ? waitAfter(outcome, attempt, harmless) : undefined;
    if (seconds === undefined || seconds > longestWaitSeconds) {
      if (outcome instanceof Response) return outcome;
      throw outcome;
    }
    wasLost ||= !(outcome instanceof Response && outcome.status === 429);
    if (outcome instanceof Response) await outcome.body?.cancel();
    await wait(seconds * 1000, signal);
  }
}

async function outcomeOf(send: () => Promise<Response>): Promise<Response | ConnectionError> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof ConnectionError) return error;
    throw error;
  }
}

function isHarmless({ operation, input, init, callOptions }: Retried): boolean {
  if (callOptions.idempotent !== undefined) return callOptions.idempotent;
  return init.method === 'GET' || 'idempotent_key' in input || REPEATABLE.includes(operation);
}

/** Undefined if the outcome is final. */
function waitAfter(outcome: Response | ConnectionError, attempt: number, harmless: boolean): number | undefined {
  const backoff = Math.min(LONGEST_BACKOFF_SECONDS, FIRST_WAIT_SECONDS * 2 ** attempt);
  if (!(outcome instanceof Response)) return harmless ? backoff * (0.5 + Math.random() / 2) : undefined;
  if (outcome.status === 429) {
    const asked = Number(outcome.headers.get('Retry-After') ?? backoff);
    // Never earlier than asked, and not all clients at once.
    return asked * (1 + Math.random() / 4);
  }
  return PASSING.has(outcome.status) && harmless ? backoff * (0.5 + Math.random() / 2) : undefined;
}

/** The address of what an earlier attempt created although its response was lost. Credentials never leave the service. */
function createdBefore({ operation, base }: Retried, response: Response): URL | undefined {
  const location = response.headers.get('Location');
  if (response.status !== 409 || !location || !REPEATABLE.includes(operation)) return undefined;
  const { pathname, search } = new URL(location, base);
  return new URL(pathname + search, base);
}

export function waitFor(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}
