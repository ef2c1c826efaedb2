/** The addresses of pages that more than one page links to. */
const encoded = encodeURIComponent;

export const gameAddress = (game: string): string => `/g/${encoded(game)}`;
export const modAddress = (game: string, mod: string): string => `${gameAddress(game)}/m/${encoded(mod)}`;
export const guidesAddress = (game: string): string => `${gameAddress(game)}/r`;
export const guideAddress = (game: string, guide: string): string => `${guidesAddress(game)}/${encoded(guide)}`;
export const collectionsAddress = (game: string): string => `${gameAddress(game)}/c`;
export const collectionAddress = (game: string, collection: string): string =>
  `${collectionsAddress(game)}/${encoded(collection)}`;
/** Where a game sells its tokens. */
export const tokensAddress = (game: string): string => `${gameAddress(game)}/tokens`;
export const userAddress = (user: string): string => `/u/${encoded(user)}`;

/** The form that reports content to the moderators, and returns to this path. */
export const reportAddress = (resource: string, id: string, back: string): string =>
  `/report?${new URLSearchParams({ resource, id, back })}`;

/** The sign-in page, which returns to this path. */
export const signInAddress = (path: string): string => `/sign-in?${new URLSearchParams({ return: path })}`;
