import { z } from 'zod';
import { Id, Integer, Timestamp } from '../../platform/http/objects.ts';
import { Csv } from '../../platform/http/operation.ts';
import type { Day, ModDay, Ranked } from '../../records/metrics/reading.ts';

export const MetricsSecretObject = z
  .object({
    secret: z.string().meta({ description: 'The secret with which the game signs its reports; empty if it has none.' }),
    date_added: Timestamp,
  })
  .meta({ id: 'MetricsSecret' });

const counts = {
  downloads: Integer,
  subscribers: Integer.meta({ description: 'New subscribers minus those who unsubscribed.' }),
  active_users: Integer.meta({
    description:
      'Users who downloaded, subscribed, unsubscribed, rated or commented, each counted once, plus addresses from which only anonymous clients downloaded.',
  }),
  ratings_positive: Integer,
  ratings_negative: Integer,
  sessions: Integer,
  session_seconds: Integer,
};

export const MetricsDayObject = z
  .object({ date: z.string().meta({ description: 'In UTC, such as `2026-11-15`.' }), ...counts })
  .meta({ id: 'MetricsDay' });

export const ModMetricsDayObject = z
  .object({
    date: z.string().meta({ description: 'In UTC, such as `2026-11-15`.' }),
    downloads: Integer,
    subscribers: Integer.meta({ description: 'New subscribers minus those who unsubscribed.' }),
    ratings_positive: Integer,
    ratings_negative: Integer,
  })
  .meta({ id: 'ModMetricsDay' });

export const MetricsMonthObject = z
  .object({ month: z.string().meta({ description: 'In UTC, such as `2026-11`.' }), ...counts })
  .meta({ id: 'MetricsMonth' });

export const MetricsRankingObject = z
  .object({
    rank: Id,
    rank_before: Integer.meta({
      description: 'The rank in the previous month; 0 if it was not among the first thousand.',
    }),
    id: Id,
    name_id: z.string(),
    name: z.string(),
    downloads: Integer,
    subscribers: Integer,
  })
  .meta({ id: 'MetricsRanking' });

export const toRanking = (rows: readonly Ranked[]): z.input<typeof MetricsRankingObject>[] =>
  rows.map(({ id, name_id, name, downloads, subscribers, rank_before }, index) => ({
    rank: index + 1,
    rank_before: Number(rank_before),
    id,
    name_id,
    name,
    downloads,
    subscribers,
  }));

/** Contains dates and numbers only, so that no cell can be a formula. */
export function toCsv<D extends Day | ModDay>(id: number, days: readonly D[]): Csv {
  const columns = Object.keys(days[0]!) as (keyof D)[];
  const lines = [columns, ...days.map((day) => columns.map((column) => day[column]))];
  return new Csv(`${lines.map((line) => line.join(',')).join('\r\n')}\r\n`, `metrics-${id}.csv`);
}
