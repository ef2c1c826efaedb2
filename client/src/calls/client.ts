import { TOKEN_EXPIRED_OR_REVOKED } from '../contract/error-refs.ts';
import type { Operations } from '../contract/operations.ts';
import { encode, isStream } from './encoding.ts';
import { ApiError, ConnectionError, type ErrorOf, isApiError, toError } from './errors.ts';
import { type RetryOptions, retried } from './retries.ts';

export type Operation = keyof Operations;
export type Input<Name extends Operation> = Operations[Name]['input'];
export type Output<Name extends Operation> = Operations[Name]['output'];
/** An operation without required fields may be called without an input. */
export type CallArguments<Name extends Operation> =
  Record<string, never> extends Input<Name>
    ? [input?: Input<Name>, options?: CallOptions]
    : [input: Input<Name>, options?: CallOptions];

export type Platform =
  | 'source'
  | 'windows'
  | 'mac'
  | 'linux'
  | 'android'
  | 'ios'
  | 'xboxone'
  | 'xboxseriesx'
  | 'ps4'
  | 'ps5'
  | 'switch'
  | 'switch2'
  | 'oculus'
  | 'windowsserver'
  | 'linuxserver';

/** Provides access tokens. `refresh` is called once when the service says that one has expired. */
export interface TokenSource {
  get(signal?: AbortSignal): string | undefined | Promise<string | undefined>;
  refresh?(refused: string, signal?: AbortSignal): string | undefined | Promise<string | undefined>;
}

export interface ClientOptions {
  /** The address of the service, such as `https://mods.example.com`. */
  url: string | URL;
  /** The API key of a game or of a user. */
  key?: string | undefined;
  /** The access token of a user, or what provides it. */
  token?: string | TokenSource | undefined;
  /** Calls the sandbox of the service, at `test.` before its name. */
  sandbox?: boolean | undefined;
  /** The languages of the user, such as `de` or `pt-BR, en;q=0.5`. */
  language?: string | undefined;
  platform?: Platform | undefined;
  /** The store where the user plays, such as `steam`. */
  portal?: string | undefined;
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch | undefined;
  retry?: RetryOptions | undefined;
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** In place of the client's. */
  language?: string | undefined;
  /** The language of what is sent: localisable fields become a translation. */
  contentLanguage?: string | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  /** Says that the request has the same effect when it is sent twice, so it may be retried. */
  idempotent?: boolean | undefined;
}

export type Attempt<Name extends Operation> =
  | { readonly ok: true; readonly value: Output<Name> }
  | { readonly ok: false; readonly error: ErrorOf<Name> };

export interface Client {
  /** The address that all paths follow, such as `https://mods.example.com/v1`. */
  readonly url: URL;
  readonly options: Readonly<ClientOptions>;
  /** Calls an operation, and throws an ApiError if it is refused. */
  call<Name extends Operation>(operation: Name, ...rest: CallArguments<Name>): Promise<Output<Name>>;
  /** Like `call`, but returns the error of a refusal, typed as one of those that the operation declares. */
  attempt<Name extends Operation>(operation: Name, ...rest: CallArguments<Name>): Promise<Attempt<Name>>;
  /** Like `call`, but returns the response before its body is read. */
  open<Name extends Operation>(operation: Name, ...rest: CallArguments<Name>): Promise<Response>;
  /** The same client with other options. */
  with(options: Partial<ClientOptions>): Client;
}

export function createClient(options: ClientOptions): Client {
  const url = baseOf(options);
  const open = (operation: string, input: object = {}, callOptions: CallOptions = {}) =>
    send({ url, options, operation, input, callOptions });
  const call = async (operation: string, input?: object, callOptions?: CallOptions) =>
    readBody(operation, await open(operation, input, callOptions), callOptions?.signal);
  const attempt = async (operation: string, input?: object, callOptions?: CallOptions) => {
    try {
      return { ok: true, value: await call(operation, input, callOptions) };
    } catch (error) {
      if (error instanceof ApiError) return { ok: false, error };
      throw error;
    }
  };
  return {
    url,
    options,
    open,
    call,
    attempt,
    with: (changes: Partial<ClientOptions>) => createClient({ ...options, ...changes }),
  } as Client;
}

