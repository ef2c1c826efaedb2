// Runs alone: it needs hundreds of megabytes of memory.
import { after, test } from 'node:test';
import { toS3Location } from '../src/platform/storage/location.ts';
import { findCeph, startCeph } from './ceph.ts';
import { largeRules, S3_PART_BYTES_MIN, startOn } from './cooking-storage.ts';

// Runs once, because storage does not depend on the database; cooking-storage-local.test.ts runs on both.
const missing = findCeph();
if (missing) test('S3 of Ceph', { skip: missing.reason }, () => {});
else {
  const ceph = await startCeph();
  after(() => ceph.stop());
  largeRules('S3 of Ceph', {
    api: await startOn(ceph.url),
    partBytes: S3_PART_BYTES_MIN,
    leftovers: () => ceph.uploadsUnder(toS3Location(ceph.url)!),
  });
}
