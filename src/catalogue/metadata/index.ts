import { resource } from '../../platform/manifest/resource.ts';
import { modExtension } from './mod-extension.ts';
import { metadataOperations } from './operations.ts';

export const metadata = resource({
  name: 'metadata',
  operations: metadataOperations,
  extends: [modExtension],
});
