import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    limited_requests: LimitedRequestsTable;
    slow_requests: SlowRequestsTable;
  }
}

/** Which limit it was: of an address, a user, a user's key, a service, a game server or an operation. */
export type LimitRule =
  | 'address'
  | 'address_writes'
  | 'user'
  | 'user_writes'
  | 'user_key'
  | 'service'
  | 'server_token'
  | 'operation';

/** How often a limit refused requests in an hour. */
export interface LimitedRequestsTable {
  /** Its first second. */
  hour: number;
  rule: LimitRule;
  /** Empty unless it is the limit of an operation. */
  operation: string;
  /** A network address, or the id of a key, client or token; empty for a user, and for those beyond the first thousand. */
  caller: string;
  user_id: number;
  refused: number;
  date_last: number;
}

export interface SlowRequestsTable {
  id: Generated<number>;
  operation: string;
  method: string;
  path: string;
  status: number;
  milliseconds: number;
  date_added: number;
}
