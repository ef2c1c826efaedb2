import { resource } from '../../platform/manifest/resource.ts';
import { KEYED, left } from '../../platform/manifest/treatment.ts';
import { mailingOperations } from './operations.ts';
import { personalMailings } from './personal.ts';

export const mailings = resource({
  name: 'mailings',
  operations: mailingOperations,
  tables: {
    email_opt_outs: left(`${KEYED}; people whose address was told to be left alone must be asked again`),
  },
  personalData: personalMailings,
});
