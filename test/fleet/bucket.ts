import { randomUUID } from 'node:crypto';
import { startS3 } from '../s3.ts';

export interface Bucket {
  /** As in MODSTEAD_STORAGE_URL. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Settings with which files are on the disk of the one machine that the test is about, or in a bucket of its own. */
const OWN_FILES = ['MODSTEAD_STORAGE_URL', 'MODSTEAD_OFFLOAD', 'MODSTEAD_FREE_MB'];

export const hasOwnFiles = (settings: NodeJS.ProcessEnv): boolean => OWN_FILES.some((name) => name in settings);

/** An empty bucket for the processes of a fleet: a folder in that of MODSTEAD_TEST_S3_URL, or one of test/s3.ts. */
export async function bucketOfFleet(): Promise<Bucket> {
  const given = process.env['MODSTEAD_TEST_S3_URL'];
  if (!given) return startS3();
  const url = new URL(given);
  url.searchParams.set('prefix', randomUUID());
  return { url: url.href, stop: async () => {} };
}

/** The bytes still go through the service, as most tests expect; test/object-storage.test.ts has those of links. */
export const settingsOfBucket = ({ url }: Bucket): NodeJS.ProcessEnv => ({
  MODSTEAD_STORAGE_URL: url,
  MODSTEAD_STORAGE_LINKS: 'off',
});

export const storageIn = ({ MODSTEAD_STORAGE_URL: url }: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  url ? { MODSTEAD_STORAGE_URL: url } : {};
