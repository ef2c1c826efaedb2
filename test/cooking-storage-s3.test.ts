// Runs alone: it needs hundreds of megabytes of memory.
import { after } from 'node:test';
import { largeRules, S3_PART_BYTES_MIN, startOn } from './cooking-storage.ts';
import { startS3 } from './s3.ts';

// Runs once, because storage does not depend on the database; cooking-storage-local.test.ts runs on both.
const s3 = await startS3();
after(() => s3.stop());
largeRules('S3', {
  api: await startOn(s3.url),
  partBytes: S3_PART_BYTES_MIN,
  leftovers: async () => s3.uploads.size,
});
