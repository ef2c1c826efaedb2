declare module '../../platform/database/database.ts' {
  interface Tables {
    offer_packs: OfferPacksTable;
    marketplace_submissions: MarketplaceSubmissionsTable;
  }
}

/** A mod that costs a token pack: its price is the number of tokens, and stores sell it under the SKUs of the pack. */
export interface OfferPacksTable {
  mod_id: number;
  pack_id: number;
}

export type SubmissionStatus = 'queued' | 'approved' | 'declined';

/** A mod that its author wants on the marketplace of a game with a queue. */
export interface MarketplaceSubmissionsTable {
  mod_id: number;
  game_id: number;
  submitted_by: number;
  status: SubmissionStatus;
  /** What the team tells the author. */
  reason: string;
  decided_by: number;
  date_added: number;
  date_decided: number;
}
