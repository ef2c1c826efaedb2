import type { Addresses, Environment } from './config/addresses.ts';
import type { Secrets } from './config/secrets.ts';
import type { Settings } from './config/settings.ts';
import type { Database } from './database/database.ts';
import type { Egress } from './egress/egress.ts';
import type { Extensions } from './extensions.ts';
import type { Jobs } from './jobs/jobs.ts';
import type { Mail } from './mail/mail.ts';
import type { Clock } from './runtime/clock.ts';
import type { Log } from './runtime/log.ts';
import type { Random } from './runtime/random.ts';
import type { Clamd } from './scanning/scanning.ts';
import type { Storage } from './storage/storage.ts';

/** The dependencies of domain functions. Production and sandbox have one each and share no part that contains data. */
export interface App {
  readonly environment: Environment;
  readonly settings: Settings;
  readonly addresses: Addresses;
  readonly secrets: Secrets;
  readonly db: Database;
  readonly storage: Storage;
  readonly mail: Mail;
  readonly jobs: Jobs;
  readonly extensions: Extensions;
  readonly egress: Egress;
  /** Undefined if files are not scanned. */
  readonly scanner: Clamd | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}
