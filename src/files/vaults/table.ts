declare module '../../platform/database/database.ts' {
  interface Tables {
    mod_vaults: ModVaultsTable;
  }
}

/** When the files of a mod can be downloaded. */
export interface ModVaultsTable {
  mod_id: number;
  /** 0 where they could be from the beginning. */
  date_opens: number;
  /** 0 where they can be for ever. */
  date_closes: number;
  date_updated: number;
}
