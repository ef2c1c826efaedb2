import type { Client } from '../calls/client.ts';
import { ApiError, ConnectionError, isApiError } from '../calls/errors.ts';
import { waitFor } from '../calls/retries.ts';
import { fromOauth, type SignIn, toSignIn, withoutCredentials } from './tokens.ts';

/** A sign-in that the user confirms on another device. */
export interface DeviceSignIn {
  /** The user types it at `url`. */
  readonly code: string;
  readonly url: string;
  /** The address with the code in it, for a link or a QR code. */
  readonly urlWithCode: string;
  /** Settles when the user has decided, or the code has expired. */
  readonly finished: Promise<SignIn>;
}

interface Waiting {
  signal?: AbortSignal | undefined;
}

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const SLOW_DOWN_SECONDS = 5;

/** Signs in with an OAuth client that has the device grant (RFC 8628). */
export async function startDeviceSignIn(
  client: Client,
  { clientId, clientSecret, scope }: { clientId: number; clientSecret?: string; scope?: string },
  options: Waiting = {},
): Promise<DeviceSignIn> {
  const bare = withoutCredentials(client);
  const credentials = { client_id: clientId, ...(clientSecret && { client_secret: clientSecret }) };
  const begun = await bare.call(
    'POST /oauth/device_authorization',
    { ...credentials, ...(scope && { scope }) },
    options,
  );
  const poll = () =>
    bare.call(
      'POST /oauth/token',
      { ...credentials, grant_type: DEVICE_GRANT, device_code: begun.device_code },
      options,
    );
  return {
    code: begun.user_code,
    url: begun.verification_uri,
    urlWithCode: begun.verification_uri_complete,
    finished: handled(polled(client, poll, begun.interval, options)),
  };
}

async function polled(
  { options: { retry } }: Client,
  poll: () => Promise<Parameters<typeof fromOauth>[0]>,
  interval: number,
  { signal }: Waiting,
): Promise<SignIn> {
  for (let seconds = interval; ; ) {
    await (retry?.wait ?? waitFor)(seconds * 1000, signal);
    try {
      return fromOauth(await poll());
    } catch (error) {
      if (!isPending(error)) throw error;
      if (error instanceof ApiError && error.oauthError === 'slow_down') seconds += SLOW_DOWN_SECONDS;
    }
  }
}

/** RFC 8628, section 3.5: a connection that fails says nothing about the user's decision. */
const isPending = (error: unknown) =>
  error instanceof ConnectionError ||
  (isApiError(error) && (error.oauthError === 'authorization_pending' || error.oauthError === 'slow_down'));

type SocketClass = new (url: string) => Pick<WebSocket, 'send' | 'close' | 'addEventListener'>;

/**
 * Signs in to a game without any registration, over a WebSocket. Node.js has `WebSocket` from version 22 on; before,
 * pass one such as that of the package `ws`. Browsers may open it only on the site of the service.
 */
export async function startSocketSignIn(
  client: Client,
  { gameId, WebSocket: Socket = globalThis.WebSocket }: { gameId: number; WebSocket?: SocketClass },
  { signal }: Waiting = {},
): Promise<DeviceSignIn> {
  const address = new URL('/ws', client.url);
  address.protocol = address.protocol === 'http:' ? 'ws:' : 'wss:';
  signal?.throwIfAborted();
  const socket = new Socket(address.href);
  const { first, second } = replies(socket, signal);
  socket.addEventListener('open', () =>
    socket.send(JSON.stringify({ messages: [{ operation: 'device_login', context: { game_id: gameId } }] })),
  );
  const finished = handled(second.then((context) => toSignIn(context as Parameters<typeof toSignIn>[0])));
  const { code, login_url } = (await first) as { code: string; login_url: string };
  return { code, url: login_url, urlWithCode: `${login_url}?code=${encodeURIComponent(code)}`, finished };
}

interface SocketMessage {
  operation: string;
  context: Record<string, unknown>;
}

const LOGIN = 'WebSocket device_login';

/** The code, and later the token. Both fail when the socket closes, and with the errors that the service sends. */
function replies(socket: InstanceType<SocketClass>, signal: AbortSignal | undefined) {
  const first = deferred<unknown>();
  const second = deferred<unknown>();
  const fail = (error: unknown) => {
    first.reject(error);
    second.reject(error);
    socket.close();
  };
  socket.addEventListener('message', ({ data }) => {
    for (const { operation, context } of (JSON.parse(String(data)) as { messages: SocketMessage[] }).messages) {
      if (operation === 'device_login') first.resolve(context);
      if (operation === 'access_token') second.resolve(context);
      if (operation === 'failed_operation') fail(socketError(context));
    }
  });
  socket.addEventListener('close', () => fail(new ConnectionError(LOGIN, 'The connection was closed.')));
  socket.addEventListener('error', () => fail(new ConnectionError(LOGIN, 'The connection failed.')));
  signal?.addEventListener('abort', () => fail(signal.reason), { once: true });
  second.promise.then(
    () => socket.close(),
    () => {},
  );
  return { first: first.promise, second: second.promise };
}

function socketError(context: Record<string, unknown>): ApiError {
  const { code = 400, error_ref = 0, message = '' } = context['error'] as Record<string, number | string>;
  const response = new Response(null, { status: Number(code) });
  return new ApiError(LOGIN, response, {
    message: String(message),
    errorRef: Number(error_ref),
    fields: {},
    oauthError: undefined,
  });
}

function deferred<T>() {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((...settle) => {
    [resolve, reject] = settle;
  });
  return { promise, resolve, reject };
}

/** A caller who has left must not end the process by a rejection that nobody awaits. */
function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
