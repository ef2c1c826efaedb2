import { resource } from '../../platform/manifest/resource.ts';
import { content, left } from '../../platform/manifest/treatment.ts';
import { gameExtension } from './game-extension.ts';
import { modExtension } from './mod-extension.ts';
import { previewOperations } from './operations.ts';
import { personalPreviews } from './personal.ts';

export const previews = resource({
  name: 'previews',
  operations: previewOperations,
  tables: {
    previewers: content(),
    preview_links: left('the links are signed by this service'),
  },
  personalData: personalPreviews,
  extends: [gameExtension, modExtension],
});
