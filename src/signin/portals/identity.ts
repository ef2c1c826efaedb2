import type { App } from '../../platform/app.ts';
import type { LinkedPortal } from '../../platform/vocabulary/game-platforms.ts';

/** What a client sends to show who someone is; which of it, depends on the portal. */
export type Credentials = Readonly<Partial<Record<CredentialField, string>>>;

export type CredentialField =
  | 'access_token'
  | 'appdata'
  | 'auth_code'
  | 'device'
  | 'discord_token'
  | 'env'
  | 'facebook_token'
  | 'id_token'
  | 'itchio_token'
  | 'nonce'
  | 'user_id'
  | 'xbox_token';

/** What the settings of a game say about a portal; a list where the game may have several of something. */
export type PortalSettings = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface Asking {
  readonly app: App;
  readonly gameId: number;
  /** Without them the game does not use the portal. */
  readonly settings: PortalSettings | undefined;
  readonly credentials: Credentials;
}

/** Someone, as a platform vouches for them. */
export interface Identity {
  readonly portal: LinkedPortal;
  readonly id: string;
  readonly displayName: string;
  readonly avatar: string;
  /** An address that the platform has confirmed. */
  readonly email?: string | undefined;
  /** The id means something in this game alone, although the portal's ids are the same everywhere. */
  readonly perGame?: boolean;
  /** What showed it, and until when it could do so again. What the platform itself takes once only is not named. */
  readonly ticket?: { readonly text: string; readonly until: number };
}

export type Verifier = (asking: Asking) => Promise<Identity>;

/** Ids that a platform makes up for each game, or studio, mean nothing in others. */
export const PER_GAME: readonly LinkedPortal[] = ['oculus', 'sso'];

/** Whose word counts for the portals that let games say where they are asked. */
const DOMAINS: Readonly<Partial<Record<LinkedPortal, readonly string[]>>> = {
  nintendo: ['nintendo.com', 'nintendo.net'],
  psn: ['sony.com', 'sonyentertainmentnetwork.com', 'playstation.com', 'playstation.net'],
  xboxlive: ['xboxlive.com', 'xbox.com', 'live.com'],
};
/** Settings that decide who vouches for people. */
const SPEAKERS = ['issuer', 'keys_url', 'token_url', 'web_issuer', 'web_keys_url', 'web_token_url'];

/** Anyone can add a game and name any server for a portal: whom such a server vouches for is someone in that game alone. */
export function withinReach(identity: Identity, settings: PortalSettings | undefined): Identity {
  const { portal } = identity;
  const isElsewhere = (name: string) => {
    const address = textOf(settings, name);
    return address !== undefined && !isAtMaker(portal, address);
  };
  return portal in DOMAINS && SPEAKERS.some(isElsewhere) ? { ...identity, perGame: true } : identity;
}

/** Whether an address is one of those who make the console. */
export function isAtMaker(portal: LinkedPortal, address: string): boolean {
  const { protocol, hostname } = URL.parse(address) ?? {};
  const isWithin = (domain: string) => hostname === domain || hostname?.endsWith(`.${domain}`);
  return protocol === 'https:' && (DOMAINS[portal] ?? []).some(isWithin);
}

export const textOf = (settings: PortalSettings | undefined, name: string): string | undefined => {
  const value = settings?.[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
};

export const listOf = (settings: PortalSettings | undefined, name: string): readonly string[] => {
  const value = settings?.[name];
  return Array.isArray(value) ? value : [];
};
