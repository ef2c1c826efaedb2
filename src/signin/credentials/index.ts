import { resource } from '../../platform/resource.ts';
import { credentialOperations } from './operations.ts';

export const credentials = resource({
  name: 'credentials',
  operations: credentialOperations,
});
