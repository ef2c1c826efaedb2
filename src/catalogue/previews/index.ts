import { resource } from '../../platform/manifest/resource.ts';
import { gameExtension } from './game-extension.ts';
import { modExtension } from './mod-extension.ts';
import { previewOperations } from './operations.ts';
import { personalPreviews } from './personal.ts';

export const previews = resource({
  name: 'previews',
  operations: previewOperations,
  personalData: personalPreviews,
  extends: [gameExtension, modExtension],
});
