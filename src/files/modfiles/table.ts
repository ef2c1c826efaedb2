import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    modfiles: ModfilesTable;
    modfile_documents: { modfile_id: number; body: string; sha256: string };
    modfile_platforms: ModfilePlatformsTable;
    modfile_arrivals: ModfileArrivalsTable;
    mod_live_files: ModLiveFilesTable;
    /** The files that become live in their place once their scan has passed. */
    mod_awaited_files: ModLiveFilesTable;
  }
}

/**
 * `…_folded`: see `fold`. `modfile_documents` holds the modfile object as JSON without its closing brace:
 * its download link is put behind it when it is sent.
 */
export interface ModfilesTable {
  id: Generated<number>;
  mod_id: number;
  game_id: number;
  submitted_by: number;
  /** A source is kept for the cooks of a game and shown nowhere as a file. */
  kind: 'file' | 'source';
  date_added: number;
  date_updated: number;
  date_scanned: number;
  virus_status: number;
  virus_positive: number;
  filesize: number;
  filesize_uncompressed: number;
  /** 1 there, 3 deleted. */
  status: number;
  /** 1 where a scan or a moderator took the file down: nobody may download it then. */
  withdrawn: number;
  /** 1 after the file was live, 0 again after its team set `active=false`. Only released files are public. */
  released: number;
  virustotal_hash: string | null;
  md5: string;
  sha256: string;
  /** Named by the content, `modfiles/<first two of sha256>/<sha256>`: several rows may share it. */
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

/** The file that a mod shows for a platform; `''` is the one that is shown where no platform is asked for. */
interface ModLiveFilesTable {
  mod_id: number;
  platform: string;
  modfile_id: number;
}

/** Bytes on their way to a key: until the row that names it is written, or this time, they are not removed. */
interface ModfileArrivalsTable {
  token: string;
  storage_key: string;
  date_expires: number;
}
