import { resource } from '../../platform/resource.ts';
import { moderationOperations } from './operations.ts';
import { personalDecisions } from './personal.ts';

export const moderation = resource({
  name: 'moderation',
  operations: moderationOperations,
  personalData: personalDecisions,
});
