import { resource } from '../../platform/manifest/resource.ts';
import { credentialOperations } from './operations.ts';

export const credentials = resource({
  name: 'credentials',
  operations: credentialOperations,
});
