import { contribute } from '../../platform/extensions.ts';
import { resource } from '../../platform/manifest/resource.ts';
import { commentables } from '../comments/extensions.ts';
import { commentableCollections } from './commenting.ts';
import { modExtension } from './mod-extension.ts';
import { collectionOperations } from './operations.ts';
import { personalCollections } from './personal.ts';

export const collections = resource({
  name: 'collections',
  operations: collectionOperations,
  personalData: personalCollections,
  extends: [modExtension, contribute(commentables, commentableCollections)],
});
