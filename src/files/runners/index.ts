import { resource } from '../../platform/manifest/resource.ts';
import { runnerOperations } from './operations.ts';
import { personalRunners } from './personal.ts';

export const runners = resource({
  name: 'runners',
  operations: runnerOperations,
  personalData: personalRunners,
});
