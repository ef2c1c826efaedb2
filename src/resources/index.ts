import { accessMigrations } from '../access/tables.ts';
import type { App } from '../context.ts';
import { factsMigrations } from '../database/facts.ts';
import type { Migration } from '../database/migrate.ts';
import type { AnyOperation } from '../http/operation.ts';
import { jobsMigrations } from '../jobs/tables.ts';
import type { JobHandler } from '../jobs/worker.ts';
import { limitsMigrations } from '../limits/tables.ts';
import { translationMigrations } from '../localisation/translations.ts';
import { accountJobs } from './accounts/jobs.ts';
import { migration as emailCodes } from './accounts/migrations/2026-11-15-email-codes.ts';
import { accountOperations } from './accounts/operations.ts';
import { rebuildDocumentsOfMovedSite } from './games/documents.ts';
import { gameJobs } from './games/jobs.ts';
import { migration as games } from './games/migrations/2026-11-15-games.ts';
import { gameOperations } from './games/operations.ts';
import { migration as mutes } from './mutes/migrations/2026-11-15-mutes.ts';
import { muteOperations } from './mutes/operations.ts';
import { migration as oauthClients } from './oauth/migrations/2026-11-15-oauth-clients.ts';
import { serviceJobs } from './service/jobs.ts';
import { serviceOperations } from './service/operations.ts';
import { migration as teams } from './teams/migrations/2026-11-15-teams.ts';
import { migration as users } from './users/migrations/2026-11-15-users.ts';
import { userOperations } from './users/operations.ts';

/** The table of contents: what the API offers, a line per noun. */
export const operations: readonly AnyOperation[] = [
  ...serviceOperations,
  ...accountOperations,
  ...gameOperations,
  ...userOperations,
  ...muteOperations,
];

export const migrations: readonly Migration[] = [
  ...accessMigrations,
  ...factsMigrations,
  ...jobsMigrations,
  ...limitsMigrations,
  ...translationMigrations,
  emailCodes,
  mutes,
  games,
  oauthClients,
  teams,
  users,
];

export const jobHandlers: readonly JobHandler<App>[] = [...accountJobs, ...gameJobs, ...serviceJobs];

/** What must be true before the first request. */
export async function prepare(app: App): Promise<void> {
  await rebuildDocumentsOfMovedSite(app);
}
