import { resource } from '../../platform/resource.ts';
import { metadataOperations } from './operations.ts';

export const metadata = resource({
  name: 'metadata',
  operations: metadataOperations,
});
