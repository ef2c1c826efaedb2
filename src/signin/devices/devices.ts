import { GAME_ACCEPTED, requireGame } from '../../catalogue/games/games.ts';
import { admitUser } from '../../people/users/users.ts';
import type { TokenScope } from '../../platform/access/caller.ts';
import { type IssuedToken, issueToken } from '../../platform/access/credentials.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import * as store from './store.ts';

const CODE_LENGTH = 5;
const CODES_TRIED_MAX = 5;
const DEVICE_LOGIN_SECONDS = 900;
/** The polling interval (RFC 8628, section 3.5). */
export const INTERVAL_SECONDS = 5;
/** A recently used code is not issued again, because a user may still be typing it. */
const REMEMBER_SECONDS = 3_600;

export const SCOPES = ['read', 'write'] as const satisfies readonly TokenScope[];

export interface NewDeviceLogin {
  readonly gameId: number;
  readonly clientId?: number;
  readonly scopes?: readonly TokenScope[];
}

export interface DeviceLogin {
  readonly id: number;
  /** The code that the user types. */
  readonly code: string;
  /** The secret that the device polls with. */
  readonly deviceCode: string;
  readonly dateExpires: number;
}

/** The page on which users type the code. */
export const connectAddress = (app: App): string => `${app.addresses.site}/connect`;

/** Starts the login of a device, which then shows the code to its user. */
export async function beginDeviceLogin(app: App, login: NewDeviceLogin): Promise<DeviceLogin> {
  await requireLoginGame(app, login.gameId);
  const deviceCode = app.random.token();
  const now = app.clock.now();
  for (let tried = 0; tried < CODES_TRIED_MAX; tried += 1) {
    const code = app.random.code(CODE_LENGTH);
    const id = await app.db.write(({ query }) =>
      store.add(query, {
        code_digest: codeDigest(app, code),
        device_digest: app.secrets.digest(deviceCode),
        game_id: login.gameId,
        client_id: login.clientId ?? null,
        scopes: (login.scopes ?? SCOPES).join(' '),
        date_added: now,
        date_expires: now + DEVICE_LOGIN_SECONDS,
        date_next: now,
        user_id: null,
        date_decided: null,
        allowed: 0,
        date_redeemed: null,
      }),
    );
    if (id !== undefined) return { id, code, deviceCode, dateExpires: now + DEVICE_LOGIN_SECONDS };
  }
  throw new ApiError('UNEXPECTED_SERVICE_OUTAGE');
}

/** Devices can sign in to public games and to games in development; a game id is not a secret. */
async function requireLoginGame(app: App, gameId: number): Promise<void> {
  await requireGame(app.db, { ...NOBODY_OF_GAME, gameId }, gameId);
}

const NOBODY_OF_GAME = { kind: 'key', keyId: 0, userId: undefined } as const;

const codeDigest = (app: App, code: string): string =>
  app.secrets.digest(`device ${code.replace(/[\s-]/g, '').toUpperCase()}`);

export interface OpenDeviceLogin {
  readonly id: number;
  readonly game: string;
  readonly icon: string | null;
  /** The owner of the game, and whether staff have accepted it. */
  readonly owner: string | null;
  readonly isAccepted: boolean;
  /** The registered application on the device, and its registration date. */
  readonly client: string | null;
  readonly clientSince: number | null;
  readonly scopes: readonly string[];
  readonly dateAdded: number;
}

/** The login with this code, with everything that the consent page shows. */
export async function requireOpenDeviceLogin(app: App, code: string): Promise<OpenDeviceLogin> {
  const found = await store.openWith(app.db.query, codeDigest(app, code), app.clock.now());
  if (!found) throw new ApiError('DEVICE_LOGIN_CODE_INVALID');
  const { id, game, icon, owner, client, client_added: clientSince, scopes, date_added: dateAdded } = found;
  const isAccepted = found.game_status === GAME_ACCEPTED;
  return { id, game, icon, owner, isAccepted, client, clientSince, scopes: scopes.split(' '), dateAdded };
}

/** Records the decision. The change notification reaches the process to which the device is connected. */
export async function decideDeviceLogin(app: App, userId: number, code: string, allow: boolean): Promise<void> {
  await app.db.write(async (transaction) => {
    const { query } = transaction;
    await admitUser(transaction, userId);
    const now = app.clock.now();
    const found = await store.openWith(query, codeDigest(app, code), now);
    const decision = { user_id: userId, date_decided: now, allowed: allow ? 1 : 0 };
    if (!found || !(await store.decide(query, found.id, decision))) throw new ApiError('DEVICE_LOGIN_CODE_INVALID');
    transaction.changed(scopeOf(found.id));
  });
}

