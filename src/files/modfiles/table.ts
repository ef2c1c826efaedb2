import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    modfiles: ModfilesTable;
    modfile_documents: { modfile_id: number; body: string; sha256: string };
    modfile_platforms: ModfilePlatformsTable;
    modfile_arrivals: ModfileArrivalsTable;
    waiting_files: WaitingFilesTable;
    mod_live_files: ModLiveFilesTable;
    /** The files that go live on a platform once their scan has passed. */
    mod_awaited_files: ModLiveFilesTable;
  }
}

/**
 * `…_folded`: see `fold`. `modfile_documents` contains the modfile object as JSON without its closing brace, because
 * the download link is appended when the response is sent.
 */
export interface ModfilesTable {
  id: Generated<number>;
  mod_id: number;
  game_id: number;
  submitted_by: number;
  /** Sources are stored for a game’s cooks, and appear in no list of files. */
  kind: 'file' | 'source';
  date_added: number;
  date_updated: number;
  date_scanned: number;
  virus_status: number;
  virus_positive: number;
  filesize: number;
  filesize_uncompressed: number;
  /** 1 stored, 3 deleted. */
  status: number;
  /** 1 if a scan or a moderator took the file down. Nobody can download it then. */
  withdrawn: number;
  /** 1 after the file was live, 0 again after its team set `active=false`. Only released files are public. */
  released: number;
  virustotal_hash: string | null;
  md5: string;
  sha256: string;
  /** The hash of the content, `modfiles/<first two of sha256>/<sha256>`. Several rows can share it. */
  storage_key: string;
  filename: string;
  filename_folded: string;
  version: string;
  version_folded: string;
  changelog: string;
  changelog_folded: string;
  metadata_blob: string;
  metadata_blob_folded: string;
}

/** `status`: 0 pending, 1 approved, 2 denied, 3 targeted. */
export interface ModfilePlatformsTable {
  modfile_id: number;
  platform: string;
  status: number;
}

/** The shown files that are pending on a platform, of mods that are not deleted. Only triggers write it. */
interface WaitingFilesTable {
  game_id: number;
  modfile_id: number;
  platform: string;
}

/** The live file of a mod per platform. `''` is the one that is shown when the client names no platform. */
interface ModLiveFilesTable {
  mod_id: number;
  platform: string;
  modfile_id: number;
}

/** Protects bytes under a key from removal until a row references them or the arrival expires. */
interface ModfileArrivalsTable {
  token: string;
  storage_key: string;
  date_expires: number;
}
