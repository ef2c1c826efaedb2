import { resource } from '../../platform/manifest/resource.ts';
import { addFirstVersions } from './agreements.ts';
import { agreementOperations } from './operations.ts';
import { personalAgreements } from './personal.ts';

export const agreements = resource({
  name: 'agreements',
  operations: agreementOperations,
  personalData: personalAgreements,
  prepare: addFirstVersions,
});
