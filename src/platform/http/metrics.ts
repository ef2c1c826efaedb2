import type { App } from '../app.ts';
import type { Environment } from '../config/addresses.ts';

const BUCKETS_SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5];

export interface Metrics {
  count(operationId: string, status: number, seconds: number): void;
  text(): string;
}

interface Series {
  readonly buckets: number[];
  count: number;
  sum: number;
}

/**
 * Counts requests and renders them as Prometheus text. Labels are operation ids and statuses, which are bounded and
 * contain no secrets.
 */
export function createMetrics(apps: Readonly<Record<Environment, App>>): Metrics {
  const series = new Map<string, Map<number, Series>>();

  function seriesOf(operationId: string, status: number): Series {
    const byStatus = series.get(operationId) ?? new Map<number, Series>();
    const found = byStatus.get(status) ?? { buckets: BUCKETS_SECONDS.map(() => 0), count: 0, sum: 0 };
    if (found.count === 0) series.set(operationId, byStatus.set(status, found));
    return found;
  }

  function requestLines(): string[] {
    const lines = [
      '# HELP modstead_request_seconds Time from a request to its answer.',
      '# TYPE modstead_request_seconds histogram',
    ];
    for (const [operation, byStatus] of series)
      for (const [status, { buckets, count, sum }] of byStatus) {
        const labels = `operation="${operation}",status="${status}"`;
        for (const [i, edge] of BUCKETS_SECONDS.entries())
          lines.push(`modstead_request_seconds_bucket{${labels},le="${edge}"} ${buckets[i]}`);
        lines.push(`modstead_request_seconds_bucket{${labels},le="+Inf"} ${count}`);
        lines.push(
          `modstead_request_seconds_sum{${labels}} ${sum}`,
          `modstead_request_seconds_count{${labels}} ${count}`,
        );
      }
    return lines;
  }

  function serviceLines(): string[] {
    const lines = ['# TYPE modstead_database_writes_total counter', '# TYPE modstead_database_commits_total counter'];
    for (const [environment, { db }] of Object.entries(apps)) {
      lines.push(`modstead_database_writes_total{environment="${environment}"} ${db.counters.writes}`);
      lines.push(`modstead_database_commits_total{environment="${environment}"} ${db.counters.commits}`);
    }
    lines.push(
      '# TYPE process_resident_memory_bytes gauge',
      `process_resident_memory_bytes ${process.memoryUsage.rss()}`,
    );
    lines.push('# TYPE process_uptime_seconds gauge', `process_uptime_seconds ${Math.round(process.uptime())}`);
    return lines;
  }

  return {
    count(operationId, status, seconds) {
      const found = seriesOf(operationId, status);
      found.count += 1;
      found.sum += seconds;
      for (let i = BUCKETS_SECONDS.length - 1; i >= 0 && seconds <= BUCKETS_SECONDS[i]!; i -= 1) found.buckets[i]! += 1;
    },
    text: () => `${[...requestLines(), ...serviceLines()].join('\n')}\n`,
  };
}
