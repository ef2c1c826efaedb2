import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    modfile_findings: ModfileFindingsTable;
    game_file_types: GameFileTypesTable;
  }
}

/** What the inspection or the scan of a file found that someone of the game's team should look at. */
export interface ModfileFindingsTable {
  id: Generated<number>;
  game_id: number;
  mod_id: number;
  modfile_id: number;
  /** 0 type of file, 1 threat, 2 potentially harmful, 3 not scanned. */
  kind: number;
  /** Within the archive, through archives in it as if they were folders; empty for the archive itself. */
  path: string;
  /** The extension, the name of the threat, or why the file was not scanned. */
  detail: string;
  date_added: number;
}

/** Extensions in small letters without the dot, as JSON. */
export interface GameFileTypesTable {
  game_id: number;
  refused: string;
  reported: string;
}
