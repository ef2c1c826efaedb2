import type { App } from '../app.ts';
import type { Environment } from '../config/addresses.ts';
import type { Database } from '../database/database.ts';

const BUCKETS_SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5];

export interface Metrics {
  count(operationId: string, status: number, seconds: number): void;
  snapshot(): MetricsSnapshot;
}

interface Series {
  readonly buckets: number[];
  count: number;
  sum: number;
}

interface DatabaseCounts {
  readonly writes: number;
  readonly commits: number;
  /** 1 if this process knows of damage, or that it cannot write. */
  readonly damaged: number;
  readonly readOnly: number;
}

/** What one process has counted, or several together, as data that can be sent to another process. */
export interface MetricsSnapshot {
  /** Undefined when the process has ended. */
  readonly process?: { readonly id: number; readonly residentBytes: number; readonly uptimeSeconds: number };
  /** By operation id and status. */
  readonly requests: Record<string, Record<string, Series>>;
  readonly databases: Record<string, DatabaseCounts>;
}

/**
 * Counts requests and renders them as Prometheus text. Labels are operation ids and statuses, which are bounded and
 * contain no secrets.
 */
export function createMetrics(apps: Readonly<Record<Environment, App>>): Metrics {
  const requests = new Map<string, Map<number, Series>>();

  function seriesOf(operationId: string, status: number): Series {
    const byStatus = requests.get(operationId) ?? new Map<number, Series>();
    const found = byStatus.get(status) ?? newSeries();
    if (found.count === 0) requests.set(operationId, byStatus.set(status, found));
    return found;
  }

  return {
    count(operationId, status, seconds) {
      const found = seriesOf(operationId, status);
      found.count += 1;
      found.sum += seconds;
      for (let i = BUCKETS_SECONDS.length - 1; i >= 0 && seconds <= BUCKETS_SECONDS[i]!; i -= 1) found.buckets[i]! += 1;
    },
    snapshot: () => ({
      process: {
        id: process.pid,
        residentBytes: process.memoryUsage.rss(),
        uptimeSeconds: Math.round(process.uptime()),
      },
      requests: Object.fromEntries([...requests].map(([id, byStatus]) => [id, Object.fromEntries(byStatus)])),
      databases: Object.fromEntries(Object.entries(apps).map(([name, { db }]) => [name, countsOf(db)])),
    }),
  };
}

const countsOf = ({ counters, condition }: Database): DatabaseCounts => ({
  ...counters,
  damaged: Number(condition.damage.length > 0),
  readOnly: Number(condition.isReadOnly),
});

const NOTHING: DatabaseCounts = { writes: 0, commits: 0, damaged: 0, readOnly: 0 };

const newSeries = (): Series => ({ buckets: BUCKETS_SECONDS.map(() => 0), count: 0, sum: 0 });

const sumOfSeries = (one: Series, other: Series): Series => ({
  buckets: one.buckets.map((value, i) => value + other.buckets[i]!),
  count: one.count + other.count,
  sum: one.sum + other.sum,
});

/** Adds up what several processes have counted. */
export function sumOfMetrics(snapshots: readonly MetricsSnapshot[]): MetricsSnapshot {
  const requests: MetricsSnapshot['requests'] = {};
  const databases: Record<string, DatabaseCounts> = {};
  for (const snapshot of snapshots) {
    for (const [id, byStatus] of Object.entries(snapshot.requests)) {
      const totals = requests[id] ?? {};
      requests[id] = totals;
      for (const [status, series] of Object.entries(byStatus))
        totals[status] = sumOfSeries(totals[status] ?? newSeries(), series);
    }
    for (const [environment, counts] of Object.entries(snapshot.databases))
      databases[environment] = together(databases[environment] ?? NOTHING, counts, snapshot.process !== undefined);
  }
  return { requests, databases };
}

/** A process that has ended counts, and says nothing about the database of today. */
const together = (total: DatabaseCounts, counts: DatabaseCounts, isRunning: boolean): DatabaseCounts => ({
  writes: total.writes + counts.writes,
  commits: total.commits + counts.commits,
  damaged: isRunning ? Math.max(total.damaged, counts.damaged) : total.damaged,
  readOnly: isRunning ? Math.max(total.readOnly, counts.readOnly) : total.readOnly,
});

/** Renders the sum as Prometheus text, and memory and uptime for each process. */
export function metricsText(snapshots: readonly MetricsSnapshot[]): string {
  const { requests, databases } = sumOfMetrics(snapshots);
  const lines = [
    '# HELP modstead_request_seconds Time from a request to its answer.',
    '# TYPE modstead_request_seconds histogram',
    ...Object.entries(requests).flatMap(([operation, byStatus]) =>
      Object.entries(byStatus).flatMap(([status, series]) => seriesLines(operation, status, series)),
    ),
    '# TYPE modstead_database_writes_total counter',
    '# TYPE modstead_database_commits_total counter',
    '# HELP modstead_database_damaged 1 if a scrub has found a damaged page.',
    '# TYPE modstead_database_damaged gauge',
    '# HELP modstead_database_read_only 1 if the service started without being able to write.',
    '# TYPE modstead_database_read_only gauge',
  ];
  for (const [environment, { writes, commits, damaged, readOnly }] of Object.entries(databases)) {
    lines.push(`modstead_database_writes_total{environment="${environment}"} ${writes}`);
    lines.push(`modstead_database_commits_total{environment="${environment}"} ${commits}`);
    lines.push(`modstead_database_damaged{environment="${environment}"} ${damaged}`);
    lines.push(`modstead_database_read_only{environment="${environment}"} ${readOnly}`);
  }
  return `${[...lines, ...processLines(snapshots)].join('\n')}\n`;
}

function seriesLines(operation: string, status: string, { buckets, count, sum }: Series): string[] {
  const labels = `operation="${operation}",status="${status}"`;
  return [
    ...BUCKETS_SECONDS.map((edge, i) => `modstead_request_seconds_bucket{${labels},le="${edge}"} ${buckets[i]}`),
    `modstead_request_seconds_bucket{${labels},le="+Inf"} ${count}`,
    `modstead_request_seconds_sum{${labels}} ${sum}`,
    `modstead_request_seconds_count{${labels}} ${count}`,
  ];
}

function processLines(snapshots: readonly MetricsSnapshot[]): string[] {
  const running = snapshots.flatMap(({ process }) => process ?? []);
  const perProcess = (name: string, value: (each: (typeof running)[number]) => number) => [
    `# TYPE ${name} gauge`,
    ...running.map((each) => `${name}{pid="${each.id}"} ${value(each)}`),
  ];
  return [
    '# TYPE modstead_processes gauge',
    `modstead_processes ${running.length}`,
    ...perProcess('process_resident_memory_bytes', ({ residentBytes }) => residentBytes),
    ...perProcess('process_uptime_seconds', ({ uptimeSeconds }) => uptimeSeconds),
  ];
}
