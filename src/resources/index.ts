import { accessMigrations } from '../access/tables.ts';
import type { App } from '../context.ts';
import { factsMigrations } from '../database/facts.ts';
import type { Migration } from '../database/migrate.ts';
import { onceMigrations } from '../database/once.ts';
import { searchMigrations } from '../database/search.ts';
import type { AnyOperation } from '../http/operation.ts';
import type { SocketOperation } from '../http/socket-operation.ts';
import { jobsMigrations } from '../jobs/tables.ts';
import type { JobHandler } from '../jobs/worker.ts';
import { limitsMigrations } from '../limits/tables.ts';
import { translationMigrations } from '../localisation/translations.ts';
import type { Holdings } from '../storage/holdings.ts';
import { accountJobs } from './accounts/jobs.ts';
import { migration as emailChanges } from './accounts/migrations/2026-11-15-email-changes.ts';
import { migration as emailCodes } from './accounts/migrations/2026-11-15-email-codes.ts';
import { migration as codeGuesses } from './accounts/migrations/2026-11-16-people-code-guesses.ts';
import { accountOperations } from './accounts/operations.ts';
import { addFirstVersions } from './agreements/agreements.ts';
import { migration as agreements } from './agreements/migrations/2026-11-15-agreements.ts';
import { agreementOperations } from './agreements/operations.ts';
import { migration as audit } from './audit/migrations/2026-11-15-audit.ts';
import { auditOperations } from './audit/operations.ts';
import { banJobs } from './bans/jobs.ts';
import { migration as addressBans } from './bans/migrations/2026-11-15-address-bans.ts';
import { banOperations } from './bans/operations.ts';
import { migration as blocks } from './blocks/migrations/2026-11-15-blocks.ts';
import { blockOperations } from './blocks/operations.ts';
import { buildHoldings } from './builds/holdings.ts';
import { buildJobs } from './builds/jobs.ts';
import { migration as cookBuilds } from './builds/migrations/2026-11-15-cook-builds.ts';
import { migration as cookBuildsScans } from './builds/migrations/2026-11-15-cook-builds-scans.ts';
import { buildOperations } from './builds/operations.ts';
import { migration as collections } from './collections/migrations/2026-11-15-collections.ts';
import { migration as collectionsByRater } from './collections/migrations/2026-11-15-collections-by-rater.ts';
import { migration as collectionsComments } from './collections/migrations/2026-11-16-collections-comments-clients.ts';
import { collectionOperations } from './collections/operations.ts';
import { commentJobs } from './comments/jobs.ts';
import { migration as comments } from './comments/migrations/2026-11-15-comments.ts';
import { migration as commentsByVoter } from './comments/migrations/2026-11-15-comments-by-voter.ts';
import { migration as commentsWithheld } from './comments/migrations/2026-11-15-comments-withheld.ts';
import { commentOperations } from './comments/operations.ts';
import { cookJobs } from './cooks/jobs.ts';
import { migration as cooks } from './cooks/migrations/2026-11-15-cooks.ts';
import { cookOperations } from './cooks/operations.ts';
import { credentialOperations } from './credentials/operations.ts';
import { migration as dependencies } from './dependencies/migrations/2026-11-15-dependencies.ts';
import { dependencyOperations } from './dependencies/operations.ts';
import { deviceJobs } from './devices/jobs.ts';
import { migration as deviceLogins } from './devices/migrations/2026-11-15-device-logins.ts';
import { deviceSocketOperations } from './devices/operations.ts';
import { countNoted } from './downloads/counting.ts';
import { downloadJobs } from './downloads/jobs.ts';
import { migration as countedDownloads } from './downloads/migrations/2026-11-15-counted-downloads.ts';
import { downloadOperations } from './downloads/operations.ts';
import { eventJobs } from './events/jobs.ts';
import { migration as events } from './events/migrations/2026-11-15-events.ts';
import { eventOperations } from './events/operations.ts';
import { exportJobs } from './exports/jobs.ts';
import { migration as dataExports } from './exports/migrations/2026-11-15-data-exports.ts';
import { exportOperations } from './exports/operations.ts';
import { migration as findings } from './findings/migrations/2026-11-15-findings.ts';
import { findingOperations } from './findings/operations.ts';
import { migration as follows } from './follows/migrations/2026-11-15-follows.ts';
import { followOperations } from './follows/operations.ts';
import { rebuildDocumentsOfMovedSite } from './games/documents.ts';
import { rebuildGameWords } from './games/games.ts';
import { pictureHoldings } from './games/holdings.ts';
import { gameJobs } from './games/jobs.ts';
import { migration as games } from './games/migrations/2026-11-15-games.ts';
import { migration as gamesTakedown } from './games/migrations/2026-11-15-games-takedown.ts';
import { migration as gamesSummaryLength } from './games/migrations/2026-11-16-files-games-summary-length.ts';
import { migration as gamesCollectionBits } from './games/migrations/2026-11-16-games-collection-bits-clients.ts';
import { gameOperations } from './games/operations.ts';
import { guideJobs } from './guides/jobs.ts';
import { migration as guides } from './guides/migrations/2026-11-15-guides.ts';
import { guideOperations } from './guides/operations.ts';
import { pageOf } from './lookups/lookups.ts';
import { lookupOperations } from './lookups/operations.ts';
import { migration as emailOptOuts } from './mailings/migrations/2026-11-15-email-opt-outs.ts';
import { mailingOperations } from './mailings/operations.ts';
import { migration as modMedia } from './media/migrations/2026-11-15-mod-media.ts';
import { mediaOperations } from './media/operations.ts';
import { migration as messages } from './messages/migrations/2026-11-15-messages.ts';
import { messageOperations } from './messages/operations.ts';
import { migration as metadata } from './metadata/migrations/2026-11-15-metadata.ts';
import { metadataOperations } from './metadata/operations.ts';
import { metricsJobs } from './metrics/jobs.ts';
import { migration as metrics } from './metrics/migrations/2026-11-15-metrics.ts';
import { migration as metricsMonths } from './metrics/migrations/2026-11-15-metrics-months.ts';
import { migration as metricsPlatforms } from './metrics/migrations/2026-11-16-files-metrics-platforms.ts';
import { metricsOperations } from './metrics/operations.ts';
import { migration as moderation } from './moderation/migrations/2026-11-15-moderation.ts';
import { migration as siteQueues } from './moderation/migrations/2026-11-15-site-queues.ts';
import { moderationOperations } from './moderation/operations.ts';
import { modfileHoldings } from './modfiles/holdings.ts';
import { modfileJobs } from './modfiles/jobs.ts';
import { migration as modfiles } from './modfiles/migrations/2026-11-15-modfiles.ts';
import { migration as modfilesArrivals } from './modfiles/migrations/2026-11-15-modfiles-arrivals.ts';
import { migration as modfilesScans } from './modfiles/migrations/2026-11-15-modfiles-scans.ts';
import { migration as modfilesSigned } from './modfiles/migrations/2026-11-15-modfiles-signed.ts';
import { migration as modfilesReleased } from './modfiles/migrations/2026-11-16-files-modfiles-released.ts';
import { modfileOperations } from './modfiles/operations.ts';
import { rebuildModDocumentsOfMovedSite } from './mods/documents.ts';
import { migration as mods } from './mods/migrations/2026-11-15-mods.ts';
import { migration as modsCards } from './mods/migrations/2026-11-15-mods-cards.ts';
import { migration as modsCardsLinks } from './mods/migrations/2026-11-15-mods-cards-links.ts';
import { migration as modsCardsStanding } from './mods/migrations/2026-11-15-mods-cards-standing.ts';
import { migration as modsCounted } from './mods/migrations/2026-11-15-mods-counted.ts';
import { migration as modsDmca } from './mods/migrations/2026-11-15-mods-dmca.ts';
import { migration as modsRanked } from './mods/migrations/2026-11-15-mods-ranked.ts';
import { migration as modsSearch } from './mods/migrations/2026-11-15-mods-search.ts';
import { migration as modsTexts } from './mods/migrations/2026-11-16-files-mods-texts.ts';
import { modOperations } from './mods/operations.ts';
import { rebuildModWords } from './mods/words.ts';
import { migration as mutes } from './mutes/migrations/2026-11-15-mutes.ts';
import { muteOperations } from './mutes/operations.ts';
import { notificationJobs } from './notifications/jobs.ts';
import { migration as notifications } from './notifications/migrations/2026-11-15-notifications.ts';
import { migration as notificationsByActor } from './notifications/migrations/2026-11-15-notifications-by-actor.ts';
import { migration as notificationsByMail } from './notifications/migrations/2026-11-15-notifications-by-mail.ts';
import { notificationOperations } from './notifications/operations.ts';
import { oauthJobs } from './oauth/jobs.ts';
import { migration as oauthClients } from './oauth/migrations/2026-11-15-oauth-clients.ts';
import { migration as oauthGrants } from './oauth/migrations/2026-11-15-oauth-grants.ts';
import { migration as oauthAccessEpochs } from './oauth/migrations/2026-11-16-oauth-access-epochs.ts';
import { migration as oauthClientsStandard } from './oauth/migrations/2026-11-16-oauth-clients-standard.ts';
import { oauthOperations } from './oauth/operations.ts';
import { portalJobs } from './portals/jobs.ts';
import { migration as portals } from './portals/migrations/2026-11-15-portals.ts';
import { migration as portalsWeb } from './portals/migrations/2026-11-15-portals-web.ts';
import { portalOperations } from './portals/operations.ts';
import { migration as previews } from './previews/migrations/2026-11-15-previews.ts';
import { previewOperations } from './previews/operations.ts';
import { purchaseOperations } from './purchases/operations.ts';
import { ratingJobs } from './ratings/jobs.ts';
import { migration as ratings } from './ratings/migrations/2026-11-15-ratings.ts';
import { ratingOperations } from './ratings/operations.ts';
import { releaseJobs } from './releases/jobs.ts';
import { migration as releases } from './releases/migrations/2026-11-15-releases.ts';
import { releaseOperations } from './releases/operations.ts';
import { migration as reports } from './reports/migrations/2026-11-15-reports.ts';
import { migration as reportsByRules } from './reports/migrations/2026-11-15-reports-by-rules.ts';
import { reportOperations } from './reports/operations.ts';
import { migration as gameRestrictions } from './restrictions/migrations/2026-11-15-game-restrictions.ts';
import { restrictionOperations } from './restrictions/operations.ts';
import { reviewJobs } from './reviews/jobs.ts';
import { migration as permissionReviews } from './reviews/migrations/2026-11-16-people-permission-reviews.ts';
import { reviewOperations } from './reviews/operations.ts';
import { ruleJobs } from './rules/jobs.ts';
import { prepareRules } from './rules/judging.ts';
import { migration as gameRules } from './rules/migrations/2026-11-15-game-rules.ts';
import { migration as rulesByPerson } from './rules/migrations/2026-11-15-rules-by-person.ts';
import { migration as rulesTell } from './rules/migrations/2026-11-15-rules-tell.ts';
import { ruleOperations } from './rules/operations.ts';
import { migration as cookRunners } from './runners/migrations/2026-11-15-cook-runners.ts';
import { runnerOperations } from './runners/operations.ts';
import { serviceJobs } from './service/jobs.ts';
import { serviceOperations } from './service/operations.ts';
import { sessionJobs } from './sessions/jobs.ts';
import { migration as sessions } from './sessions/migrations/2026-11-15-sessions.ts';
import { sessionOperations } from './sessions/operations.ts';
import { sourceOperations } from './sources/operations.ts';
import { migration as usersStaff } from './staff/migrations/2026-11-15-users-staff.ts';
import { staffOperations } from './staff/operations.ts';
import { statsJobs } from './stats/jobs.ts';
import { migration as modDownloadHours } from './stats/migrations/2026-11-15-mod-download-hours.ts';
import { migration as platformDownloadHours } from './stats/migrations/2026-11-16-files-platform-download-hours.ts';
import { statsOperations } from './stats/operations.ts';
import { subscriptionJobs } from './subscriptions/jobs.ts';
import { migration as subscriptions } from './subscriptions/migrations/2026-11-15-subscriptions.ts';
import { subscriptionOperations } from './subscriptions/operations.ts';
import { tagJobs } from './tags/jobs.ts';
import { migration as tags } from './tags/migrations/2026-11-15-tags.ts';
import { migration as tagsInOrder } from './tags/migrations/2026-11-15-tags-in-order.ts';
import { migration as tagPlatforms } from './tags/migrations/2026-11-16-files-tag-platforms.ts';
import { tagOperations } from './tags/operations.ts';
import { teamJobs } from './teams/jobs.ts';
import { migration as teamInvites } from './teams/migrations/2026-11-15-team-invites.ts';
import { migration as teams } from './teams/migrations/2026-11-15-teams.ts';
import { teamOperations } from './teams/operations.ts';
import { uploadHoldings } from './uploads/holdings.ts';
import { uploadJobs } from './uploads/jobs.ts';
import { migration as uploads } from './uploads/migrations/2026-11-15-uploads.ts';
import { uploadOperations } from './uploads/operations.ts';
import { migration as users } from './users/migrations/2026-11-15-users.ts';
import { migration as usersCards } from './users/migrations/2026-11-15-users-cards.ts';
import { migration as usersFolded } from './users/migrations/2026-11-15-users-folded.ts';
import { migration as usersLife } from './users/migrations/2026-11-15-users-life.ts';
import { migration as usersPortalNames } from './users/migrations/2026-11-15-users-portal-names.ts';
import { migration as usersRememberedBans } from './users/migrations/2026-11-15-users-remembered-bans.ts';
import { migration as usersSkeleton } from './users/migrations/2026-11-16-users-skeleton-clients.ts';
import { userOperations } from './users/operations.ts';
import { fillSkeletons, foldUsernames } from './users/users.ts';
import { migration as modVaults } from './vaults/migrations/2026-11-15-mod-vaults.ts';
import { vaultOperations } from './vaults/operations.ts';
import { webhookJobs } from './webhooks/jobs.ts';
import { migration as webhooks } from './webhooks/migrations/2026-11-15-webhooks.ts';
import { webhookOperations } from './webhooks/operations.ts';
import { migration as gameWordlists } from './wordlists/migrations/2026-11-15-game-wordlists.ts';
import { wordlistOperations } from './wordlists/operations.ts';

