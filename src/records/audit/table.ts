declare module '../../platform/database/database.ts' {
  interface Tables {
    audit_log: AuditLogTable;
    audit_head: AuditHeadTable;
  }
}

/** What those who decide over others have done, row by row; none is ever changed or removed. */
export interface AuditLogTable {
  /** Without gaps, from 1. */
  id: number;
  date_added: number;
  /** The game in which it was done; 0 for the site as a whole. */
  game_id: number;
  /** Who did it; 0 for the service itself and for commands of its operator. */
  user_id: number;
  /** Such as `mods.delete`. */
  action: string;
  resource: string;
  resource_id: number;
  reason: string;
  /** JSON. */
  data: string;
  /** The hash of the row before; empty in the first. */
  previous: string;
  /** Of everything else in this row. */
  hash: string;
}

/** The last row, so that its removal shows. There is one, which every writer holds until its commit. */
export interface AuditHeadTable {
  id: number;
  last_id: number;
  hash: string;
}
