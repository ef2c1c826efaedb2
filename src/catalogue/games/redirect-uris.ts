import type { Caller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { extensionPoint } from '../../platform/extensions.ts';

/** Of one game, over all of its OAuth clients. */
export const REDIRECT_URIS_MAX = 20;

/** The media operation of a game also takes redirect URIs. The resource that stores OAuth clients contributes how. */
export interface RedirectUriSetting {
  /** Refuses invalid URIs before anything is written. */
  readonly validate: (uris: readonly string[]) => void;
  readonly set: (app: App, caller: Caller, gameId: number, uris: readonly string[]) => Promise<void>;
}

export const redirectUriSettings = extensionPoint<RedirectUriSetting>('redirect URIs of games');

export function validateRedirectUris(app: App, uris: readonly string[]): void {
  for (const { validate } of app.extensions.of(redirectUriSettings)) validate(uris);
}

export async function setRedirectUris(
  app: App,
  caller: Caller,
  gameId: number,
  uris: readonly string[],
): Promise<void> {
  for (const { set } of app.extensions.of(redirectUriSettings)) await set(app, caller, gameId, uris);
}
