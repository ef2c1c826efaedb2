import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    agreement_versions: AgreementVersionsTable;
    agreement_acceptances: AgreementAcceptancesTable;
  }
}

/** One version of an agreement. Of each type at most one is in force. */
export interface AgreementVersionsTable {
  id: Generated<number>;
  type: number;
  name: string;
  changelog: string;
  /** The text as HTML, limited to what `sanitised` allows. */
  description: string;
  /** The author; null for the versions that come with the service. */
  user_id: number | null;
  date_added: number;
  date_updated: number;
  /** When it last came into force; 0 for a draft. */
  date_live: number;
  is_active: number;
  date_deleted: number | null;
}

/** An acceptance of a version. `game_id` is 0 unless it covers one game only. */
interface AgreementAcceptancesTable {
  id: Generated<number>;
  user_id: number;
  version_id: number;
  game_id: number;
  date_added: number;
}
