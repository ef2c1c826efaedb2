declare module '../../platform/database/database.ts' {
  interface Tables {
    site_look: SiteLookTable;
  }
}

/** The name and look that the operator gave the site: one row, or none before the first change. */
export interface SiteLookTable {
  /** Always `site`. */
  part: string;
  /** Empty for the name of the program. */
  name: string;
  summary: string;
  /** Six hexadecimal digits after a `#`. Empty for the colour of the program. */
  accent: string;
  /** The folder of the icon. */
  icon: string | null;
  date_updated: number;
}
