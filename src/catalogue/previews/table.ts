import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    previewers: PreviewersTable;
    preview_links: PreviewLinksTable;
  }
}

/** Users who may see a hidden game or mod. */
export interface PreviewersTable {
  id: Generated<number>;
  resource: string;
  resource_id: number;
  user_id: number;
  /** Null for users who registered with the link. */
  invited_by: number | null;
  date_added: number;
}

/** The link is derived from the version and not stored; a new version invalidates the old link. */
interface PreviewLinksTable {
  resource: string;
  resource_id: number;
  version: number;
}
