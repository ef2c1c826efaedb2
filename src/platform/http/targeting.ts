import type { IncomingHttpHeaders } from 'node:http';
import { PLATFORMS, type Platform, PORTALS, type Portal } from '../vocabulary/game-platforms.ts';

/** Spellings of portals that shipped clients send (docs/API-QUIRKS.md, 18). */
const PORTAL_ALIASES: Record<string, Portal> = { egs: 'epicgames' };

type OwnHeader = 'platform' | 'portal' | 'delegation-token' | 'idempotent-key';

const ownNames = new WeakMap<readonly string[], Record<OwnHeader, readonly string[]>>();

function namesUnder(prefixes: readonly string[]): Record<OwnHeader, readonly string[]> {
  const known = ownNames.get(prefixes);
  if (known) return known;
  const under = (name: OwnHeader) => prefixes.map((prefix) => `x-${prefix}-${name}`);
  const names = {
    platform: under('platform'),
    portal: under('portal'),
    'delegation-token': under('delegation-token'),
    'idempotent-key': under('idempotent-key'),
  };
  ownNames.set(prefixes, names);
  return names;
}

/** A header of ours under any of the configured prefixes; the first that is present wins. */
export function ownHeader(
  headers: IncomingHttpHeaders,
  prefixes: readonly string[],
  name: OwnHeader,
): string | undefined {
  for (const full of namesUnder(prefixes)[name]) {
    const value = headers[full];
    if (value !== undefined) return Array.isArray(value) ? value[0] : value;
  }
  return undefined;
}

/** Without the header there is no target platform; an unknown value means Windows. */
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
