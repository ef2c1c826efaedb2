import type { ModReach } from '../database/mod-reach.ts';
import type { ApiError } from '../errors/catalogue.ts';
import type { Power } from './powers.ts';

/** What a token may do. `update` and `monetization` belong to service tokens alone. */
export type TokenScope = 'read' | 'write' | 'update' | 'monetization';

export interface Nobody {
  readonly kind: 'nobody';
  /** Why the credentials were refused; set only if a signed link may replace them. */
  readonly refusal?: ApiError;
  /** The game lets everyone read its free content. */
  readonly anonymous?: true;
}

/** A game's server, with a read-only token that its administrators created. */
export interface ServerStanding {
  readonly tokenId: number;
  readonly dateExpires: number;
  /** Its own rate limit, if it has another than users. */
  readonly requestsPerMinute: number | undefined;
  /** Undefined for all content of the game. */
  readonly reach: ModReach | undefined;
}

/** A request with an API key: it reads what its game may read, and signs users in. */
export interface KeyCaller {
  readonly kind: 'key';
  readonly keyId: number;
  readonly gameId: number | undefined;
  readonly userId: number | undefined;
  /** From the profile of the user who owns the key. */
  readonly language?: string | undefined;
  /** Set if the credential is a server token, which reads content of its game like the game's key. */
  readonly server?: ServerStanding;
}

/** The only mods that the caller may read; undefined for most callers. */
export function modReachOf(caller: Caller): ModReach | undefined {
  if (caller.kind === 'key') return caller.server?.reach;
  return caller.kind === 'nobody' && caller.anonymous ? { kind: 'free' } : undefined;
}

/** The content of a request, for the moderation rules of the game. */
export interface Submission {
  /** The id of the operation. */
  readonly operation: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly ip: string;
  /** The two-letter country code, as the operator's proxy reports it. */
  readonly country?: string | undefined;
  readonly files: readonly { readonly filename: string; readonly bytes: number }[];
  /** The file names in an archive, once it has been read. */
  contents?: readonly string[];
  /** Set if a rule refuses the submission. Stores the refusal after the transaction was rolled back. */
  refusal?: () => Promise<void>;
}

export interface UserCaller {
  readonly kind: 'user';
  readonly userId: number;
  readonly tokenId: number;
  readonly scopes: readonly TokenScope[];
  /** The game for which the token was issued. */
  readonly gameId: number | undefined;
  /** True if `staff` is at least administrator. */
  readonly admin: boolean;
  /** The user's level among the site's staff, as in `STAFF_LEVELS`. */
  readonly staff?: number;
  readonly language: string;
  readonly dateExpires: number;
  /** True if the user is a team member or previewer of any game or mod, and so may see more than others. */
  readonly inTeams: boolean;
  /** True if the user has muted or blocked anyone, and so sees less than others. */
  readonly mutes?: boolean;
  /** The registered client that the user authorised. Without one the token is the user's own. */
  readonly clientId?: number | undefined;
  /** True if the user granted that client all games and not only its own. */
  readonly allGames?: boolean;
  /** True if the token is limited to content, such as one of a device that was authorised by a code. */
  readonly contentOnly?: boolean;
  /** The user's epoch in which the token was issued. Tokens that are exchanged for it belong to the same epoch. */
  readonly epoch?: number;
  /** The client's address of a write request, in the form that rate limits use. */
  readonly address?: string | undefined;
  /** The platform from the header of a write request. */
  readonly platform?: string | undefined;
  /** Set if games can have moderation rules for the operation. */
  readonly submission?: Submission;
  /** Set if the game's backend calls in place of its leader. */
  readonly service?: ServiceCaller;
}

/** The backend of a game, authenticated with the client secret. It stands for no user. */
export interface ServiceCaller {
  readonly kind: 'service';
  readonly tokenId: number;
  readonly clientId: number;
  readonly gameId: number;
  readonly scopes: readonly TokenScope[];
  readonly dateExpires: number;
  /** The user who leads the game. */
  readonly leaderId: number;
}

export type Caller = Nobody | KeyCaller | UserCaller | ServiceCaller;

export const NOBODY: Nobody = { kind: 'nobody' };

/** The operator, who acts by commands and by jobs of the service. Not a user, and above all teams. */
export const OPERATOR: UserCaller = {
  kind: 'user',
  userId: 0,
  tokenId: 0,
  scopes: ['read', 'write'],
  gameId: undefined,
  admin: true,
  staff: 8,
  language: 'en',
  dateExpires: Number.MAX_SAFE_INTEGER,
  inTeams: false,
};

/** The service in place of its game's leader, limited to what the leader may do in that game. */
export const asLeader = (service: ServiceCaller): UserCaller => ({
  kind: 'user',
  userId: service.leaderId,
  tokenId: service.tokenId,
  scopes: ['write'],
  gameId: service.gameId,
  admin: false,
  language: 'en',
  dateExpires: service.dateExpires,
  inTeams: true,
  clientId: service.clientId,
  service,
});

