import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    token_packs: TokenPacksTable;
    token_pack_skus: TokenPackSkusTable;
  }
}

export interface TokenPacksTable {
  id: Generated<number>;
  game_id: number;
  name: string;
  description: string;
  tokens: number;
  /** In the smallest unit of the currency. */
  price: number;
  currency: string;
  date_added: number;
  date_updated: number;
  /** 0 while it is sold. Rows stay, because payments refer to them. */
  date_removed: number;
}

/** Where a pack is sold: here, with an empty portal, and in a store under its SKU. */
export interface TokenPackSkusTable {
  id: Generated<number>;
  pack_id: number;
  game_id: number;
  portal: string;
  sku: string;
}
