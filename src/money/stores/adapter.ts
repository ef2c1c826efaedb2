import type { App } from '../../platform/app.ts';
import type { LinkedPortal } from '../../platform/vocabulary/game-platforms.ts';

/** The portals whose stores sell for games. Meta's store has the name of its portal. */
export const STORE_PORTALS = ['apple', 'epicgames', 'google', 'oculus', 'psn', 'steam', 'xboxlive'] as const;
export type StorePortal = (typeof STORE_PORTALS)[number] & LinkedPortal;

/** What a game has agreed with a store, secrets included. */
export type StoreSettings = Readonly<Record<string, string | readonly string[] | undefined>>;

/** What the client sends with a sync; each store needs other fields. */
export type Proof = Readonly<Partial<Record<ProofField, string>>>;

export type ProofField =
  | 'epicgames_token'
  | 'epicgames_sandbox_id'
  | 'psn_env'
  | 'psn_service_label'
  | 'psn_token'
  | 'receipt'
  | 'user_id'
  | 'xbox_token';

/** The game and its settings, for every request to a store. */
export interface Asking {
  readonly app: App;
  readonly gameId: number;
  readonly settings: StoreSettings;
  /** The products that the game sells for something here. Other products are left alone. */
  readonly skus: readonly string[];
  /** Time limit of one request. */
  readonly deadlineMs?: number;
}

/** The buyer, authenticated. A session is stored encrypted until the purchase is settled, so that a job can retry. */
export interface Session {
  readonly buyer: string;
  readonly tokens: Readonly<Record<string, string>>;
}

export interface Entitlement {
  /** Identifies one purchase at this store forever, whichever game asks. Two lists name a purchase alike. */
  readonly reference: string;
  readonly sku: string;
  readonly kind: 'consumable' | 'durable';
  readonly quantity: number;
  /** `pending`: not paid yet. `consumed`: used up. `revoked`: refunded or withdrawn. */
  readonly state: 'owned' | 'pending' | 'consumed' | 'revoked';
  /** What the adapter needs to find the purchase again. */
  readonly handle: Readonly<Record<string, string>>;
}

/**
 * `not-owned`: the store is certain that there is nothing to consume. With a handle: consumed, and what the store calls it
 * from now on.
 */
export type Consumption = 'consumed' | 'not-owned' | { readonly handle: Entitlement['handle'] };

/** What a store has taken back. */
export interface Reversals {
  readonly references: readonly string[];
  /** Called after the purchases have been taken back here. */
  readonly acknowledge?: () => Promise<void>;
}

/** A purchase that was turned into tokens here. */
export interface KnownPurchase extends Pick<Entitlement, 'reference' | 'sku' | 'quantity' | 'handle'> {
  readonly date: number;
}

export interface StoreAdapter {
  /**
   * How a consumption whose answer was lost is repeated. `same-key`: the store recognises the key and consumes once.
   * `look-first`: the store has no keys, so the purchase is read again; if it is consumed, the lost attempt did it.
   */
  readonly retry: 'same-key' | 'look-first';
  /** Authenticates the buyer. `linked` is the account that the user has linked on this portal. */
  open(asking: Asking, proof: Proof, linked: string | undefined): Promise<Session>;
  list(asking: Asking, session: Session): Promise<readonly Entitlement[]>;
  /** The state of a purchase now. */
  verify(asking: Asking, session: Session, entitlement: Entitlement): Promise<Entitlement['state']>;
  /** `key` is a UUID that stays the same for all attempts. */
  consume(asking: Asking, session: Session, entitlement: Entitlement, key: string): Promise<Consumption>;
  /**
   * The references of those purchases that the store has refunded or withdrawn, without their buyers. Only for stores that
   * can be asked; others send notifications.
   */
  reversals?(asking: Asking, known: readonly KnownPurchase[]): Promise<Reversals>;
}

/**
 * `settings`: the store rejects the game's own credentials. `buyer`: it rejects what the client sent. `link`: the user has
 * linked no account at the store, or another one.
 */
type Refused = 'settings' | 'buyer' | 'link';

export class StoreRefusal extends Error {
  override readonly name = 'StoreRefusal';
  readonly about: Refused;
  /** The field of the request that is wrong. */
  readonly field: ProofField | undefined;

  constructor(about: Refused, message: string, { field, ...options }: ErrorOptions & { field?: ProofField } = {}) {
    super(message, options);
    this.about = about;
    this.field = field;
  }
}

/** There was no usable answer. The store may or may not have done what it was asked. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}
