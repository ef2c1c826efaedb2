import type { App } from '../../platform/app.ts';
import type { Changes, Scope } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import * as store from './store.ts';
import { UPLOAD_CANCELLED } from './uploads.ts';

/** After so long without a sign of life a process has ended, or knows by itself that it must not go on. */
const CLAIM_SECONDS = 6;
export const RENEW_MS = 2_000;
const FENCE_MS = 4_000;
const LOOK_MS = 500;

export const claimUntil = ({ clock }: Pick<App, 'clock'>): number => clock.now() + CLAIM_SECONDS;

export interface HeldClaim {
  /** Aborted when another request wants to send the part, when the session is closed, and when the claim is lost. */
  readonly signal: AbortSignal;
  end(): void;
}

/** Keeps the claim of a part alive. Of two requests the newer one goes on: the older is often of a lost connection. */
export function holdClaim(app: App, scope: Scope, claim: store.Claim): HeldClaim {
  const stop = new AbortController();
  const lose = () => stop.abort(new ApiError('MULTIPART_UPLOAD_PART_ALREADY_UPLOADED'));
  let sureAtMs = app.clock.monotonicMs();

  async function renew(): Promise<void> {
    const askedAtMs = app.clock.monotonicMs();
    if (askedAtMs - sureAtMs > FENCE_MS) return lose();
    const isOurs = await app.db.write(({ query }) => store.renewClaim(query, claim, claimUntil(app)));
    if (isOurs) sureAtMs = askedAtMs;
    else lose();
  }

  async function look(): Promise<void> {
    const upload = await store.byUploadId(app.db, claim.upload_id);
    if (upload?.status === UPLOAD_CANCELLED)
      return stop.abort(new ApiError('MULTIPART_UPLOAD_SESSION_ALREADY_CANCELLED'));
    const part = await store.partOf(app.db, claim.upload_id, claim.part_number);
    if (part?.claim !== claim.claim || part.wanted) lose();
  }

  // While the database is away nothing is known, until the fence says so.
  const timer = setInterval(() => void renew().catch(() => {}), RENEW_MS).unref();
  const unlisten = listen(app.db.changes, scope, () => void look().catch(() => {}));
  return {
    signal: stop.signal,
    end: () => {
      clearInterval(timer);
      unlisten();
    },
  };
}

function listen(changes: Changes, scope: Scope, heard: () => void): () => void {
  return changes.listen((changed) => {
    if (changed === undefined || changed === scope) heard();
  });
}

export interface Watch {
  /** Resolves after the next change, or that since the last call, and in any case soon. */
  next(): Promise<void>;
  end(): void;
}

export function watch(changes: Changes, scope: Scope): Watch {
  let isChanged = false;
  let wake = () => {};
  const unlisten = listen(changes, scope, () => {
    isChanged = true;
    wake();
  });
  return {
    next: async () => {
      if (!isChanged)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, LOOK_MS);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      isChanged = false;
    },
    end: unlisten,
  };
}
