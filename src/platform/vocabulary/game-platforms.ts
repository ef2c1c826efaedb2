/** The platforms that games run on, by their names in requests. */
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

/** The stores and portals on which players have games and accounts. */
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

/** The portals whose accounts can be linked. Meta's headsets have no name among the portals of requests. */
export const LINKED_PORTALS = [...PORTALS, 'oculus'] as const;
export type LinkedPortal = (typeof LINKED_PORTALS)[number];

/** The display names of portals. A game's single sign-on has none that players would know. */
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
