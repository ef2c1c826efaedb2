import type { Settings } from './settings.ts';

export type Environment = 'production' | 'sandbox';

/** All addresses in responses. They are built from the settings and never from a request's Host header. */
export interface Addresses {
  readonly site: string;
  readonly api: string;
  gameApi(gameId: number): string;
  userApi(userId: number): string;
  game(nameId: string): string;
  mod(gameNameId: string, nameId: string): string;
  guide(gameNameId: string, nameId: string): string;
  collection(gameNameId: string, nameId: string): string;
  user(nameId: string): string;
  file(key: string): string;
}

/** Names may use any script, but addresses are URIs (RFC 3986). */
const encoded = encodeURIComponent;

export function addressesOf(
  settings: Pick<Settings, 'domain' | 'port' | 'publicPort'>,
  environment: Environment,
): Addresses {
  const domain = environment === 'sandbox' ? `test.${settings.domain}` : settings.domain;
  const port = settings.publicPort || settings.port;
  const authority = port === 443 ? domain : `${domain}:${port}`;
  const site = `https://${authority}`;
  return {
    site,
    api: `https://api.${authority}/v1`,
    gameApi: (gameId) => `https://g-${gameId}.${authority}/v1`,
    userApi: (userId) => `https://u-${userId}.${authority}/v1`,
    game: (nameId) => `${site}/g/${encoded(nameId)}`,
    mod: (gameNameId, nameId) => `${site}/g/${encoded(gameNameId)}/m/${encoded(nameId)}`,
    guide: (gameNameId, nameId) => `${site}/g/${encoded(gameNameId)}/r/${encoded(nameId)}`,
    collection: (gameNameId, nameId) => `${site}/g/${encoded(gameNameId)}/c/${encoded(nameId)}`,
    user: (nameId) => `${site}/u/${encoded(nameId)}`,
    file: (key) => `${site}/files/${key}`,
  };
}

/** The environment and the owner that a request's host name refers to. */
export interface HostScope {
  readonly environment: Environment;
  readonly gameId?: number;
  readonly userId?: number;
  /** An address for WebSockets only. */
  readonly isSocket?: true;
}

const NAMED = /^([gu])-(\d{1,15})(\.ws)?\./;

const HOSTS_KEPT = 10_000;
/** By domain, then by host. */
const domains = new Map<string, Map<string, HostScope>>();

/** Unknown hosts count as production without a scope, so that the path alone selects the operation. */
export function hostScope(named: string | undefined, domain: string): HostScope {
  const host = named ?? '';
  const hosts = domains.get(domain) ?? new Map<string, HostScope>();
  const known = hosts.get(host);
  if (known) return known;
  if (hosts.size >= HOSTS_KEPT) hosts.clear();
  const scope = readHost(host, domain);
  domains.set(domain, hosts.set(host, scope));
  return scope;
}

/** Without the port and the trailing dot of a fully qualified name, which means the same host (RFC 3986, 3.2.2). */
const hostName = (host: string | undefined) => (host ?? '').toLowerCase().replace(/\.?(?::\d*)?$/, '');

/** True for the service's own host name and its subdomains. */
export function isOwnHost(host: string | undefined, domain: string): boolean {
  const name = hostName(host);
  return name === domain || name.endsWith(`.${domain}`);
}

/** True for the host of the site itself, in production or in the sandbox. */
export function isSiteHost(host: string | undefined, domain: string): boolean {
  const name = hostName(host);
  return name === domain || name === `test.${domain}`;
}

function readHost(host: string | undefined, domain: string): HostScope {
  const name = hostName(host);
  const environment = name === `test.${domain}` || name.endsWith(`.test.${domain}`) ? 'sandbox' : 'production';
  const named = NAMED.exec(name);
  if (!named) return { environment };
  const id = Number(named[2]);
  const socket = named[3] === undefined ? {} : { isSocket: true as const };
  return named[1] === 'g' ? { environment, gameId: id, ...socket } : { environment, userId: id, ...socket };
}
