import { resource } from '../../platform/manifest/resource.ts';
import { modfileJobs } from './jobs.ts';
import { modExtension } from './mod-extension.ts';
import { modfileOperations } from './operations.ts';
import { personalModfiles } from './personal.ts';
import { storedModfiles } from './stored-objects.ts';

export const modfiles = resource({
  name: 'modfiles',
  operations: modfileOperations,
  jobs: modfileJobs,
  personalData: personalModfiles,
  storedObjects: storedModfiles,
  extends: [modExtension],
});