/** The table of contents: what the API offers, a line per noun. */
export const operations: readonly AnyOperation[] = [
  ...serviceOperations,
  ...accountOperations,
  ...oauthOperations,
  ...credentialOperations,
  ...sessionOperations,
  ...releaseOperations,
  ...gameOperations,
  ...modOperations,
  ...modfileOperations,
  ...findingOperations,
  ...vaultOperations,
  ...tagOperations,
  ...metadataOperations,
  ...mediaOperations,
  ...previewOperations,
  ...restrictionOperations,
  ...reportOperations,
  ...auditOperations,
  ...moderationOperations,
  ...staffOperations,
  ...banOperations,
  ...lookupOperations,
  ...dependencyOperations,
  ...collectionOperations,
  ...eventOperations,
  ...downloadOperations,
  ...statsOperations,
  ...teamOperations,
  ...userOperations,
  ...exportOperations,
  ...mailingOperations,
  ...muteOperations,
  ...blockOperations,
  ...reviewOperations,
  ...followOperations,
  ...subscriptionOperations,
  ...purchaseOperations,
  ...ratingOperations,
  ...agreementOperations,
  ...uploadOperations,
  ...guideOperations,
  ...commentOperations,
  ...portalOperations,
  ...webhookOperations,
  ...messageOperations,
  ...metricsOperations,
  ...notificationOperations,
  ...wordlistOperations,
  ...ruleOperations,
  ...sourceOperations,
  ...cookOperations,
  ...runnerOperations,
  ...buildOperations,
];

