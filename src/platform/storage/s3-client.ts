import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import type { S3Location } from './location.ts';
import { StorageFull, StorageUnavailable } from './storage.ts';

export interface Address {
  readonly Bucket: string;
  readonly Key: string;
}

/** Maps storage keys to object keys in the bucket. */
export interface Bucket {
  readonly client: S3Client;
  readonly name: string;
  readonly location: S3Location;
  addressOf(key: string): Address;
}

const ATTEMPTS_MAX = 4;
const CONNECT_MS = 5_000;
/** Timeout between two bytes and until the response starts. */
const SILENCE_MS = 30_000;
const ANSWER_MS = 120_000;
const REGION = 'us-east-1';

/** The SDK retries requests with growing delays if a retry can help. */
export function clientOf(location: S3Location, endpoint = location.endpoint): S3Client {
  const region = location.region ?? process.env['AWS_REGION'] ?? process.env['AWS_DEFAULT_REGION'] ?? REGION;
  const config: S3ClientConfig = {
    region,
    ...(endpoint !== undefined && { endpoint }),
    ...(location.credentials && { credentials: location.credentials }),
    forcePathStyle: location.isPathStyle,
    maxAttempts: ATTEMPTS_MAX,
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: ANSWER_MS,
      throwOnRequestTimeout: true,
      socketTimeout: SILENCE_MS,
      httpAgent: { maxSockets: 128 },
      httpsAgent: { maxSockets: 128 },
    },
    // Servers other than Amazon's do not support the newer checksums; our own hashes detect damage.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  };
  return new S3Client(config);
}

const FULL = new Set(['QuotaExceeded', 'InsufficientStorage', 'XMinioStorageFull', 'InsufficientCapacity']);
const GONE = new Set(['NoSuchKey', 'NotFound']);

interface S3Error {
  readonly name?: string;
  readonly message?: string;
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

export const isGone = (error: unknown): boolean => GONE.has((error as S3Error).name ?? '');
export const isNoUpload = (error: unknown): boolean => (error as S3Error).name === 'NoSuchUpload';

/** Maps SDK errors to storage errors; errors of a request body pass through. */
export function toStorageError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StorageUnavailable) return error;
  const { name = '', message, $metadata } = error as S3Error;
  if (FULL.has(name) || $metadata?.httpStatusCode === 507)
    return new StorageFull(`the bucket takes no more (${name})`, { cause: error });
  if ($metadata || isNetwork(error))
    return new StorageUnavailable(`the object storage fails: ${name} ${message}`, { cause: error });
  return error;
}

const NETWORK = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH']);

const isNetwork = ({ name, code, message }: S3Error): boolean =>
  NETWORK.has(code ?? '') ||
  ['TimeoutError', 'CredentialsProviderError', 'AggregateError'].includes(name ?? '') ||
  message === 'aborted' ||
  message === 'socket hang up';

/** Awaits an SDK call and maps its errors to storage errors. */
export async function withStorageErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw toStorageError(error);
  }
}
