import { resource } from '../../platform/manifest/resource.ts';
import { content, left, rebuilt, SHORT_LIVED } from '../../platform/manifest/treatment.ts';
import { tagJobs } from './jobs.ts';
import { modExtension } from './mod-extension.ts';
import { tagOperations } from './operations.ts';

export const tags = resource({
  name: 'tags',
  operations: tagOperations,
  tables: {
    game_tag_groups: content(),
    game_tags: content(),
    game_tag_renames: left(SHORT_LIVED),
    mod_tags: content({ refers: { tag_id: 'game_tags' }, partOf: 'mods' }),
    mod_tag_pairs: rebuilt('the tags'),
  },
  jobs: tagJobs,
  extends: [modExtension],
});
