import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { toClamdAddress } from '../scanning/address.ts';
import { type CdnKey, toCdnKey } from '../storage/cdn.ts';
import { type S3Location, toS3Location } from '../storage/location.ts';
import { LINKED_PORTALS, type LinkedPortal } from '../vocabulary/game-platforms.ts';

/** An invalid setting; the operator sees only its message. */
export class SettingError extends Error {}

interface Definition<T> {
  readonly name: string;
  /** The default as docs/settings.md shows it. */
  readonly fallback: string;
  readonly says: string;
  readonly read: (text: string | undefined) => T;
}

const define = <T>(
  name: string,
  fallback: string,
  says: string,
  read: (text: string | undefined) => T,
): Definition<T> => ({
  name,
  fallback,
  says,
  read,
});

const text = (fallback: string) => (value: string | undefined) => value || fallback;
const optional = (value: string | undefined) => value || undefined;
const list = (value: string | undefined) =>
  (value ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean);

const integer = (fallback: number, min: number, max: number) => (value: string | undefined) => {
  if (!value) return fallback;
  const number = Number(value);
  if (!Number.isInteger(number) || number < min || number > max)
    throw new SettingError(`a whole number from ${min} to ${max}`);
  return number;
};

function processCount(value: string): number {
  const max = 256;
  const count = Number(value);
  if (!Number.isInteger(count) || count < 1 || count > max)
    throw new SettingError(`auto, or a whole number from 1 to ${max}`);
  return count;
}

const oneOf =
  <const T extends string>(fallback: T, ...choices: T[]) =>
  (value: string | undefined): T => {
    if (!value) return fallback;
    if (!choices.includes(value as T)) throw new SettingError(`one of ${choices.join(', ')}`);
    return value as T;
  };

const url =
  (...protocols: string[]) =>
  (value: string | undefined) => {
    if (!value) return undefined;
    const parsed = URL.canParse(value) ? new URL(value) : undefined;
    if (!parsed || !protocols.includes(parsed.protocol))
      throw new SettingError(`an address that starts with ${protocols.map((p) => `${p}//`).join(' or ')}`);
    return value;
  };

const file = (value: string | undefined) => {
  if (!value) return undefined;
  try {
    return readFileSync(value, 'utf8');
  } catch {
    throw new SettingError('the path of a file that can be read');
  }
};

const domain = (value: string | undefined) => {
  const name = (value || 'localhost').toLowerCase();
  if (!/^[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(name) || isIP(name))
    throw new SettingError('a host name, such as mods.example.com');
  return name;
};

const networks = (value: string | undefined) =>
  list(value).map((item): [ipaddr.IPv4 | ipaddr.IPv6, number] => {
    if (ipaddr.isValidCIDR(item)) return ipaddr.parseCIDR(item);
    if (!ipaddr.isValid(item)) throw new SettingError('a list of addresses or networks, such as 127.0.0.1,10.0.0.0/8');
    const address = ipaddr.parse(item);
    return [address, address.kind() === 'ipv4' ? 32 : 128];
  });

/** Requests per minute; docs/operations.md explains what each limit counts. */
export interface RateLimits {
  user_key: number;
  token: number;
  token_writes: number;
  address: number;
  address_writes: number;
}

const RATE_LIMITS: RateLimits = { user_key: 60, token: 120, token_writes: 60, address: 1000, address_writes: 60 };

function rateLimits(value: string | undefined): (RateLimits & { operations: Record<string, number> }) | 'off' {
  if (value === 'off') return 'off';
  const limits = { ...RATE_LIMITS, operations: {} as Record<string, number> };
  for (const item of list(value)) {
    const [name = '', amount = ''] = item.split('=').map((part) => part.trim());
    if (!/^\d{1,9}$/.test(amount))
      throw new SettingError(`"off", or overrides per minute such as token=240,get-games=600`);
    if (name in RATE_LIMITS) limits[name as keyof RateLimits] = Number(amount);
    else limits.operations[name] = Number(amount);
  }
  return limits;
}

const clamd = (value: string | undefined) => {
  if (!value) return undefined;
  if (!toClamdAddress(value)) throw new SettingError('tcp://host:port or unix:/path');
  return value;
};

const storage = (value: string | undefined): S3Location | undefined => {
  if (!value) return undefined;
  const location = toS3Location(value);
  if (!location)
    throw new SettingError('an address such as s3://bucket?endpoint=https://s3.example.com&region=eu-1&prefix=mods');
  return location;
};

function publicUrl(value: string | undefined): string | undefined {
  if (!value) return undefined;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol !== 'https:' || url.search || url.hash || url.username)
    throw new SettingError('an address such as https://files.example.com, without a query');
  return url.href.replace(/\/+$/, '');
}

function publicKey(value: string | undefined): CdnKey | undefined {
  if (!value) return undefined;
  const wanted = '"cloudfront:<key pair id>:/path/of/private-key.pem" with an RSA key, or "bunny:<security key>"';
  try {
    const key = toCdnKey(value, (path) => readFileSync(path, 'utf8'));
    if (key && (key.kind === 'bunny' || key.privateKey.asymmetricKeyType === 'rsa')) return key;
  } catch (cause) {
    throw new SettingError(`${wanted}: ${(cause as Error).message}`);
  }
  throw new SettingError(wanted);
}

function otlpUrl(value: string | undefined): string | undefined {
  if (!value || value === 'off') return undefined;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.username)
    throw new SettingError('"off", or the address of a collector such as http://127.0.0.1:4318');
  return url.href.replace(/\/+$/, '');
}