const scopeOf = (id: number) => `devices/${id}`;

/** The outcome of a login: an error, a token, or undefined while it is open. */
async function claim(
  app: App,
  transaction: Transaction,
  login: store.DeviceLoginRow | undefined,
  dateExpires?: number,
): Promise<IssuedToken | ErrorName | undefined> {
  const now = app.clock.now();
  if (!login || login.date_redeemed !== null) return 'DEVICE_LOGIN_CODE_INVALID';
  if (login.date_decided === null) return login.date_expires <= now ? 'DEVICE_LOGIN_CODE_INVALID' : undefined;
  if (login.allowed === 0) return 'DEVICE_LOGIN_REQUEST_NOT_AUTHORIZED';
  if (login.date_expires <= now || !(await store.redeem(transaction.query, login.id, now)))
    return 'DEVICE_LOGIN_CODE_INVALID';
  await admitUser(transaction, login.user_id!);
  return issueToken(app, transaction, {
    userId: login.user_id!,
    gameId: login.game_id,
    scopes: login.scopes.split(' ') as TokenScope[],
    dateExpires,
    clientId: login.client_id ?? undefined,
    contentOnly: true,
  });
}

/**
 * Waits for the decision and issues the token. It listens to the change notifications of the database, because another
 * process may record the decision; lost notifications arrive as a change of everything.
 */
export async function awaitDeviceLogin(app: App, { id, dateExpires }: DeviceLogin, signal: AbortSignal) {
  const { changes } = app.db;
  const look = async () => {
    // Most notifications concern other rows, and a plain read is cheaper than a transaction.
    if (isOpen(app, await store.byId(app.db.query, id))) return undefined;
    return app.db.write(async (transaction) => claim(app, transaction, await store.byId(transaction.query, id)));
  };
  const news = new News();
  const stop = changes.listen((scope) => (scope === undefined || scope === scopeOf(id)) && news.arrive());
  const ended = setTimeout(() => news.arrive(), (dateExpires - app.clock.now()) * 1000);
  const abort = () => news.arrive();
  signal.addEventListener('abort', abort);
  try {
    for (;;) {
      const outcome = await look();
      if (typeof outcome === 'string') throw new ApiError(outcome);
      if (outcome) return outcome;
      await news.next();
      if (signal.aborted) return void (await abandonDeviceLogin(app, id));
    }
  } finally {
    stop();
    clearTimeout(ended);
    signal.removeEventListener('abort', abort);
  }
}

const isOpen = (app: App, login: store.DeviceLoginRow | undefined): boolean =>
  login !== undefined && login.date_decided === null && login.date_expires > app.clock.now();

/** A notification that may arrive before anyone waits for it. */
class News {
  #isThere = false;
  #tell = () => {};

  arrive(): void {
    this.#isThere = true;
    this.#tell();
  }

  async next(): Promise<void> {
    if (!this.#isThere)
      await new Promise<void>((resolve) => {
        this.#tell = resolve;
      });
    this.#isThere = false;
  }
}

/** Expires the login of a disconnected device, so that its code is refused instead of admitting nobody. */
const abandonDeviceLogin = (app: App, id: number) =>
  app.db.write(({ query }) => store.expire(query, id, app.clock.now()));

export type DeviceAnswer = IssuedToken | 'pending' | 'slow_down' | 'denied' | 'expired' | 'unknown';

/** Answers a polling device. A device that polls too often has to wait longer. */
export const pollDeviceLogin = (
  app: App,
  clientId: number,
  deviceCode: string,
  dateExpires: number | undefined,
): Promise<DeviceAnswer> =>
  app.db.write(async (transaction): Promise<DeviceAnswer> => {
    const { query } = transaction;
    const login = await store.withDevice(query, app.secrets.digest(deviceCode));
    if (!login || login.client_id !== clientId || login.date_redeemed !== null) return 'unknown';
    const now = app.clock.now();
    if (now < login.date_next) {
      await store.setNext(query, login.id, login.date_next + INTERVAL_SECONDS);
      return 'slow_down';
    }
    const outcome = await claim(app, transaction, login, dateExpires);
    if (typeof outcome === 'object') return outcome;
    if (outcome === 'DEVICE_LOGIN_REQUEST_NOT_AUTHORIZED') return 'denied';
    if (outcome !== undefined) return 'expired';
    await store.setNext(query, login.id, now + INTERVAL_SECONDS);
    return 'pending';
  });

export const forgetOutdatedDeviceLogins = (app: App) =>
  app.db.write(({ query }) => store.forget(query, app.clock.now() - REMEMBER_SECONDS));
