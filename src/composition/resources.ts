import { dependencies } from '../catalogue/dependencies/index.ts';
import { eventLists } from '../catalogue/events/index.ts';
import { findings } from '../catalogue/findings/index.ts';
import { games } from '../catalogue/games/index.ts';
import { media } from '../catalogue/media/index.ts';
import { metadata } from '../catalogue/metadata/index.ts';
import { mods } from '../catalogue/mods/index.ts';
import { plans } from '../catalogue/plans/index.ts';
import { previews } from '../catalogue/previews/index.ts';
import { restrictions } from '../catalogue/restrictions/index.ts';
import { reviews } from '../catalogue/reviews/index.ts';
import { rules } from '../catalogue/rules/index.ts';
import { stats } from '../catalogue/stats/index.ts';
import { tags } from '../catalogue/tags/index.ts';
import { teams } from '../catalogue/teams/index.ts';
import { wordlists } from '../catalogue/wordlists/index.ts';
import { collections } from '../community/collections/index.ts';
import { comments } from '../community/comments/index.ts';
import { guides } from '../community/guides/index.ts';
import { messages } from '../community/messages/index.ts';
import { ratings } from '../community/ratings/index.ts';
import { subscriptions } from '../community/subscriptions/index.ts';
import { builds } from '../files/builds/index.ts';
import { cooks } from '../files/cooks/index.ts';
import { downloads } from '../files/downloads/index.ts';
import { modLookups } from '../files/mod-lookups/index.ts';
import { modfiles } from '../files/modfiles/index.ts';
import { releases } from '../files/releases/index.ts';
import { runners } from '../files/runners/index.ts';
import { sources } from '../files/sources/index.ts';
import { uploads } from '../files/uploads/index.ts';
import { vaults } from '../files/vaults/index.ts';
import { lookups } from '../moderation/lookups/index.ts';
import { moderation } from '../moderation/moderation/index.ts';
import { reports } from '../moderation/reports/index.ts';
import { userBans } from '../moderation/user-bans/index.ts';
import { earnings } from '../money/earnings/index.ts';
import { gateways } from '../money/gateways/index.ts';
import { ledger } from '../money/ledger/index.ts';
import { marketplaceLocks } from '../money/marketplace-locks/index.ts';
import { offers } from '../money/offers/index.ts';
import { packs } from '../money/packs/index.ts';
import { partners } from '../money/partners/index.ts';
import { payments } from '../money/payments/index.ts';
import { payouts } from '../money/payouts/index.ts';
import { purchases } from '../money/purchases/index.ts';
import { reconciliation } from '../money/reconciliation/index.ts';
import { revenueTeams } from '../money/revenue-teams/index.ts';
import { spending } from '../money/spending/index.ts';
import { statements } from '../money/statements/index.ts';
import { stores } from '../money/stores/index.ts';
import { terms } from '../money/terms/index.ts';
import { transactions } from '../money/transactions/index.ts';
import { wallets } from '../money/wallets/index.ts';
import { agreements } from '../people/agreements/index.ts';
import { bans } from '../people/bans/index.ts';
import { blocks } from '../people/blocks/index.ts';
import { follows } from '../people/follows/index.ts';
import { mailings } from '../people/mailings/index.ts';
import { mutes } from '../people/mutes/index.ts';
import { notifications } from '../people/notifications/index.ts';
import { site } from '../people/site/index.ts';
import { staff } from '../people/staff/index.ts';
import { users } from '../people/users/index.ts';
import { credentialColumns } from '../platform/access/personal.ts';
import type { App } from '../platform/app.ts';
import { type Contribution, contribute } from '../platform/extensions.ts';
import { platformTables } from '../platform/manifest/platform-tables.ts';
import type { Resource } from '../platform/manifest/resource.ts';
import type { Treatment } from '../platform/manifest/treatment.ts';
import { type PersonalData, personalDataOf } from '../platform/personal-data.ts';
import { audit } from '../records/audit/index.ts';
import { events } from '../records/events/index.ts';
import { imports } from '../records/imports/index.ts';
import { metrics } from '../records/metrics/index.ts';
import { traffic } from '../records/traffic/index.ts';
import { webhooks } from '../records/webhooks/index.ts';
import { accounts } from '../signin/accounts/index.ts';
import { credentials } from '../signin/credentials/index.ts';
import { devices } from '../signin/devices/index.ts';
import { exports } from '../signin/exports/index.ts';
import { mailedCodes } from '../signin/mailed-codes/index.ts';
import { oauth } from '../signin/oauth/index.ts';
import { portals } from '../signin/portals/index.ts';
import { serverTokens } from '../signin/server-tokens/index.ts';
import { sessions } from '../signin/sessions/index.ts';
import { activity } from '../studio/activity/index.ts';
import { auditLists } from '../studio/audit/index.ts';
import { gameMetrics } from '../studio/metrics/index.ts';
import { planSettings } from '../studio/plans/index.ts';
import { service } from '../studio/service/index.ts';
import { webhookSettings } from '../studio/webhooks/index.ts';

