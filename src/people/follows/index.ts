import { resource } from '../../platform/resource.ts';
import { followOperations } from './operations.ts';
import { personalFollows } from './personal.ts';

export const follows = resource({
  name: 'follows',
  operations: followOperations,
  personalData: personalFollows,
});
