import { resource } from '../../platform/manifest/resource.ts';
import { service } from '../../platform/manifest/treatment.ts';
import { addFirstVersions } from './agreements.ts';
import { agreementOperations } from './operations.ts';
import { personalAgreements } from './personal.ts';

export const agreements = resource({
  name: 'agreements',
  operations: agreementOperations,
  tables: {
    agreement_versions: service({ markup: ['description'], notOfGames: true }),
    agreement_acceptances: service({ notOfGames: true }),
  },
  personalData: personalAgreements,
  prepare: addFirstVersions,
});
