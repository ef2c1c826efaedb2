import { resource } from '../../platform/manifest/resource.ts';
import { CREDENTIAL, left } from '../../platform/manifest/treatment.ts';
import { deviceJobs } from './jobs.ts';
import { deviceSocketOperations } from './operations.ts';
import { personalDevices } from './personal.ts';

export const devices = resource({
  name: 'devices',
  tables: {
    device_logins: left(CREDENTIAL),
  },
  socketOperations: deviceSocketOperations,
  jobs: deviceJobs,
  personalData: personalDevices,
});