/** Every resource, one per line, lower domains first. A comment gives the reason where the order matters. */
export const resources: readonly Resource[] = [
  events,
  metrics,
  webhooks,
  audit,
  imports,
  traffic,
  users,
  agreements,
  staff,
  site,
  bans,
  mutes,
  blocks,
  mailings,
  notifications,
  // After blocks: when accounts merge, follows between users who block each other end.
  follows,
  teams,
  reviews,
  plans,
  restrictions,
  games,
  mods,
  previews,
  // Before dependencies: a removed mod leaves its dependants before it locks the game's numbers.
  stats,
  // Before tags: a caller who may not edit the metadata of a new mod gets that error first.
  metadata,
  tags,
  media,
  dependencies,
  findings,
  eventLists,
  rules,
  wordlists,
  modfiles,
  modLookups,
  releases,
  uploads,
  downloads,
  vaults,
  sources,
  cooks,
  runners,
  builds,
  guides,
  collections,
  comments,
  messages,
  subscriptions,
  ratings,
  reports,
  moderation,
  userBans,
  lookups,
  mailedCodes,
  accounts,
  sessions,
  serverTokens,
  oauth,
  credentials,
  devices,
  portals,
  exports,
  ledger,
  terms,
  packs,
  wallets,
  gateways,
  marketplaceLocks,
  spending,
  payments,
  partners,
  offers,
  revenueTeams,
  earnings,
  purchases,
  transactions,
  stores,
  payouts,
  statements,
  reconciliation,
  auditLists,
  planSettings,
  webhookSettings,
  gameMetrics,
  activity,
  service,
];

export const operations = resources.flatMap((each) => each.operations ?? []);
export const socketOperations = resources.flatMap((each) => each.socketOperations ?? []);
export const jobHandlers = resources.flatMap((each) => each.jobs ?? []);
export const storedObjects = resources.flatMap((each) => each.storedObjects ?? []);
export const personalData: readonly PersonalData[] = [
  { columns: credentialColumns },
  ...resources.flatMap((each) => each.personalData ?? []),
];
/** Each table with what an archive does with it. A table in two manifests appears twice. */
export const tableTreatments: readonly (readonly [string, Treatment])[] = [
  platformTables,
  ...resources.flatMap((each) => each.tables ?? []),
].flatMap((tables) => Object.entries(tables));
export const contributions: readonly Contribution[] = [
  ...personalData.map((each) => contribute(personalDataOf, each)),
  ...resources.flatMap((each) => each.extends ?? []),
];

export async function prepare(app: App): Promise<void> {
  for (const each of resources) await each.prepare?.(app);
}

export async function finish(app: App): Promise<void> {
  for (const each of resources) await each.finish?.(app);
}
