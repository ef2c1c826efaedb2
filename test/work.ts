import type { App } from '../src/platform/app.ts';

type Changeable<T> = { -readonly [K in keyof T]: T[K] };

/** Counts all database queries until the returned function is called. */
export function countQueries({ db }: App): () => number {
  const counted = db as Changeable<typeof db>;
  const executors = new Set([db.query, db.withLongTimeouts.readInWorker].map((query) => query.getExecutor()));
  const { first, all } = db;
  const runs = [...executors].map((executor) => [executor, executor.executeQuery] as const);
  let count = 0;
  const counting = <F extends (...values: never[]) => unknown>(read: F, self: unknown) =>
    ((...values) => {
      count += 1;
      return read.apply(self, values);
    }) as F;
  counted.first = counting(first, db);
  counted.all = counting(all, db);
  for (const [executor, run] of runs) executor.executeQuery = counting(run, executor);
  return () => {
    Object.assign(counted, { first, all });
    for (const [executor, run] of runs) executor.executeQuery = run;
    return count;
  };
}

export interface Work {
  readonly queries: number;
  readonly digests: number;
  readonly mails: number;
}

/** Measures work in steps instead of time, which varies on a busy machine. */
export async function workOf(app: App, work: () => Promise<unknown>): Promise<Work> {
  const secrets = app.secrets as Changeable<typeof app.secrets>;
  const mail = app.mail as Changeable<typeof app.mail>;
  const { digest } = secrets;
  const { send } = mail;
  const count = { digests: 0, mails: 0 };
  secrets.digest = (secret) => {
    count.digests += 1;
    return digest(secret);
  };
  mail.send = (letter) => {
    count.mails += 1;
    return send.call(mail, letter);
  };
  const stop = countQueries(app);
  // PostgreSQL delivers changes later and thereby empties caches, so the caches are emptied in either case.
  app.db.changes.everythingChanged();
  try {
    await work();
  } finally {
    Object.assign(secrets, { digest });
    Object.assign(mail, { send });
  }
  return { queries: stop(), ...count };
}
