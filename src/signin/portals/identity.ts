import type { App } from '../../platform/app.ts';
import type { LinkedPortal } from '../../platform/vocabulary/game-platforms.ts';

/** The credentials that a client sends; which fields, depends on the portal. */
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

/** The settings of a game for a portal; a list if the game may have several values. */
export type PortalSettings = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface Verification {
  readonly app: App;
  readonly gameId: number;
  /** Undefined if the game does not use the portal. */
  readonly settings: PortalSettings | undefined;
  readonly credentials: Credentials;
}

/** A user’s identity as a platform confirmed it. */
export interface Identity {
  readonly portal: LinkedPortal;
  readonly id: string;
  readonly displayName: string;
  readonly avatar: string;
  /** An address that the platform has verified. */
  readonly email?: string | undefined;
  /** The id is valid in this game only, although the portal’s ids are global. */
  readonly perGame?: boolean;
  /** The credential and its expiry, to prevent replays. Omitted if the platform itself accepts it only once. */
  readonly ticket?: { readonly text: string; readonly until: number };
}

export type Verifier = (verification: Verification) => Promise<Identity>;

/** Portals whose ids are specific to a game or studio. */
export const PER_GAME: readonly LinkedPortal[] = ['oculus', 'sso'];

/** The official domains of portals whose addresses games can configure. */
const DOMAINS: Readonly<Partial<Record<LinkedPortal, readonly string[]>>> = {
  nintendo: ['nintendo.com', 'nintendo.net'],
  psn: ['sony.com', 'sonyentertainmentnetwork.com', 'playstation.com', 'playstation.net'],
  xboxlive: ['xboxlive.com', 'xbox.com', 'live.com'],
};
/** Settings that decide which server confirms identities. */
const ISSUER_SETTINGS = ['issuer', 'keys_url', 'token_url', 'web_issuer', 'web_keys_url', 'web_token_url'];

/**
 * Anyone can add a game and configure any server for a portal, so identities from unofficial servers are valid in that
 * game only.
 */
export function limitedToGame(identity: Identity, settings: PortalSettings | undefined): Identity {
  const { portal } = identity;
  const isElsewhere = (name: string) => {
    const address = textOf(settings, name);
    return address !== undefined && !isMakerAddress(portal, address);
  };
  return portal in DOMAINS && ISSUER_SETTINGS.some(isElsewhere) ? { ...identity, perGame: true } : identity;
}

/** Whether an address belongs to the console’s maker. */
export function isMakerAddress(portal: LinkedPortal, address: string): boolean {
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
