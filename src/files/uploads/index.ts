import { resource } from '../../platform/manifest/resource.ts';
import { left, SHORT_LIVED } from '../../platform/manifest/treatment.ts';
import { uploadJobs } from './jobs.ts';
import { modExtension } from './mod-extension.ts';
import { uploadOperations } from './operations.ts';
import { personalUploads } from './personal.ts';
import { storedUploads } from './stored-objects.ts';

export const uploads = resource({
  name: 'uploads',
  operations: uploadOperations,
  tables: {
    uploads: left(SHORT_LIVED),
    upload_parts: left(SHORT_LIVED),
  },
  jobs: uploadJobs,
  personalData: personalUploads,
  storedObjects: storedUploads,
  extends: [modExtension],
});
