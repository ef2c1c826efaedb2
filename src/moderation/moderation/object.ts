import { z } from 'zod';
import { Id, Integer, Timestamp } from '../../platform/http/objects.ts';
import type { claim } from './claims.ts';
import type { QueuedItem, State } from './queues.ts';
import type { statisticsOf } from './statistics.ts';

const STATUS = '0 not accepted, 1 accepted, 3 deleted';

export const QueuedObject = z
  .object({
    id: Id,
    game_id: Id,
    resource: z.string(),
    name: z.string().meta({ description: 'For a comment the beginning of its text' }),
    submitted_by: Id,
    status: Integer.meta({ description: STATUS }),
    is_dmca: z.boolean(),
    date_added: Timestamp,
    date_updated: Timestamp,
    decision: z.string().meta({ description: 'The last decision, such as takedown; empty if there was none' }),
    reason: z.string(),
    decided_by: Integer,
    date_decided: Timestamp,
    appeal: z.string(),
    claimed_by: Integer.meta({ description: 'The moderator who has claimed it; 0 if nobody has' }),
    date_claim_expires: Timestamp,
  })
  .meta({ id: 'QueuedContent' });

export const toQueued = ({ dmca, action, ...row }: QueuedItem): z.input<typeof QueuedObject> => ({
  ...row,
  is_dmca: dmca === 1,
  decision: action ?? '',
  reason: row.reason ?? '',
  decided_by: row.decided_by ?? 0,
  date_decided: row.date_decided ?? 0,
  appeal: row.appeal ?? '',
  claimed_by: row.claimed_by ?? 0,
  date_claim_expires: row.date_claim_expires ?? 0,
});

export const PendingFileObject = z
  .object({
    id: Id,
    game_id: Id,
    mod_id: Id,
    name: z.string().meta({ description: 'The name of the mod' }),
    platform: z.string(),
    version: z.string(),
    filename: z.string(),
    submitted_by: Id,
    date_added: Timestamp,
  })
  .meta({ id: 'PendingFile' });

export const ModerationStateObject = z
  .object({
    status: Integer.meta({ description: STATUS }),
    is_dmca: z.boolean(),
    place: Integer.meta({ description: 'The position in the queue, from 1; 0 if it does not wait' }),
    date_expected: Timestamp.meta({
      description:
        'When it will be decided on at the pace of the last week; 0 if it does not wait or the pace is unknown',
    }),
    decision: z.string(),
    reason: z.string(),
    date_decided: Timestamp,
    appeal: z.string(),
    date_appealed: Timestamp,
  })
  .meta({ id: 'ModerationState' });

export const ClaimObject = z
  .object({ game_id: Id, resource: z.string(), id: Id, claimed_by: Id, date_claim_expires: Timestamp })
  .meta({ id: 'ModerationClaim' });

export const toClaim = (row: Awaited<ReturnType<typeof claim>>): z.input<typeof ClaimObject> => ({
  game_id: row.game_id,
  resource: row.resource,
  id: row.resource_id,
  claimed_by: row.user_id,
  date_claim_expires: row.date_expires,
});

export const ContentChangesObject = z
  .object({
    decision: z.string().meta({ description: 'The last decision; empty if there was none' }),
    date_decided: Timestamp,
    changes: z.array(z.object({ field: z.string(), before: z.string(), after: z.string() })),
  })
  .meta({ id: 'ModerationChanges' });

export const StatisticsObject = z
  .object({
    waiting: z.array(z.object({ resource: z.string(), count: Integer })),
    ages: z
      .object({ hour: Integer, day: Integer, week: Integer, older: Integer })
      .meta({ description: 'Pending content by how long it has waited: up to an hour, a day, a week, or longer' }),
    date_oldest: Timestamp,
    files: Integer.meta({ description: 'Files that wait for approval, per platform' }),
    reports: Integer.meta({ description: 'Open reports' }),
    claimed: Integer,
    decided_day: Integer.meta({ description: 'Decisions in the last 24 hours' }),
    decided_week: Integer,
    median_wait: Integer.meta({ description: 'Seconds that content waited for its decision in the last week' }),
    days: z.array(z.object({ date: Timestamp, approved: Integer, denied: Integer, deleted: Integer })),
    moderators: z.array(z.object({ user_id: Id, username: z.string(), decisions: Integer })),
  })
  .meta({ id: 'ModerationStatistics' });

export const toStatistics = (found: Awaited<ReturnType<typeof statisticsOf>>): z.input<typeof StatisticsObject> => ({
  waiting: found.waiting,
  ages: found.ages,
  date_oldest: Number.isFinite(found.dateOldest) ? found.dateOldest : 0,
  files: found.files,
  reports: found.reports,
  claimed: found.claimed,
  decided_day: found.decidedDay,
  decided_week: found.decidedWeek,
  median_wait: found.medianWait,
  days: found.days.map((each) => ({
    date: each.day,
    approved: each.approve,
    denied: each.deny,
    deleted: each.delete,
  })),
  moderators: found.moderators.map(({ user_id, username, decided: decisions }) => ({
    user_id,
    username: username ?? '',
    decisions,
  })),
});

export const toState = ({
  status,
  isDmca,
  place,
  dateExpected,
  decision,
}: State): z.input<typeof ModerationStateObject> => ({
  status,
  is_dmca: isDmca,
  place,
  date_expected: dateExpected,
  decision: decision?.action ?? '',
  reason: decision?.reason ?? '',
  date_decided: decision?.date_added ?? 0,
  appeal: decision?.appeal ?? '',
  date_appealed: decision?.date_appealed ?? 0,
});
