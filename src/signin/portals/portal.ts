import type { CredentialField, Verifier } from './identity.ts';
import type { WebFlow } from './web/flow.ts';

/** Everything that tells one portal from another. */
export interface PortalDescription {
  /** How a game's client signs its player in. */
  readonly token: {
    readonly verify: Verifier;
    /** What the client has to send. */
    readonly needs: readonly CredentialField[];
    /** What it may send in place of all of `needs`. */
    readonly instead?: CredentialField;
  };
  /** How a browser signs in. */
  readonly web: WebFlow;
}
