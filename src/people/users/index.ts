import { resource } from '../../platform/manifest/resource.ts';
import { userOperations } from './operations.ts';
import { personalProfiles } from './personal.ts';
import { fillSkeletons, foldUsernames } from './users.ts';

export const users = resource({
  name: 'users',
  operations: userOperations,
  personalData: personalProfiles,
  prepare: async (app) => {
    await foldUsernames(app);
    await fillSkeletons(app);
  },
});
