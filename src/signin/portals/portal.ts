import type { CredentialField, PortalSettings, Verifier } from './identity.ts';
import type { WebFlow } from './web/flow.ts';

/** The implementation of a portal. */
export interface PortalDescription {
  /** How a game’s client signs its player in. */
  readonly token: {
    readonly verify: Verifier;
    /** The required credentials. */
    readonly needs: readonly CredentialField[];
    /** A credential that replaces all of `needs`. */
    readonly instead?: CredentialField;
    /** Where the portal publishes the keys that sign its tokens. */
    readonly keysUrl?: (settings: PortalSettings) => string | undefined;
  };
  /** How a browser signs in. */
  readonly web: WebFlow;
}
