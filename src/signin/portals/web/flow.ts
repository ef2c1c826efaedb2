import type { App } from '../../../platform/app.ts';
import type { ErrorName } from '../../../platform/errors/catalogue.ts';
import type { LaterText } from '../../../platform/localisation/texts.ts';
import type { Identity, PortalSettings } from '../identity.ts';

/** A web sign-in that is at the portal. */
export interface Leaving {
  readonly app: App;
  readonly gameId: number;
  readonly settings: PortalSettings;
  /** The state that the browser has to return. */
  readonly state: string;
  /** The PKCE verifier; the portal gets only its digest (RFC 7636). */
  readonly verifier: string;
  /** The redirect URI. */
  readonly callback: string;
}

/** The answer that the browser returns with. */
export interface ReturnedAnswer {
  /** A repeated parameter is undefined. */
  readonly query: Readonly<Record<string, string | undefined>>;
  /** The fragment, if the portal answers there. Its parameters, if it has any, are in `query` as well. */
  readonly fragment: string;
}

export interface Arriving extends Leaving, ReturnedAnswer {}

/** The portal has accepted the answer but does not yet identify the user. */
export class NotIdentifiedYet extends Error {
  /** What the retry needs. */
  readonly held: object;

  constructor(held: object) {
    super('not yet');
    this.held = held;
  }
}

/** A part of a sign-in that can be tried without a user. */
export interface ProbeStep {
  readonly step: 'settings' | 'keys' | 'page' | 'secret';
  readonly ok: boolean;
  readonly detail?: LaterText;
  /** The portal’s own words, or those of a library. */
  readonly original?: string;
}

/** How users of a portal sign in on the web: by a redirect to the portal and back. */
export interface WebFlow {
  /** Whether the game has all required settings. */
  isSetUp(settings: PortalSettings): boolean;
  leave(leaving: Leaving): string;
  arrive(arriving: Arriving): Promise<Identity>;
  /** Retries with what `NotIdentifiedYet` contained. */
  resume?(leaving: Leaving, held: object): Promise<Identity>;
  /** Whether the portal accepts the secret: it is sent with a code that nobody has. */
  probeSecret?(leaving: Leaving): Promise<ProbeStep>;
  /** The portal answers in the fragment, which only a script in the browser can read. */
  readonly answersInFragment?: boolean;
  /** The portal returns no state, so the user has to confirm that the answer is theirs. */
  readonly hasNoState?: boolean;
  /**
   * Only accepted games may use this portal, because a developer could replay tokens that players gave to another of
   * its applications.
   */
  readonly requiresAcceptedGame?: boolean;
  /** The ids have a slot in each game, although those from games are global. */
  readonly isPerGame?: boolean;
  readonly refusals: {
    /** The game does not use this sign-in, or no longer. */
    readonly notSetUp: ErrorName;
    /** This browser did not start the sign-in, or too long ago. */
    readonly state: ErrorName;
  };
}
