declare module '../../platform/database/database.ts' {
  interface Tables {
    counted_downloads: CountedDownloadsTable;
  }
}

/** Downloads of the last day. Each address counts once per mod and platform. */
export interface CountedDownloadsTable {
  mod_id: number;
  /** `''` if the client named none. */
  platform: string;
  /** A digest with a key per day. Addresses themselves are never stored. */
  address: string;
  date_counted: number;
}
