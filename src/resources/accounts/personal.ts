import { credentialColumns } from '../../access/personal.ts';
import type { App } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import { eraseRows, moveRows } from '../../database/personal.ts';
import type { EndingAccount, PersonalData } from '../../personal.ts';
import { personalAgreements } from '../agreements/personal.ts';
import { personalAudit } from '../audit/personal.ts';
import { personalBans } from '../bans/personal.ts';
import { personalBlocks } from '../blocks/personal.ts';
import { personalBuilds } from '../builds/personal.ts';
import { personalCollections } from '../collections/personal.ts';
import { personalComments } from '../comments/personal.ts';
import { personalCooks } from '../cooks/personal.ts';
import { personalDevices } from '../devices/personal.ts';
import { personalDownloads } from '../downloads/personal.ts';
import { personalEvents } from '../events/personal.ts';
import { personalExports } from '../exports/personal.ts';
import { personalFollows } from '../follows/personal.ts';
import { personalGames } from '../games/personal.ts';
import { personalGuides } from '../guides/personal.ts';
import { personalMailings } from '../mailings/personal.ts';
import { personalMessages } from '../messages/personal.ts';
import { personalMetrics } from '../metrics/personal.ts';
import { personalDecisions } from '../moderation/personal.ts';
import { personalModfiles } from '../modfiles/personal.ts';
import { personalMods } from '../mods/personal.ts';
import { personalMutes } from '../mutes/personal.ts';
import { personalNotifications } from '../notifications/personal.ts';
import { personalGrants } from '../oauth/personal.ts';
import { personalPortals } from '../portals/personal.ts';
import { personalPreviews } from '../previews/personal.ts';
import { personalRatings } from '../ratings/personal.ts';
import { personalReleases } from '../releases/personal.ts';
import { personalReports } from '../reports/personal.ts';
import { personalRestrictions } from '../restrictions/personal.ts';
import { personalReviews } from '../reviews/personal.ts';
import { personalRules } from '../rules/personal.ts';
import { personalRunners } from '../runners/personal.ts';
import { personalSessions } from '../sessions/personal.ts';
import { personalStaff } from '../staff/personal.ts';
import { personalSubscriptions } from '../subscriptions/personal.ts';
import { personalSeats } from '../teams/personal.ts';
import { personalUploads } from '../uploads/personal.ts';
import { personalProfiles } from '../users/personal.ts';
import { personalWebhooks } from '../webhooks/personal.ts';
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
