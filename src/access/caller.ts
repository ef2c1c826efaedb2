/** What a token may do. `update` and `monetization` belong to service tokens alone. */
export type TokenScope = 'read' | 'write' | 'update' | 'monetization';

export interface Nobody {
  readonly kind: 'nobody';
}

/** A request with an API key: it reads what its game may, and signs people in. */
export interface KeyCaller {
  readonly kind: 'key';
  readonly keyId: number;
  readonly gameId: number | undefined;
  readonly userId: number | undefined;
}

export interface UserCaller {
  readonly kind: 'user';
  readonly userId: number;
  readonly tokenId: number;
  readonly scopes: readonly TokenScope[];
  /** The game for which the token was issued. */
  readonly gameId: number | undefined;
  readonly admin: boolean;
  readonly language: string;
  readonly dateExpires: number;
  /** Whether any game or mod counts this person in its team or among its previewers, and so may show them more than others. */
  readonly inTeams: boolean;
}

export type Caller = Nobody | KeyCaller | UserCaller;

export const NOBODY: Nobody = { kind: 'nobody' };

/** Callers of one class see the same of everything public; a class of its own marks a caller who may see more. */
export function visibilityClass(caller: Caller): string {
  if (caller.kind === 'nobody') return 'p';
  if (caller.kind === 'key') return caller.gameId === undefined ? 'p' : `g${caller.gameId}`;
  // A game may refuse keys and tokens that come from elsewhere, so a token's game is part of its class.
  const game = caller.gameId === undefined ? '' : ` g${caller.gameId}`;
  return caller.inTeams || caller.admin ? `u${caller.userId}${game}` : `p${game}`;
}

/** Who may call an operation. Finer rules belong to the noun and are declared as its errors. */
export type Access =
  | { readonly kind: 'anyone' }
  /** An API key or a token that may read. */
  | { readonly kind: 'reader' }
  /** A person's token with this scope. */
  | { readonly kind: 'user'; readonly scope: 'read' | 'write' }
  /** An API key, on any method: the way to a token. */
  | { readonly kind: 'authentication' };

export const anyone = (): Access => ({ kind: 'anyone' });
export const reader = (): Access => ({ kind: 'reader' });
export const user = (scope: 'read' | 'write'): Access => ({ kind: 'user', scope });
export const authentication = (): Access => ({ kind: 'authentication' });
