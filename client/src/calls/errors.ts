import type { ErrorRef } from '../contract/error-refs.ts';
import type { Operations } from '../contract/operations.ts';

/** An error response of the service. `errorRef` tells errors apart and never changes; `message` is for people. */
export class ApiError<Ref extends number = ErrorRef> extends Error {
  override readonly name = 'ApiError';
  readonly operation: string;
  readonly status: number;
  readonly errorRef: Ref;
  /** A message for every field that does not fit; empty unless the status is 422. */
  readonly fields: Readonly<Record<string, string>>;
  /** The error code of OAuth, such as `authorization_pending`. */
  readonly oauthError: string | undefined;
  /** How long the service asks the client to wait; only with status 429. */
  readonly retryAfterSeconds: number | undefined;

  constructor(operation: string, response: Response, body: ErrorBody) {
    super(body.message);
    this.operation = operation;
    this.status = response.status;
    this.errorRef = body.errorRef as Ref;
    this.fields = body.fields;
    this.oauthError = body.oauthError;
    this.retryAfterSeconds = secondsIn(response.headers.get('Retry-After'));
  }
}

/** There was no response, or none that comes from the service. `cause` says more. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly operation: string;
  /** The status of a response that a proxy may have sent. */
  readonly status: number | undefined;

  constructor(operation: string, message: string, { status, cause }: { status?: number; cause?: unknown } = {}) {
    super(message, { cause });
    this.operation = operation;
    this.status = status;
  }
}

/** The errors of an operation as a union, told apart by `errorRef`. */
export type ErrorOf<Operation extends keyof Operations> = Each<Operations[Operation]['errors']>;
type Each<Ref> = Ref extends number ? ApiError<Ref> : never;

/** Whether the service responded with this error; with one of these, if several are given. */
export function isApiError<Ref extends number = ErrorRef>(
  error: unknown,
  ...refs: readonly Ref[]
): error is ApiError<Ref> {
  return error instanceof ApiError && (refs.length === 0 || (refs as readonly number[]).includes(error.errorRef));
}

interface ErrorBody {
  message: string;
  errorRef: number;
  fields: Record<string, string>;
  oauthError: string | undefined;
}

/** Reads an error response. A response that is not from the service becomes a ConnectionError. */
export async function toError(operation: string, response: Response): Promise<ApiError | ConnectionError> {
  const text = await response.text();
  const body = errorIn(text);
  if (body) return new ApiError(operation, response, body);
  return new ConnectionError(operation, `${operation}: status ${response.status}`, {
    status: response.status,
    cause: text,
  });
}

function errorIn(text: string): ErrorBody | undefined {
  const { error, error_description, error_ref } = objectIn(text);
  if (typeof error === 'string')
    return {
      message: String(error_description ?? error),
      errorRef: Number(error_ref ?? 0),
      fields: {},
      oauthError: error,
    };
  if (typeof error !== 'object' || error === null) return undefined;
  const { message = '', error_ref: ref = 0, errors = {} } = error as Record<string, unknown>;
  return {
    message: String(message),
    errorRef: Number(ref),
    fields: errors as Record<string, string>,
    oauthError: undefined,
  };
}

function objectIn(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

const secondsIn = (header: string | null) => (header !== null && /^\d+$/.test(header) ? Number(header) : undefined);
