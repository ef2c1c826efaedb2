import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    previewers: PreviewersTable;
    preview_links: PreviewLinksTable;
  }
}

/** Who may see a game or mod that is hidden. */
export interface PreviewersTable {
  id: Generated<number>;
  resource: string;
  resource_id: number;
  user_id: number;
  /** Null where they came by the share link. */
  invited_by: number | null;
  date_added: number;
}

/** The share link is derived from the version and kept nowhere; a new version makes the old link worthless. */
interface PreviewLinksTable {
  resource: string;
  resource_id: number;
  version: number;
}
