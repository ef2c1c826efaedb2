import { resource } from '../../platform/manifest/resource.ts';
import { service } from '../../platform/manifest/treatment.ts';
import { sellingTermsTable } from './migrations/2026-11-16-selling-terms.ts';
import { termsOperations } from './operations.ts';
import { personalTerms } from './personal.ts';

export const terms = resource({
  name: 'terms',
  operations: termsOperations,
  migrations: [sellingTermsTable],
  tables: {
    selling_terms: service(),
  },
  personalData: personalTerms,
});
