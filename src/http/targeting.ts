import type { IncomingHttpHeaders } from 'node:http';

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

/** Spellings that shipped clients send for a portal (`clients.md`, 18). */
const PORTAL_ALIASES: Record<string, Portal> = { egs: 'epicgames' };

/** One of the service's own headers, under any of its configured prefixes; the first that is present counts. */
export function ownHeader(headers: IncomingHttpHeaders, prefixes: readonly string[], name: string): string | undefined {
  for (const prefix of prefixes) {
    const value = headers[`x-${prefix}-${name}`];
    if (value !== undefined) return Array.isArray(value) ? value[0] : value;
  }
  return undefined;
}

/** No header targets no platform; an unknown value means Windows. */
export function platformOf(value: string | undefined): Platform | undefined {
  if (!value) return undefined;
  const name = value.trim().toLowerCase() as Platform;
  return PLATFORMS.includes(name) ? name : 'windows';
}

export function portalOf(value: string | undefined): Portal | undefined {
  if (!value) return undefined;
  const name = value.trim().toLowerCase();
  return PORTALS.find((portal) => portal === name) ?? PORTAL_ALIASES[name];
}
