import type { ApiError } from '../errors/catalogue.ts';
import type { Power } from './powers.ts';

/** What a token may do. `update` and `monetization` belong to service tokens alone. */
export type TokenScope = 'read' | 'write' | 'update' | 'monetization';

export interface Nobody {
  readonly kind: 'nobody';
  /** Why the request's credentials were refused, where a signed link may stand in for them. */
  readonly refusal?: ApiError;
}

/** A request with an API key: it reads what its game may, and signs people in. */
export interface KeyCaller {
  readonly kind: 'key';
  readonly keyId: number;
  readonly gameId: number | undefined;
  readonly userId: number | undefined;
  /** Of the profile of the person whose key it is. */
  readonly language?: string | undefined;
}

/** What someone hands in with a request, for the rules of the game to look at. */
export interface Submission {
  /** The id of the operation. */
  readonly operation: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly ip: string;
  /** Where it comes from, as a proxy of the operator says: two letters. */
  readonly country?: string | undefined;
  readonly files: readonly { readonly filename: string; readonly bytes: number }[];
  /** The names within an archive, once it has been read. */
  contents?: readonly string[];
  /** Set where rules refuse it: stores that they did, once what was begun has been taken back. */
  refusal?: () => Promise<void>;
}

export interface UserCaller {
  readonly kind: 'user';
  readonly userId: number;
  readonly tokenId: number;
  readonly scopes: readonly TokenScope[];
  /** The game for which the token was issued. */
  readonly gameId: number | undefined;
  /** Whether they administer the site: `staff` is high enough for it. */
  readonly admin: boolean;
  /** The level among those who run the site, as in `STAFF_LEVELS`; nothing for everyone else. */
  readonly staff?: number;
  readonly language: string;
  readonly dateExpires: number;
  /** Whether any game or mod counts this person in its team or among its previewers, and so may show them more than others. */
  readonly inTeams: boolean;
  /** Whether they have muted or blocked anyone, and so see less than others. */
  readonly mutes?: boolean;
  /** The registered client that the person let in. Without one the token is the person's own. */
  readonly clientId?: number | undefined;
  /** Whether the person let that client reach more than the game that it belongs to. */
  readonly allGames?: boolean;
  /** Whether the token is for content alone, as that of a device which someone let in by a code. */
  readonly contentOnly?: boolean;
  /** The person's epoch in which the token was given: what is given for it belongs to the same. */
  readonly epoch?: number;
  /** Where a request that changes something comes from, as limits count it. */
  readonly address?: string | undefined;
  /** On which platform, as the header of such a request says. */
  readonly platform?: string | undefined;
  /** What they hand in, if the operation is one that games have rules for. */
  readonly submission?: Submission;
  /** Set where it is no person who calls but the game's own backend, as its leader. */
  readonly service?: ServiceCaller;
}

/** The backend of a game, signed in with its client's own secret. Nobody stands behind it. */
export interface ServiceCaller {
  readonly kind: 'service';
  readonly tokenId: number;
  readonly clientId: number;
  readonly gameId: number;
  readonly scopes: readonly TokenScope[];
  readonly dateExpires: number;
  /** Who leads the game. */
  readonly leaderId: number;
}

export type Caller = Nobody | KeyCaller | UserCaller | ServiceCaller;

export const NOBODY: Nobody = { kind: 'nobody' };

/** Whoever runs the service, by commands and by what it does itself: no person, and above all teams. */
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

/** The service in the place of its game's leader: with what the leader may do in that game, and nothing beyond it. */
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

/** Callers of one class see the same of everything public; a class of its own marks a caller who may see more, or less. */
export function visibilityClass(caller: Caller): string {
  if (caller.kind === 'nobody') return 'p';
  if (caller.kind === 'key') return caller.gameId === undefined ? 'p' : `g${caller.gameId}`;
  if (caller.kind === 'service') return `s${caller.gameId}`;
  // A game may refuse keys and tokens that come from elsewhere, so a token's game is part of its class.
  const game = caller.gameId === undefined ? '' : ` g${caller.gameId}`;
  const isOneOfMany = !caller.inTeams && !caller.admin && !caller.staff && !caller.mutes;
  return isOneOfMany ? `p${game}` : `u${caller.userId}${game}${holderOf(caller)}`;
}

/** What a person sees by their seats depends on who holds the token. */
function holderOf({ service, clientId, allGames, contentOnly }: UserCaller): string {
  if (service) return ' service';
  if (clientId !== undefined) return allGames ? ' application everywhere' : ' application';
  return contentOnly ? ' device' : '';
}

/** Whose mutes and blocks a list has to look at; undefined for most. */
export const muterOf = (caller: Caller): number | undefined =>
  caller.kind === 'user' && caller.mutes ? caller.userId : undefined;

/** Anyone, with or without credentials; with `named` also as themselves, if their credentials are good. */
export interface AnyoneAccess {
  readonly kind: 'anyone';
  readonly named?: true;
  readonly link?: true;
  readonly power?: Power;
}

/** An API key or a token that may read. A key alone reads, unless the operation takes it for a write as well. */
export interface ReaderAccess {
  readonly kind: 'reader';
  readonly keyWrites?: true;
  readonly link?: true;
}

/**
 * A person's token with this scope that holds this power, or a service's with that scope, which then acts as the leader
 * of its game.
 */
export interface UserAccess {
  readonly kind: 'user';
  readonly scope: 'read' | 'write';
  readonly power: Power;
  readonly service?: TokenScope;
}

/** The token of a game's backend with this scope, and with all of these. */
export interface ServiceAccess {
  readonly kind: 'service';
  readonly scope: 'read' | 'write';
  readonly besides: readonly TokenScope[];
}

/** An API key, on any method: the way to a token. */
export interface AuthenticationAccess {
  readonly kind: 'authentication';
}

/** Who may call an operation. Finer rules belong to the resource and are declared as its errors. */
export type Access = AnyoneAccess | ReaderAccess | UserAccess | ServiceAccess | AuthenticationAccess;

/** The callers that the gate lets through to an operation with this access. */
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
/** A signed link may stand in for credentials: the handler checks the link, and throws `Nobody.refusal` without one. */
export const visitorByLink = (): AnyoneAccess => ({ kind: 'anyone', named: true, link: true });
export const readerOrLink = (): ReaderAccess => ({ kind: 'reader', link: true });
/** The same where people write who need not have signed in. */
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
