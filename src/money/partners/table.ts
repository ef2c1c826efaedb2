declare module '../../platform/database/database.ts' {
  interface Tables {
    seller_accounts: SellerAccountsTable;
    partners: PartnersTable;
  }
}

export type SellerStatus = 'pending' | 'action' | 'approved' | 'rejected';

/** What the site knows of a user whose earnings it pays out. */
export interface SellerAccountsTable {
  user_id: number;
  /** Sealed: legal name, country and where to pay. */
  details: string;
  status: SellerStatus;
  /** What staff told the user. */
  reason: string;
  decided_by: number;
  date_added: number;
  date_decided: number;
}

export type PartnerStatus = 'invited' | 'applied' | 'approved' | 'rejected';

/** A user in the partner programme of a game. */
export interface PartnersTable {
  game_id: number;
  user_id: number;
  status: PartnerStatus;
  reason: string;
  /** 0 where the criteria decided. */
  decided_by: number;
  date_added: number;
  date_decided: number;
}
