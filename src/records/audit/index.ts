import { resource } from '../../platform/resource.ts';
import { auditOperations } from './operations.ts';
import { personalAudit } from './personal.ts';

export const audit = resource({
  name: 'audit',
  operations: auditOperations,
  personalData: personalAudit,
});
