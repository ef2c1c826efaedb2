import type { Generated } from 'kysely';

declare module '../database/database.ts' {
  interface Tables {
    jobs: JobsTable;
  }
}

interface JobsTable {
  id: Generated<number>;
  kind: string;
  /** At most one job of a kind and key waits, and at most one runs. */
  key: string | null;
  /** JSON. */
  payload: string;
  state: 'waiting' | 'running' | 'parked';
  /**
   * Unix seconds. Waiting: when the job may start. Running: when its lease expires, in wall-clock time, because
   * monotonic time has no meaning in other processes; a clock jump can only run a job twice, which handlers must
   * tolerate.
   */
  date_due: number;
  /** The number of starts. */
  attempt: number;
  /** The worker's lease. A worker whose lease has passed to another finds a different value here. */
  lease: string | null;
  last_error: string | null;
  date_added: number;
}
