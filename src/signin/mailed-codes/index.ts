import { resource } from '../../platform/manifest/resource.ts';
import { mailedCodeJobs } from './jobs.ts';
import { mailedCodeOperations } from './operations.ts';
import { personalCodes } from './personal.ts';

export const mailedCodes = resource({
  name: 'mailed-codes',
  operations: mailedCodeOperations,
  jobs: mailedCodeJobs,
  personalData: personalCodes,
});