/** What is asked for over a WebSocket. */
export const socketOperations: readonly SocketOperation[] = [...deviceSocketOperations];

export const migrations: readonly Migration[] = [
  ...accessMigrations,
  ...factsMigrations,
  ...onceMigrations,
  ...jobsMigrations,
  ...limitsMigrations,
  ...searchMigrations,
  ...translationMigrations,
  agreements,
  countedDownloads,
  comments,
  commentsByVoter,
  commentsWithheld,
  guides,
  collections,
  collectionsByRater,
  collectionsComments,
  dependencies,
  deviceLogins,
  dataExports,
  emailChanges,
  emailCodes,
  codeGuesses,
  emailOptOuts,
  events,
  modDownloadHours,
  platformDownloadHours,
  mutes,
  games,
  mods,
  modsDmca,
  blocks,
  permissionReviews,
  follows,
  subscriptions,
  ratings,
  modfiles,
  modfilesArrivals,
  modfilesScans,
  modfilesSigned,
  modfilesReleased,
  findings,
  modVaults,
  modsSearch,
  modsTexts,
  modsCounted,
  modsCards,
  modsCardsLinks,
  modsCardsStanding,
  modsRanked,
  messages,
  metadata,
  metrics,
  metricsMonths,
  metricsPlatforms,
  notifications,
  notificationsByActor,
  notificationsByMail,
  modMedia,
  previews,
  gameRestrictions,
  reports,
  reportsByRules,
  audit,
  addressBans,
  moderation,
  gamesTakedown,
  gamesCollectionBits,
  gamesSummaryLength,
  siteQueues,
  tags,
  tagsInOrder,
  tagPlatforms,
  oauthClients,
  oauthGrants,
  oauthAccessEpochs,
  oauthClientsStandard,
  sessions,
  releases,
  teamInvites,
  teams,
  uploads,
  users,
  usersCards,
  usersFolded,
  usersLife,
  usersPortalNames,
  usersStaff,
  usersRememberedBans,
  usersSkeleton,
  portals,
  portalsWeb,
  webhooks,
  gameWordlists,
  gameRules,
  rulesTell,
  rulesByPerson,
  cookBuilds,
  cookBuildsScans,
  cookRunners,
  cooks,
];

