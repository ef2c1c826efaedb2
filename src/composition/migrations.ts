import { catalogueSchema } from '../catalogue/schema.ts';
import { communitySchema } from '../community/schema.ts';
import { filesSchema } from '../files/schema.ts';
import { moderationSchema } from '../moderation/schema.ts';
import { peopleSchema } from '../people/schema.ts';
import type { Migration } from '../platform/database/migrate.ts';
import { jobsScheduledOnce } from '../platform/jobs/migrations/2026-11-16-jobs-scheduled-once.ts';
import { leasesByIndex } from '../platform/limits/migrations/2026-11-17-leases-by-index.ts';
import { leasesByBucket } from '../platform/limits/migrations/2026-11-18-leases-by-bucket.ts';
import { platformSchema } from '../platform/schema.ts';
import { recordsSchema } from '../records/schema.ts';
import { signinSchema } from '../signin/schema.ts';
import { resources } from './resources.ts';

/** The tables of version 0.2.0, lower domains first: a table references only tables above it in this list. */
export const schemas: readonly Migration[] = [
  platformSchema,
  recordsSchema,
  peopleSchema,
  catalogueSchema,
  filesSchema,
  communitySchema,
  moderationSchema,
  signinSchema,
];

/** Later migrations, by date. */
const changes = [
  jobsScheduledOnce,
  leasesByIndex,
  leasesByBucket,
  ...resources.flatMap((each) => each.migrations ?? []),
].toSorted((one, other) => (one.name < other.name ? -1 : 1));

/** In the order in which they run. */
export const migrations: readonly Migration[] = [...schemas, ...changes];
