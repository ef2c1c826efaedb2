import type { App } from '../app.ts';
import type { Tables } from '../database/database.ts';
import type { Migration } from '../database/migrate.ts';
import type { Contribution } from '../extensions.ts';
import type { AnyOperation } from '../http/operation.ts';
import type { SocketOperation } from '../http/socket-operation.ts';
import type { JobHandler } from '../jobs/worker.ts';
import type { PersonalData } from '../personal-data.ts';
import type { StoredObjects } from '../storage/inventory.ts';
import type { Treatment } from './treatment.ts';

/** What an archive of the service or of a game does with tables. Triggers alone write `user_cards`. */
export type TableTreatments = Readonly<Partial<Record<keyof Tables | 'user_cards', Treatment>>>;

/** Everything that the rest of the program needs to know about a resource. The composition lists these manifests. */
export interface Resource {
  readonly name: string;
  readonly operations?: readonly AnyOperation[];
  readonly socketOperations?: readonly SocketOperation[];
  /** In the order of their execution. */
  readonly migrations?: readonly Migration[];
  /** Its tables, and what an archive does with each. */
  readonly tables?: TableTreatments;
  readonly jobs?: readonly JobHandler<App>[];
  readonly personalData?: PersonalData;
  /** The objects in storage that its rows reference. */
  readonly storedObjects?: StoredObjects<App>;
  /** Runs at every start, before the first request. */
  readonly prepare?: (app: App) => Promise<void>;
  /** Runs after the last request. */
  readonly finish?: (app: App) => Promise<void>;
  /** Its contributions to the extension points of resources below it. */
  readonly extends?: readonly Contribution[];
}

export const resource = (manifest: Resource): Resource => manifest;
