/** What games run on, as requests name it. */
export const PLATFORMS = [
  'source',
  'windows',
  'mac',
  'linux',
  'android',
  'ios',
  'xboxone',
  'xboxseriesx',
  'ps4',
  'ps5',
  'switch',
  'switch2',
  'oculus',
  'windowsserver',
  'linuxserver',
] as const;
export type Platform = (typeof PLATFORMS)[number];

/** Where players get games, and have accounts. */
export const PORTALS = [
  'apple',
  'discord',
  'epicgames',
  'facebook',
  'gog',
  'google',
  'itchio',
  'nintendo',
  'psn',
  'sso',
  'steam',
  'xboxlive',
] as const;
export type Portal = (typeof PORTALS)[number];

/** Where people have accounts that can be linked. Meta's headsets have no name among the portals of requests. */
export const LINKED_PORTALS = [...PORTALS, 'oculus'] as const;
export type LinkedPortal = (typeof LINKED_PORTALS)[number];

/** How platforms call themselves. Single sign-on of a game has no name that players would know. */
export const PORTAL_NAMES: Readonly<Record<string, string>> = {
  apple: 'Apple',
  discord: 'Discord',
  epicgames: 'Epic Games',
  facebook: 'Facebook',
  gog: 'GOG',
  google: 'Google',
  itchio: 'itch.io',
  nintendo: 'Nintendo',
  oculus: 'Meta',
  psn: 'PlayStation™Network',
  steam: 'Steam',
  xboxlive: 'Xbox',
};
