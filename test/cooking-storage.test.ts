// Runs alone: it needs hundreds of megabytes of memory.
import { after } from 'node:test';
import { startApi } from './api.ts';
import { largeRules } from './cooking-storage.ts';
import { startS3 } from './s3.ts';

// On both databases. The other storages do not depend on the database, so their files run once.
const s3 = await startS3();
after(() => s3.stop());
largeRules('S3', {
  api: await startApi({ settings: { MODSTEAD_JOBS: 'off', MODSTEAD_STORAGE_URL: s3.url } }),
  leftovers: async () => s3.uploads.size,
});
