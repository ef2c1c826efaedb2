import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    imports: ImportsTable;
    import_parts: ImportPartsTable;
    import_refusals: ImportRefusalsTable;
    import_removals: ImportRemovalsTable;
    imported_ids: ImportedIdsTable;
  }
}

/** An archive and how far its import has come. */
export interface ImportsTable {
  id: Generated<number>;
  source: string;
  /** SHA-256 of the archive's manifest and the options, which names the import. */
  digest: string;
  /** Whether the service was empty when the import began, so that every row keeps its id. */
  into_empty: number;
  date_added: number;
  /** 0 until it is complete. */
  date_finished: number;
}

/** A part of an archive, or a step after the last part, and how much of it is done. */
export interface ImportPartsTable {
  import_id: number;
  name: string;
  /** The last line, or the last id of a step. */
  done: number;
  rows_taken: number;
}

export interface ImportRefusalsTable {
  id: Generated<number>;
  import_id: number;
  part: string;
  line: number;
  reason: string;
}

/** The id of a row here, by its id at the source. */
export interface ImportedIdsTable {
  source: string;
  resource: string;
  old_id: number;
  new_id: number;
  /** The last import that wrote the row. */
  import_id: number;
  /** A digest of the row as the import wrote it; another one means that it was changed here. Empty if unknown. */
  version: Generated<string>;
  /** The import that left the row as it is, because it was changed here; 0 for none. */
  kept_in: Generated<number>;
}

/** What an import removed or hid, because the source has it no longer. */
export interface ImportRemovalsTable {
  id: Generated<number>;
  import_id: number;
  resource: string;
  old_id: number;
  change: string;
  name: string;
}
