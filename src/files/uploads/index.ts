import { resource } from '../../platform/manifest/resource.ts';
import { uploadJobs } from './jobs.ts';
import { modExtension } from './mod-extension.ts';
import { uploadOperations } from './operations.ts';
import { personalUploads } from './personal.ts';
import { storedUploads } from './stored-objects.ts';

export const uploads = resource({
  name: 'uploads',
  operations: uploadOperations,
  jobs: uploadJobs,
  personalData: personalUploads,
  storedObjects: storedUploads,
  extends: [modExtension],
});
