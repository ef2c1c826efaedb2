import type { App } from '../src/platform/app.ts';

type Changeable<T> = { -readonly [K in keyof T]: T[K] };

/** Counts what goes to the database, whichever way it goes, until it is told to stop. */
export function countQueries({ db }: App): () => number {
  const counted = db as Changeable<typeof db>;
  const executor = db.query.getExecutor();
  const { first, all } = db;
  const run = executor.executeQuery;
  let count = 0;
  const counting = <F extends (...values: never[]) => unknown>(read: F, self: unknown) =>
    ((...values) => {
      count += 1;
      return read.apply(self, values);
    }) as F;
  counted.first = counting(first, db);
  counted.all = counting(all, db);
  executor.executeQuery = counting(run, executor);
  return () => {
    Object.assign(counted, { first, all });
    executor.executeQuery = run;
    return count;
  };
}

export interface Work {
  readonly queries: number;
  readonly digests: number;
  readonly mails: number;
}

/** What a piece of work costs, in steps and not in time, which a busy machine would blur. */
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
  // PostgreSQL tells of changes at some later moment, and what was known is asked anew then: so it always is.
  app.db.changes.everythingChanged();
  try {
    await work();
  } finally {
    Object.assign(secrets, { digest });
    Object.assign(mail, { send });
  }
  return { queries: stop(), ...count };
}
