import { resource } from '../../platform/manifest/resource.ts';
import { personalAudit } from './personal.ts';

export const audit = resource({
  name: 'audit',
  personalData: personalAudit,
});
