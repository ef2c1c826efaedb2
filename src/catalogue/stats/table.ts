declare module '../../platform/database/database.ts' {
  interface Tables {
    mod_download_hours: ModDownloadHoursTable;
    /** The same per platform, of downloads whose platform is known. */
    mod_platform_download_hours: ModDownloadHoursTable & { platform: string };
  }
}

/** What `downloads_today` is made of. An hour's row is subtracted from it, and removed, a day after its end. */
export interface ModDownloadHoursTable {
  mod_id: number;
  /** Unix hours. */
  hour: number;
  game_id: number;
  downloads: number;
}
