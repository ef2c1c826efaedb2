import { resource } from '../../platform/manifest/resource.ts';
import { content } from '../../platform/manifest/treatment.ts';
import { modExtension } from './mod-extension.ts';
import { mediaOperations } from './operations.ts';

export const media = resource({
  name: 'media',
  operations: mediaOperations,
  tables: {
    mod_media: content({ pictures: ['value'], partOf: 'mods' }),
  },
  extends: [modExtension],
});
