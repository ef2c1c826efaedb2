import { migration as dependencies } from '../catalogue/dependencies/migrations/2026-11-15-dependencies.ts';
import { migration as findings } from '../catalogue/findings/migrations/2026-11-15-findings.ts';
import { migration as games } from '../catalogue/games/migrations/2026-11-15-games.ts';
import { migration as gamesTakedown } from '../catalogue/games/migrations/2026-11-15-games-takedown.ts';
import { migration as gamesSummaryLength } from '../catalogue/games/migrations/2026-11-16-files-games-summary-length.ts';
import { migration as gamesCollectionBits } from '../catalogue/games/migrations/2026-11-16-games-collection-bits-clients.ts';
import { migration as modMedia } from '../catalogue/media/migrations/2026-11-15-mod-media.ts';
import { migration as metadata } from '../catalogue/metadata/migrations/2026-11-15-metadata.ts';
import { migration as mods } from '../catalogue/mods/migrations/2026-11-15-mods.ts';
import { migration as modsCards } from '../catalogue/mods/migrations/2026-11-15-mods-cards.ts';
import { migration as modsCardsLinks } from '../catalogue/mods/migrations/2026-11-15-mods-cards-links.ts';
import { migration as modsCardsStanding } from '../catalogue/mods/migrations/2026-11-15-mods-cards-standing.ts';
import { migration as modsCounted } from '../catalogue/mods/migrations/2026-11-15-mods-counted.ts';
import { migration as modsDmca } from '../catalogue/mods/migrations/2026-11-15-mods-dmca.ts';
import { migration as modsRanked } from '../catalogue/mods/migrations/2026-11-15-mods-ranked.ts';
import { migration as modsSearch } from '../catalogue/mods/migrations/2026-11-15-mods-search.ts';
import { migration as modsTexts } from '../catalogue/mods/migrations/2026-11-16-files-mods-texts.ts';
import { migration as previews } from '../catalogue/previews/migrations/2026-11-15-previews.ts';
import { migration as gameRestrictions } from '../catalogue/restrictions/migrations/2026-11-15-game-restrictions.ts';
import { migration as permissionReviews } from '../catalogue/reviews/migrations/2026-11-16-people-permission-reviews.ts';
import { migration as gameRules } from '../catalogue/rules/migrations/2026-11-15-game-rules.ts';
import { migration as rulesByPerson } from '../catalogue/rules/migrations/2026-11-15-rules-by-person.ts';
import { migration as rulesTell } from '../catalogue/rules/migrations/2026-11-15-rules-tell.ts';
import { migration as modDownloadHours } from '../catalogue/stats/migrations/2026-11-15-mod-download-hours.ts';
import { migration as platformDownloadHours } from '../catalogue/stats/migrations/2026-11-16-files-platform-download-hours.ts';
import { migration as tags } from '../catalogue/tags/migrations/2026-11-15-tags.ts';
import { migration as tagsInOrder } from '../catalogue/tags/migrations/2026-11-15-tags-in-order.ts';
import { migration as tagPlatforms } from '../catalogue/tags/migrations/2026-11-16-files-tag-platforms.ts';
import { migration as teamInvites } from '../catalogue/teams/migrations/2026-11-15-team-invites.ts';
import { migration as teams } from '../catalogue/teams/migrations/2026-11-15-teams.ts';
import { migration as gameWordlists } from '../catalogue/wordlists/migrations/2026-11-15-game-wordlists.ts';
import { migration as collections } from '../community/collections/migrations/2026-11-15-collections.ts';
import { migration as collectionsByRater } from '../community/collections/migrations/2026-11-15-collections-by-rater.ts';
import { migration as collectionsComments } from '../community/collections/migrations/2026-11-16-collections-comments-clients.ts';
import { migration as comments } from '../community/comments/migrations/2026-11-15-comments.ts';
import { migration as commentsByVoter } from '../community/comments/migrations/2026-11-15-comments-by-voter.ts';
import { migration as commentsWithheld } from '../community/comments/migrations/2026-11-15-comments-withheld.ts';
import { migration as guides } from '../community/guides/migrations/2026-11-15-guides.ts';
import { migration as messages } from '../community/messages/migrations/2026-11-15-messages.ts';
import { migration as ratings } from '../community/ratings/migrations/2026-11-15-ratings.ts';
import { migration as subscriptions } from '../community/subscriptions/migrations/2026-11-15-subscriptions.ts';
import { migration as cookBuilds } from '../files/builds/migrations/2026-11-15-cook-builds.ts';
import { migration as cookBuildsScans } from '../files/builds/migrations/2026-11-15-cook-builds-scans.ts';
import { migration as cooks } from '../files/cooks/migrations/2026-11-15-cooks.ts';
import { migration as countedDownloads } from '../files/downloads/migrations/2026-11-15-counted-downloads.ts';
import { migration as modfiles } from '../files/modfiles/migrations/2026-11-15-modfiles.ts';
import { migration as modfilesArrivals } from '../files/modfiles/migrations/2026-11-15-modfiles-arrivals.ts';
import { migration as modfilesScans } from '../files/modfiles/migrations/2026-11-15-modfiles-scans.ts';
import { migration as modfilesSigned } from '../files/modfiles/migrations/2026-11-15-modfiles-signed.ts';
import { migration as modfilesReleased } from '../files/modfiles/migrations/2026-11-16-files-modfiles-released.ts';
import { migration as releases } from '../files/releases/migrations/2026-11-15-releases.ts';
import { migration as cookRunners } from '../files/runners/migrations/2026-11-15-cook-runners.ts';
import { migration as uploads } from '../files/uploads/migrations/2026-11-15-uploads.ts';
import { migration as modVaults } from '../files/vaults/migrations/2026-11-15-mod-vaults.ts';
import { migration as moderation } from '../moderation/moderation/migrations/2026-11-15-moderation.ts';
import { migration as siteQueues } from '../moderation/moderation/migrations/2026-11-15-site-queues.ts';
import { migration as reports } from '../moderation/reports/migrations/2026-11-15-reports.ts';
import { migration as reportsByRules } from '../moderation/reports/migrations/2026-11-15-reports-by-rules.ts';
import { migration as agreements } from '../people/agreements/migrations/2026-11-15-agreements.ts';
import { migration as addressBans } from '../people/bans/migrations/2026-11-15-address-bans.ts';
import { migration as blocks } from '../people/blocks/migrations/2026-11-15-blocks.ts';
import { migration as follows } from '../people/follows/migrations/2026-11-15-follows.ts';
import { migration as emailOptOuts } from '../people/mailings/migrations/2026-11-15-email-opt-outs.ts';
import { migration as mutes } from '../people/mutes/migrations/2026-11-15-mutes.ts';
import { migration as notifications } from '../people/notifications/migrations/2026-11-15-notifications.ts';
import { migration as notificationsByActor } from '../people/notifications/migrations/2026-11-15-notifications-by-actor.ts';
import { migration as notificationsByMail } from '../people/notifications/migrations/2026-11-15-notifications-by-mail.ts';
import { migration as usersStaff } from '../people/staff/migrations/2026-11-15-users-staff.ts';
import { migration as users } from '../people/users/migrations/2026-11-15-users.ts';
import { migration as usersCards } from '../people/users/migrations/2026-11-15-users-cards.ts';
import { migration as usersFolded } from '../people/users/migrations/2026-11-15-users-folded.ts';
import { migration as usersLife } from '../people/users/migrations/2026-11-15-users-life.ts';
import { migration as usersPortalNames } from '../people/users/migrations/2026-11-15-users-portal-names.ts';
import { migration as usersRememberedBans } from '../people/users/migrations/2026-11-15-users-remembered-bans.ts';
import { migration as usersSkeleton } from '../people/users/migrations/2026-11-16-users-skeleton-clients.ts';
import { accessMigrations } from '../platform/access/tables.ts';
import { factsMigrations } from '../platform/database/facts.ts';
import type { Migration } from '../platform/database/migrate.ts';
import { onceMigrations } from '../platform/database/once.ts';
import { searchMigrations } from '../platform/database/search.ts';
import { jobsMigrations } from '../platform/jobs/tables.ts';
import { limitsMigrations } from '../platform/limits/tables.ts';
import { translationMigrations } from '../platform/localisation/translations.ts';
import { migration as audit } from '../records/audit/migrations/2026-11-15-audit.ts';
import { migration as events } from '../records/events/migrations/2026-11-15-events.ts';
import { migration as metrics } from '../records/metrics/migrations/2026-11-15-metrics.ts';
import { migration as metricsMonths } from '../records/metrics/migrations/2026-11-15-metrics-months.ts';
import { migration as metricsPlatforms } from '../records/metrics/migrations/2026-11-16-files-metrics-platforms.ts';
import { migration as webhooks } from '../records/webhooks/migrations/2026-11-15-webhooks.ts';
import { migration as emailChanges } from '../signin/accounts/migrations/2026-11-15-email-changes.ts';
import { migration as emailCodes } from '../signin/accounts/migrations/2026-11-15-email-codes.ts';
import { migration as codeGuesses } from '../signin/accounts/migrations/2026-11-16-people-code-guesses.ts';
import { migration as deviceLogins } from '../signin/devices/migrations/2026-11-15-device-logins.ts';
import { migration as dataExports } from '../signin/exports/migrations/2026-11-15-data-exports.ts';
import { migration as oauthClients } from '../signin/oauth/migrations/2026-11-15-oauth-clients.ts';
import { migration as oauthGrants } from '../signin/oauth/migrations/2026-11-15-oauth-grants.ts';
import { migration as oauthAccessEpochs } from '../signin/oauth/migrations/2026-11-16-oauth-access-epochs.ts';
import { migration as oauthClientsStandard } from '../signin/oauth/migrations/2026-11-16-oauth-clients-standard.ts';
import { migration as portals } from '../signin/portals/migrations/2026-11-15-portals.ts';
import { migration as portalsWeb } from '../signin/portals/migrations/2026-11-15-portals-web.ts';
import { migration as sessions } from '../signin/sessions/migrations/2026-11-15-sessions.ts';

/** In the order in which they run: a migration may read tables of those before it. */
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
