import { resource } from '../../platform/manifest/resource.ts';
import { CREDENTIAL, left } from '../../platform/manifest/treatment.ts';
import { runnerOperations } from './operations.ts';
import { personalRunners } from './personal.ts';

export const runners = resource({
  name: 'runners',
  operations: runnerOperations,
  tables: {
    cook_runners: left(CREDENTIAL),
  },
  personalData: personalRunners,
});
