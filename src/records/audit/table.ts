declare module '../../platform/database/database.ts' {
  interface Tables {
    audit_log: AuditLogTable;
    audit_head: AuditHeadTable;
  }
}

/** The audit log. Rows are never changed or removed. */
export interface AuditLogTable {
  /** Without gaps, from 1. */
  id: number;
  date_added: number;
  /** 0 for the site as a whole. */
  game_id: number;
  /** The acting user; 0 for the service itself and for commands of the operator. */
  user_id: number;
  /** Such as `mods.delete`. */
  action: string;
  resource: string;
  resource_id: number;
  reason: string;
  /** JSON. */
  data: string;
  /** The hash of the previous row; empty in the first. */
  previous: string;
  /** Covers all other columns of the row. */
  hash: string;
}

/** The last row, so that its removal is detected. Every writer locks this single row until its commit. */
export interface AuditHeadTable {
  id: number;
  last_id: number;
  hash: string;
}
