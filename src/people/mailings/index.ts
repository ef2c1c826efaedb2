import { resource } from '../../platform/manifest/resource.ts';
import { mailingOperations } from './operations.ts';
import { personalMailings } from './personal.ts';

export const mailings = resource({
  name: 'mailings',
  operations: mailingOperations,
  personalData: personalMailings,
});
