/** The address of a bucket and how to access it. */
export interface S3Location {
  readonly bucket: string;
  /** Defaults to Amazon's endpoint of the region. */
  readonly endpoint?: string;
  /** The endpoint for downloading clients, if it differs. */
  readonly publicEndpoint?: string;
  readonly region?: string;
  /** Empty, or ends with a slash. */
  readonly prefix: string;
  /** Defaults to the usual sources of the environment: variables, profiles, roles. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** True if addresses contain the bucket in the path instead of the host name. */
  readonly isPathStyle: boolean;
}

const PARAMETERS = ['endpoint', 'public_endpoint', 'region', 'prefix', 'addressing'];
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const PREFIX = /^[a-zA-Z0-9_-][a-zA-Z0-9._-]*(?:\/[a-zA-Z0-9_-][a-zA-Z0-9._-]*)*\/?$/;

/** Parses `s3://key:secret@bucket?endpoint=…&region=…&prefix=…`; undefined if it is invalid. */
export function toS3Location(text: string): S3Location | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 's3:' || !BUCKET.test(url.host) || !/^\/?$/.test(url.pathname) || url.hash) return undefined;
  const given = Object.fromEntries(url.searchParams);
  const { endpoint, public_endpoint: publicEndpoint, region, prefix = '', addressing } = given;
  const isKnown = [...url.searchParams.keys()].every((name) => PARAMETERS.includes(name));
  const areAddresses = [endpoint, publicEndpoint].every((address) => address === undefined || isAddress(address));
  const isAddressing = addressing === undefined || addressing === 'path' || addressing === 'virtual';
  if (!isKnown || !areAddresses || !isAddressing || (prefix !== '' && !PREFIX.test(prefix))) return undefined;
  if (region !== undefined && !/^[a-z0-9-]+$/.test(region)) return undefined;
  if (!url.username !== !url.password) return undefined;
  return {
    bucket: url.host,
    ...(endpoint !== undefined && { endpoint }),
    ...(publicEndpoint !== undefined && { publicEndpoint }),
    ...(region !== undefined && { region }),
    prefix: prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`,
    ...(url.username && {
      credentials: {
        accessKeyId: decodeURIComponent(url.username),
        secretAccessKey: decodeURIComponent(url.password),
      },
    }),
    // Self-hosted servers rarely have a host name for each bucket.
    isPathStyle: addressing === undefined ? endpoint !== undefined : addressing === 'path',
  };
}

function isAddress(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && !url.search && !url.username;
}
