import { contribute } from '../../platform/extensions.ts';
import { resource } from '../../platform/manifest/resource.ts';
import { reportExtensions } from '../reports/extensions.ts';
import { takeDownIfReported } from './decisions.ts';
import { moderationOperations } from './operations.ts';
import { personalDecisions } from './personal.ts';

export const moderation = resource({
  name: 'moderation',
  operations: moderationOperations,
  personalData: personalDecisions,
  extends: [contribute(reportExtensions, { onReport: takeDownIfReported })],
});
