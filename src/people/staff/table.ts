declare module '../../platform/database/database.ts' {
  interface Tables {
    site_staff: SiteStaffTable;
  }
}

/** Site staff. `level`: 1 moderator, 4 administrator, 8 owner. */
export interface SiteStaffTable {
  user_id: number;
  level: number;
  /** 0 for the operator. */
  added_by: number;
  date_added: number;
}
