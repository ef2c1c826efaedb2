/**
 * What an operation decides over. Every operation that takes a person's token declares one, and from it alone follows
 * which of their tokens may call it.
 */
const POWERS = {
  content: 'What the person makes, reads, subscribes to and says in games.',
  personal: 'What the person has beyond any game: messages, notifications, whom they follow, mute or block.',
  profile: 'What the person is known by: name, picture, linked accounts, own key, agreements.',
  team: 'A game or the team of a mod: its people, settings, keys, moderation, figures.',
  account: 'The account itself: address, tokens, sessions, export, end.',
  staff: 'The site: its people, its staff, its legal texts, its log.',
} as const;

export type Power = keyof typeof POWERS;

/** The ways to come by a person's token. */
export type Origin = 'site' | 'game' | 'application';

/** In which words the docs and the API's description tell which tokens hold a power. */
export const HOLDERS: Readonly<Record<Power, Readonly<Record<Origin, string | undefined>>>> = {
  content: { site: 'yes', game: 'yes', application: 'in the games that it was let into' },
  personal: { site: 'yes', game: 'yes', application: 'if it was let into all games' },
  profile: { site: 'yes', game: 'yes', application: undefined },
  team: { site: 'yes', game: 'in that game', application: undefined },
  account: { site: 'yes', game: undefined, application: undefined },
  staff: { site: 'yes', game: undefined, application: undefined },
};
