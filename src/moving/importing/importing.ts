import type { App } from '../../platform/app.ts';
import type { ImportRow } from '../../records/imports/imports.ts';
import type { Described } from '../archive/contents.ts';
import type { Source } from '../archive/source.ts';
import type { References } from '../tables/references.ts';
import type { Schema } from '../tables/schema.ts';

export interface ImportOptions {
  /** Takes staff, administrators and teams of games, who get rights over others. */
  readonly powers: boolean;
  /** Takes the results of virus scans as they are. */
  readonly trusted: boolean;
  /** Also replaces and removes what was changed here since the last import. */
  readonly overwrite: boolean;
  readonly progress?: (part: string, rows: number) => void;
}

/** What an import needs everywhere. */
export interface Importing {
  readonly app: App;
  readonly source: Source;
  readonly described: Described;
  readonly options: ImportOptions;
  readonly schema: Schema;
  readonly references: References;
  readonly row: ImportRow;
}
