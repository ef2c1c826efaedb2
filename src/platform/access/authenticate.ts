import type { Environment } from '../config/addresses.ts';
import type { Secrets } from '../config/secrets.ts';
import { type Database, statement } from '../database/database.ts';
import { ApiError } from '../errors/catalogue.ts';
import type { Clock } from '../runtime/clock.ts';
import {
  type Access,
  type Caller,
  isForKeys,
  type KeyCaller,
  NOBODY,
  type ServiceCaller,
  type TokenScope,
  type UserCaller,
} from './caller.ts';
import { ACCESS_SCOPE, accessScopeOf, isSandboxKey, isWellFormedKey, visibilityScopeOf } from './credentials.ts';
import { STAFF_LEVELS } from './staff.ts';
import { hasMutes, isOver, serverTokenWith, serviceTokenWith, type TokenRow, tokenWith } from './validity.ts';

/** The unverified credentials of a request. */
export interface Credentials {
  readonly bearer: string | undefined;
  readonly apiKey: string | undefined;
}

export interface Authenticator {
  /** The caller, if this operation may be called with these credentials; otherwise throws. */
  authenticate(access: Access, method: string, credentials: Credentials): Caller | Promise<Caller>;
  /** Admits the visitor of the site's pages, who is known already or anonymous, and has no key. */
  admitVisitor(access: Access, method: string, visitor: Caller): Caller;
  /** The cached caller if it is still valid; never waits or throws. */
  recall(credentials: Credentials): Caller | undefined;
}

interface Parts {
  readonly environment: Environment;
  readonly db: Database;
  readonly secrets: Secrets;
  readonly clock: Clock;
  /** Called when a user returns after a while. */
  readonly seen?: (userId: number) => void;
}

const USER_DELETED = 3;
const USER_BANNED = 4;
const CACHED_MAX = 50_000;
/** A cached caller is looked up again after this time, even without a change. */
const CACHED_SECONDS = 600;

interface KeyRow {
  id: number;
  game_id: number | null;
  user_id: number | null;
  date_revoked: number | null;
  status: number | null;
  merged_into: number | null;
  language: string | null;
}

const KEY = statement(`select k.id, k.game_id, k.user_id, k.date_revoked, u.status, u.merged_into, u.language
  from api_keys k left join users u on u.id = k.user_id where k.digest = ?`);

