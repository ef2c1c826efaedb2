import { contribute } from '../../platform/extensions.ts';
import { resource } from '../../platform/manifest/resource.ts';
import { content, people } from '../../platform/manifest/treatment.ts';
import { commentables } from './extensions.ts';
import { commentJobs } from './jobs.ts';
import { modExtension } from './mod-extension.ts';
import { commentableMods } from './mods.ts';
import { commentOperations } from './operations.ts';
import { personalComments } from './personal.ts';

export const comments = resource({
  name: 'comments',
  operations: commentOperations,
  tables: {
    comments: content({ markup: ['markup'], refers: { reply_id: 'comments' } }),
    comment_votes: people(),
    comment_mentions: people(),
  },
  jobs: commentJobs,
  personalData: personalComments,
  extends: [modExtension, contribute(commentables, commentableMods)],
});
