import { resource } from '../../platform/manifest/resource.ts';
import { muteOperations } from './operations.ts';
import { personalMutes } from './personal.ts';

export const mutes = resource({
  name: 'mutes',
  operations: muteOperations,
  personalData: personalMutes,
});
