import type { Generated } from 'kysely';

declare module '../database/database.ts' {
  interface Tables {
    jobs: JobsTable;
  }
}

interface JobsTable {
  id: Generated<number>;
  kind: string;
  /** Of the jobs with equal kind and key at most one waits, and at most one runs. */
  key: string | null;
  /** JSON. */
  payload: string;
  state: 'waiting' | 'running' | 'parked';
  /**
   * Unix seconds. Waiting: when it may start. Running: when its lease ends and another worker may start it again.
   * A lease is a time of day because other processes must be able to tell that it has ended, and monotonic time
   * means nothing outside its process. What a clock jump can do is then to run a job twice, which jobs allow for.
   */
  date_due: number;
  /** How often it was started. */
  attempt: number;
  /** Who runs it: a worker whose lease has passed to another finds another's name here. */
  lease: string | null;
  last_error: string | null;
  date_added: number;
}
