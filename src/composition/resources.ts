import { migration as dependencies } from '../catalogue/dependencies/migrations/2026-11-15-dependencies.ts';
import { dependencyOperations } from '../catalogue/dependencies/operations.ts';
import { migration as findings } from '../catalogue/findings/migrations/2026-11-15-findings.ts';
import { findingOperations } from '../catalogue/findings/operations.ts';
import { rebuildDocumentsOfMovedSite } from '../catalogue/games/documents.ts';
import { rebuildGameWords } from '../catalogue/games/games.ts';
import { pictureHoldings } from '../catalogue/games/holdings.ts';
import { gameJobs } from '../catalogue/games/jobs.ts';
import { migration as games } from '../catalogue/games/migrations/2026-11-15-games.ts';
import { migration as gamesTakedown } from '../catalogue/games/migrations/2026-11-15-games-takedown.ts';
import { migration as gamesSummaryLength } from '../catalogue/games/migrations/2026-11-16-files-games-summary-length.ts';
import { migration as gamesCollectionBits } from '../catalogue/games/migrations/2026-11-16-games-collection-bits-clients.ts';
import { gameOperations } from '../catalogue/games/operations.ts';
import { migration as modMedia } from '../catalogue/media/migrations/2026-11-15-mod-media.ts';
import { mediaOperations } from '../catalogue/media/operations.ts';
import { migration as metadata } from '../catalogue/metadata/migrations/2026-11-15-metadata.ts';
import { metadataOperations } from '../catalogue/metadata/operations.ts';
import { rebuildModDocumentsOfMovedSite } from '../catalogue/mods/documents.ts';
import { migration as mods } from '../catalogue/mods/migrations/2026-11-15-mods.ts';
import { migration as modsCards } from '../catalogue/mods/migrations/2026-11-15-mods-cards.ts';
import { migration as modsCardsLinks } from '../catalogue/mods/migrations/2026-11-15-mods-cards-links.ts';
import { migration as modsCardsStanding } from '../catalogue/mods/migrations/2026-11-15-mods-cards-standing.ts';
import { migration as modsCounted } from '../catalogue/mods/migrations/2026-11-15-mods-counted.ts';
import { migration as modsDmca } from '../catalogue/mods/migrations/2026-11-15-mods-dmca.ts';
import { migration as modsRanked } from '../catalogue/mods/migrations/2026-11-15-mods-ranked.ts';
import { migration as modsSearch } from '../catalogue/mods/migrations/2026-11-15-mods-search.ts';
import { migration as modsTexts } from '../catalogue/mods/migrations/2026-11-16-files-mods-texts.ts';
import { modOperations } from '../catalogue/mods/operations.ts';
import { rebuildModWords } from '../catalogue/mods/words.ts';
import { migration as previews } from '../catalogue/previews/migrations/2026-11-15-previews.ts';
import { previewOperations } from '../catalogue/previews/operations.ts';
import { migration as gameRestrictions } from '../catalogue/restrictions/migrations/2026-11-15-game-restrictions.ts';
import { restrictionOperations } from '../catalogue/restrictions/operations.ts';
import { reviewJobs } from '../catalogue/reviews/jobs.ts';
import { migration as permissionReviews } from '../catalogue/reviews/migrations/2026-11-16-people-permission-reviews.ts';
import { reviewOperations } from '../catalogue/reviews/operations.ts';
import { ruleJobs } from '../catalogue/rules/jobs.ts';
import { prepareRules } from '../catalogue/rules/judging.ts';
import { migration as gameRules } from '../catalogue/rules/migrations/2026-11-15-game-rules.ts';
import { migration as rulesByPerson } from '../catalogue/rules/migrations/2026-11-15-rules-by-person.ts';
import { migration as rulesTell } from '../catalogue/rules/migrations/2026-11-15-rules-tell.ts';
import { ruleOperations } from '../catalogue/rules/operations.ts';
import { statsJobs } from '../catalogue/stats/jobs.ts';
import { migration as modDownloadHours } from '../catalogue/stats/migrations/2026-11-15-mod-download-hours.ts';
import { migration as platformDownloadHours } from '../catalogue/stats/migrations/2026-11-16-files-platform-download-hours.ts';
import { statsOperations } from '../catalogue/stats/operations.ts';
import { tagJobs } from '../catalogue/tags/jobs.ts';
import { migration as tags } from '../catalogue/tags/migrations/2026-11-15-tags.ts';
import { migration as tagsInOrder } from '../catalogue/tags/migrations/2026-11-15-tags-in-order.ts';
import { migration as tagPlatforms } from '../catalogue/tags/migrations/2026-11-16-files-tag-platforms.ts';
import { tagOperations } from '../catalogue/tags/operations.ts';
import { teamJobs } from '../catalogue/teams/jobs.ts';
import { migration as teamInvites } from '../catalogue/teams/migrations/2026-11-15-team-invites.ts';
import { migration as teams } from '../catalogue/teams/migrations/2026-11-15-teams.ts';
import { teamOperations } from '../catalogue/teams/operations.ts';
import { migration as gameWordlists } from '../catalogue/wordlists/migrations/2026-11-15-game-wordlists.ts';
import { wordlistOperations } from '../catalogue/wordlists/operations.ts';
import { migration as collections } from '../community/collections/migrations/2026-11-15-collections.ts';
import { migration as collectionsByRater } from '../community/collections/migrations/2026-11-15-collections-by-rater.ts';
import { migration as collectionsComments } from '../community/collections/migrations/2026-11-16-collections-comments-clients.ts';
import { collectionOperations } from '../community/collections/operations.ts';
import { commentJobs } from '../community/comments/jobs.ts';
import { migration as comments } from '../community/comments/migrations/2026-11-15-comments.ts';
import { migration as commentsByVoter } from '../community/comments/migrations/2026-11-15-comments-by-voter.ts';
import { migration as commentsWithheld } from '../community/comments/migrations/2026-11-15-comments-withheld.ts';
import { commentOperations } from '../community/comments/operations.ts';
import { guideJobs } from '../community/guides/jobs.ts';
import { migration as guides } from '../community/guides/migrations/2026-11-15-guides.ts';
import { guideOperations } from '../community/guides/operations.ts';
import { migration as messages } from '../community/messages/migrations/2026-11-15-messages.ts';
import { messageOperations } from '../community/messages/operations.ts';
import { ratingJobs } from '../community/ratings/jobs.ts';
import { migration as ratings } from '../community/ratings/migrations/2026-11-15-ratings.ts';
import { ratingOperations } from '../community/ratings/operations.ts';
import { subscriptionJobs } from '../community/subscriptions/jobs.ts';
import { migration as subscriptions } from '../community/subscriptions/migrations/2026-11-15-subscriptions.ts';
import { subscriptionOperations } from '../community/subscriptions/operations.ts';
import { buildHoldings } from '../files/builds/holdings.ts';
import { buildJobs } from '../files/builds/jobs.ts';
import { migration as cookBuilds } from '../files/builds/migrations/2026-11-15-cook-builds.ts';
import { migration as cookBuildsScans } from '../files/builds/migrations/2026-11-15-cook-builds-scans.ts';
import { buildOperations } from '../files/builds/operations.ts';
import { cookJobs } from '../files/cooks/jobs.ts';
import { migration as cooks } from '../files/cooks/migrations/2026-11-15-cooks.ts';
import { cookOperations } from '../files/cooks/operations.ts';
import { countNoted } from '../files/downloads/counting.ts';
import { downloadJobs } from '../files/downloads/jobs.ts';
import { migration as countedDownloads } from '../files/downloads/migrations/2026-11-15-counted-downloads.ts';
import { downloadOperations } from '../files/downloads/operations.ts';
import { modfileHoldings } from '../files/modfiles/holdings.ts';
import { modfileJobs } from '../files/modfiles/jobs.ts';
import { migration as modfiles } from '../files/modfiles/migrations/2026-11-15-modfiles.ts';
import { migration as modfilesArrivals } from '../files/modfiles/migrations/2026-11-15-modfiles-arrivals.ts';
import { migration as modfilesScans } from '../files/modfiles/migrations/2026-11-15-modfiles-scans.ts';
import { migration as modfilesSigned } from '../files/modfiles/migrations/2026-11-15-modfiles-signed.ts';
import { migration as modfilesReleased } from '../files/modfiles/migrations/2026-11-16-files-modfiles-released.ts';
import { modfileOperations } from '../files/modfiles/operations.ts';
import { releaseJobs } from '../files/releases/jobs.ts';
import { migration as releases } from '../files/releases/migrations/2026-11-15-releases.ts';
import { releaseOperations } from '../files/releases/operations.ts';
import { migration as cookRunners } from '../files/runners/migrations/2026-11-15-cook-runners.ts';
import { runnerOperations } from '../files/runners/operations.ts';
import { sourceOperations } from '../files/sources/operations.ts';
import { uploadHoldings } from '../files/uploads/holdings.ts';
import { uploadJobs } from '../files/uploads/jobs.ts';
import { migration as uploads } from '../files/uploads/migrations/2026-11-15-uploads.ts';
import { uploadOperations } from '../files/uploads/operations.ts';
import { migration as modVaults } from '../files/vaults/migrations/2026-11-15-mod-vaults.ts';
import { vaultOperations } from '../files/vaults/operations.ts';
import { pageOf } from '../moderation/lookups/lookups.ts';
import { lookupOperations } from '../moderation/lookups/operations.ts';
import { migration as moderation } from '../moderation/moderation/migrations/2026-11-15-moderation.ts';
import { migration as siteQueues } from '../moderation/moderation/migrations/2026-11-15-site-queues.ts';
import { moderationOperations } from '../moderation/moderation/operations.ts';
import { migration as reports } from '../moderation/reports/migrations/2026-11-15-reports.ts';
import { migration as reportsByRules } from '../moderation/reports/migrations/2026-11-15-reports-by-rules.ts';
import { reportOperations } from '../moderation/reports/operations.ts';
import { purchaseOperations } from '../money/purchases/operations.ts';
import { addFirstVersions } from '../people/agreements/agreements.ts';
import { migration as agreements } from '../people/agreements/migrations/2026-11-15-agreements.ts';
import { agreementOperations } from '../people/agreements/operations.ts';
import { banJobs } from '../people/bans/jobs.ts';
import { migration as addressBans } from '../people/bans/migrations/2026-11-15-address-bans.ts';
import { banOperations } from '../people/bans/operations.ts';
import { migration as blocks } from '../people/blocks/migrations/2026-11-15-blocks.ts';
import { blockOperations } from '../people/blocks/operations.ts';
import { migration as follows } from '../people/follows/migrations/2026-11-15-follows.ts';
import { followOperations } from '../people/follows/operations.ts';
import { migration as emailOptOuts } from '../people/mailings/migrations/2026-11-15-email-opt-outs.ts';
import { mailingOperations } from '../people/mailings/operations.ts';
import { migration as mutes } from '../people/mutes/migrations/2026-11-15-mutes.ts';
import { muteOperations } from '../people/mutes/operations.ts';
import { migration as usersStaff } from '../people/staff/migrations/2026-11-15-users-staff.ts';
import { staffOperations } from '../people/staff/operations.ts';
import { migration as users } from '../people/users/migrations/2026-11-15-users.ts';
import { migration as usersCards } from '../people/users/migrations/2026-11-15-users-cards.ts';
import { migration as usersFolded } from '../people/users/migrations/2026-11-15-users-folded.ts';
import { migration as usersLife } from '../people/users/migrations/2026-11-15-users-life.ts';
import { migration as usersPortalNames } from '../people/users/migrations/2026-11-15-users-portal-names.ts';
import { migration as usersRememberedBans } from '../people/users/migrations/2026-11-15-users-remembered-bans.ts';
import { migration as usersSkeleton } from '../people/users/migrations/2026-11-16-users-skeleton-clients.ts';
import { userOperations } from '../people/users/operations.ts';
import { fillSkeletons, foldUsernames } from '../people/users/users.ts';
import { accessMigrations } from '../platform/access/tables.ts';
import type { App } from '../platform/app.ts';
import { factsMigrations } from '../platform/database/facts.ts';
import type { Migration } from '../platform/database/migrate.ts';
import { onceMigrations } from '../platform/database/once.ts';
import { searchMigrations } from '../platform/database/search.ts';
import type { AnyOperation } from '../platform/http/operation.ts';
import type { SocketOperation } from '../platform/http/socket-operation.ts';
import { jobsMigrations } from '../platform/jobs/tables.ts';
import type { JobHandler } from '../platform/jobs/worker.ts';
import { limitsMigrations } from '../platform/limits/tables.ts';
import { translationMigrations } from '../platform/localisation/translations.ts';
import type { Holdings } from '../platform/storage/holdings.ts';
import { migration as audit } from '../records/audit/migrations/2026-11-15-audit.ts';
import { auditOperations } from '../records/audit/operations.ts';
import { eventJobs } from '../records/events/jobs.ts';
import { migration as events } from '../records/events/migrations/2026-11-15-events.ts';
import { eventOperations } from '../records/events/operations.ts';
import { metricsJobs } from '../records/metrics/jobs.ts';
import { migration as metrics } from '../records/metrics/migrations/2026-11-15-metrics.ts';
import { migration as metricsMonths } from '../records/metrics/migrations/2026-11-15-metrics-months.ts';
import { migration as metricsPlatforms } from '../records/metrics/migrations/2026-11-16-files-metrics-platforms.ts';
import { metricsOperations } from '../records/metrics/operations.ts';
import { notificationJobs } from '../records/notifications/jobs.ts';
import { migration as notifications } from '../records/notifications/migrations/2026-11-15-notifications.ts';
import { migration as notificationsByActor } from '../records/notifications/migrations/2026-11-15-notifications-by-actor.ts';
import { migration as notificationsByMail } from '../records/notifications/migrations/2026-11-15-notifications-by-mail.ts';
import { notificationOperations } from '../records/notifications/operations.ts';
import { webhookJobs } from '../records/webhooks/jobs.ts';
import { migration as webhooks } from '../records/webhooks/migrations/2026-11-15-webhooks.ts';
import { webhookOperations } from '../records/webhooks/operations.ts';
import { accountJobs } from '../signin/accounts/jobs.ts';
import { migration as emailChanges } from '../signin/accounts/migrations/2026-11-15-email-changes.ts';
import { migration as emailCodes } from '../signin/accounts/migrations/2026-11-15-email-codes.ts';
import { migration as codeGuesses } from '../signin/accounts/migrations/2026-11-16-people-code-guesses.ts';
import { accountOperations } from '../signin/accounts/operations.ts';
import { credentialOperations } from '../signin/credentials/operations.ts';
import { deviceJobs } from '../signin/devices/jobs.ts';
import { migration as deviceLogins } from '../signin/devices/migrations/2026-11-15-device-logins.ts';
import { deviceSocketOperations } from '../signin/devices/operations.ts';
import { exportJobs } from '../signin/exports/jobs.ts';
import { migration as dataExports } from '../signin/exports/migrations/2026-11-15-data-exports.ts';
import { exportOperations } from '../signin/exports/operations.ts';
import { oauthJobs } from '../signin/oauth/jobs.ts';
import { migration as oauthClients } from '../signin/oauth/migrations/2026-11-15-oauth-clients.ts';
import { migration as oauthGrants } from '../signin/oauth/migrations/2026-11-15-oauth-grants.ts';
import { migration as oauthAccessEpochs } from '../signin/oauth/migrations/2026-11-16-oauth-access-epochs.ts';
import { migration as oauthClientsStandard } from '../signin/oauth/migrations/2026-11-16-oauth-clients-standard.ts';
import { oauthOperations } from '../signin/oauth/operations.ts';
import { portalJobs } from '../signin/portals/jobs.ts';
import { migration as portals } from '../signin/portals/migrations/2026-11-15-portals.ts';
import { migration as portalsWeb } from '../signin/portals/migrations/2026-11-15-portals-web.ts';
import { portalOperations } from '../signin/portals/operations.ts';
import { sessionJobs } from '../signin/sessions/jobs.ts';
import { migration as sessions } from '../signin/sessions/migrations/2026-11-15-sessions.ts';
import { sessionOperations } from '../signin/sessions/operations.ts';
import { serviceJobs } from '../studio/service/jobs.ts';
import { serviceOperations } from '../studio/service/operations.ts';

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
