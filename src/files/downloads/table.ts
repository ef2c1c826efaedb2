declare module '../../platform/database/database.ts' {
  interface Tables {
    counted_downloads: CountedDownloadsTable;
  }
}

/** Downloads of the last day, so that each address counts once for a mod and platform. */
export interface CountedDownloadsTable {
  mod_id: number;
  /** `''` where the client told none. */
  platform: string;
  /** A digest by a key of its day: addresses themselves are kept nowhere. */
  address: string;
  date_counted: number;
}
