import { resource } from '../../platform/manifest/resource.ts';
import { modExtension } from './mod-extension.ts';
import { mediaOperations } from './operations.ts';

export const media = resource({
  name: 'media',
  operations: mediaOperations,
  extends: [modExtension],
});
