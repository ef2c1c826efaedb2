import type { App } from '../../../platform/app.ts';
import type { ErrorName } from '../../../platform/errors/catalogue.ts';
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

/** What a browser brings back. */
export interface Brought {
  /** Each parameter counts only if it was sent once. */
  readonly query: Readonly<Record<string, string | undefined>>;
  /** What stood behind `#`, where the portal answers there. Its parameters, if it has any, are in `query` as well. */
  readonly fragment: string;
}

export interface Arriving extends Leaving, Brought {}

/** The portal has taken what was brought, but does not say yet whose it is. */
export class NotYet extends Error {
  /** What to ask with once more. */
  readonly held: object;

  constructor(held: object) {
    super('not yet');
    this.held = held;
  }
}

/** How a portal signs people in on the web: they are sent there, and bring something back. */
export interface WebFlow {
  /** Whether the game has said all that this takes. */
  isSetUp(settings: PortalSettings): boolean;
  leave(leaving: Leaving): string;
  arrive(arriving: Arriving): Promise<Identity>;
  /** Asks again with what `NotYet` held. */
  resume?(leaving: Leaving, held: object): Promise<Identity>;
  /** The portal answers behind `#`, which only a script in the browser sees. */
  readonly answersInFragment?: boolean;
  /** The portal gives back nothing that we sent along, so that the person has to say that the answer is theirs. */
  readonly hasNoState?: boolean;
  /** The developer of a game could bring what its players gave it elsewhere, so that only games that were accepted may. */
  readonly takesTrust?: boolean;
  /** Its ids have a place in each game, although those that games send are the same everywhere. */
  readonly isPerGame?: boolean;
  readonly refusals: {
    /** The game does not let people in this way, or no longer. */
    readonly notSetUp: ErrorName;
    /** This browser was not sent there, or too long ago. */
    readonly state: ErrorName;
  };
}
