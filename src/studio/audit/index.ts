import { resource } from '../../platform/manifest/resource.ts';
import { auditOperations } from './operations.ts';

/** Who may read the audit log. `records/audit` writes it. */
export const auditLists = resource({
  name: 'audit-lists',
  operations: auditOperations,
});
