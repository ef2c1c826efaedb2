declare module '../../platform/database/database.ts' {
  interface Tables {
    mod_vaults: ModVaultsTable;
  }
}

/** The period in which the files of a mod can be downloaded. */
export interface ModVaultsTable {
  mod_id: number;
  /** 0 for no beginning. */
  date_opens: number;
  /** 0 for no end. */
  date_closes: number;
  date_updated: number;
}
