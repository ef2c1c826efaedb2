declare module '../../platform/database/database.ts' {
  interface Tables {
    site_staff: SiteStaffTable;
  }
}

/** Who runs the site, and at which level: 1 moderator, 4 administrator, 8 owner. */
export interface SiteStaffTable {
  user_id: number;
  level: number;
  /** 0 for whoever runs the service. */
  added_by: number;
  date_added: number;
}
