import { contribute } from '../../platform/extensions.ts';
import { resource } from '../../platform/manifest/resource.ts';
import { content, KEYED, left, rebuilt } from '../../platform/manifest/treatment.ts';
import { commentables } from '../comments/extensions.ts';
import { commentableGuides } from './commenting.ts';
import { guideJobs } from './jobs.ts';
import { guideOperations } from './operations.ts';
import { personalGuides } from './personal.ts';

export const guides = resource({
  name: 'guides',
  operations: guideOperations,
  tables: {
    guides: content({ markup: ['description'], pictures: ['logo'] }),
    guide_tags: content({ partOf: 'guides' }),
    guide_words: rebuilt('the search of guides'),
    guide_visits: left(KEYED),
  },
  jobs: guideJobs,
  personalData: personalGuides,
  extends: [contribute(commentables, commentableGuides)],
});