export function createAuthenticator({ environment, db, secrets, clock, seen }: Parts): Authenticator {
  const tokens = new CallerCache<TokenCaller>(db, clock, refreshVisibility);
  const keys = new CallerCache<KeyCaller>(db, clock);

  async function loadToken(bearer: string): Promise<TokenCaller> {
    const digest = secrets.digest(bearer);
    const row = await tokenWith(db, digest);
    if (!row) return loadServiceToken(digest);
    refuseDeleted(row);
    if (isOver(row, clock.now())) throw new ApiError('TOKEN_EXPIRED_OR_REVOKED');
    refuseGone(row.status);
    if (row.date_online <= clock.now() - CACHED_SECONDS) seen?.(row.user_id);
    const staff = isOfSite(row) ? (row.staff ?? 0) : 0;
    return {
      kind: 'user',
      userId: row.user_id,
      tokenId: row.id,
      scopes: row.scopes.split(' ') as TokenScope[],
      gameId: row.game_id ?? undefined,
      admin: staff >= STAFF_LEVELS.administrator,
      staff,
      language: row.language,
      dateExpires: row.date_expires,
      inTeams: row.teams > 0,
      mutes: row.mutes === 1,
      clientId: row.client_id ?? undefined,
      epoch: row.epoch,
      allGames: row.all_games === 1,
      contentOnly: row.content_only === 1,
    };
  }

  /** Returns the same object if nothing changed, so that cached responses for it are found. */
  async function refreshVisibility(caller: TokenCaller): Promise<TokenCaller> {
    if (caller.kind !== 'user') return caller;
    const mutes = await hasMutes(db, caller.userId);
    return mutes === caller.mutes ? caller : { ...caller, mutes };
  }

  async function loadServerToken(digest: string): Promise<KeyCaller> {
    const row = await serverTokenWith(db, digest);
    if (!row || isOver(row, clock.now())) throw new ApiError('TOKEN_EXPIRED_OR_REVOKED');
    const reach =
      row.scope === 'game' ? undefined : { kind: row.scope, id: row.scope === 'mods' ? row.id : row.collection_id! };
    const requestsPerMinute = row.requests_per_minute ?? undefined;
    const server = { tokenId: row.id, dateExpires: row.date_expires, requestsPerMinute, reach };
    return { kind: 'key', keyId: 0, gameId: row.game_id, userId: undefined, server };
  }

  async function loadServiceToken(digest: string): Promise<ServiceCaller | KeyCaller> {
    const row = await serviceTokenWith(db, digest);
    if (!row) return loadServerToken(digest);
    if (isOver(row, clock.now())) throw new ApiError('TOKEN_EXPIRED_OR_REVOKED');
    return {
      kind: 'service',
      tokenId: row.id,
      clientId: row.client_id,
      gameId: row.game_id,
      scopes: row.scopes.split(' ') as TokenScope[],
      dateExpires: row.date_expires,
      leaderId: row.leader_id,
    };
  }

  async function loadKey(apiKey: string): Promise<KeyCaller> {
    const row = await db.first<KeyRow>(KEY, [secrets.digest(apiKey)]);
    if (row) refuseDeleted(row);
    if (!row || row.date_revoked !== null) throw new ApiError('API_KEY_INVALID');
    if (row.status !== null) refuseGone(row.status);
    return {
      kind: 'key',
      keyId: row.id,
      gameId: row.game_id ?? undefined,
      userId: row.user_id ?? undefined,
      language: row.language ?? undefined,
    };
  }

  function byKey(access: Access, apiKey: string | undefined): KeyCaller | Promise<KeyCaller> {
    if (!apiKey) throw new ApiError('API_KEY_MISSING');
    if (access.kind === 'authentication' && environment === 'production' && isSandboxKey(apiKey))
      throw new ApiError('ACTION_RESTRICTED_NO_TEST_KEY');
    const known = keys.recall(apiKey);
    if (known) return known;
    if (!isWellFormedKey(apiKey)) throw new ApiError('API_KEY_MALFORMED');
    return keys.get(apiKey, () => loadKey(apiKey));
  }

  function byToken(access: Access, bearer: string): Caller | Promise<Caller> {
    const known = tokens.recall(bearer);
    if (known) return admitted(access, known);
    return tokens.get(bearer, () => loadToken(bearer)).then((caller) => admitted(access, caller));
  }

  async function refuseKeyOnly(access: Access, apiKey: string | undefined): Promise<never> {
    await byKey(access, apiKey);
    throw new ApiError(access.kind === 'service' ? 'SERVICE_TOKEN_REQUIRED' : 'USER_MUST_BE_LOGGED_IN');
  }

  function byCredentials(access: Access, method: string, { bearer, apiKey }: Credentials): Caller | Promise<Caller> {
    if (access.kind === 'anyone' && !(access.named && (bearer || apiKey))) return NOBODY;
    if (access.kind === 'authentication') return byKey(access, apiKey);
    if (bearer) return byToken(access, bearer);
    if (isContent(access) && !apiKey) return { kind: 'nobody', refusal: new ApiError('API_KEY_MISSING') };
    const takesKey = access.kind === 'anyone' || (access.kind === 'reader' && isForKeys(access, method));
    return takesKey ? byKey(access, apiKey) : refuseKeyOnly(access, apiKey);
  }

  /** If the credentials are refused, the handler decides whether the signed link alone is sufficient. */
  async function orRefused(authenticate: () => Caller | Promise<Caller>): Promise<Caller> {
    try {
      return await authenticate();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { kind: 'nobody', refusal: error };
    }
  }

  return {
    authenticate(access, method, credentials) {
      const takesLink = (access.kind === 'anyone' || access.kind === 'reader') && access.link === true;
      const authenticate = () => byCredentials(access, method, credentials);
      return takesLink ? orRefused(authenticate) : authenticate();
    },
    admitVisitor,
    recall({ bearer, apiKey }) {
      if (bearer) return tokens.recall(bearer);
      return apiKey ? keys.recall(apiKey) : undefined;
    },
  };
}

/** Only a token from a sign-in on the site carries staff rights. */
const isOfSite = ({ game_id, client_id, content_only }: TokenRow): boolean =>
  game_id === null && client_id === null && content_only === 0;

/** Pages read what everyone may read without a key. */
function admitVisitor(access: Access, method: string, visitor: Caller): Caller {
  if (access.kind === 'authentication') throw new ApiError('API_KEY_MISSING');
  if (access.kind === 'anyone' && !access.named) return NOBODY;
  if (visitor.kind === 'user') return admitted(access, visitor);
  if (access.kind === 'service') throw new ApiError('SERVICE_TOKEN_REQUIRED');
  const isOpen = access.kind === 'anyone' || (access.kind === 'reader' && isForKeys(access, method));
  if (!isOpen) throw new ApiError('USER_MUST_BE_LOGGED_IN');
  return visitor;
}

type TokenCaller = UserCaller | ServiceCaller | KeyCaller;

const isContent = (access: Access): boolean =>
  (access.kind === 'reader' || access.kind === 'anyone') && access.content === true;

/** A server token reads content of its game and nothing else. */
function admittedServer(access: Access, caller: KeyCaller): KeyCaller {
  if (access.kind === 'service') throw new ApiError('SERVICE_TOKEN_REQUIRED');
  if (access.kind === 'user' && access.service)
    throw new ApiError('SERVICE_TOKEN_MISSING_SCOPE', { values: { scope: access.service } });
  if (access.kind === 'user') throw new ApiError('SERVICE_TOKEN_WITHOUT_USER');
  if (!isContent(access)) throw new ApiError('TOKEN_MISSING_SCOPE_READ');
  return caller;
}

