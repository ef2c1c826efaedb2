import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    selling_terms: SellingTermsTable;
  }
}

/** The conditions of a game from this row's date on. Rows are never changed, so past sales can be explained. */
export interface SellingTermsTable {
  id: Generated<number>;
  game_id: number;
  /** Who set them; 0 for the operator. */
  changed_by: number;
  /** JSON of `Terms`. */
  terms: string;
  date_added: number;
}
