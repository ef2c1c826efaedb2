/**
 * What an operation affects. Every operation that takes a user's token declares one power, which alone determines the
 * tokens that may call it.
 */
const POWERS = {
  content: 'What the user creates, reads, subscribes to and writes in games.',
  personal: 'Data of the user outside of any game: messages, notifications, followed, muted and blocked users.',
  profile: 'The profile of the user: name, picture, linked accounts, own key, agreements.',
  money: 'What the user owns and pays: wallet, payments, purchases, refunds.',
  team: 'A game or the team of a mod: its members, settings, keys, moderation, metrics.',
  account: 'The account itself: address, tokens, sessions, data export, deletion.',
  staff: 'The site: its users, its staff, its legal texts, its log.',
} as const;

export type Power = keyof typeof POWERS;

/** How a user's token was obtained. */
export type Origin = 'site' | 'game' | 'application';

/** The tokens that have a power, in the words of the docs and the OpenAPI document. */
export const HOLDERS: Readonly<Record<Power, Readonly<Record<Origin, string | undefined>>>> = {
  content: { site: 'yes', game: 'yes', application: 'in the games that the user allowed' },
  personal: { site: 'yes', game: 'yes', application: 'if the user allowed all games' },
  profile: { site: 'yes', game: 'yes', application: undefined },
  money: { site: 'yes', game: 'yes, but not on devices let in by a code', application: undefined },
  team: { site: 'yes', game: 'in that game', application: undefined },
  account: { site: 'yes', game: undefined, application: undefined },
  staff: { site: 'yes', game: undefined, application: undefined },
};