/** `https://mods.example.com` becomes `https://mods.example.com/v1`, or `https://test.mods.example.com/v1`. */
function baseOf({ url, sandbox }: ClientOptions): URL {
  const base = new URL(url);
  if (!/\/v1\/?$/.test(base.pathname)) base.pathname = `${base.pathname.replace(/\/$/, '')}/v1`;
  if (sandbox && !base.hostname.startsWith('test.')) base.hostname = `test.${base.hostname}`;
  return base;
}

interface Sent {
  url: URL;
  options: ClientOptions;
  operation: string;
  input: object;
  callOptions: CallOptions;
}

async function send(sent: Sent): Promise<Response> {
  const { options, callOptions } = sent;
  const source = tokenSourceOf(options.token);
  const token = await source.get(callOptions.signal);
  const response = await sendWith(sent, token);
  const isSpent = 'body' in sent.input && isStream(sent.input.body);
  if (response.status !== 401 || !token || !source.refresh || isSpent) return checked(sent, response);
  const error = await toError(sent.operation, response);
  const renewed = isApiError(error, TOKEN_EXPIRED_OR_REVOKED) && (await source.refresh(token, callOptions.signal));
  if (!renewed) throw error;
  return checked(sent, await sendWith(sent, renewed));
}

const tokenSourceOf = (token: ClientOptions['token']): TokenSource =>
  typeof token === 'object' ? token : { get: () => token };

function sendWith({ url: base, options, operation, input, callOptions }: Sent, token: string | undefined) {
  const { method, url, headers, body } = encode(base, operation, input as Record<string, unknown>);
  if (options.key) url.searchParams.set('api_key', options.key);
  const init: RequestInit = {
    method,
    headers: { ...headersOf(options, callOptions, token), ...headers, ...callOptions.headers },
    // The service is given its credentials explicitly.
    credentials: 'omit',
    ...(body !== undefined && { body }),
    ...(isStream(body) && { duplex: 'half' }),
    ...(callOptions.signal && { signal: callOptions.signal }),
  };
  const call = options.fetch ?? fetch;
  const retry = isStream(body) ? { ...options.retry, times: 0 } : (options.retry ?? {});
  return retried({ operation, input, base, init, callOptions, retry }, async (target) => {
    try {
      return await call(target ?? url, target ? { ...init, method: 'GET', body: null } : init);
    } catch (cause) {
      callOptions.signal?.throwIfAborted();
      throw new ConnectionError(operation, `${operation}: ${cause instanceof Error ? cause.message : cause}`, {
        cause,
      });
    }
  });
}

function headersOf(
  options: ClientOptions,
  callOptions: CallOptions,
  token: string | undefined,
): Record<string, string> {
  const headers = {
    Accept: 'application/json',
    Authorization: token && `Bearer ${token}`,
    'Accept-Language': callOptions.language ?? options.language,
    'Content-Language': callOptions.contentLanguage,
    'X-Service-Platform': options.platform,
    'X-Service-Portal': options.portal,
  };
  return Object.fromEntries(Object.entries(headers).filter((entry): entry is [string, string] => Boolean(entry[1])));
}

async function checked({ operation }: Sent, response: Response): Promise<Response> {
  if (response.ok || response.status === 304) return response;
  throw await toError(operation, response);
}

async function readBody(operation: string, response: Response, signal: AbortSignal | undefined): Promise<unknown> {
  if (response.status === 204) return undefined;
  const type = response.headers.get('Content-Type') ?? '';
  try {
    if (type.startsWith('application/json')) return await response.json();
    return type.startsWith('text/csv') ? await response.text() : response;
  } catch (cause) {
    signal?.throwIfAborted();
    throw new ConnectionError(operation, `${operation}: the response is incomplete.`, {
      status: response.status,
      cause,
    });
  }
}