/** Callers of one class see the same public content. A class of its own marks a caller who may see more or less. */
export function visibilityClass(caller: Caller): string {
  if (caller.kind === 'nobody') return caller.anonymous ? 'a' : 'p';
  if (caller.kind === 'key' && caller.server)
    return `t${caller.server.reach ? caller.server.tokenId : ''} g${caller.gameId}`;
  if (caller.kind === 'key') return caller.gameId === undefined ? 'p' : `g${caller.gameId}`;
  if (caller.kind === 'service') return `s${caller.gameId}`;
  // A game may refuse keys and tokens of other games, so the game of a token is part of its class.
  const game = caller.gameId === undefined ? '' : ` g${caller.gameId}`;
  const isOneOfMany = !caller.inTeams && !caller.admin && !caller.staff && !caller.mutes;
  return isOneOfMany ? `p${game}` : `u${caller.userId}${game}${holderOf(caller)}`;
}

/** What a user sees as a team member depends on the kind of token. */
function holderOf({ service, clientId, allGames, contentOnly }: UserCaller): string {
  if (service) return ' service';
  if (clientId !== undefined) return allGames ? ' application everywhere' : ' application';
  return contentOnly ? ' device' : '';
}

/** The user whose mutes and blocks a list must apply; undefined for most callers. */
export const muterOf = (caller: Caller): number | undefined =>
  caller.kind === 'user' && caller.mutes ? caller.userId : undefined;

/** Any caller, with or without credentials. With `named`, valid credentials identify the caller. */
export interface AnyoneAccess {
  readonly kind: 'anyone';
  readonly named?: true;
  readonly content?: true;
  readonly link?: true;
  readonly power?: Power;
}

/** An API key, or a token with the scope `read`. A key alone only reads, unless `keyWrites` is set. */
export interface ReaderAccess {
  readonly kind: 'reader';
  readonly keyWrites?: true;
  /** A read whose parameters do not fit into a query, so it is sent as POST. */
  readonly byPost?: true;
  /** Content of one game that its servers may read, and everyone where the game allows it. */
  readonly content?: true;
  readonly link?: true;
}

/** Whether an API key alone may call the operation. */
export const isForKeys = ({ keyWrites, byPost }: ReaderAccess, method: string): boolean =>
  method === 'GET' || keyWrites === true || byPost === true;

/**
 * A user's token with this scope and power, or a service token with the scope `service`, which acts as the leader of
 * its game.
 */
export interface UserAccess {
  readonly kind: 'user';
  readonly scope: 'read' | 'write';
  readonly power: Power;
  readonly service?: TokenScope;
}

/** The token of a game's backend with this scope and all scopes in `besides`. */
export interface ServiceAccess {
  readonly kind: 'service';
  readonly scope: 'read' | 'write';
  readonly besides: readonly TokenScope[];
}

/** An API key, on any method. Used by operations that issue tokens. */
export interface AuthenticationAccess {
  readonly kind: 'authentication';
}

/** The callers that may call an operation. The resource declares and checks finer rules itself. */
export type Access = AnyoneAccess | ReaderAccess | UserAccess | ServiceAccess | AuthenticationAccess;

/** The callers that pass authentication for an operation with this access. */
export type CallerOf<A extends Access> = A extends UserAccess
  ? UserCaller
  : A extends ServiceAccess
    ? ServiceCaller
    : A extends AuthenticationAccess
      ? KeyCaller
      : Caller;

export const anyone = (): AnyoneAccess => ({ kind: 'anyone' });
export const visitor = (power: Power = 'content'): AnyoneAccess => ({ kind: 'anyone', named: true, power });
export const reader = (): ReaderAccess => ({ kind: 'reader' });
export const contentReader = (): ReaderAccess => ({ kind: 'reader', content: true });
/**
 * A signed link may replace credentials. The handler checks the link and throws `Nobody.refusal` without a valid one.
 */
export const visitorByLink = (): AnyoneAccess => ({ kind: 'anyone', named: true, content: true, link: true });
export const readerOrLink = (): ReaderAccess => ({ kind: 'reader', content: true, link: true });
export const readerByPost = (): ReaderAccess => ({ kind: 'reader', content: true, byPost: true });
/** The same for writes that need no sign-in. */
export const readerMayWrite = (): ReaderAccess => ({ kind: 'reader', keyWrites: true });
export const user = (scope: 'read' | 'write', power: Power = 'content'): UserAccess => ({ kind: 'user', scope, power });
export const userOrService = (scope: 'read' | 'write', service: TokenScope, power: Power = 'content'): UserAccess => ({
  kind: 'user',
  scope,
  service,
  power,
});
export const service = (scope: 'read' | 'write', ...besides: TokenScope[]): ServiceAccess => ({
  kind: 'service',
  scope,
  besides,
});
export const authentication = (): AuthenticationAccess => ({ kind: 'authentication' });
