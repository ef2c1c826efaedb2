declare module '../../platform/database/database.ts' {
  interface Tables {
    offer_packs: OfferPacksTable;
  }
}

/** A mod that costs a token pack: its price is the number of tokens, and stores sell it under the SKUs of the pack. */
export interface OfferPacksTable {
  mod_id: number;
  pack_id: number;
}
