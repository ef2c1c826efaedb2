import { resource } from '../../platform/manifest/resource.ts';
import { userOperations } from './operations.ts';
import { personalProfiles } from './personal.ts';

export const users = resource({
  name: 'users',
  operations: userOperations,
  personalData: personalProfiles,
});
