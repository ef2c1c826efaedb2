import type { App } from '../../../context.ts';
import type { ErrorName } from '../../../errors/catalogue.ts';
import type { Identity, PortalSettings } from '../identity.ts';

/** Someone's browser on its way to a portal. */
export interface Leaving {
  readonly app: App;
  readonly gameId: number;
  readonly settings: PortalSettings;
  /** What the browser has to bring back. */
  readonly state: string;
  /** What only we know, and whose digest the portal is told (RFC 7636). */
  readonly verifier: string;
  /** The one address to which the portal sends it back. */
  readonly callback: string;
}

/** It is back, with these parameters; each counts only if it was sent once. */
export interface Arriving extends Leaving {
  readonly query: Readonly<Record<string, string | undefined>>;
}

/** How a portal signs people in on the web: they are sent there, and bring something back. */
export interface WebFlow {
  /** Whether the game has said all that this takes. */
  isSetUp(settings: PortalSettings): boolean;
  leave(leaving: Leaving): string;
  arrive(arriving: Arriving): Promise<Identity>;
  readonly refusals: {
    /** The game does not let people in this way, or no longer. */
    readonly notSetUp: ErrorName;
    /** This browser was not sent there, or too long ago. */
    readonly state: ErrorName;
  };
}