/** A user's token opens operations for users by its scopes, a service token those for services. */
function admitted(access: Access, caller: TokenCaller): Caller {
  if (caller.kind === 'key') return admittedServer(access, caller);
  if (caller.kind === 'service') return admittedService(access, caller);
  if (access.kind === 'service') throw new ApiError('SERVICE_TOKEN_REQUIRED');
  const scope = 'scope' in access ? access.scope : 'read';
  if (caller.scopes.includes(scope)) return caller;
  throw new ApiError(scope === 'write' ? 'TOKEN_MISSING_SCOPE_WRITE' : 'TOKEN_MISSING_SCOPE_READ');
}

/** A service token stands for no user, so no scope opens operations that need one. */
function admittedService(access: Access, caller: ServiceCaller): ServiceCaller {
  if (access.kind === 'user' && !access.service) throw new ApiError('SERVICE_TOKEN_WITHOUT_USER');
  const lacking = scopesFor(access).find((scope) => !caller.scopes.includes(scope));
  if (lacking === undefined) return caller;
  if (lacking === 'read') throw new ApiError('TOKEN_MISSING_SCOPE_READ');
  throw new ApiError('SERVICE_TOKEN_MISSING_SCOPE', { values: { scope: lacking } });
}

function scopesFor(access: Access): readonly TokenScope[] {
  if (access.kind === 'service') return [access.scope, ...access.besides];
  if (access.kind === 'user') return [access.service!];
  return access.kind === 'reader' && access.keyWrites ? ['write'] : ['read'];
}

interface Known<T> {
  readonly caller: T;
  readonly scope: string;
  /** `Changes.now()` before the lookup. */
  readonly asOf: number;
  readonly until: number;
  /** The scope of the user's mutes and blocks; undefined for callers who have none. */
  readonly visibility: string | undefined;
  readonly visibilityAsOf: number;
}

/** Cached callers of one kind. Keys and tokens are separate, because a key sent as a token is invalid. */
class CallerCache<T extends KeyCaller | UserCaller | ServiceCaller> {
  readonly #db: Database;
  readonly #clock: Clock;
  /** Reloads only what a change of mutes or blocks affects. */
  readonly #refreshVisibility: (caller: T) => Promise<T>;
  readonly #cached = new Map<string, Known<T>>();

  constructor(db: Database, clock: Clock, refreshVisibility: (caller: T) => Promise<T> = async (caller) => caller) {
    this.#db = db;
    this.#clock = clock;
    this.#refreshVisibility = refreshVisibility;
  }

  recall(secret: string): T | undefined {
    const known = this.#cached.get(secret);
    return known && this.#isGood(known) && this.#hasSameVisibility(known) ? known.caller : undefined;
  }

  #isGood({ asOf, scope, until }: Known<T>): boolean {
    const { changes } = this.#db;
    const isUnchanged = changes.unchangedSince(asOf, ACCESS_SCOPE) && changes.unchangedSince(asOf, scope);
    return isUnchanged && this.#clock.now() < until;
  }

  #hasSameVisibility({ visibility, visibilityAsOf }: Known<T>): boolean {
    return visibility === undefined || this.#db.changes.unchangedSince(visibilityAsOf, visibility);
  }

  async get(secret: string, load: () => Promise<T>): Promise<T> {
    const known = this.#cached.get(secret);
    if (!known || !this.#isGood(known)) return this.#load(secret, load);
    if (this.#hasSameVisibility(known)) return known.caller;
    const visibilityAsOf = this.#db.changes.now();
    const caller = await this.#refreshVisibility(known.caller);
    this.#cached.set(secret, { ...known, caller, visibilityAsOf });
    return caller;
  }

  async #load(secret: string, load: () => Promise<T>): Promise<T> {
    const asOf = this.#db.changes.now();
    const caller = await load();
    if (this.#cached.size >= CACHED_MAX) this.#cached.clear();
    const reloadAt = this.#clock.now() + CACHED_SECONDS;
    const expires = caller.kind === 'key' ? caller.server?.dateExpires : caller.dateExpires;
    const until = Math.min(reloadAt, expires ?? reloadAt);
    const isPerson = caller.kind === 'user';
    this.#cached.set(secret, {
      caller,
      scope: isPerson ? accessScopeOf(caller.userId) : ACCESS_SCOPE,
      asOf,
      until,
      visibility: isPerson ? visibilityScopeOf(caller.userId) : undefined,
      visibilityAsOf: asOf,
    });
    return caller;
  }
}

/**
 * Checked first, because a new sign-in does not help after a deletion, although the tokens and keys are revoked too.
 * After a merge it does help: the user is then signed in to the surviving account.
 */
function refuseDeleted({ status, merged_into }: { status: number | null; merged_into: number | null }): void {
  if (status === USER_DELETED && merged_into === null) throw new ApiError('USER_DELETED');
}

/** Deleted and banned users cannot call anything. */
export function refuseGone(status: number): void {
  if (status === USER_DELETED) throw new ApiError('USER_DELETED');
  if (status === USER_BANNED) throw new ApiError('USER_BANNED');
}
