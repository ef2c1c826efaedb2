import { resource } from '../../platform/manifest/resource.ts';
import { deviceJobs } from './jobs.ts';
import { deviceSocketOperations } from './operations.ts';
import { personalDevices } from './personal.ts';

export const devices = resource({
  name: 'devices',
  socketOperations: deviceSocketOperations,
  jobs: deviceJobs,
  personalData: personalDevices,
});
