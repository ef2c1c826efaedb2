import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    modfile_findings: ModfileFindingsTable;
    game_file_types: GameFileTypesTable;
  }
}

/** A finding of the inspection or the scan of a file, for the game's team to review. */
export interface ModfileFindingsTable {
  id: Generated<number>;
  game_id: number;
  mod_id: number;
  modfile_id: number;
  /** 0 file type, 1 threat, 2 potentially harmful, 3 not scanned. */
  kind: number;
  /** The path in the archive, with nested archives as folders; empty for the archive itself. */
  path: string;
  /** The extension, the name of the threat, or the reason why the file was not scanned. */
  detail: string;
  date_added: number;
}

/** Extensions in lower case without the dot, as JSON. */
export interface GameFileTypesTable {
  game_id: number;
  refused: string;
  reported: string;
}
