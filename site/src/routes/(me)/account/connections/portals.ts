/** The names that players know; a studio's own accounts have none. */
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
