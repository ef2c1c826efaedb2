declare module '../../platform/database/database.ts' {
  interface Tables {
    mod_download_hours: ModDownloadHoursTable;
    /** Downloads per hour and platform, where the platform is known. */
    mod_platform_download_hours: ModDownloadHoursTable & { platform: string };
  }
}

/** The downloads that `downloads_today` sums up. A job subtracts and removes an hour's row a day after its end. */
export interface ModDownloadHoursTable {
  mod_id: number;
  /** Unix hours. */
  hour: number;
  game_id: number;
  downloads: number;
}
