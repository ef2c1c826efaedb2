import type { App } from '../../platform/app.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';

/** Bits of the `monetization_options` of games. */
export const GAME_SELLS = 1;
export const GAME_HAS_MARKETPLACE = 2;
export const GAME_HAS_LIMITED_STOCK = 8;
export const GAME_LIMITS_ALL = 16;

/** The switch of the site. */
export function requireSiteSelling({ settings }: App): void {
  if (settings.monetization === 'off') throw new ApiError('MONETIZATION_SITE_MONETIZATION_DISABLED');
}

/** The switches of the site and of the game, each with its own error. */
export function requireSelling(app: App, game: { readonly monetization_options: number }): void {
  requireSiteSelling(app);
  if ((game.monetization_options & GAME_SELLS) === 0) throw new ApiError('MONETIZATION_GAME_MONETIZATION_DISABLED');
}

/** The site's switch for the sale of mods. */
export function requireMarketplace({ settings }: App, field: string): void {
  if (settings.marketplace === 'off')
    throw new ApiError('MONETIZATION_SITE_MARKETPLACE_DISABLED', { fields: [{ field, rule: 'not_for_sale' }] });
}