export const jobHandlers: readonly JobHandler<App>[] = [
  ...accountJobs,
  ...banJobs,
  ...reviewJobs,
  ...deviceJobs,
  ...downloadJobs,
  ...commentJobs,
  ...guideJobs,
  ...eventJobs,
  ...exportJobs,
  ...gameJobs,
  ...metricsJobs,
  ...modfileJobs,
  ...notificationJobs,
  ...oauthJobs,
  ...sessionJobs,
  ...releaseJobs,
  ...serviceJobs,
  ...statsJobs,
  ...subscriptionJobs,
  ...ratingJobs,
  ...teamJobs,
  ...tagJobs,
  ...uploadJobs,
  ...portalJobs,
  ...webhookJobs,
  ...ruleJobs,
  ...cookJobs,
  ...buildJobs,
];

/** What each noun keeps in storage. */
export const holdings: readonly Holdings<App>[] = [modfileHoldings, pictureHoldings, uploadHoldings, buildHoldings];

/** What must be true before the first request. */
export async function prepare(app: App): Promise<void> {
  await rebuildDocumentsOfMovedSite(app);
  await rebuildModDocumentsOfMovedSite(app);
  await addFirstVersions(app);
  await foldUsernames(app);
  await fillSkeletons(app);
  await rebuildGameWords(app);
  await rebuildModWords(app);
}

/** Where the website shows something, for addresses that name it by its id. */
export { pageOf, prepareRules };
/** What is still to be written when the last request is over. */
export async function finish(app: App): Promise<void> {
  await countNoted(app);
}
