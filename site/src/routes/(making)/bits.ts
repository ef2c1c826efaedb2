/** The bits of `maturity_option` and `community_options` of mods, and of the options of games that concern authors. */
export const MATURITY = { alcohol: 1, drugs: 2, violence: 4, explicit: 8 } as const;
export const COMMUNITY = {
  comments: 1,
  previews: 64,
  previewLink: 128,
  dependencies: 1024,
  collections: 131_072,
} as const;
export const MATURITY_BITS = sumOf(MATURITY);
export const COMMUNITY_BITS = sumOf(COMMUNITY);

/** Bits of a game's `community_options`. */
export const GAME_GUIDES = 2;
export const GAME_COLLECTIONS = 8_192;
/** The bit of a game's `monetization_options` without which nothing is sold. */
export const GAME_MONETIZATION = 1;

export const STATUS = { waiting: 0, accepted: 1, deleted: 3 } as const;
/** The levels of a team. */
export const LEVELS = { moderator: 1, manager: 4, administrator: 8 } as const;

function sumOf(bits: Readonly<Record<string, number>>): number {
  return Object.values(bits).reduce((sum, bit) => sum | bit, 0);
}

/** Decisions that take something from its readers, and that its author may appeal against. */
export const isRefusal = ({ decision }: { readonly decision: string }): boolean =>
  ['deny', 'delete', 'takedown'].includes(decision);
