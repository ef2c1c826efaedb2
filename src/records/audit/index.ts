import { resource } from '../../platform/resource.ts';
import { personalAudit } from './personal.ts';

export const audit = resource({
  name: 'audit',
  personalData: personalAudit,
});
