import { resource } from '../../platform/manifest/resource.ts';
import { service } from '../../platform/manifest/treatment.ts';
import { personalAudit } from './personal.ts';

export const audit = resource({
  name: 'audit',
  tables: {
    audit_log: service({ notOfGames: true }),
    audit_head: service({ notOfGames: true }),
  },
  personalData: personalAudit,
});
