import { resource } from '../../platform/manifest/resource.ts';
import { content } from '../../platform/manifest/treatment.ts';
import { modExtension } from './mod-extension.ts';
import { metadataOperations } from './operations.ts';

export const metadata = resource({
  name: 'metadata',
  operations: metadataOperations,
  tables: {
    mod_metadata: content({ partOf: 'mods' }),
  },
  extends: [modExtension],
});