const share = (fallback: number) => (value: string | undefined) => {
  const number = value ? Number(value) : fallback;
  if (!(number >= 0 && number <= 1)) throw new SettingError('a number from 0 to 1');
  return number;
};

type Offload = { readonly header: 'x-sendfile' } | { readonly header: 'x-accel-redirect'; readonly prefix: string };

function offload(value: string | undefined): Offload | undefined {
  if (!value || value === 'off') return undefined;
  if (value === 'x-sendfile') return { header: 'x-sendfile' };
  const [, prefix] = /^x-accel-redirect:((?:\/[\w.-]+)+)$/.exec(value) ?? [];
  if (!prefix) throw new SettingError('"off", "x-sendfile", or "x-accel-redirect:" and a path such as /modstead-files');
  return { header: 'x-accel-redirect', prefix };
}

function portalAddresses(value: string | undefined): Partial<Record<LinkedPortal, string>> {
  const pairs = list(value).map((item) => {
    const [, name = '', address = ''] = /^(\w+)=(https?:\/\/[^/?#]+)\/?$/.exec(item) ?? [];
    if (!LINKED_PORTALS.includes(name as LinkedPortal) || !URL.canParse(address))
      throw new SettingError(`pairs such as steam=https://steam.example.com, of ${LINKED_PORTALS.join(', ')}`);
    return [name, address];
  });
  return Object.fromEntries(pairs);
}

/** The team's domain and the application's audience tag (`aud`). */
function cloudflareAccess(value: string | undefined): { issuer: string; audience: string } | undefined {
  if (!value) return undefined;
  const [, issuer, audience] = /^(https?:\/\/[^/?#\s]+)\/?\?aud=([\w-]+)$/.exec(value) ?? [];
  if (!issuer || !audience || !URL.canParse(issuer))
    throw new SettingError('an address such as https://team.cloudflareaccess.com?aud=32eafc7626e737…');
  return { issuer, audience };
}

export const definitions = {
  domain: define(
    'MODSTEAD_DOMAIN',
    'localhost',
    'Host name of the site; games are at `g-<id>.` and users at `u-<id>.` below it.',
    domain,
  ),
  port: define('MODSTEAD_PORT', '8443', 'Port to listen on.', integer(8443, 0, 65535)),
  publicPort: define(
    'MODSTEAD_PUBLIC_PORT',
    'the port',
    'Port in the addresses of responses; 443 is omitted.',
    integer(0, 0, 65535),
  ),
  bind: define('MODSTEAD_BIND', 'all', 'Address to listen on.', optional),
  trustProxy: define(
    'MODSTEAD_TRUST_PROXY',
    'none',
    'Addresses or networks of TLS-terminating proxies, comma-separated. `X-Forwarded-For` and `X-Forwarded-Proto` are trusted from these only.',
    networks,
  ),
  countryHeader: define(
    'MODSTEAD_COUNTRY_HEADER',
    'none',
    'Header in which a trusted proxy sends the caller’s country, such as `CF-IPCountry`. Custom rules of games can use it.',
    (value) => value?.toLowerCase() || undefined,
  ),
  tlsCert: define('MODSTEAD_TLS_CERT', 'a local certificate', 'PEM file with the certificate chain.', file),
  tlsKey: define('MODSTEAD_TLS_KEY', 'a local key', 'PEM file with the private key.', file),
  data: define(
    'MODSTEAD_DATA',
    './data',
    'Folder for the embedded database, files, mails and the local certificate.',
    text('./data'),
  ),
  databaseUrl: define(
    'MODSTEAD_DATABASE_URL',
    'embedded SQLite',
    'PostgreSQL (15 or newer), as `postgres://user:password@host/database`.',
    url('postgres:', 'postgresql:'),
  ),
  databaseReadUrl: define(
    'MODSTEAD_DATABASE_READ_URL',
    'none',
    'A replica of the PostgreSQL of production. It serves reads of requests while it has every change that the process knows of.',
    url('postgres:', 'postgresql:'),
  ),
  sandboxDatabaseUrl: define(
    'MODSTEAD_SANDBOX_DATABASE_URL',
    'the database name with `_sandbox`',
    'PostgreSQL database of the sandbox; must differ from production.',
    url('postgres:', 'postgresql:'),
  ),
  smtpUrl: define(
    'MODSTEAD_SMTP_URL',
    'files in `data/mail`',
    'Mail server, as `smtp://user:password@host:587`.',
    url('smtp:', 'smtps:'),
  ),
  mailFrom: define(
    'MODSTEAD_MAIL_FROM',
    'no-reply@ the domain',
    'Sender of mails, such as `Studio <mods@example.org>`. Without a name mails are from the name of the site.',
    optional,
  ),
  headerPrefixes: define(
    'MODSTEAD_HEADER_PREFIXES',
    'Service,Modio',
    'Prefixes of the service’s own headers: `X-<prefix>-Platform`, `X-<prefix>-Portal`.',
    (value) => list(value || 'Service,Modio').map((name) => name.toLowerCase()),
  ),
  rateLimits: define(
    'MODSTEAD_RATE_LIMITS',
    'user_key=60, token=120, token_writes=60, address=1000, address_writes=60',
    '`off`, or overrides per minute: `token=240,get-games=600` (an operation’s id limits that operation).',
    rateLimits,
  ),
  corsOrigins: define(
    'MODSTEAD_CORS_ORIGINS',
    '*',
    'Origins whose pages may call the API, comma-separated; others are refused with 10001.',
    (value) => list(value || '*'),
  ),
  secret: define(
    'MODSTEAD_SECRET',
    'generated in the data folder',
    'Key for digests and signatures, at least 32 characters. All processes of one service share it.',
    (value) => {
      if (value && value.length < 32) throw new SettingError('at least 32 characters');
      return value || undefined;
    },
  ),
  log: define(
    'MODSTEAD_LOG',
    'info',
    'Minimum log level: `debug`, `info`, `warn`, `error`, `off`. `debug` logs each request, `warn` each slow one.',
    oneOf('info', 'debug', 'info', 'warn', 'error', 'off'),
  ),
  metricsToken: define(
    'MODSTEAD_METRICS_TOKEN',
    'none',
    'Bearer token that may read `/metrics` from other addresses than loopback.',
    optional,
  ),
  otlpUrl: define(
    'MODSTEAD_OTLP_URL',
    'off',
    'OpenTelemetry collector for traces and metrics, as `http://127.0.0.1:4318` (OTLP over HTTP).',
    otlpUrl,
  ),
  traceShare: define(
    'MODSTEAD_TRACE_SHARE',
    '0.1',
    'Share of requests that are traced, from 0 to 1, if the client’s `traceparent` does not decide. Needs `MODSTEAD_OTLP_URL`.',
    share(0.1),
  ),
  jobs: define(
    'MODSTEAD_JOBS',
    'on',
    '`off`: `serve` runs no background jobs; run `work` beside it.',
    oneOf('on', 'on', 'off'),
  ),
  processes: define(
    'MODSTEAD_PROCESSES',
    'auto',
    'Processes of `serve`. `auto`: one per core on PostgreSQL, one on SQLite. See docs/operations.md.',
    (value) => (!value || value === 'auto' ? ('auto' as const) : processCount(value)),
  ),
  cacheMegabytes: define(
    'MODSTEAD_CACHE_MB',
    '64',
    'Memory for cached responses, per process; 0 turns the cache off.',
    integer(64, 0, 65536),
  ),
  modMediaMegabytes: define(
    'MODSTEAD_MOD_MEDIA_MB',
    '200',
    'Total size of the images in the media of one mod, as uploaded; more is refused with 28002.',
    integer(200, 1, 1_000_000),
  ),
  egressAllow: define(
    'MODSTEAD_EGRESS_ALLOW',
    'none',
    'Private networks that outgoing requests may reach, such as `10.0.0.0/8`, comma-separated; all other special-use addresses are refused.',
    (value) => networks(value).map(([address, bits]) => `${address.toString()}/${bits}`),
  ),
  egressCa: define(
    'MODSTEAD_EGRESS_CA',
    'the system’s authorities',
    'PEM file with additional certificate authorities for outgoing requests, such as that of a studio’s own network.',
    file,
  ),
  cloudflareAccess: define(
    'MODSTEAD_CLOUDFLARE_ACCESS',
    'off',
    'Refuses requests that did not pass Cloudflare Access, as `https://<team>.cloudflareaccess.com?aud=<tag>`; health and metrics are exempt.',
    cloudflareAccess,
  ),
  connectionsPerAddress: define(
    'MODSTEAD_CONNECTIONS_PER_ADDRESS',
    '512',
    'Open connections per address; trusted proxies are exempt.',
    integer(512, 1, 1_000_000),
  ),
  readMilliseconds: define(
    'MODSTEAD_READ_MS',
    '4000',
    'Time limit of one database read for a request. A list that takes longer is refused with the names of its filters.',
    integer(4_000, 1, 60_000),
  ),
  freeMegabytes: define(
    'MODSTEAD_FREE_MB',
    '512',
    'Disk space that uploads leave free, for the database and everything else.',
    integer(512, 0, 1_000_000_000),
  ),
  storage: define(
    'MODSTEAD_STORAGE_URL',
    'files in the data folder',
    'Bucket for files, as `s3://key:secret@bucket?endpoint=https://…&region=…&prefix=…`. Without a key the AWS variables and profiles are used. See docs/operations.md.',
    storage,
  ),
  storageLinks: define(
    'MODSTEAD_STORAGE_LINKS',
    'on',
    'With a bucket: `on` redirects downloads to it and lets clients upload parts to it, `off` sends all bytes through the service, for a bucket that players cannot reach.',
    oneOf('on', 'on', 'off'),
  ),
  storagePublicUrl: define(
    'MODSTEAD_STORAGE_PUBLIC_URL',
    'the bucket itself',
    'CDN in front of the bucket, as `https://files.example.com`: downloads are redirected there, with addresses that `MODSTEAD_STORAGE_PUBLIC_KEY` signs.',
    publicUrl,
  ),
  storagePublicKey: define(
    'MODSTEAD_STORAGE_PUBLIC_KEY',
    'none',
    'Signs the addresses of the CDN: `cloudfront:<key pair id>:/path/of/private-key.pem` or `bunny:<security key>`. See docs/operations.md.',
    publicKey,
  ),
  offload: define(
    'MODSTEAD_OFFLOAD',
    'off',
    'Lets a trusted proxy send files: `x-accel-redirect:/prefix` (nginx) or `x-sendfile` (Apache, lighttpd). See docs/operations.md.',
    offload,
  ),
  drainSeconds: define(
    'MODSTEAD_DRAIN_SECONDS',
    '30',
    'Time limit for running requests after SIGTERM.',
    integer(30, 0, 600),
  ),
  clamd: define(
    'MODSTEAD_CLAMD',
    'none',
    'ClamAV daemon that scans files, as `tcp://host:port` or `unix:/path`. Without one, files are reported as not scanned.',
    clamd,
  ),
  downloadUnscanned: define(
    'MODSTEAD_DOWNLOAD_UNSCANNED',
    'off',
    '`on`: files can be downloaded before their scan is complete. Without a scanner they always can.',
    oneOf('off', 'off', 'on'),
  ),
  scanMegabytes: define(
    'MODSTEAD_SCAN_MB',
    '25',
    'Largest single file that is scanned; not above `StreamMaxLength`, `MaxFileSize` and `MaxScanSize` of clamd.',
    integer(25, 1, 2_000),
  ),
  scanSeconds: define(
    'MODSTEAD_SCAN_SECONDS',
    '120',
    'Time limit of the scan of a single file.',
    integer(120, 1, 3_600),
  ),
  monetization: define(
    'MODSTEAD_MONETIZATION',
    'on',
    '`off`: nothing is sold on the whole site (900012). With `on` each game decides by its `monetization_options`.',
    oneOf('on', 'on', 'off'),
  ),
  marketplace: define(
    'MODSTEAD_MARKETPLACE',
    'on',
    '`off`: no mod is sold on the whole site (900019), but games sell tokens. With `on` each game decides by its `monetization_options`.',
    oneOf('on', 'on', 'off'),
  ),
  payments: define(
    'MODSTEAD_PAYMENTS',
    'simulated in the sandbox and with `serve --demo`, off in production',
    'Payment provider: `simulated` moves no money and lets buyers choose the outcome; `stripe` charges them, except in the sandbox; `off` sells no token packs.',
    oneOf('default', 'default', 'simulated', 'stripe', 'off'),
  ),
  payouts: define(
    'MODSTEAD_PAYOUTS',
    'simulated in the sandbox and with `serve --demo`, manual in production',
    'How sellers are paid: `manual` by bank transfer, which staff records; `stripe` by Stripe Connect; `simulated` moves no money; `off` not at all. The sandbox only simulates.',
    oneOf('default', 'default', 'simulated', 'manual', 'stripe', 'off'),
  ),
  stripeKey: define('MODSTEAD_STRIPE_KEY', 'none', 'Secret or restricted key of the Stripe account.', optional),
  stripeWebhookSecret: define(
    'MODSTEAD_STRIPE_WEBHOOK_SECRET',
    'none',
    'Signing secret of the webhook endpoint `/v1/notifications/stripe` at Stripe.',
    optional,
  ),
  stripeAddress: define(
    'MODSTEAD_STRIPE_ADDRESS',
    'https://api.stripe.com',
    'Address of Stripe’s API, such as that of a proxy.',
    (value) => new URL(value || 'https://api.stripe.com').origin,
  ),
  stores: define(
    'MODSTEAD_STORES',
    'simulated in the sandbox and with `serve --demo`, off in production',
    '`simulated`: a store that a game has not configured is simulated, and players buy there without money. `off`: it sells nothing.',
    oneOf('default', 'default', 'simulated', 'off'),
  ),
  portalAddresses: define(
    'MODSTEAD_PORTAL_ADDRESSES',
    'the platforms themselves',
    'Other addresses of platforms, such as those of a proxy: `steam=https://…,apple=https://…`.',
    portalAddresses,
  ),
} as const;

type Values = { [K in keyof typeof definitions]: ReturnType<(typeof definitions)[K]['read']> };
export type Settings = Values;

/** For "publish", which is no part of the service. */
const OF_AUTHORS = 'MODSTEAD_TOKEN';

/** Reads every setting. Unknown names are refused, because a misspelt one would silently do nothing. */
export function readSettings(environment: NodeJS.ProcessEnv): Settings {
  const known = new Set<string>(Object.values(definitions).map(({ name }) => name));
  for (const name of Object.keys(environment)) {
    if (name.startsWith('MODSTEAD_') && !name.startsWith('MODSTEAD_TEST_') && name !== OF_AUTHORS && !known.has(name))
      throw new SettingError(`${name} is not a setting of this version; docs/settings.md lists them all.`);
  }
  const settings = Object.fromEntries(
    Object.entries(definitions).map(([key, definition]) => [key, readOne(definition, environment)]),
  ) as Settings;
  if (!settings.tlsCert !== !settings.tlsKey)
    throw new SettingError('MODSTEAD_TLS_CERT and MODSTEAD_TLS_KEY go together; set both or neither.');
  if (!settings.storagePublicUrl !== !settings.storagePublicKey || (settings.storagePublicUrl && !settings.storage))
    throw new SettingError(
      'MODSTEAD_STORAGE_PUBLIC_URL and MODSTEAD_STORAGE_PUBLIC_KEY go together, and need MODSTEAD_STORAGE_URL.',
    );
  return settings;
}

function readOne(definition: Definition<unknown>, environment: NodeJS.ProcessEnv): unknown {
  try {
    return definition.read(environment[definition.name]);
  } catch (error) {
    if (error instanceof SettingError) throw new SettingError(`${definition.name} must be ${error.message}.`);
    throw error;
  }
}
