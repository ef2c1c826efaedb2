import { personalGames } from '../../catalogue/games/personal.ts';
import { personalMods } from '../../catalogue/mods/personal.ts';
import { personalPreviews } from '../../catalogue/previews/personal.ts';
import { personalRestrictions } from '../../catalogue/restrictions/personal.ts';
import { personalReviews } from '../../catalogue/reviews/personal.ts';
import { personalRules } from '../../catalogue/rules/personal.ts';
import { personalSeats } from '../../catalogue/teams/personal.ts';
import { personalCollections } from '../../community/collections/personal.ts';
import { personalComments } from '../../community/comments/personal.ts';
import { personalGuides } from '../../community/guides/personal.ts';
import { personalMessages } from '../../community/messages/personal.ts';
import { personalRatings } from '../../community/ratings/personal.ts';
import { personalSubscriptions } from '../../community/subscriptions/personal.ts';
import { personalBuilds } from '../../files/builds/personal.ts';
import { personalCooks } from '../../files/cooks/personal.ts';
import { personalDownloads } from '../../files/downloads/personal.ts';
import { personalModfiles } from '../../files/modfiles/personal.ts';
import { personalReleases } from '../../files/releases/personal.ts';
import { personalRunners } from '../../files/runners/personal.ts';
import { personalUploads } from '../../files/uploads/personal.ts';
import { personalDecisions } from '../../moderation/moderation/personal.ts';
import { personalReports } from '../../moderation/reports/personal.ts';
import { personalAgreements } from '../../people/agreements/personal.ts';
import { personalBans } from '../../people/bans/personal.ts';
import { personalBlocks } from '../../people/blocks/personal.ts';
import { personalFollows } from '../../people/follows/personal.ts';
import { personalMailings } from '../../people/mailings/personal.ts';
import { personalMutes } from '../../people/mutes/personal.ts';
import { personalStaff } from '../../people/staff/personal.ts';
import { personalProfiles } from '../../people/users/personal.ts';
import { credentialColumns } from '../../platform/access/personal.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { eraseRows, moveRows } from '../../platform/database/personal.ts';
import type { EndingAccount, PersonalData } from '../../platform/personal-data.ts';
import { personalAudit } from '../../records/audit/personal.ts';
import { personalEvents } from '../../records/events/personal.ts';
import { personalMetrics } from '../../records/metrics/personal.ts';
import { personalNotifications } from '../../records/notifications/personal.ts';
import { personalWebhooks } from '../../records/webhooks/personal.ts';
import { personalDevices } from '../devices/personal.ts';
import { personalExports } from '../exports/personal.ts';
import { personalGrants } from '../oauth/personal.ts';
import { personalPortals } from '../portals/personal.ts';
import { personalSessions } from '../sessions/personal.ts';
import * as store from './store.ts';

const personalAddresses: PersonalData = {
  columns: [
    {
      table: 'email_changes',
      column: 'user_id',
      told: ['email', 'date_added'],
      whenDeleted: 'erased',
      whenMerged: 'dropped',
    },
    {
      table: 'known_places',
      column: 'user_id',
      told: ['date_seen'],
      whenDeleted: 'erased',
      whenMerged: 'moved',
      once: ['digest'],
    },
  ],
  traces: [
    { table: 'email_codes', column: 'email', because: 'goes with the account, and a day after the code has ended' },
    { table: 'email_codes', column: 'ip', because: 'goes with the account, and a day after the code has ended' },
  ],
  ending: async (_, { query }, { id, email }) => {
    await store.removeEmailChange(query, id);
    await store.removeKnownPlaces(query, id);
    if (email !== null) await store.removeCodes(query, email);
  },
};

/** What every noun keeps of people. Follows come before blocks, which end some of them. */
export const PERSONAL: readonly PersonalData[] = [
  personalProfiles,
  { columns: credentialColumns },
  personalAddresses,
  personalSessions,
  personalGrants,
  personalDevices,
  personalPortals,
  personalExports,
  personalAgreements,
  personalSeats,
  personalPreviews,
  personalReviews,
  personalRestrictions,
  personalStaff,
  personalBans,
  personalFollows,
  personalMutes,
  personalBlocks,
  personalGames,
  personalMods,
  personalModfiles,
  personalReleases,
  personalUploads,
  personalCooks,
  personalRunners,
  personalBuilds,
  personalGuides,
  personalCollections,
  personalComments,
  personalMessages,
  personalNotifications,
  personalSubscriptions,
  personalRatings,
  personalEvents,
  personalReports,
  personalDecisions,
  personalRules,
  personalMetrics,
  personalDownloads,
  personalMailings,
  personalWebhooks,
  personalAudit,
];

/** What cannot wait when an account ends. */
export async function endAtOnce(
  app: App,
  transaction: Transaction,
  account: EndingAccount,
  to?: EndingAccount,
): Promise<void> {
  for (const { ending } of PERSONAL) await ending?.(app, transaction, account, to);
}

type Heartbeat = () => Promise<void>;

async function stepByStep(app: App, heartbeat: Heartbeat, step: (transaction: Transaction) => Promise<boolean>) {
  while (await app.db.write(step)) await heartbeat();
  await heartbeat();
}

/** Where what an account had belongs now; undefined where nobody has it any more. */
type Fate = (transaction: Transaction) => Promise<number | undefined>;

/**
 * What an account had is moved to the one that it became a part of, or goes. Noun by noun, each in transactions of its
 * own: what is done stays done when the rest is interrupted. Its fate is asked in each of them, as it may change
 * meanwhile: the account that takes it in can become a part of another, or be deleted.
 */
export async function settleAll(app: App, userId: number, fateOf: Fate, heartbeat: Heartbeat): Promise<void> {
  for (const { columns, erasing, moving, afterwards } of PERSONAL) {
    if (erasing || moving)
      await stepByStep(app, heartbeat, async (transaction) => {
        const to = await fateOf(transaction);
        const step = to === undefined ? erasing?.(app, transaction, userId) : moving?.(app, transaction, userId, to);
        return (await step) ?? false;
      });
    await app.db.write(async (transaction) => {
      const to = await fateOf(transaction);
      if (to === undefined) await eraseRows(transaction.query, columns, userId);
      else await moveRows(transaction.query, columns, userId, to);
      await afterwards?.(transaction, to ?? userId);
    });
  }
}
