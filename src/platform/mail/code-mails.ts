import type { Secrets } from '../config/secrets.ts';
import type { Database } from '../database/database.ts';
import { ApiError } from '../errors/catalogue.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { JobHandler } from '../jobs/worker.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Random } from '../runtime/random.ts';
import { CODE_MINUTES } from './codes.ts';
import { type Mail, MailError, type MailMessage } from './mail.ts';

interface Sender {
  readonly clock: Clock;
  readonly db: Database;
  readonly jobs: Jobs;
  readonly log: Log;
  readonly mail: Mail;
  readonly random: Random;
  readonly secrets: Secrets;
}

const LATER = 'mails.code-later';
const SEALED_FOR = 'code mail';
/** Enough for retries over the life of a code; the job ends by itself when the code expires. */
const ATTEMPTS_MAX = 20;

interface Queued {
  /** The database keeps digests of codes, so a message with one is encrypted. */
  readonly sealed: string;
  readonly dateExpires: number;
}

/**
 * Mails a code. The user waits for it, so a refusal is reported at once; while the mail server is away, the message is
 * queued until its code expires.
 */
export async function mailCode(app: Sender, message: MailMessage): Promise<void> {
  try {
    await app.mail.send(message);
  } catch (cause) {
    if (!isTemporary(cause)) throw new ApiError('EMAIL_REQUEST_ERROR_SENDING_CODE', { cause });
    // The same id in each attempt lets the receiver drop a message whose acknowledgement was lost.
    const letter = { id: app.random.uuid(), ...message };
    const sealed = app.secrets.seal(SEALED_FOR, JSON.stringify(letter));
    const dateExpires = app.clock.now() + CODE_MINUTES * 60;
    await app.db.write((transaction) => app.jobs.enqueue(transaction, LATER, { sealed, dateExpires }));
  }
}

const isTemporary = (error: unknown): boolean => error instanceof MailError && !error.permanent;

export const mailCodeLater: JobHandler<Sender> = {
  kind: LATER,
  attemptsMax: ATTEMPTS_MAX,
  run: async ({ clock, log, mail, secrets }, { sealed, dateExpires }: Queued) => {
    if (clock.now() >= dateExpires) return;
    try {
      await mail.send(JSON.parse(secrets.unseal(SEALED_FOR, sealed)));
    } catch (error) {
      if (isTemporary(error)) throw error;
      log.warn('the mail server refused a queued message with a code', { error });
    }
  },
};
