import { notExported } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

export const personalTraffic: PersonalData = {
  columns: [
    {
      table: 'limited_requests',
      column: 'user_id',
      where: 'user_id > 0',
      exported: notExported('protects the service against floods, and is deleted after a week'),
      whenDeleted: 'erased',
      whenMerged: 'dropped',
    },
  ],
};
