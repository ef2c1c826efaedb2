import { contribute } from '../../platform/extensions.ts';
import { resource } from '../../platform/manifest/resource.ts';
import { people } from '../../platform/manifest/treatment.ts';
import { blockExtensions } from '../blocks/extensions.ts';
import { endFollowsBetween } from './follows.ts';
import { followOperations } from './operations.ts';
import { personalFollows } from './personal.ts';

export const follows = resource({
  name: 'follows',
  operations: followOperations,
  tables: {
    follows: people({ notOfGames: true }),
  },
  personalData: personalFollows,
  extends: [contribute(blockExtensions, { onBlock: endFollowsBetween })],
});
