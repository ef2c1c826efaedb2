import { contribute } from '../../platform/extensions.ts';
import { resource } from '../../platform/manifest/resource.ts';
import { content, people, rebuilt } from '../../platform/manifest/treatment.ts';
import { commentables } from '../comments/extensions.ts';
import { commentableCollections } from './commenting.ts';
import { modExtension } from './mod-extension.ts';
import { collectionOperations } from './operations.ts';
import { personalCollections } from './personal.ts';

export const collections = resource({
  name: 'collections',
  operations: collectionOperations,
  tables: {
    collections: content({ markup: ['description'], pictures: ['logo'] }),
    collection_mods: content({ partOf: 'collections' }),
    collection_tags: content({ partOf: 'collections' }),
    collection_words: rebuilt('the search of collections'),
    collection_followers: people(),
    collection_ratings: people(),
    collection_rating_days: content(),
  },
  personalData: personalCollections,
  extends: [modExtension, contribute(commentables, commentableCollections)],
});
